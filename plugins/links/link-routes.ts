import { Type as t } from "@sinclair/typebox"
import {
  type Actor,
  AnyQuery,
  type Asked,
  etagOf,
  failures,
  field,
  NoQuery,
  operationsOf,
  Paged,
  parseId,
  readJsonAsSent,
  readNothing,
  readSortedPaging,
  Sent,
  type Site,
  slugFault,
  sortedPage,
  versionsIn,
} from "#plugin"
import { type Area, finding } from "./area.ts"
import { BulkInput, ImportInput, type RowOutcome } from "./batch.ts"
import { LinkInput } from "./input.ts"
import { LIMITS, type Link, type LinkState, type LinksHost, stateOf } from "./link.ts"
import type { Author } from "./link-writes.ts"
import type { Reports } from "./reports/reports.ts"
import { BulkResponse, ImportResponse, type LinkFormat, LinkResponse, ListedLinkResponse, SlugCheckResponse } from "./responses.ts"
import type { Cache } from "./serving/cache.ts"

const operation = operationsOf("links")
const CONTENT = ["invalid_destination", "redirect_loop", "destination_not_allowed", "slug_reserved", "invalid_slug", "utm_required"]
const STATE = ["slug_taken", "slug_recently_used", "domain_not_verified", "domain_not_found", "template_not_found", "limit_reached"]
const LinkPatch = t.Partial(
  t.Object({
    ...LinkInput.properties,
    archived: field.flag("Whether the link is archived."),
    version: field.id("Version that the change is based on."),
  }),
  { title: "LinkPatch" },
)
interface Call {
  site: Site
  actor: Actor
  user: { id: number }
  permissions: ReadonlySet<string>
}
const authorOf = ({ site, actor, user, permissions }: Call): Author => ({ site, actor, userId: user.id, permissions })
const WRITE = "links:write"
/** JSON escapes make the body larger than the file. */
const IMPORT_BYTES = LIMITS.importBytes * 2

/** Routes that create, list and change links. */
export function linkRoutes(area: Area) {
  const { host, cache, links, batches, format } = area
  const created = (link: Link) => ({
    location: `/api/private/sites/${link.site_id}/links/${link.id}`,
    etag: etagOf(link),
    body: format.response(link),
  })
  function tagged({ headers }: { headers: Record<string, unknown> }, link: Link): LinkResponse {
    headers.etag = etagOf(link)
    return format.response(link)
  }

  return host
    .siteRouter()
    .get("/links", ({ site, query, request }) => listLinks(host, area, { site, query, request }), {
      can: "links:read",
      query: AnyQuery,
      response: { 200: Paged(ListedLinkResponse) },
      detail: operation("List short links"),
    })
    .post(
      "/links",
      ({ site, actor, user, permissions, ...call }) =>
        host.create<Link, LinkResponse>(
          { ...call, user },
          (body, alongside) => links.create(authorOf({ site, actor, user, permissions }), body, alongside),
          created,
        ),
      {
        can: WRITE,
        query: NoQuery,
        body: Sent,
        response: { 201: LinkResponse },
        detail: { ...operation("Create a short link", LinkInput), ...failures(...CONTENT, ...STATE) },
      },
    )
    .get(
      "/links/slug-check",
      async ({ site, query }) => {
        await cache.ready()
        const domainId = query.domain_id === undefined ? null : (await area.domains.get(site.organization_id, query.domain_id)).id
        const code = slugFault(query.slug) ?? (await links.slugFault(site.organization_id, domainId, query.slug))
        return { available: code === undefined, ...(code && { reason: code, suggestions: await links.suggest(domainId, query.slug) }) }
      },
      {
        can: "links:read",
        query: t.Object(
          { slug: t.String({ minLength: 1, maxLength: 200 }), domain_id: t.Optional(t.String()) },
          { additionalProperties: false },
        ),
        response: { 200: SlugCheckResponse },
        detail: { ...operation("Check whether a slug is available"), ...failures("domain_not_found") },
      },
    )
    .post(
      "/links/bulk",
      ({ site, actor, user, permissions, ...call }) =>
        host.batch<RowOutcome, BulkResponse>({ ...call, user }, (body, progress) =>
          batches.bulk(authorOf({ site, actor, user, permissions }), body, progress),
        ),
      {
        can: WRITE,
        query: NoQuery,
        body: Sent,
        response: { 200: BulkResponse },
        detail: operation("Create, update, archive or delete many links", BulkInput),
      },
    )
    .post(
      "/links/import",
      ({ site, actor, user, permissions, ...call }) =>
        host.batch<RowOutcome, ImportResponse>({ ...call, user }, (body, progress) =>
          batches.import(authorOf({ site, actor, user, permissions }), body, progress),
        ),
      {
        can: { permission: WRITE, read: readJsonAsSent(IMPORT_BYTES) },
        query: NoQuery,
        body: Sent,
        response: { 200: ImportResponse },
        detail: operation("Import links from CSV, or preview the import", ImportInput),
      },
    )
    .get("/links/:id", async ({ site, params, set }) => tagged(set, await links.get(site, params.id)), {
      can: "links:read",
      query: NoQuery,
      response: { 200: LinkResponse },
      detail: operation("Get a short link"),
    })
    .patch(
      "/links/:id",
      async ({ site, params, actor, user, permissions, body, request, set }) => {
        const terms = { expected: versionsIn(request.headers.get("if-match")), show: format.response }
        return tagged(set, await links.update(authorOf({ site, actor, user, permissions }), params.id, body.value, terms))
      },
      {
        can: { permission: WRITE, find: finding(links.get) },
        query: NoQuery,
        body: Sent,
        response: { 200: LinkResponse },
        detail: { ...operation("Update a short link", LinkPatch), ...failures(...CONTENT, ...STATE, "precondition_failed") },
      },
    )
    .delete(
      "/links/:id",
      async ({ site, params, actor, user, permissions, request, status }) => {
        await links.remove(authorOf({ site, actor, user, permissions }), params.id, versionsIn(request.headers.get("if-match")))
        return status(204, undefined)
      },
      {
        can: { permission: WRITE, find: finding(links.get), read: readNothing },
        query: NoQuery,
        detail: { ...operation("Delete a short link, which can be restored for 30 days"), ...failures("precondition_failed") },
      },
    )
    .post(
      "/links/:id/restore",
      async ({ site, params, actor, user, permissions, set }) =>
        tagged(set, await links.restore(authorOf({ site, actor, user, permissions }), params.id)),
      {
        can: { permission: WRITE, find: finding(links.deleted), read: readNothing },
        query: NoQuery,
        response: { 200: LinkResponse },
        detail: {
          ...operation("Restore a deleted short link"),
          ...failures("slug_taken", "redirect_loop", "limit_reached", "domain_not_found", "domain_not_verified"),
        },
      },
    )
}

const STATES = ["active", "archived", "expired"] as const
const SORTS = ["created", "clicks", "last_click"] as const
const NAMES = ["q", "tag", "state", "domain", "sort"]

/** Returns a page of a site's links with their clicks of the last 30 days. */
async function listLinks(
  { now, log }: LinksHost,
  { cache, format, reports }: { cache: Cache; format: LinkFormat; reports: Reports },
  { site, query, request }: { site: Site; query: Record<string, unknown> } & Pick<Asked, "request">,
) {
  const paging = readSortedPaging(`links/${site.id}`, query, NAMES, (reader) => ({
    q: (reader.text("q", { min: 0, max: 200 }) ?? "").toLowerCase(),
    tag: reader.text("tag", { min: 1, max: 40 }),
    state: reader.choice("state", STATES),
    domain: reader.text("domain", { min: 1, max: 16 }),
    sort: reader.choice("sort", SORTS) ?? "created",
  }))
  const { q, tag, state, domain, sort } = paging.filters
  await cache.ready()
  const fits = (link: Link): boolean =>
    (state === undefined ? stateOf(link, now()) !== "archived" : stateOf(link, now()) === (state as LinkState)) &&
    (tag === undefined || link.tags.includes(tag)) &&
    (domain === undefined || link.domain_id === (parseId(domain) ?? null)) &&
    [link.slug, link.title, link.destination, ...link.tags].some((text) => text.toLowerCase().includes(q))
  const found = cache
    .ofSite(site.id)
    .map(({ link }) => link)
    .filter(fits)
  const page = sortedPage(found, (link) => [-sortKeyOf(link, sort), -link.id], paging)
  const sparks = await reports.sparklines(site, page.data, request.signal).catch((error) => {
    // The list is useful without them.
    log.warn("sparklines of links could not be queried", { error })
    return undefined
  })
  return { ...page, data: page.data.map((link) => ({ ...format.response(link), sparkline: sparks?.get(link.id) ?? null })) }
}

const sortKeyOf = (link: Link, sort: (typeof SORTS)[number]): number =>
  sort === "clicks" ? link.clicks_human + link.clicks_bot : sort === "last_click" ? (link.last_click_at ?? 0) : link.id
