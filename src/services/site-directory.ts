import { COMPAT_PRODUCTS, type CompatProduct, type Site, type SiteDirectory, withoutWww } from "../domain/site.ts"

/** The directory with the two ways to change it. */
export interface KeptDirectory extends SiteDirectory {
  /** Adds a site, or replaces what it was. */
  put(site: Site): void
  remove(id: number): void
  /** By id ascending. */
  ofOrganization(organizationId: number): Site[]
}

/** Every site that is not deleted, found by whatever an event says of its site. In memory: ingestion never waits for it. */
export function createSiteDirectory(): KeptDirectory {
  const byId = new Map<number, Site>()
  const byTrackingId = new Map<string, Site>()
  const byCompatId = new Map<string, Site>()
  /** Sites by a name they list: as it stands, and behind `*.`. */
  const exact = new Map<string, Site[]>()
  const below = new Map<string, Site[]>()

  function remove(id: number): void {
    const site = byId.get(id)
    if (!site) return
    byId.delete(id)
    byTrackingId.delete(site.tracking_id)
    for (const key of compatKeys(site)) byCompatId.delete(key)
    for (const host of site.hosts) unlist(listOf(host), nameOf(host), site)
  }
  function put(site: Site): void {
    remove(site.id)
    byId.set(site.id, site)
    byTrackingId.set(site.tracking_id, site)
    for (const key of compatKeys(site)) byCompatId.set(key, site)
    for (const host of site.hosts) list(listOf(host), nameOf(host), site)
  }
  const listOf = (host: string) => (host.startsWith("*.") ? below : exact)

  return {
    put,
    remove,
    byId: (id) => byId.get(id),
    byTrackingId: (id) => byTrackingId.get(id.toLowerCase()),
    byCompatId: (product, id) => byCompatId.get(compatKey(product, id)),
    byHost(host) {
      const plain = withoutWww(host)
      const named = exact.get(plain) ?? []
      const covering = parentsOf(plain).flatMap((parent) => below.get(parent) ?? [])
      const owners = new Set([...named, ...covering].map((site) => site.organization_id))
      // A stranger who lists our host gets none of our events, and we none of theirs.
      return owners.size === 1 ? lowestId(named.length > 0 ? named : covering) : undefined
    },
    ofOrganization: (organizationId) =>
      [...byId.values()].filter((site) => site.organization_id === organizationId).sort((a, b) => a.id - b.id),
  }
}

const nameOf = (host: string): string => (host.startsWith("*.") ? host.slice(2) : withoutWww(host))

/** `a.b.example` lies below `b.example` and `example`. */
function parentsOf(host: string): string[] {
  const labels = host.split(".")
  return labels.slice(1).map((_, i) => labels.slice(i + 1).join("."))
}

const lowestId = (sites: readonly Site[]): Site => sites.reduce((lowest, site) => (site.id < lowest.id ? site : lowest))

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
