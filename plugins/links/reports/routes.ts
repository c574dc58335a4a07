import { type Static, Type as t } from "@sinclair/typebox"
import { AnyQuery, failures, fault, inspect, NoQuery, operationsOf, parseInstant, refuseFaults, Sent, type Site } from "#plugin"
import { type Area, finding } from "../area.ts"
import type { Link, LinksHost } from "../link.ts"
import { drawQr, readQr } from "../qr.ts"
import { BreakdownResponse, type LinkFormat, OrphansResponse, StatsResponse, TimeseriesResponse, TrialResponse } from "../responses.ts"
import type { Cache, CachedLink } from "../serving/cache.ts"
import type { Chains } from "../serving/chain.ts"
import { createBotCheck, decide, targetOf } from "../serving/decision.ts"

const operation = operationsOf("links")
const Picture = { schema: { type: "string", format: "binary" } }
const PICTURES: object = { responses: { 200: { content: { "image/svg+xml": Picture, "image/png": Picture } } } }
const ORPHAN_DAYS = 30
const DAY_MS = 86_400_000

/** Routes for reports, QR codes and tests of links. */
export function reportRoutes({ host, cache, chains, links, reports, format, orphans, domains }: Area) {
  const READ = { permission: "links:read", find: finding(links.get) }
  const slow = failures("query_timeout", "segment_not_found")

  return host
    .siteRouter()
    .get(
      "/links/orphans",
      async ({ site }) => {
        const since = new Date(host.now() - ORPHAN_DAYS * DAY_MS).toISOString().slice(0, 10)
        const ids = (await domains.list(site.organization_id)).map(({ id }) => id)
        const onDomains = await orphans.list(ids, since)
        return {
          domains: onDomains.map(({ domain_id, ...orphan }) => ({ ...orphan, domain_id: domain_id! })), // one of the ids
          instance: await orphans.totals(since),
        }
      },
      {
        can: "links:read",
        query: NoQuery,
        response: { 200: OrphansResponse },
        detail: operation("List requests without a link of the last 30 days"),
      },
    )
    .get(
      "/links/:id/stats",
      async ({ site, params, query, request }) => reports.stats(site, await links.get(site, params.id), query, request.signal),
      {
        can: READ,
        query: AnyQuery,
        response: { 200: StatsResponse },
        detail: { ...operation("Get the clicks of a link"), ...slow },
      },
    )
    .get(
      "/links/:id/timeseries",
      async ({ site, params, query, request }) => reports.timeseries(site, await links.get(site, params.id), query, request.signal),
      {
        can: READ,
        query: AnyQuery,
        response: { 200: TimeseriesResponse },
        detail: { ...operation("Get the clicks of a link over time"), ...slow },
      },
    )
    .get(
      "/links/:id/breakdown",
      async ({ site, params, query, request }) => reports.breakdown(site, await links.get(site, params.id), query, request.signal),
      {
        can: READ,
        query: AnyQuery,
        response: { 200: BreakdownResponse },
        detail: { ...operation("Get the clicks of a link by dimension"), ...slow },
      },
    )
    .get(
      "/links/:id/qr",
      async ({ site, params, query }) => {
        const style = readQr(query)
        const link = await links.get(site, params.id)
        const { type, body } = await drawQr(`${format.shortUrl(link)}?qr=1`, style)
        return new Response(body, {
          headers: {
            "content-type": type,
            "content-disposition": `inline; filename="${link.slug}.${style.format}"`,
            "content-security-policy": "default-src 'none'; sandbox",
            "cache-control": "no-store",
            "x-content-type-options": "nosniff",
          },
        })
      },
      {
        can: READ,
        query: AnyQuery,
        detail: { ...operation("Get the QR code of a link as SVG or PNG"), ...failures("low_contrast"), ...PICTURES },
      },
    )
    .post(
      "/links/:id/test",
      async ({ site, params, body }) => {
        await cache.ready()
        return tryLink(host, format, { cache, chains }, { site, link: await links.get(site, params.id), body: body.value })
      },
      {
        can: { ...READ, reads: true },
        query: NoQuery,
        body: Sent,
        response: { 200: TrialResponse },
        detail: operation("Test a link without counting a click", TrialInput),
      },
    )
}

const text = (maxLength: number, description: string) => t.Optional(t.String({ maxLength, description }))
const TrialInput = t.Object(
  {
    ua: text(512, "User agent. Default: that of a desktop browser."),
    country: text(512, "ISO 3166-1 code of the country. Default: unknown."),
    language: text(512, "Language preferences, as in the header `Accept-Language`. Default: none."),
    at: text(512, "Time of the request, in RFC 3339. Default: now."),
    query: text(2_000, "Query of the request. Default: empty."),
    path: text(2_000, "Path after the slug. Default: empty."),
  },
  { additionalProperties: false, title: "LinkTrial" },
)
const BROWSER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"
/** Status of the responses that do not redirect. */
const STATUS = { password: 200, expired: 410, loop: 410, not_started: 404, archived: 404, unknown: 404 } as const

/** Returns what a visitor would get now or at another time, without counting a click. */
function tryLink(
  host: LinksHost,
  format: LinkFormat,
  parts: { cache: Cache; chains: Chains },
  { site, link, body }: { site: Site; link: Link; body: unknown },
): TrialResponse {
  const given = readTrial(body)
  const headers = { "user-agent": given.ua ?? BROWSER, ...(given.language !== undefined && { "accept-language": given.language }) }
  const request = new Request(format.shortUrl(link), { headers })
  const sender = host.senderOf({ request, server: null })
  const wanted = {
    ...sender,
    ...(given.country !== undefined && { country: given.country }),
    at: given.at ?? host.now(),
    query: given.query,
    path: given.path,
    timezone: site.timezone,
    isUnlocked: false,
  }
  const cached: CachedLink = parts.cache.byId(link.id) ?? { link, pending: { human: 0 }, targets: [] }
  const decision = decide(cached, wanted, parts)
  const reason = createBotCheck(undefined)({ request, server: null }, sender, wanted.at)
  const bot = { ...(reason && { bot_reason: reason }) }
  if (decision.outcome === "redirect") return { ...decision, ...bot }
  if (decision.outcome === "expired") return { outcome: "expired", status: decision.url === null ? 410 : 302, url: decision.url, ...bot }
  // Users who can see the link may also see its destination behind the password.
  const protectedTarget = decision.outcome === "password" ? targetOf(link, wanted) : { url: null }
  return { outcome: decision.outcome, status: STATUS[decision.outcome], ...protectedTarget, ...bot }
}

function readTrial(body: unknown) {
  const { fields, faults } = inspect(TrialInput, body)
  const { ua, country, language, at, query = "", path = "" } = fields as Static<typeof TrialInput>
  const moment = at === undefined ? undefined : parseInstant(at)
  if (at !== undefined && moment === undefined) faults.push(fault("/at", "invalid_date", "must be an instant with its offset"))
  for (const [name, text] of [
    ["ua", ua],
    ["language", language],
  ] as const)
    if (text !== undefined && !/^[\u0020-\u00ff]*$/.test(text))
      faults.push(fault(`/${name}`, "invalid_characters", "contains characters that a header can't have"))
  refuseFaults(faults)
  return { ua, country, language, at: moment, query: query.replace(/^\?/, ""), path }
}
