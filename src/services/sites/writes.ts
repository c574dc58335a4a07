import type { Clock } from "../domain/clock.ts"
import { AppError, type Fault, refuseFaults, siteNotFound } from "../domain/error.ts"
import { fault } from "../domain/shape.ts"
import type { Shield } from "../domain/shield.ts"
import { COMPAT_PRODUCTS, type Site, type SiteDirectory } from "../domain/site.ts"
import { patchSite } from "../domain/site-input.ts"
import { refuseOtherVersion, refuseStaleBody } from "../domain/version.ts"
import type { IdentityMode } from "../domain/visit.ts"
import { changedHistory } from "../ingest/salt-period.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import { siteById, updateSite } from "../store/catalog/sites.ts"
import type { InstanceSettings } from "./instance-settings.ts"
import type { KeptDirectory } from "./site-directory.ts"
import type { SiteKeys } from "./site-keys.ts"
import { changedSite, type SiteChanges } from "./site-settings.ts"
import type { Terms } from "./site-things.ts"

/** Changes of a site that stays where it is. Throws `site_not_found`, `version_conflict`, `precondition_failed`. */
export interface SiteWrites {
  /** A merge patch of the fields a site is made with. */
  update(id: number, patch: unknown, terms?: Terms<Site>): Promise<Site>
  /** The same as a part of somebody else's transaction: what it returns is given to `show` right after the commit. */
  updateWithin(statements: Statements, id: number, patch: unknown, terms?: Terms<Site>): Promise<Site>
  /** A merge patch of these fields and of its settings. Throws `compat_id_taken` for an id that another site has. */
  configure(id: number, patch: unknown, terms?: Terms<Site>): Promise<Site>
  /** Other shields in the place of those that it has. `change` is called in the transaction. */
  changeShields(id: number, change: (site: Site) => readonly Shield[], terms?: Terms<Site>): Promise<Site>
}

interface SiteWritesOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  keys: Pick<SiteKeys, "replaceIdentityKey" | "forget">
  settings: Pick<InstanceSettings, "get">
  directory: KeptDirectory
}

const KNOWS_PERSONS: ReadonlySet<IdentityMode> = new Set(["identified", "persistent"])

export function createSiteWrites({ catalog, clock, keys, settings: ofInstance, directory }: SiteWritesOptions): SiteWrites {
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
    // Whoever was known by a person key must not be found by it later on (metrics.md 2.3).
    if (KNOWS_PERSONS.has(identity_mode) && settings.identity_mode !== identity_mode) await keys.replaceIdentityKey(statements, id)
    const changed = await updateSite(statements, id, { ...fields, settings, identity_history }, now)
    await terms.alongside?.(statements, { before: site, after: changed })
    return changed
  }

  return {
    update: (id, patch, terms) => catalog.transaction((statements) => updateWithin(statements, id, patch, terms), directory.put),
    updateWithin,
    configure: (id, patch, terms) =>
      catalog.transaction(
        async (statements) => {
          const site = await write(statements, id, (before) => allowed(changedSite(before, patch), before, ofInstance), terms)
          refuseTakenIds(site, directory)
          return site
        },
        (site) => {
          directory.put(site)
          keys.forget(id)
        },
      ),
    changeShields: (id, change, terms) =>
      catalog.transaction(
        (statements) => write(statements, id, (site) => ({ fields: site, settings: { ...site.settings, shields: change(site) } }), terms),
        directory.put,
      ),
  }
}

/** Ids of people are kept only where the instance lets sites do so; what was on before can stay. */
function allowed(changes: SiteChanges, before: Site, ofInstance: Pick<InstanceSettings, "get">): SiteChanges {
  const isNew = (name: "store_user_ids" | "drop_datacenters") => changes.settings[name] && !before.settings[name]
  const faults: Fault[] = []
  if (isNew("store_user_ids") && !ofInstance.get("store_user_ids_allowed"))
    faults.push(fault("/store_user_ids", "invalid_choice", "is not allowed on this instance"))
  // Switched on it would drop nothing, and its owner would believe that it does.
  if (isNew("drop_datacenters"))
    faults.push(fault("/drop_datacenters", "invalid_choice", "needs a list of hosting networks, and there is none"))
  refuseFaults(faults)
  return changes
}

/** Two sites of one id would each get the other's events. */
export function refuseTakenIds({ id, settings }: Site, directory: SiteDirectory): void {
  for (const product of COMPAT_PRODUCTS)
    for (const [i, compatId] of settings.compat_ids[product].entries())
      if ((directory.byCompatId(product, compatId)?.id ?? id) !== id)
        throw new AppError("compat_id_taken", "Another site has this id", { pointer: `/compat_ids/${product}/${i}` })
}
