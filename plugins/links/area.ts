import type { Counters, Site, Trash } from "#plugin"
import type { Batches } from "./batch.ts"
import type { Domains } from "./domains.ts"
import type { Link, LinksHost } from "./link.ts"
import type { Links } from "./link-writes.ts"
import type { Reports } from "./reports/reports.ts"
import type { LinkFormat } from "./responses.ts"
import type { Cache } from "./serving/cache.ts"
import type { Chains } from "./serving/chain.ts"
import type { Orphans } from "./serving/orphans.ts"
import type { Templates } from "./templates.ts"

/** Parts of the plugin that its routes and jobs share. */
export interface Area {
  host: LinksHost
  cache: Cache
  chains: Chains
  links: Links
  batches: Batches
  templates: Templates
  domains: Domains
  reports: Reports
  orphans: Orphans
  counters: Counters
  trash: Trash<Link>
  format: LinkFormat
}

/** Returns the check that the item in the path of a route exists. It runs before the body is read. */
export const finding =
  (get: (site: Site, id: string | undefined) => Promise<unknown>) =>
  async ({ id }: Record<string, string | undefined>, { site }: { site?: Site }): Promise<void> =>
    void (await get(site!, id)) // all routes are below a site
