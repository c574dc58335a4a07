import { AnyQuery, NoQuery, Sent, type Site } from "#plugin"
import type { Area } from "../area.ts"
import { qrPicture, readQr } from "../qr/qr.ts"
import { refuses, says, takes } from "../shown.ts"
import { BreakdownShown, OrphansShown, StatsShown, TimeseriesShown } from "./shapes.ts"
import { TrialInput, TrialShown, tryLink } from "./trial.ts"

const Picture = { schema: { type: "string", format: "binary" } }
const PICTURES = { responses: { 200: { content: { "image/svg+xml": Picture, "image/png": Picture } } } }
const ORPHAN_DAYS = 30
const DAY_MS = 86_400_000

/** What became of links: reports, codes, trials without a click. */
export function reportRoutes({ host, cache, chains, links, reports, showing, orphans, domains }: Area) {
  const find = async (params: Record<string, string | undefined>, { site }: { site?: Site }) => void (await links.get(site!, params.id)) // below a site
  const READ = { permission: "links:read", find }
  const slow = refuses("query_timeout", "segment_not_found")

  return host
    .siteRouter()
    .get(
      "/links/orphans",
      async ({ site }) => {
        const since = new Date(host.now() - ORPHAN_DAYS * DAY_MS).toISOString().slice(0, 10)
        const own = await domains.list(site.organization_id)
        return {
          domains: (
            await orphans.list(
              own.map(({ id }) => id),
              since,
            )
          ).map(({ domain_id, ...orphan }) => ({ ...orphan, domain_id: domain_id! })), // of these domains
          instance: await orphans.totals(since),
        }
      },
      {
        can: "links:read",
        query: NoQuery,
        response: { 200: OrphansShown },
        detail: says("links", "List requests without a link of the last 30 days"),
      },
    )
    .get(
      "/links/:id/stats",
      async ({ site, params, query, request }) => reports.stats(site, await links.get(site, params.id), query, request.signal),
      {
        can: READ,
        query: AnyQuery,
        response: { 200: StatsShown },
        detail: says("links", "Get the clicks of a link", slow),
      },
    )
    .get(
      "/links/:id/timeseries",
      async ({ site, params, query, request }) => reports.timeseries(site, await links.get(site, params.id), query, request.signal),
      { can: READ, query: AnyQuery, response: { 200: TimeseriesShown }, detail: says("links", "Get the clicks of a link over time", slow) },
    )
    .get(
      "/links/:id/breakdown",
      async ({ site, params, query, request }) => reports.breakdown(site, await links.get(site, params.id), query, request.signal),
      {
        can: READ,
        query: AnyQuery,
        response: { 200: BreakdownShown },
        detail: says("links", "Get the clicks of a link by dimension", slow),
      },
    )
    .get(
      "/links/:id/qr",
      async ({ site, params, query }) => {
        const wish = readQr(query)
        const link = await links.get(site, params.id)
        const { type, body } = await qrPicture(`${showing.shortUrl(link)}?qr=1`, wish)
        return new Response(body, {
          headers: {
            "content-type": type,
            "content-disposition": `inline; filename="${link.slug}.${wish.format}"`,
            "content-security-policy": "default-src 'none'; sandbox",
            "cache-control": "no-store",
            "x-content-type-options": "nosniff",
          },
        })
      },
      {
        can: READ,
        query: AnyQuery,
        detail: says("links", "Get the QR code of a link as SVG or PNG", { ...refuses("low_contrast"), ...PICTURES }),
      },
    )
    .post(
      "/links/:id/test",
      async ({ site, params, body }) => {
        await cache.ready()
        return tryLink(host, showing, { cache, chains }, { site, link: await links.get(site, params.id), body: body.value })
      },
      {
        can: { ...READ, reads: true },
        query: NoQuery,
        body: Sent,
        response: { 200: TrialShown },
        detail: says("links", "Test a link without counting a click", takes(TrialInput)),
      },
    )
}
