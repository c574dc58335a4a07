import type { Clock } from "../../domain/clock.ts"
import { AppError, type Fault, refuseFaults, siteNotFound } from "../../domain/error.ts"
import { updateClaimTimes } from "../../domain/host.ts"
import { THINGS } from "../../domain/limits.ts"
import { siteCreated, siteDeleted, siteUpdated } from "../../domain/product-event.ts"
import { fault } from "../../domain/shape.ts"
import type { Shield } from "../../domain/shield.ts"
import { COMPAT_PRODUCTS, type Site, type SiteDirectory } from "../../domain/site.ts"
import { patchSite } from "../../domain/site-input.ts"
import { refuseOtherVersion, refuseStaleBody } from "../../domain/version.ts"
import type { IdentityMode } from "../../domain/visit.ts"
import { changedHistory } from "../../ingest/identity/salt-period.ts"
import { removeSiteFromKeys } from "../../store/catalog/api-keys.ts"
import type { Catalog, Statements, Transactions } from "../../store/catalog/catalog.ts"
import { deletedSiteById, deleteSite, listDeletedSites, purgeSite, restoreSite, siteById, updateSite } from "../../store/catalog/sites.ts"
import type { Terms } from "../definitions/site-things.ts"
import type { Outbox } from "../jobs/outbox.ts"
import type { InstanceSettings } from "../settings/settings.ts"
import type { KeptDirectory } from "./directory.ts"
import type { SiteKeys } from "./site-keys.ts"
import { changedSite, type SiteChanges } from "./site-settings.ts"

/** Changes to a site that stays in its organization. They throw `site_not_found`, `version_conflict`, `precondition_failed`. */
export interface SiteWrites {
  /** Applies a merge patch to the fields that a site is created with. */
  update(id: number, patch: unknown, terms?: Terms<Site>): Promise<Site>
  /** Does the same within the caller's transaction. Pass the returned site to `show` right after the commit. */
  updateWithin(statements: Statements, id: number, patch: unknown, terms?: Terms<Site>): Promise<Site>
  /** Applies a merge patch to these fields and to the settings. Throws `compat_id_taken` for an id that another site uses. */
  configure(id: number, patch: unknown, terms?: Terms<Site>): Promise<Site>
  /** Returns the same operation, within a transaction of several services. */
  within(joined: Transactions): Pick<SiteWrites, "configure">
  /** Replaces the site's shields. `change` is called within the transaction. */
  changeShields(id: number, change: (site: Site) => readonly Shield[], terms?: Terms<Site>): Promise<Site>
}

interface SiteWritesOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  keys: Pick<SiteKeys, "replaceIdentityKey" | "forget">
  settings: Pick<InstanceSettings, "get">
  directory: KeptDirectory
  outbox: Pick<Outbox, "write">
}

const KNOWS_PERSONS: ReadonlySet<IdentityMode> = new Set(["identified", "persistent"])

export function createSiteWrites({ catalog, clock, keys, settings: instanceSetting, directory, outbox }: SiteWritesOptions): SiteWrites {
  const updateWithin: SiteWrites["updateWithin"] = (statements, id, patch, terms) =>
    write(statements, id, (site) => ({ fields: patchSite(site, patch), settings: site.settings }), terms)

  async function write(statements: Statements, id: number, change: (site: Site) => SiteChanges, terms: Terms<Site> = {}): Promise<Site> {
    const site = await siteById(statements, id)
    if (!site) throw siteNotFound()
    const { fields, settings } = change(site)
    if (terms.named) refuseStaleBody(site, terms.named.version, terms.named.current)
    refuseOtherVersion(site, terms.expected)
    if (Bun.deepEquals({ ...site, ...fields, settings }, site)) return site
    const { identity_mode } = site.settings
    const now = clock.now()
    const identity_history = changedHistory(site, { timezone: fields.timezone, identity_mode: settings.identity_mode }, now)
    // Visitors recognized by a person key must not be recognized by the same key later (metrics.md 2.3).
    if (KNOWS_PERSONS.has(identity_mode) && settings.identity_mode !== identity_mode) await keys.replaceIdentityKey(statements, id)
    const hosts_listed_at = updateClaimTimes(site, { hosts: fields.hosts, settings }, now)
    const changed = await updateSite(statements, id, { ...fields, settings, identity_history, hosts_listed_at }, now)
    await outbox.write(statements, siteUpdated(site, changed))
    await terms.alongside?.(statements, { before: site, after: changed })
    return changed
  }

  const on = (catalog: Transactions): Pick<SiteWrites, "configure"> => ({
    configure: (id, patch, terms) =>
      catalog.transaction(
        async (statements) => {
          const site = await write(statements, id, (before) => allowed(changedSite(before, patch), before, instanceSetting), terms)
          refuseTakenIds(site, directory)
          return site
        },
        (site) => {
          directory.put(site)
          keys.forget(id)
        },
      ),
  })

  return {
    update: (id, patch, terms) => catalog.transaction((statements) => updateWithin(statements, id, patch, terms), directory.put),
    updateWithin,
    ...on(catalog),
    within: on,
    changeShields: (id, change, terms) =>
      catalog.transaction(
        (statements) => write(statements, id, (site) => ({ fields: site, settings: { ...site.settings, shields: change(site) } }), terms),
        directory.put,
      ),
  }
}

/**
 * Throws if the changes enable a setting that the instance does not support or allow. Settings that were enabled before can stay
 * enabled.
 */
function allowed(changes: SiteChanges, before: Site, instanceSetting: Pick<InstanceSettings, "get">): SiteChanges {
  const isNew = (name: "store_user_ids" | "drop_datacenters") => changes.settings[name] && !before.settings[name]
  const faults: Fault[] = []
  if (isNew("store_user_ids") && !instanceSetting.get("store_user_ids_allowed"))
    faults.push(fault("/store_user_ids", "invalid_choice", "is disabled on this instance"))
  // If enabled it would drop nothing, although the site's owner would expect it to.
  if (isNew("drop_datacenters"))
    faults.push(fault("/drop_datacenters", "invalid_choice", "requires a list of hosting networks, which this instance does not have"))
  refuseFaults(faults)
  return changes
}

/** Throws `compat_id_taken` if another site uses an id. Events could not be assigned to one of the two. */
function refuseTakenIds({ id, settings }: Site, directory: SiteDirectory): void {
  for (const product of COMPAT_PRODUCTS)
    for (const [i, compatId] of settings.compat_ids[product].entries())
      if ((directory.byCompatId(product, compatId)?.id ?? id) !== id)
        throw new AppError("compat_id_taken", "Another site has this id.", { pointer: `/compat_ids/${product}/${i}` })
}

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
  outbox: Pick<Outbox, "write">
  /** Throws `limit_reached` if the organization has reached its number of sites. */
  refuseFull(statements: Statements, organizationId: number): Promise<void>
}

const RESTORE_MS = THINGS.siteRestoreDays * 86_400_000
const MAX_PURGED_AT_ONCE = 100

export function createSiteEndings({ catalog, clock, directory, outbox, refuseFull }: SiteEndingsOptions): SiteEndings {
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
        await outbox.write(statements, siteCreated(restored, "restored"))
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
          await outbox.write(statements, siteDeleted(site, "deleted"))
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
