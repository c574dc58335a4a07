import { type OwnTables, slugKey } from "#plugin"
import { type Target, targetOf } from "../destination.ts"
import { destinationsOf, type Link } from "../link.ts"
import { type Domain, domainsByIds, linksByIds, listAllDomains, listLinks } from "../rows.ts"

/** A link with what only this process knows about it. */
export interface CachedLink {
  readonly link: Link
  /** Clicks by people that the counters of the link do not include yet. */
  readonly pending: { human: number }
  /** The links that its destinations refer to if their hosts serve short links. */
  readonly targets: readonly Target[]
}

/**
 * All links that are not deleted, and all domains, in memory. Requests do not wait for a store, and an unknown slug takes as long as a
 * known one. Each write changes the cache right after its commit, so the next request sees it.
 */
export interface Cache {
  /**
   * Reads the domains, and follows what other nodes change. Domains are needed before the first request, because they decide which
   * endpoint answers it.
   */
  begin(): Promise<void>
  /** Resolves when all links are in memory; undefined if they are. The first call reads them. */
  ready(): Promise<void> | undefined
  at(domainId: number | null, slug: string): CachedLink | undefined
  byId(id: number): CachedLink | undefined
  /** Returns the links of a site by ascending id. */
  ofSite(siteId: number): readonly CachedLink[]
  /** Returns the links of all sites. */
  all(): IterableIterator<CachedLink>
  /** Returns how many links a site has. */
  count(siteId: number): number
  /**
   * Returns the links with a destination that refers to a slug on a link domain, or, if `host` is null, below the prefix on any host.
   * The caller has to check whether that host serves short links.
   */
  linksTo(host: string | null, slug: string): Iterable<CachedLink>
  /** Adds or replaces a link. Removes a deleted one. */
  put(link: Link): void
  remove(id: number): void
  domain(host: string): Domain | undefined
  domainById(id: number): Domain | undefined
  putDomain(domain: Domain): void
  removeDomain(id: number): void
}

/** Number of links to read before other requests are served. */
const SLICE = 250

/** Returns the key of a target in the index by targets. */
const targetKey = ({ host, isPrefixed, slug }: Pick<Target, "host" | "isPrefixed" | "slug">): string =>
  `${isPrefixed ? "" : host}/${slugKey(slug)}`

interface CacheOptions {
  /** First path segment of links, without slashes. */
  prefix: string
  /** Runs once, when all links are in memory and before the first of them is served. */
  onReady(): Promise<unknown>
}

export function createCache(db: OwnTables, { prefix, onReady }: CacheOptions): Cache {
  /** By domain, 0 below the prefix, then by slug. Nested maps need no composed keys, which would have to be built for every request. */
  const byKey = new Map<number, Map<string, CachedLink>>()
  const byId = new Map<number, CachedLink>()
  const bySite = new Map<number, Map<number, CachedLink>>()
  const byTarget = new Map<string, Set<CachedLink>>()
  const domains = new Map<number, Domain>()
  const hosts = new Map<string, Domain>()
  let loading: Promise<void> | undefined
  let isLoaded = false

  function remove(id: number): void {
    const old = byId.get(id)
    if (!old) return
    byId.delete(id)
    bySite.get(old.link.site_id)?.delete(id)
    for (const target of old.targets) {
      const linking = byTarget.get(targetKey(target))
      linking?.delete(old)
      if (linking?.size === 0) byTarget.delete(targetKey(target))
    }
    const { domain_id, slug } = old.link
    const ofDomain = byKey.get(domain_id ?? 0)
    if (ofDomain?.get(slugKey(slug)) === old) ofDomain.delete(slugKey(slug))
  }
  function put(link: Link): void {
    const old = byId.get(link.id)
    remove(link.id)
    if (link.deleted_at !== null) return
    const targets = destinationsOf(link).flatMap((destination) => targetOf(destination, prefix) ?? [])
    const cached: CachedLink = { link, pending: old?.pending ?? { human: 0 }, targets }
    byId.set(link.id, cached)
    const ofDomain = byKey.get(link.domain_id ?? 0) ?? new Map<string, CachedLink>()
    byKey.set(link.domain_id ?? 0, ofDomain.set(slugKey(link.slug), cached))
    const ofSite = bySite.get(link.site_id) ?? new Map<number, CachedLink>()
    bySite.set(link.site_id, ofSite.set(link.id, cached))
    for (const target of targets) {
      const linking = byTarget.get(targetKey(target)) ?? new Set<CachedLink>()
      byTarget.set(targetKey(target), linking.add(cached))
    }
  }
  function putDomain(domain: Domain): void {
    const old = domains.get(domain.id)
    if (old) hosts.delete(old.host)
    domains.set(domain.id, domain)
    hosts.set(domain.host, domain)
  }

  function removeDomain(id: number): void {
    const old = domains.get(id)
    if (old) hosts.delete(old.host)
    domains.delete(id)
  }

  /** Reads all links in one transaction, so that nothing changes between two slices. */
  async function load(): Promise<void> {
    await db.transaction(async (statements) => {
      for (let after = 0; ; ) {
        const slice = await listLinks(statements, after, SLICE)
        for (const link of slice) put(link)
        if (slice.length < SLICE) break
        after = slice.at(-1)!.id
        await Bun.sleep(0)
      }
    })
    await onReady()
    isLoaded = true
  }

  return {
    async begin() {
      await db.follow("links_links", async (statements, ids) => {
        const links = new Map((await linksByIds(statements, ids)).map((link) => [link.id, link]))
        for (const id of ids) {
          const link = links.get(id)
          if (link) put(link)
          else remove(id)
        }
      })
      await db.follow("links_domains", async (statements, ids) => {
        const found = await domainsByIds(statements, ids)
        for (const id of ids) removeDomain(id)
        found.forEach(putDomain)
      })
      for (let after = 0; ; ) {
        const slice = await listAllDomains(db, after, SLICE)
        for (const domain of slice) putDomain(domain)
        if (slice.length < SLICE) return
        after = slice.at(-1)!.id
      }
    },
    ready() {
      if (isLoaded) return undefined
      loading ??= load().catch((error) => {
        loading = undefined
        throw error
      })
      return loading
    },
    at: (domainId, slug) => byKey.get(domainId ?? 0)?.get(slugKey(slug)),
    byId: (id) => byId.get(id),
    ofSite: (siteId) => [...(bySite.get(siteId)?.values() ?? [])].sort((a, b) => a.link.id - b.link.id),
    all: () => byId.values(),
    count: (siteId) => bySite.get(siteId)?.size ?? 0,
    linksTo: (host, slug) => byTarget.get(targetKey({ host: host ?? "", isPrefixed: host === null, slug })) ?? [],
    put,
    remove,
    domain: (host) => hosts.get(host),
    domainById: (id) => domains.get(id),
    putDomain,
    removeDomain,
  }
}
