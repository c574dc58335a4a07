import { AnyQuery, failures, NoQuery, operationsOf, Sent } from "#plugin"
import { type Area, finding } from "../area.ts"
import { drawQr, readQr } from "../qr/qr.ts"
import { BreakdownResponse, OrphansResponse, StatsResponse, TimeseriesResponse, TrialResponse } from "../responses.ts"
import { TrialInput, tryLink } from "./trial.ts"

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
