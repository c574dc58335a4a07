import { type OwnTables, slugKey } from "#plugin"
import { type Target, targetOf } from "../destination.ts"
import { type Domain, listAllDomains } from "../domain-rows.ts"
import { destinationsOf, type Link } from "../link.ts"
import { listLinks } from "../rows.ts"

/** A link with what of its requests is known in this process alone. */
export interface Kept {
  readonly link: Link
  /** Human clicks that were decided and are not folded yet. */
  readonly since: { human: number }
  /** What its destinations mean if they lead to links. */
  readonly targets: readonly Target[]
}

/**
 * All links that are not deleted, and all domains, in memory: a request waits for no store, and what nobody knows costs as much
 * as what is there. Changed right after the commit of each write, so that the next request sees it.
 */
export interface Cache {
  /** Domains are needed before the first request: whose hosts they are decides who answers it. */
  readDomains(): Promise<void>
  /** Resolves once all links are in memory; read once. Undefined: they are. */
  ready(): Promise<void> | undefined
  at(domainId: number | null, slug: string): Kept | undefined
  byId(id: number): Kept | undefined
  /** By id ascending. */
  ofSite(siteId: number): readonly Kept[]
  /** Of all sites. */
  all(): IterableIterator<Kept>
  /** Returns how many links a site has. */
  count(siteId: number): number
  /**
   * Returns the links with a destination that means this link domain's slug, or, for null, this slug below the prefix on any host:
   * whether that host leads to links is for the caller to judge.
   */
  leadingTo(host: string | null, slug: string): Iterable<Kept>
  /** A deleted link leaves. */
  put(link: Link): void
  remove(id: number): void
  domain(host: string): Domain | undefined
  domainById(id: number): Domain | undefined
  putDomain(domain: Domain): void
  removeDomain(id: number): void
}

/** Links that are read between two turns of the event loop. */
const SLICE = 250

/** Under which a link is found by what it leads to. */
const leadOf = ({ host, isPrefixed, slug }: Pick<Target, "host" | "isPrefixed" | "slug">): string =>
  `${isPrefixed ? "" : host}/${slugKey(slug)}`

interface CacheOptions {
  /** First part of the paths of links, without slashes. */
  prefix: string
  /** Runs once, when all links are in memory and before the first of them is served. */
  onReady(): Promise<unknown>
}

export function createCache(db: OwnTables, { prefix, onReady }: CacheOptions): Cache {
  const byKey = new Map<string, Kept>()
  const byId = new Map<number, Kept>()
  const bySite = new Map<number, Map<number, Kept>>()
  const byLead = new Map<string, Set<Kept>>()
  const domains = new Map<number, Domain>()
  const hosts = new Map<string, Domain>()
  let loading: Promise<void> | undefined
  let isLoaded = false

  const keyOf = ({ domain_id, slug }: Pick<Link, "domain_id" | "slug">): string => `${domain_id ?? 0}/${slugKey(slug)}`

  function remove(id: number): void {
    const old = byId.get(id)
    if (!old) return
    byId.delete(id)
    bySite.get(old.link.site_id)?.delete(id)
    for (const target of old.targets) {
      const leading = byLead.get(leadOf(target))
      leading?.delete(old)
      if (leading?.size === 0) byLead.delete(leadOf(target))
    }
    const key = keyOf(old.link)
    if (byKey.get(key) === old) byKey.delete(key)
  }
  function put(link: Link): void {
    const old = byId.get(link.id)
    remove(link.id)
    if (link.deleted_at !== null) return
    const targets = destinationsOf(link).flatMap((destination) => targetOf(destination, prefix) ?? [])
    const kept: Kept = { link, since: old?.since ?? { human: 0 }, targets }
    byId.set(link.id, kept)
    byKey.set(keyOf(link), kept)
    const ofSite = bySite.get(link.site_id) ?? new Map<number, Kept>()
    bySite.set(link.site_id, ofSite.set(link.id, kept))
    for (const target of targets) {
      const leading = byLead.get(leadOf(target)) ?? new Set<Kept>()
      byLead.set(leadOf(target), leading.add(kept))
    }
  }
  function putDomain(domain: Domain): void {
    const old = domains.get(domain.id)
    if (old) hosts.delete(old.host)
    domains.set(domain.id, domain)
    hosts.set(domain.host, domain)
  }

  /** In one transaction: nothing changes between two slices. */
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
    async readDomains() {
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
    at: (domainId, slug) => byKey.get(`${domainId ?? 0}/${slugKey(slug)}`),
    byId: (id) => byId.get(id),
    ofSite: (siteId) => [...(bySite.get(siteId)?.values() ?? [])].sort((a, b) => a.link.id - b.link.id),
    all: () => byId.values(),
    count: (siteId) => bySite.get(siteId)?.size ?? 0,
    leadingTo: (host, slug) => byLead.get(leadOf({ host: host ?? "", isPrefixed: host === null, slug })) ?? [],
    put,
    remove,
    domain: (host) => hosts.get(host),
    domainById: (id) => domains.get(id),
    putDomain,
    removeDomain(id) {
      const old = domains.get(id)
      if (old) hosts.delete(old.host)
      domains.delete(id)
    },
  }
}
