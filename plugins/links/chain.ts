import { AppError, slugKey, unescaped } from "#plugin"
import type { Cache, Kept } from "./cache.ts"
import { hostOf } from "./destination.ts"
import { destinationsOf, type Link, type LinkFields, type LinksHost } from "./link.ts"

/** Links that lead to links of this instance. */
export interface Chains {
  /**
   * Which link an address leads to, if it is one of ours: by its domain and slug, whether there is such a link or not; `path` is
   * what follows the slug.
   */
  placeOf(url: string): { domainId: number | null; slug: string; path: string } | undefined
  /** Whether a link may lead to another one at all: a look that costs nothing. */
  mayLeadOn(kept: Kept): boolean
  /** Throws `redirect_loop` when with this link some chain has more than three links, or no end. */
  refuseLoop(link: Pick<Link, "id"> & LinkFields): void
}

/** Links that one visitor may pass through. */
export const MOST_HOPS = 3

export function createChains({ isOwnHost }: Pick<LinksHost, "isOwnHost">, cache: Cache, prefix: string): Chains {
  const base = `/${prefix}/`
  const isLinkHost = (host: string): boolean => cache.domain(host) !== undefined || isOwnHost(host)

  const placeOf: Chains["placeOf"] = (url) => {
    const host = hostOf(url)
    if (host === undefined || !isLinkHost(host)) return undefined
    // Proxies before us join slashes: `//l/spring` is a way to a link, though the door itself does not answer there.
    const path = unescaped(new URL(url).pathname).replace(/\/{2,}/g, "/")
    const domain = cache.domain(host)
    const rest = domain ? path.slice(1) : path.startsWith(base) ? path.slice(base.length) : ""
    const slug = rest.split("/")[0]!
    return slug === "" ? undefined : { domainId: domain?.id ?? null, slug, path: rest.slice(slug.length) }
  }

  return {
    placeOf,
    mayLeadOn: ({ hosts }) => hosts.some(isLinkHost),
    refuseLoop(link) {
      /** As it will be, in the place of what is there. */
      const nodes = new Map<string, { id: number; fields: LinkFields }>()
      const keyOf = (domainId: number | null, slug: string) => `${domainId ?? 0}/${slugKey(slug)}`
      for (const kept of cache.all())
        if (kept.link.id !== link.id && kept.hosts.some(isLinkHost))
          nodes.set(keyOf(kept.link.domain_id, kept.link.slug), { id: kept.link.id, fields: kept.link })
      const own = keyOf(link.domain_id, link.slug)
      nodes.set(own, { id: link.id, fields: link })
      const isLink = (key: string, domainId: number | null, slug: string) => nodes.has(key) || isOther(cache, link.id, domainId, slug)
      const next = (key: string): string[] =>
        destinationsOf(nodes.get(key)?.fields ?? NOWHERE).flatMap((destination) => {
          const place = placeOf(destination)
          if (!place) return []
          const to = keyOf(place.domainId, place.slug)
          return isLink(to, place.domainId, place.slug) ? [to] : []
        })
      /** Links from this one on, itself included; more than the most for a circle. */
      const length = (key: string, left: number): number =>
        left === 0 ? 1 : 1 + Math.max(0, ...next(key).map((to) => length(to, left - 1)))
      const touches = (key: string, left: number): boolean => key === own || (left > 0 && next(key).some((to) => touches(to, left - 1)))
      for (const key of nodes.keys())
        if (touches(key, MOST_HOPS) && length(key, MOST_HOPS) > MOST_HOPS)
          throw new AppError("redirect_loop", "Links would lead in a circle, or over more than three links.")
    },
  }
}

const NOWHERE = { destination: "", expired_destination: null, rules: [] } as unknown as LinkFields

const isOther = (cache: Cache, id: number, domainId: number | null, slug: string): boolean => {
  const found = cache.at(domainId, slug)
  return found !== undefined && found.link.id !== id
}
