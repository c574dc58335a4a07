/**
 * Short links: redirects that count their clicks. Links are looked up in memory, and the redirect is sent before the click is stored.
 * A destination never depends on text of the request other than what the link forwards.
 */
import { definePlugin, movePositions } from "#plugin"
import type { Area } from "./area.ts"
import { createBatches } from "./batch.ts"
import { beginDemo } from "./demo.ts"
import { createDomains, domainRoutes } from "./domains.ts"
import { ERRORS } from "./errors.ts"
import type { LinksHost } from "./link.ts"
import { linkRoutes } from "./link-routes.ts"
import { createLinks } from "./link-writes.ts"
import createTables from "./migrations/0001_links.sql" with { type: "text" }
import positions from "./migrations/0002_positions.sql" with { type: "text" }
import { createReports } from "./reports/reports.ts"
import { reportRoutes } from "./reports/routes.ts"
import { createLinkFormat } from "./responses.ts"
import { linkTrash, namedLinks } from "./rows.ts"
import { createCache } from "./serving/cache.ts"
import { createChains } from "./serving/chain.ts"
import { createOrphans } from "./serving/orphans.ts"
import { createEndpoint } from "./serving/serving.ts"
import { Settings } from "./settings.ts"
import { createTemplates, templateRoutes } from "./templates.ts"
import { exportersOf, jobsOf, linkCounters, removeSite } from "./upkeep.ts"
import { widgetsOf } from "./widgets.ts"

export default definePlugin({
  id: "links",
  title: "Short links",
  paths: { site: ["links", "utm-templates", "link-domains"], open: [{ setting: "prefix" }] },
  pages: ["/sites/:site/links", "/sites/:site/links/:link"],
  permissions: { "links:read": "viewer", "links:write": "editor" },
  moveRows: (tables, move) => movePositions(tables, "links_positions", move),
  migrations: [
    { name: "0001_links", sql: createTables },
    { name: "0002_positions", sql: positions },
  ],
  errors: ERRORS,
  records: { link_click: { title: "Link click", kind: "clicks" } },
  settings: Settings,
  async setup(host: LinksHost) {
    const prefix = host.settings.prefix.replace(/^\//, "")
    const area = areaOf(host, prefix)
    const { cache, chains, orphans, counters } = area
    const isDatacenter = await host.addressList("datacenters")
    const endpoint = createEndpoint(host, { cache, chains, orphans, prefix, isDatacenter, onClick: counters.soon })
    await cache.begin()
    return {
      routes: [linkRoutes(area), reportRoutes(area), templateRoutes(area), domainRoutes(area)],
      endpoints: [
        { at: prefix, answer: endpoint.atPath },
        { at: endpoint.ownsHost, answer: endpoint.onHost },
      ],
      jobs: jobsOf(area),
      exporters: exportersOf(area),
      widgets: widgetsOf(area),
      named: { link: namedLinks(host) },
      beginDemo: (demo) => beginDemo(area, prefix, demo),
      onSiteDelete: (siteId) => removeSite(area, siteId),
      async stop() {
        await counters.run()
        await orphans.flush()
      },
    }
  },
})

function areaOf(host: LinksHost, prefix: string): Area {
  const cache = createCache(host.db, { prefix, onReady: () => countLimited() })
  const counters = linkCounters(host, cache)
  const trash = linkTrash(host)
  /** Counts the clicks that a crash may have left uncounted, before a link with a click limit is served. */
  async function countLimited(): Promise<void> {
    const siteIds = new Set([...cache.all()].filter(({ link }) => link.max_clicks !== null).map(({ link }) => link.site_id))
    for (const siteId of siteIds)
      await counters
        .site(siteId)
        .catch((error) => host.log.warn("clicks could not be counted and will be counted by the next run", { site: siteId, error }))
  }
  const chains = createChains(host, cache, prefix)
  const format = createLinkFormat(host, cache, prefix)
  const links = createLinks(host, { cache, chains, counters, trash })
  return {
    ...{ host, cache, chains, links, counters, trash, format },
    orphans: createOrphans(host.db, host.now),
    batches: createBatches(links, { db: host.db, cache, show: format.response }),
    templates: createTemplates(host),
    domains: createDomains(host, cache),
    reports: createReports(host),
  }
}
