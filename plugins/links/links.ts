/**
 * Short links: redirects under an own host that count who follows them. The lookup is in memory, the redirect goes out first, and
 * nothing of a request decides where it leads.
 */
import { definePlugin } from "#plugin"
import type { Area } from "./area.ts"
import { createBatches } from "./batch.ts"
import { createCache } from "./cache.ts"
import { createChains } from "./chain.ts"
import { createDomains } from "./domains.ts"
import { createDoor } from "./door.ts"
import { createFold, type Fold } from "./fold.ts"
import { createLinks } from "./keeping.ts"
import { LIMITS, type LinksHost } from "./link.ts"
import { linkRoutes } from "./link-routes.ts"
import createTables from "./migrations/0001_links.sql" with { type: "text" }
import { createOrphans } from "./orphans.ts"
import { domainRoutes, templateRoutes } from "./place-routes.ts"
import { reportRoutes } from "./report-routes.ts"
import { createReports } from "./reports.ts"
import { Settings } from "./settings.ts"
import { createShowing } from "./shown.ts"
import { createTemplates } from "./templates.ts"
import { exportersOf, jobsOf, removeSite } from "./upkeep.ts"

export default definePlugin({
  id: "links",
  title: "Short links",
  paths: { site: ["links", "utm-templates", "link-domains"], open: [{ setting: "prefix" }] },
  pages: ["/sites/:site/links", "/sites/:site/links/:link"],
  permissions: { "links:read": "viewer", "links:write": "editor" },
  migrations: [{ name: "0001_links", sql: createTables }],
  records: { link_click: { title: "Link click", kind: "clicks" } },
  settings: Settings,
  async setup(host: LinksHost) {
    const prefix = host.settings.prefix.replace(/^\//, "")
    const area = areaOf(host, prefix)
    const { cache, chains, orphans, fold } = area
    const isDatacenter = await host.addressList("datacenters")
    const door = createDoor(host, { cache, chains, orphans, prefix, isDatacenter, onClick: foldSoon(host, fold) })
    await cache.readDomains()
    return {
      routes: [linkRoutes(area), reportRoutes(area), templateRoutes(area), domainRoutes(area)],
      doors: [
        { at: prefix, answer: door.atPath },
        { at: door.ownsHost, answer: door.onHost },
      ],
      jobs: jobsOf(area),
      exporters: exportersOf(area),
      onSiteDelete: (siteId) => removeSite(area, siteId),
      async stop() {
        await fold.all()
        await orphans.flush()
      },
    }
  },
})

function areaOf(host: LinksHost, prefix: string): Area {
  let limited: () => Promise<unknown> = async () => {}
  const cache = createCache(host.db, () => limited())
  const fold = createFold(host, cache)
  // A limit that a crash has left behind must be whole before the next one comes through.
  limited = async () => {
    const siteIds = new Set([...cache.all()].filter(({ link }) => link.max_clicks !== null).map(({ link }) => link.site_id))
    for (const siteId of siteIds)
      await fold.site(siteId).catch((error) => host.log.warn("clicks were not added up; the next run does it", { site: siteId, error }))
  }
  const chains = createChains(host, cache, prefix)
  const showing = createShowing(host, cache, prefix)
  const links = createLinks(host, { cache, chains, fold })
  return {
    ...{ host, cache, chains, links, fold, showing },
    orphans: createOrphans(host.db, host.now),
    batches: createBatches(links, { cache, show: showing.link }),
    templates: createTemplates(host),
    domains: createDomains(host, cache),
    reports: createReports(host),
  }
}

/** One job for all clicks of a quarter of a minute. */
function foldSoon({ jobs, now, log }: LinksHost, fold: Fold): (siteId: number) => void {
  let plannedFor = 0
  return (siteId) => {
    fold.touch(siteId)
    if (now() < plannedFor) return
    plannedFor = now() + LIMITS.foldMs
    jobs.enqueue("fold-clicks", { runAt: plannedFor, join: true }).catch((error) => log.warn("clicks will be added up later", { error }))
  }
}
