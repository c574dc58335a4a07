import { Type as t } from "@sinclair/typebox"
import {
  type Actor,
  AnyQuery,
  etagOf,
  NoQuery,
  orNull,
  Paged,
  readJsonAsSent,
  readNothing,
  Sent,
  type Site,
  slugFault,
  versionsIn,
} from "#plugin"
import type { Area } from "./area.ts"
import { type BulkAnswer, BulkInput, type ImportAnswer, ImportInput, type RowOutcome } from "./batch.ts"
import { LinkInput } from "./input.ts"
import { LIMITS, type Link } from "./link.ts"
import type { Author } from "./link-writes.ts"
import { listLinks } from "./listing.ts"
import { Id, LinkShown, refuses, says, takes } from "./shown.ts"

const Spark = t.Object({ human: t.Array(t.Integer()), bot: t.Array(t.Integer()) })
const LinkListed = t.Object({ ...LinkShown.properties, sparkline: orNull(Spark) }, { title: "LinkListed" })
const CONTENT = ["invalid_destination", "redirect_loop", "destination_not_allowed", "slug_reserved", "invalid_slug", "utm_required"]
const STATE = ["slug_taken", "slug_recently_used", "domain_not_verified", "domain_not_found", "template_not_found", "limit_reached"]
const takesSome = takes(t.Partial(t.Object({ ...LinkInput.properties, archived: t.Boolean(), version: Id }), { title: "LinkPatch" }))
const RowError = t.Object({ code: t.String(), detail: t.String(), errors: t.Optional(t.Any()) })
const BulkShown = t.Object(
  { results: t.Array(t.Object({ index: t.Integer(), status: t.String(), id: t.Optional(Id), error: t.Optional(RowError) })) },
  { title: "LinkBulkResult" },
)
const ImportShown = t.Object(
  {
    format: t.String(),
    dry_run: t.Boolean(),
    counts: t.Object({ ok: t.Integer(), failed: t.Integer() }),
    rows: t.Array(
      t.Object({
        line: t.Integer(),
        status: t.String(),
        slug: orNull(t.String()),
        destination: t.String(),
        id: t.Optional(Id),
        error: t.Optional(RowError),
      }),
    ),
  },
  { title: "LinkImportResult" },
)

interface ReportOptions {
  site: Site
  actor: Actor
  user: { id: number }
  permissions: ReadonlySet<string>
}
const authorOf = ({ site, actor, user, permissions }: ReportOptions): Author => ({ site, actor, userId: user.id, permissions })
const WRITE = "links:write"
/** A JSON text needs room for its own signs. */
const IMPORT_BYTES = LIMITS.importBytes * 2

/** Links: what people do to them. */
export function linkRoutes(area: Area) {
  const { host, cache, links, batches, showing } = area
  const find = async (params: Record<string, string | undefined>, { site }: { site?: Site }) => void (await links.get(site!, params.id)) // below a site
  const findDeleted = async (params: Record<string, string | undefined>, { site }: { site?: Site }) =>
    void (await links.deleted(site!, params.id)) // below a site
  const created = (link: Link) => ({
    location: `/api/private/sites/${link.site_id}/links/${link.id}`,
    etag: etagOf(link),
    body: showing.link(link),
  })
  function tagged({ headers }: { headers: Record<string, unknown> }, link: Link): LinkShown {
    headers.etag = etagOf(link)
    return showing.link(link)
  }

  return host
    .siteRouter()
    .get("/links", ({ site, query, request }) => listLinks(host, area, { site, query, request }), {
      can: "links:read",
      query: AnyQuery,
      response: { 200: Paged(LinkListed) },
      detail: says("links", "List short links"),
    })
    .post(
      "/links",
      ({ site, actor, user, permissions, ...call }) =>
        host.create<Link, LinkShown>(
          { ...call, user },
          (body, beside) => links.create(authorOf({ site, actor, user, permissions }), body, beside),
          created,
        ),
      {
        can: WRITE,
        query: NoQuery,
        body: Sent,
        response: { 201: LinkShown },
        detail: says("links", "Create a short link", { ...takes(LinkInput), ...refuses(...CONTENT, ...STATE) }),
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
        response: {
          200: t.Object({ available: t.Boolean(), reason: t.Optional(t.String()), suggestions: t.Optional(t.Array(t.String())) }),
        },
        detail: says("links", "Check whether a slug is available", refuses("domain_not_found")),
      },
    )
    .post(
      "/links/bulk",
      ({ site, actor, user, permissions, ...call }) =>
        host.batch<RowOutcome, BulkAnswer>({ ...call, user }, (body, progress) =>
          batches.bulk(authorOf({ site, actor, user, permissions }), body, progress),
        ),
      {
        can: WRITE,
        query: NoQuery,
        body: Sent,
        response: { 200: BulkShown },
        detail: says("links", "Create, update, archive or delete many links", takes(BulkInput)),
      },
    )
    .post(
      "/links/import",
      ({ site, actor, user, permissions, ...call }) =>
        host.batch<RowOutcome, ImportAnswer>({ ...call, user }, (body, progress) =>
          batches.import(authorOf({ site, actor, user, permissions }), body, progress),
        ),
      {
        can: { permission: WRITE, read: readJsonAsSent(IMPORT_BYTES) },
        query: NoQuery,
        body: Sent,
        response: { 200: ImportShown },
        detail: says("links", "Import links from CSV, or preview the import", takes(ImportInput)),
      },
    )
    .get("/links/:id", async ({ site, params, set }) => tagged(set, await links.get(site, params.id)), {
      can: "links:read",
      query: NoQuery,
      response: { 200: LinkShown },
      detail: says("links", "Get a short link"),
    })
    .patch(
      "/links/:id",
      async ({ site, params, actor, user, permissions, body, request, set }) => {
        const terms = { expected: versionsIn(request.headers.get("if-match")), show: showing.link }
        return tagged(set, await links.update(authorOf({ site, actor, user, permissions }), params.id, body.value, terms))
      },
      {
        can: { permission: WRITE, find },
        query: NoQuery,
        body: Sent,
        response: { 200: LinkShown },
        detail: says("links", "Update a short link", { ...takesSome, ...refuses(...CONTENT, ...STATE, "precondition_failed") }),
      },
    )
    .delete(
      "/links/:id",
      async ({ site, params, actor, user, permissions, request, status }) => {
        await links.remove(authorOf({ site, actor, user, permissions }), params.id, versionsIn(request.headers.get("if-match")))
        return status(204, undefined)
      },
      {
        can: { permission: WRITE, find, read: readNothing },
        query: NoQuery,
        detail: says("links", "Delete a short link, which can be restored for 30 days", refuses("precondition_failed")),
      },
    )
    .post(
      "/links/:id/restore",
      async ({ site, params, actor, user, permissions, set }) =>
        tagged(set, await links.restore(authorOf({ site, actor, user, permissions }), params.id)),
      {
        can: { permission: WRITE, find: findDeleted, read: readNothing },
        query: NoQuery,
        response: { 200: LinkShown },
        detail: says(
          "links",
          "Restore a deleted short link",
          refuses("slug_taken", "redirect_loop", "limit_reached", "domain_not_found", "domain_not_verified"),
        ),
      },
    )
}
