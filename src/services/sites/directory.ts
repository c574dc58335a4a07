import {
  claimedHost,
  claimedHosts,
  claimedSince,
  type HostDispute,
  type HostRulings,
  hostsOfIds,
  isLocalHost,
  parentsOf,
  provableName,
} from "../../domain/host.ts"
import { COMPAT_PRODUCTS, type CompatProduct, type Site, type SiteDirectory, withoutWww } from "../../domain/site.ts"

/** The directory of sites with the methods that change it. */
export interface KeptDirectory extends SiteDirectory {
  /** Adds a site or replaces its earlier version. */
  put(site: Site): void
  remove(id: number): void
  /** Lists the sites of an organization by id ascending. */
  ofOrganization(organizationId: number): Site[]
}

interface DirectoryOptions {
  /** Returns whether a site has events from a host, or from one below it (`*.shop.example`). Called only for disputed hosts. */
  hasEventsFrom(siteId: number, host: string): boolean
  /** Decisions and verified proofs about hosts. The service for host claims changes it right after each commit. */
  rulings?: HostRulings
}

/** Sites that claim a host, by kind of claim. */
interface Claims {
  named: readonly Site[]
  covering: readonly Site[]
  byId: readonly Site[]
  all: readonly Site[]
}

/**
 * Creates the in-memory directory of all sites that are not deleted. Ingestion looks sites up in it without waiting for the
 * catalog.
 */
export function createSiteDirectory({ hasEventsFrom, rulings = noRulings() }: DirectoryOptions): KeptDirectory {
  const byId = new Map<number, Site>()
  const byTrackingId = new Map<string, Site>()
  const byCompatId = new Map<string, Site>()
  /** Sites by a listed host: named exactly, behind `*.`, and by a Plausible id that is a host name. */
  const exact = new Map<string, Site[]>()
  const below = new Map<string, Site[]>()
  const asId = new Map<string, Site[]>()

  function remove(id: number): void {
    const site = byId.get(id)
    if (!site) return
    byId.delete(id)
    byTrackingId.delete(site.tracking_id)
    for (const key of compatKeys(site)) byCompatId.delete(key)
    for (const host of site.hosts) unlist(listOf(host), provableName(host), site)
    for (const host of hostsOfIds(site.settings.compat_ids)) unlist(asId, host, site)
  }
  function put(site: Site): void {
    remove(site.id)
    byId.set(site.id, site)
    byTrackingId.set(site.tracking_id, site)
    for (const key of compatKeys(site)) byCompatId.set(key, site)
    for (const host of site.hosts) list(listOf(host), provableName(host), site)
    for (const host of hostsOfIds(site.settings.compat_ids)) list(asId, host, site)
  }
  const listOf = (host: string) => (host.startsWith("*.") ? below : exact)

  /**
   * Returns the sites that claim a host. `host` is the host of an event, or one behind `*.`, which stands for every host below
   * it that no site lists itself.
   */
  function claimsOn(host: string): Claims {
    const name = provableName(host)
    const isBelow = host.startsWith("*.")
    const named = isBelow ? NONE : (exact.get(name) ?? NONE)
    const ids = isBelow ? NONE : (asId.get(name) ?? NONE)
    const covering = [...(isBelow ? [name] : []), ...parentsOf(name)].flatMap((parent) => below.get(parent) ?? NONE)
    return { named, covering, byId: ids, all: [...named, ...covering, ...ids] }
  }
  /** Returns the host that a dispute is about: the most exact one that the claims name. */
  function disputedHost(host: string, { named, byId: ids }: Claims): string {
    if (host.startsWith("*.") || named.length > 0 || ids.length > 0) return claimedHost(host)
    return `*.${parentsOf(host).find((parent) => below.has(parent))}`
  }

  function ownerOf(host: string, claimants: readonly Site[]): HostDispute["owner"] {
    const claims = (organizationId: number | undefined): organizationId is number =>
      claimants.some(({ organization_id }) => organization_id === organizationId)
    const decided = rulings.decided.get(host)
    if (claims(decided)) return { organizationId: decided, reason: "decided" }
    const name = provableName(host)
    for (const proved of [name, ...parentsOf(name)]) {
      const organizationId = rulings.proved.get(proved)
      if (claims(organizationId)) return { organizationId, reason: "proved" }
    }
    // Events from a local host come from as many machines as there are organizations.
    if (isLocalHost(host)) return undefined
    // An organization that claims a host after another one gets none of its events, not even before the first event arrives.
    const [first] = claimants.map((site) => ({ site, at: sinceOf(site, host) })).sort((a, b) => a.at - b.at || a.site.id - b.site.id)
    const organizationId = first!.site.organization_id // at least two sites claim it
    const own = claimants.filter(({ organization_id }) => organization_id === organizationId)
    return own.some(({ id }) => hasEventsFrom(id, host)) ? { organizationId, reason: "listed_first" } : undefined
  }

  function disputeOver(sent: string): HostDispute | undefined {
    const claims = claimsOn(sent)
    if (!isDisputed(claims.all)) return undefined
    const host = disputedHost(withoutWww(sent), claims)
    const claimants = [...new Set(claims.all)].sort((a, b) => a.organization_id - b.organization_id || a.id - b.id)
    return {
      host,
      claims: claimants.map((site) => ({ site, listedAt: sinceOf(site, host) })),
      owner: ownerOf(host, claimants),
    }
  }
  /** Yields all hosts that sites claim, in the form used by claims. */
  function* claimable(): Generator<string> {
    yield* exact.keys()
    for (const name of asId.keys()) if (!exact.has(name)) yield name
    for (const name of below.keys()) yield `*.${name}`
  }

  return {
    put,
    remove,
    byId: (id) => byId.get(id),
    byTrackingId: (id) => byTrackingId.get(id.toLowerCase()),
    byCompatId: (product, id) => byCompatId.get(compatKey(product, id)),
    byHost(host) {
      const claims = claimsOn(host)
      const { named, covering } = claims
      if (!isDisputed(claims.all)) return lowestId(named.length > 0 ? named : covering)
      const owner = ownerOf(disputedHost(withoutWww(host), claims), claims.all)
      const ownedOf = (sites: readonly Site[]) => sites.filter(({ organization_id }) => organization_id === owner?.organizationId)
      return lowestId(ownedOf(named)) ?? lowestId(ownedOf(covering))
    },
    disputeOver,
    disputes(site) {
      const own = site && claimedHosts(site)
      const wildcards = own?.filter((host) => host.startsWith("*."))
      // Other sites may list a host below a wildcard of this site.
      const hosts = own && wildcards?.length === 0 ? own : [...claimable()]
      const found = hosts.flatMap((host) => disputeOver(host) ?? [])
      return found
        .filter(({ claims }) => site === undefined || claims.some((claim) => claim.site.id === site.id))
        .sort((a, b) => (a.host < b.host ? -1 : 1))
    },
    ofOrganization: (organizationId) =>
      [...byId.values()].filter((site) => site.organization_id === organizationId).sort((a, b) => a.id - b.id),
  }
}

const noRulings = (): HostRulings => ({ decided: new Map(), proved: new Map() })

const NONE: readonly Site[] = []

const isDisputed = (claimants: readonly Site[]): boolean =>
  claimants.some(({ organization_id }) => organization_id !== claimants[0]!.organization_id)

/** Returns the time since which a site claims a host, by this name or by a wildcard above it. */
function sinceOf(site: Site, host: string): number {
  const entries = new Set([host, ...parentsOf(provableName(host)).map((parent) => `*.${parent}`)])
  return Math.min(
    ...claimedHosts(site)
      .filter((claimed) => entries.has(claimed))
      .map((claimed) => claimedSince(site, claimed)),
  )
}

const lowestId = (sites: readonly Site[]): Site | undefined =>
  sites.length === 0 ? undefined : sites.reduce((lowest, site) => (site.id < lowest.id ? site : lowest))

const compatKey = (product: CompatProduct, id: string): string => `${product} ${id.toLowerCase()}`
const compatKeys = (site: Site): string[] =>
  COMPAT_PRODUCTS.flatMap((product) => site.settings.compat_ids[product].map((id) => compatKey(product, id)))

function list(lists: Map<string, Site[]>, name: string, site: Site): void {
  lists.set(name, [...(lists.get(name) ?? []), site])
}

function unlist(lists: Map<string, Site[]>, name: string, site: Site): void {
  const left = (lists.get(name) ?? []).filter((other) => other !== site)
  if (left.length > 0) lists.set(name, left)
  else lists.delete(name)
}
