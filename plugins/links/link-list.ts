import { type Asked, parseId, readSortedPaging, type Site, sortedPage } from "#plugin"
import { type Link, type LinkState, type LinksHost, stateOf } from "./link.ts"
import type { Reports } from "./reports/reports.ts"
import type { LinkFormat } from "./responses.ts"
import type { Cache } from "./serving/cache.ts"

const STATES = ["active", "archived", "expired"] as const
const SORTS = ["created", "clicks", "last_click"] as const
const NAMES = ["q", "tag", "state", "domain", "sort"]

/** Returns a page of a site's links with their clicks of the last 30 days. */
export async function listLinks(
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
