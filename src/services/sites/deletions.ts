import type { Clock } from "../../domain/clock.ts"
import { siteNotFound } from "../../domain/error.ts"
import { THINGS } from "../../domain/limits.ts"
import type { Site } from "../../domain/site.ts"
import { refuseOtherVersion } from "../../domain/version.ts"
import { removeSiteFromKeys } from "../../store/catalog/api-keys.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { deletedSiteById, deleteSite, listDeletedSites, purgeSite, restoreSite, siteById } from "../../store/catalog/sites.ts"
import type { Terms } from "../definitions/site-things.ts"
import type { KeptDirectory } from "./directory.ts"
import { refuseTakenIds } from "./writes.ts"

/** Deletion of sites: a deleted site is hidden at once, can be restored for 30 days, and is then purged. */
export interface SiteEndings {
  /** Hides the site. Its data is retained until it is purged. */
  remove(id: number, terms?: Terms<Site>): Promise<void>
  /** Returns a site deleted within the last 30 days. Throws `site_not_found`. */
  deleted(id: number): Promise<Site>
  /** Restores a deleted site. Throws `limit_reached`, and `compat_id_taken` for an id that another site uses by now. */
  restore(id: number, terms?: Terms<Site>): Promise<Site>
  /** Removes sites from the directory that were hidden together with their organization. Call it right after the commit. */
  forget(ids: readonly number[]): void
  /**
   * Purges sites deleted more than 30 days ago: `erase` removes a site's data from the event store, then its row and everything
   * that refers to it is deleted. An interrupted purge continues at the next call. Returns the ids.
   */
  purge(now: number, erase: (siteId: number) => Promise<unknown>): Promise<number[]>
}

interface SiteEndingsOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  directory: KeptDirectory
  /** Throws `limit_reached` if the organization has reached its number of sites. */
  refuseFull(statements: Statements, organizationId: number): Promise<void>
}

const RESTORE_MS = THINGS.siteRestoreDays * 86_400_000
const MAX_PURGED_AT_ONCE = 100

export function createSiteEndings({ catalog, clock, directory, refuseFull }: SiteEndingsOptions): SiteEndings {
  async function findDeleted(statements: Statements, id: number): Promise<Site> {
    const site = await deletedSiteById(statements, id, clock.now() - RESTORE_MS)
    if (!site) throw siteNotFound()
    return site
  }

  return {
    deleted: (id) => findDeleted(catalog, id),
    restore: (id, { expected, alongside } = {}) =>
      catalog.transaction(async (statements) => {
        const site = await findDeleted(statements, id)
        refuseOtherVersion(site, expected)
        await refuseFull(statements, site.organization_id)
        refuseTakenIds(site, directory)
        const restored = await restoreSite(statements, id, clock.now())
        await alongside?.(statements, { after: restored })
        return restored
      }, directory.put),
    remove: (id, { expected, alongside } = {}) =>
      catalog.transaction(
        async (statements) => {
          const site = await siteById(statements, id)
          if (!site) throw siteNotFound()
          refuseOtherVersion(site, expected)
          await deleteSite(statements, id, clock.now())
          await removeSiteFromKeys(statements, site.organization_id, id)
          await alongside?.(statements, { before: site })
        },
        () => directory.remove(id),
      ),
    forget: (ids) => ids.forEach(directory.remove),
    async purge(now, erase) {
      const overdue = await listDeletedSites(catalog, now - RESTORE_MS, MAX_PURGED_AT_ONCE)
      for (const { id } of overdue) {
        await erase(id)
        await purgeSite(catalog, id)
      }
      return overdue.map(({ id }) => id)
    },
  }
}
