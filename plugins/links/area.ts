import type { Batches } from "./batch.ts"
import type { Cache } from "./cache.ts"
import type { Chains } from "./chain.ts"
import type { Domains } from "./domains.ts"
import type { Fold } from "./fold.ts"
import type { Links } from "./keeping.ts"
import type { LinksHost } from "./link.ts"
import type { Orphans } from "./orphans.ts"
import type { Reports } from "./reports.ts"
import type { Showing } from "./shown.ts"
import type { Templates } from "./templates.ts"

/** What the routes of the area are made of. */
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
  fold: Fold
  showing: Showing
}
