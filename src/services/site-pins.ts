import type { Clock } from "../domain/clock.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import { deleteSitePin, insertSitePin, listPinnedSites } from "../store/catalog/site-pins.ts"
import type { Alongside } from "./site-things.ts"

/** Whether a site is pinned, before and after. */
export interface Pinning {
  pinned: boolean
}

/** Sites that somebody wants to see first in their list; nobody else sees which. What is so already is left as it is. */
export interface SitePins {
  of(userId: number): Promise<ReadonlySet<number>>
  pin(userId: number, siteId: number, alongside?: Alongside<Pinning>): Promise<void>
  unpin(userId: number, siteId: number, alongside?: Alongside<Pinning>): Promise<void>
}

export function createSitePins({ catalog, clock }: { catalog: Catalog; clock: Pick<Clock, "now"> }): SitePins {
  const turn = (pinned: boolean, change: (statements: Statements) => Promise<boolean>, alongside: Alongside<Pinning> | undefined) =>
    catalog.transaction(async (statements) => {
      if (await change(statements)) await alongside?.(statements, { before: { pinned: !pinned }, after: { pinned } })
    })
  return {
    of: async (userId) => new Set((await listPinnedSites(catalog, userId)).map(({ site_id }) => site_id)),
    pin: (userId, siteId, alongside) => turn(true, (statements) => insertSitePin(statements, userId, siteId, clock.now()), alongside),
    unpin: (userId, siteId, alongside) => turn(false, (statements) => deleteSitePin(statements, userId, siteId), alongside),
  }
}
