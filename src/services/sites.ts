import type { Clock } from "../domain/clock.ts"
import { AppError, siteNotFound } from "../domain/error.ts"
import { parseId } from "../domain/id.ts"
import { type ApiKey, reachesSite } from "../domain/key.ts"
import { THINGS } from "../domain/limits.ts"
import type { Shield } from "../domain/shield.ts"
import { COMPAT_PRODUCTS, type Site, type SiteDirectory } from "../domain/site.ts"
import { parseSite, patchSite, type SiteDefaults } from "../domain/site-input.ts"
import { refuseOtherVersion, refuseStaleBody } from "../domain/version.ts"
import type { IdentityMode } from "../domain/visit.ts"
import { changedHistory } from "../ingest/salt-period.ts"
import { removeSiteFromKeys } from "../store/catalog/api-keys.ts"
import type { Catalog, Slice, Statements } from "../store/catalog/catalog.ts"
import {
  countSites,
  deletedSiteById,
  deleteSite,
  insertSite,
  listDeletedSites,
  listSites,
  moveSite,
  purgeSite,
  restoreSite,
  siteById,
  updateSite,
} from "../store/catalog/sites.ts"
import type { Random } from "./secrets.ts"
import { createSiteDirectory } from "./site-directory.ts"
import type { SiteKeys } from "./site-keys.ts"
import { changedSite, type SiteChanges } from "./site-settings.ts"
import type { Alongside, Terms } from "./site-things.ts"
import { inSlices } from "./slices.ts"

export interface Sites {
  /** Always exact: changed with the commit of every write, before the next statement. */
  directory: SiteDirectory
  create(organizationId: number, body: unknown, alongside?: Alongside<Site>): Promise<Site>
  /** By id ascending; with `search` those whose name or a host has this text, in any case. */
  list(organizationId: number, options?: { search?: string }): Promise<Site[]>
  /** Throws `site_not_found`. */
  get(id: number): Promise<Site>
  /** A merge patch of the fields a site is made with. */
  update(id: number, patch: unknown, terms?: Terms<Site>): Promise<Site>
  /** A merge patch of these fields and of its settings. Throws `compat_id_taken` for an id that another site has. */
  configure(id: number, patch: unknown, terms?: Terms<Site>): Promise<Site>
  /** Other shields in the place of those that it has. `change` is called in the transaction. */
  changeShields(id: number, change: (site: Site) => readonly Shield[], terms?: Terms<Site>): Promise<Site>
  /** From now on nobody finds it; its data stays until it is purged. */
  remove(id: number, terms?: Terms<Site>): Promise<void>
  /** A site that was deleted within the last 30 days. Throws `site_not_found`. */
  deleted(id: number): Promise<Site>
  /** Brings a deleted site back. Throws `limit_reached`, and `compat_id_taken` for an id that another site has by now. */
  restore(id: number, terms?: Terms<Site>): Promise<Site>
  /** To another organization; the keys and site members of the old one lose it. Throws `limit_reached`. */
  transfer(id: number, organizationId: number, terms?: Terms<Site>): Promise<Site>
  /** Of sites that were hidden together with their organization: to be called right after the commit. */
  forget(ids: readonly number[]): void
  /**
   * Ends what was deleted 30 days ago: `erase` takes the site's data out of the event store, then its row goes with all that
   * hangs on it. What an interruption leaves is done the next time. Returns the ids.
   */
  purge(now: number, erase: (siteId: number) => Promise<unknown>): Promise<number[]>
  /** The site that a path names to a key. One and the same `site_not_found` for what is no id, no site, or not the key's. */
  visible(key: ApiKey, idText: string | undefined): Promise<Site>
  /** Those a key reaches, by id ascending; with `search` as in `list`. */
  listVisible(key: ApiKey, options: Slice & { search?: string }): Promise<Site[]>
}

interface SitesOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  keys: Pick<SiteKeys, "make" | "replaceIdentityKey" | "forget">
  defaults: SiteDefaults
  /** Sites per organization. */
  maxSites?: number
}

export async function createSites(options: SitesOptions): Promise<Sites> {
  const { catalog, clock, random, keys, defaults, maxSites = THINGS.sitesPerOrganization } = options
  const directory = createSiteDirectory()
  for (const site of await inSlices((slice) => listSites(catalog, slice))) directory.put(site)

  const find = (id: number): Site => {
    const site = directory.byId(id)
    if (!site) throw siteNotFound()
    return site
  }
  function list(organizationId: number, search: string): Site[] {
    const part = search.toLowerCase()
    return directory
      .ofOrganization(organizationId)
      .filter(({ name, hosts }) => [name, ...hosts].some((text) => text.toLowerCase().includes(part)))
  }
  async function refuseFull(statements: Statements, organizationId: number): Promise<void> {
    if ((await countSites(statements, organizationId)) >= maxSites) throw tooManySites(maxSites)
  }
  async function findDeleted(statements: Statements, id: number): Promise<Site> {
    const site = await deletedSiteById(statements, id, clock.now() - THINGS.siteRestoreDays * DAY_MS)
    if (!site) throw siteNotFound()
    return site
  }
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
    directory,
    async create(organizationId, body, alongside) {
      const fields = parseSite(body, defaults)
      const trackingId = uuid(random(16))
      return catalog.transaction(async (statements) => {
        await refuseFull(statements, organizationId)
        const now = clock.now()
        const site = await insertSite(statements, { ...fields, organization_id: organizationId, tracking_id: trackingId, created_at: now })
        await keys.make(statements, site.id)
        await alongside?.(statements, { after: site })
        return site
      }, directory.put)
    },
    list: async (organizationId, { search = "" } = {}) => list(organizationId, search),
    get: async (id) => find(id),
    update: (id, patch, terms) =>
      catalog.transaction(
        (statements) => write(statements, id, (site) => ({ fields: patchSite(site, patch), settings: site.settings }), terms),
        directory.put,
      ),
    configure: (id, patch, terms) =>
      catalog.transaction(
        async (statements) => {
          const site = await write(statements, id, (site) => changedSite(site, patch), terms)
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
    transfer: (id, organizationId, { expected, alongside } = {}) =>
      catalog.transaction(async (statements) => {
        const site = await siteById(statements, id)
        if (!site) throw siteNotFound()
        refuseOtherVersion(site, expected)
        await refuseFull(statements, organizationId)
        await removeSiteFromKeys(statements, site.organization_id, id)
        const moved = await moveSite(statements, id, organizationId, clock.now())
        await alongside?.(statements, { before: site, after: moved })
        return moved
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
      const overdue = await listDeletedSites(catalog, now - THINGS.siteRestoreDays * DAY_MS, PURGED_AT_ONCE)
      for (const { id } of overdue) {
        await erase(id)
        await purgeSite(catalog, id)
      }
      return overdue.map(({ id }) => id)
    },
    async visible(key, idText) {
      const site = directory.byId(parseId(idText) ?? 0)
      if (!site || !reachesSite(key, site)) throw siteNotFound()
      return site
    },
    async listVisible(key, { after, limit, search = "" }) {
      const reached = list(key.organization_id, search).filter((site) => site.id > after && reachesSite(key, site))
      return reached.slice(0, limit)
    },
  }
}

const DAY_MS = 86_400_000
const PURGED_AT_ONCE = 100

const KNOWS_PERSONS: ReadonlySet<IdentityMode> = new Set(["identified", "persistent"])

/** Two sites of one id would each get the other's events. */
function refuseTakenIds({ id, settings }: Site, directory: SiteDirectory): void {
  for (const product of COMPAT_PRODUCTS)
    for (const [i, compatId] of settings.compat_ids[product].entries())
      if ((directory.byCompatId(product, compatId)?.id ?? id) !== id)
        throw new AppError("compat_id_taken", "Another site has this id", { pointer: `/compat_ids/${product}/${i}` })
}

const tooManySites = (limit: number) =>
  new AppError("limit_reached", `An organization may have ${limit} sites`, { limit, resource: "sites" })

/** A random UUID (version 4). */
function uuid(bytes: Uint8Array): string {
  const marked = Uint8Array.from(bytes)
  marked[6] = (marked[6]! & 0x0f) | 0x40
  marked[8] = (marked[8]! & 0x3f) | 0x80
  return marked.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
}
