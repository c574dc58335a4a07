import { Type as t } from "@sinclair/typebox"
import type { Clock } from "../../domain/clock.ts"
import { AppError, type Fault, refuseFaults, siteNotFound } from "../../domain/error.ts"
import { type HostRulings, parseHost } from "../../domain/host.ts"
import { parseId } from "../../domain/id.ts"
import { type ApiKey, reachesSite } from "../../domain/key.ts"
import { THINGS } from "../../domain/limits.ts"
import { siteCreated, siteDeleted } from "../../domain/product-event.ts"
import { fault, inspect, isObject } from "../../domain/shape.ts"
import { type CompatProduct, coversHost, DEFAULT_SETTINGS, type Site, type SiteDirectory, type SiteSettings } from "../../domain/site.ts"
import { parseSite, type SiteDefaults, SiteInput } from "../../domain/site-input.ts"
import { refuseOtherVersion } from "../../domain/version.ts"
import { removeSiteFromKeys } from "../../store/catalog/api-keys.ts"
import type { Catalog, Slice, Statements } from "../../store/catalog/catalog.ts"
import {
  countSites,
  deleteSitePin,
  insertSite,
  insertSitePin,
  listPinnedSites,
  listSites,
  moveSite,
  siteById,
} from "../../store/catalog/sites.ts"
import type { EventStore } from "../../store/events/events.ts"
import type { Access } from "../access/access.ts"
import type { Handover } from "../access/handover.ts"
import type { Reload } from "../changes/changes.ts"
import type { Alongside, Terms } from "../definitions/site-things.ts"
import type { Outbox } from "../jobs/outbox.ts"
import { inSlices } from "../lists/paging.ts"
import type { Random } from "../secrets/secrets.ts"
import type { InstanceSettings } from "../settings/settings.ts"
import type { Person } from "../sign-in/sessions.ts"
import { createSiteDirectory } from "./directory.ts"
import type { SiteKeys } from "./site-keys.ts"
import { createSiteEndings, createSiteWrites, type SiteEndings, type SiteWrites } from "./writes.ts"

export interface Sites extends SiteWrites, SiteEndings {
  /** The directory of sites, always exact: updated at the commit of every write, before the next statement. */
  directory: SiteDirectory
  create(organizationId: number, body: unknown, alongside?: Alongside<Site>): Promise<Site>
  /** Lists the sites of an organization by id ascending. `search` matches a part of the name or of a host, ignoring case. */
  list(organizationId: number, options?: { search?: string }): Promise<Site[]>
  /** Returns a site. Throws `site_not_found`. */
  get(id: number): Promise<Site>
  /** Updates the directory with sites that another service changed. Call it right after the commit. */
  show(sites: readonly Site[]): void
  /** Reads some sites into the directory again, after another node changed them. */
  reload: Reload
  /** Transfers a site to another organization. API keys and site roles of the old one lose access. `by` is the author. Throws `limit_reached`. */
  transfer(id: number, organizationId: number, by: number, terms?: Terms<Site>): Promise<Site>
  /**
   * Returns the site that a path names, if the key can access it. Throws the same `site_not_found` for an invalid id, an unknown
   * site and an inaccessible one.
   */
  visible(key: ApiKey, idText: string | undefined): Promise<Site>
  /**
   * Returns the site with this host, tracking id or id, if the key can access it. Of several sites with the host, the one that lists it
   * first. With a product also the site that has this id there. Throws `site_not_found`, and `validation_failed` if several remain.
   */
  named(key: ApiKey, name: string, product?: CompatProduct): Promise<Site>
  /** Lists the sites that a key can access, by id ascending. `search` works as in `list`. */
  listVisible(key: ApiKey, options: Slice & { search?: string }): Promise<Site[]>
}

interface SitesOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  keys: Pick<SiteKeys, "make" | "replaceIdentityKey" | "forget">
  defaults: SiteDefaults
  /** Maximum number of sites per organization. */
  maxSites?: number
  settings: Pick<InstanceSettings, "get">
  events: Pick<EventStore, "hasEventsFrom">
  hostRulings: HostRulings
  handover: Pick<Handover, "siteMoves">
  outbox: Pick<Outbox, "write">
}

export async function createSites(options: SitesOptions): Promise<Sites> {
  const { catalog, clock, random, keys, defaults, maxSites = THINGS.sitesPerOrganization, settings, outbox } = options
  const directory = createSiteDirectory({ hasEventsFrom: options.events.hasEventsFrom, rulings: options.hostRulings })
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
        await outbox.write(statements, siteCreated(site, "created"))
        await alongside?.(statements, { after: site })
        return site
      }, directory.put)
    },
    list: async (organizationId, { search = "" } = {}) => list(organizationId, search),
    get: async (id) => find(id),
    show: (sites) => sites.forEach(directory.put),
    async reload(statements, ids) {
      for (const id of ids.map(Number)) {
        const site = await siteById(statements, id)
        if (site) directory.put(site)
        else directory.remove(id)
      }
    },
    transfer: (id, organizationId, by, { expected, alongside } = {}) =>
      catalog.transaction(async (statements) => {
        const site = await siteById(statements, id)
        if (!site) throw siteNotFound()
        refuseOtherVersion(site, expected)
        await refuseFull(statements, organizationId)
        await removeSiteFromKeys(statements, site.organization_id, id)
        const moved = await moveSite(statements, id, organizationId, clock.now())
        await options.handover.siteMoves(statements, { siteId: id, from: site.organization_id, to: organizationId, by })
        await outbox.write(statements, siteDeleted(site, "transferred"))
        await outbox.write(statements, siteCreated(moved, "transferred"))
        await alongside?.(statements, { before: site, after: moved })
        return moved
      }, directory.put),
    async visible(key, idText) {
      const site = directory.byId(parseId(idText) ?? 0)
      if (!site || !reachesSite(key, site)) throw siteNotFound()
      return site
    },
    async named(key, name, product) {
      const known = product && directory.byCompatId(product, name)
      if (known && reachesSite(key, known)) return known
      const found = await namedSites({ directory, list: async (organizationId) => list(organizationId, "") }, key, name)
      const [first] = found
      if (!first) throw siteNotFound()
      const own = found.length === 1 ? found : found.filter(({ hosts: [host] }) => host === parseHost(name))
      if (own.length !== 1) refuseFaults([ambiguousSite(found)])
      return own[0] ?? first
    },
    async listVisible(key, { after, limit, search = "" }) {
      const reached = list(key.organization_id, search).filter((site) => site.id > after && reachesSite(key, site))
      return reached.slice(0, limit)
    },
  }
}

/** Returns the instance's default settings for new sites. Values equal to the built-in defaults are not stored. */
function firstSettings(instanceSetting: Pick<InstanceSettings, "get">): Partial<SiteSettings> {
  const { identity_mode, respect_gpc, min_group } = DEFAULT_SETTINGS
  const chosen = {
    identity_mode: instanceSetting.get("default_identity_mode"),
    respect_gpc: instanceSetting.get("default_respect_gpc"),
    min_group: instanceSetting.get("share_min_group"),
  }
  return {
    ...(chosen.identity_mode !== identity_mode && { identity_mode: chosen.identity_mode }),
    ...(chosen.respect_gpc !== respect_gpc && { respect_gpc: chosen.respect_gpc }),
    ...(chosen.min_group !== min_group && { min_group: chosen.min_group }),
  }
}

const tooManySites = (limit: number) =>
  new AppError("limit_reached", `An organization can have ${limit} sites.`, { limit, resource: "sites" })

/** Formats 16 random bytes as a UUID (version 4). */
function uuid(bytes: Uint8Array): string {
  const marked = Uint8Array.from(bytes)
  marked[6] = (marked[6]! & 0x0f) | 0x40
  marked[8] = (marked[8]! & 0x3f) | 0x80
  return marked.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
}

type FoundSites = Pick<Sites, "directory" | "list">

/**
 * Returns the sites that a key can access under a name: an id (also as text), a tracking id or a host. Only a host can match
 * several sites; an exactly listed host takes precedence over `*.`. Returns an empty list for an unknown or inaccessible name.
 */
export async function namedSites({ directory, list }: FoundSites, key: ApiKey, name: string | number): Promise<Site[]> {
  const id = parseId(name)
  const site = id === undefined ? directory.byTrackingId(String(name)) : directory.byId(id)
  if (site) return reachesSite(key, site) ? [site] : []
  const host = typeof name === "string" ? parseHost(name) : undefined
  if (host === undefined) return []
  const own = (await list(key.organization_id)).filter((each) => reachesSite(key, each))
  const exact = own.filter(({ hosts }) => hosts.includes(host) || coversHost(hosts.filter(isPlain), host))
  return exact.length > 0 ? exact : own.filter(({ hosts }) => coversHost(hosts, host))
}

const isPlain = (host: string): boolean => !host.startsWith("*.")

/** Returns the fault of a host that several sites have. */
export const ambiguousSite = (found: readonly Site[]): Fault =>
  fault(
    "/site_id",
    "ambiguous_site",
    "matches several sites. Use the id of one of them",
    found.map(({ id }) => id),
  )

/** Transfers of sites between organizations. */
export interface SiteMoves {
  /**
   * Transfers a site to another organization that the user also owns. Throws `validation_failed`, `organization_not_found` for
   * one the user cannot see, `forbidden`, `limit_reached`.
   */
  transfer(site: Site, body: unknown, person: Person, terms?: Terms<Site>): Promise<Site>
}

interface SiteMovesOptions {
  sites: Pick<Sites, "transfer">
  access: Pick<Access, "onOrganization">
}

const TransferInput = t.Object(
  { organization_id: t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) },
  { additionalProperties: false },
)

export const createSiteMoves = ({ sites, access }: SiteMovesOptions): SiteMoves => ({
  async transfer(site, body, person, terms) {
    const { fields, faults } = inspect(TransferInput, body)
    refuseFaults(faults)
    const { organization, role } = await access.onOrganization(person, String(fields.organization_id))
    if (role !== "owner")
      throw new AppError("forbidden", "Only an owner of both organizations can transfer a site.", { required_permission: "org:delete" })
    return organization.id === site.organization_id ? site : sites.transfer(site.id, organization.id, person.user.id, terms)
  },
})

/** Returns the fields of a patch that this route changes. Other fields of the answer may be sent back unchanged. */
export function readSitePatch(site: Site, patch: unknown, answered: readonly string[]): unknown {
  if (!isObject(patch)) return patch
  const { name, hosts, ...others } = patch
  const settings = Object.keys(others).filter((field) => Object.hasOwn(SiteInput.properties, field))
  // The current value of a setting has the same field name.
  const changed = settings.filter((field) => !Bun.deepEquals(others[field], site[field as "timezone"]))
  const unknown = Object.keys(others).filter((field) => !answered.includes(field))
  refuseFaults([
    ...changed.map((field) => fault(`/${field}`, "read_only", "can only be changed in the site's settings")),
    ...unknown.map((field) => fault(`/${field.slice(0, 100)}`, "unknown_field", "does not exist")),
  ])
  return { ...(Object.hasOwn(patch, "name") && { name }), ...(Object.hasOwn(patch, "hosts") && { hosts }) }
}

/** Whether a site is pinned, before and after a change. */
export interface Pinning {
  pinned: boolean
}

/** Sites that a user has pinned to the top of their list. Other users do not see the pins. Pinning twice changes nothing. */
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
