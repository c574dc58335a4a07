import type { Clock } from "../domain/clock.ts"
import { AppError, siteNotFound } from "../domain/error.ts"
import { parseId } from "../domain/id.ts"
import { type ApiKey, reachesSite } from "../domain/key.ts"
import { THINGS } from "../domain/limits.ts"
import { DEFAULT_SETTINGS, type Site, type SiteDirectory, type SiteSettings } from "../domain/site.ts"
import { parseSite, type SiteDefaults } from "../domain/site-input.ts"
import { refuseOtherVersion } from "../domain/version.ts"
import { removeSiteFromKeys } from "../store/catalog/api-keys.ts"
import type { Catalog, Slice, Statements } from "../store/catalog/catalog.ts"
import { countSites, insertSite, listSites, moveSite, siteById } from "../store/catalog/sites.ts"
import type { InstanceSettings } from "./instance-settings.ts"
import type { Random } from "./secrets.ts"
import { createSiteDirectory } from "./site-directory.ts"
import { createSiteEndings, type SiteEndings } from "./site-endings.ts"
import type { SiteKeys } from "./site-keys.ts"
import type { Alongside, Terms } from "./site-things.ts"
import { createSiteWrites, type SiteWrites } from "./site-writes.ts"
import { inSlices } from "./slices.ts"

export interface Sites extends SiteWrites, SiteEndings {
  /** Always exact: changed with the commit of every write, before the next statement. */
  directory: SiteDirectory
  create(organizationId: number, body: unknown, alongside?: Alongside<Site>): Promise<Site>
  /** By id ascending; with `search` those whose name or a host has this text, in any case. */
  list(organizationId: number, options?: { search?: string }): Promise<Site[]>
  /** Throws `site_not_found`. */
  get(id: number): Promise<Site>
  /** Sites that somebody else has changed: right after the commit. */
  show(sites: readonly Site[]): void
  /** To another organization; the keys and site members of the old one lose it. Throws `limit_reached`. */
  transfer(id: number, organizationId: number, terms?: Terms<Site>): Promise<Site>
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
  settings: Pick<InstanceSettings, "get">
}

export async function createSites(options: SitesOptions): Promise<Sites> {
  const { catalog, clock, random, keys, defaults, maxSites = THINGS.sitesPerOrganization, settings } = options
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
  return {
    directory,
    ...createSiteWrites({ ...options, directory }),
    ...createSiteEndings({ ...options, directory, refuseFull }),
    async create(organizationId, body, alongside) {
      const fields = parseSite(body, defaults)
      const trackingId = uuid(random(16))
      return catalog.transaction(async (statements) => {
        await refuseFull(statements, organizationId)
        const now = clock.now()
        const own = { organization_id: organizationId, tracking_id: trackingId, settings: firstSettings(settings), created_at: now }
        const site = await insertSite(statements, { ...fields, ...own })
        await keys.make(statements, site.id)
        await alongside?.(statements, { after: site })
        return site
      }, directory.put)
    },
    list: async (organizationId, { search = "" } = {}) => list(organizationId, search),
    get: async (id) => find(id),
    show: (sites) => sites.forEach(directory.put),
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

/** What the instance has chosen for new sites; what is usual is not written down. */
function firstSettings(ofInstance: Pick<InstanceSettings, "get">): Partial<SiteSettings> {
  const { identity_mode, respect_gpc, min_group } = DEFAULT_SETTINGS
  const chosen = {
    identity_mode: ofInstance.get("default_identity_mode"),
    respect_gpc: ofInstance.get("default_respect_gpc"),
    min_group: ofInstance.get("share_min_group"),
  }
  return {
    ...(chosen.identity_mode !== identity_mode && { identity_mode: chosen.identity_mode }),
    ...(chosen.respect_gpc !== respect_gpc && { respect_gpc: chosen.respect_gpc }),
    ...(chosen.min_group !== min_group && { min_group: chosen.min_group }),
  }
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
