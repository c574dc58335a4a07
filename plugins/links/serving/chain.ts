import { slugKey } from "#plugin"
import { type Target, targetOf } from "../destination.ts"
import { linkError } from "../errors.ts"
import { destinationsOf, type Link, type LinkFields, type LinksHost } from "../link.ts"
import type { Cache, CachedLink } from "./cache.ts"

/** Place of a link: on a link domain, or below the prefix of the instance if `domainId` is null. */
interface Place {
  domainId: number | null
  slug: string
}

/** Finds out whether links redirect to other links of this instance. */
export interface Chains {
  /** Returns the place and the path after the slug that a URL of this instance refers to, whether or not a link exists there. */
  placeOf(url: string): (Place & { path: string }) | undefined
  /** Returns whether a link may redirect to another one, by its hosts only. */
  mayRedirectToLink(cached: CachedLink): boolean
  /**
   * Throws `redirect_loop` if a chain with this link has more than three links or never ends. `written` contains the links that the
   * same transaction has written before, in order, which the cache does not contain yet.
   */
  refuseLoop(link: Wanted, written?: readonly Link[]): void
}

/** A link to be stored. */
type Wanted = Pick<Link, "id"> & LinkFields

/** A link of a chain. */
interface Node extends Place {
  id: number
  targets: readonly Target[]
}

/** Maximum number of links in a chain. */
export const MAX_HOPS = 3

export function createChains({ isOwnHost }: Pick<LinksHost, "isOwnHost">, cache: Cache, prefix: string): Chains {
  const isLinkHost = (host: string): boolean => cache.domain(host) !== undefined || isOwnHost(host)

  function placeOfTarget(target: Target): (Place & { path: string }) | undefined {
    const { host, isPrefixed, slug, path } = target
    if (slug === "" || !isLinkHost(host)) return undefined
    // The prefix comes first on every host, link domains included.
    if (isPrefixed) return { domainId: null, slug, path }
    const domain = cache.domain(host)
    return domain && { domainId: domain.id, slug, path }
  }
  const nodeOf = ({ link, targets }: CachedLink): Node => ({ id: link.id, domainId: link.domain_id, slug: link.slug, targets })
  const nodeOfLink = (link: Wanted): Node => ({
    id: link.id,
    domainId: link.domain_id,
    slug: link.slug,
    targets: destinationsOf(link).flatMap((destination) => targetOf(destination, prefix) ?? []),
  })

  /** Returns functions that follow links forwards and backwards, with the changes of one transaction. */
  function withChanges(changed: ReadonlyMap<number, Node | undefined>) {
    const isUnchanged = ({ id }: Node) => !changed.has(id)
    const present = [...changed.values()].filter((node) => node !== undefined)
    const redirectsTo = (node: Node, place: Place): boolean =>
      node.targets.some((target) => {
        const to = placeOfTarget(target)
        return to !== undefined && isSamePlace(to, place)
      })
    function at(place: Place): Node[] {
      const cached = cache.at(place.domainId, place.slug)
      return [...present.filter((node) => isSamePlace(node, place)), ...(cached ? [nodeOf(cached)].filter(isUnchanged) : [])]
    }
    return {
      after: (node: Node): Node[] => node.targets.flatMap((target) => placeOfTarget(target) ?? []).flatMap(at),
      before(place: Node): Node[] {
        const host = place.domainId === null ? null : cache.domainById(place.domainId)?.host
        const cached = host === undefined ? [] : [...cache.linksTo(host, place.slug)].map(nodeOf).filter(isUnchanged)
        return [...cached, ...present].filter((node) => redirectsTo(node, place))
      },
    }
  }

  return {
    placeOf(url) {
      const target = targetOf(url, prefix)
      return target && placeOfTarget(target)
    },
    mayRedirectToLink: ({ targets }) => targets.some(({ host }) => isLinkHost(host)),
    refuseLoop(link, written = []) {
      const own = nodeOfLink(link)
      const changed = new Map(written.map((each) => [each.id, each.deleted_at === null ? nodeOfLink(each) : undefined]))
      const { after, before } = withChanges(changed.set(own.id, own))
      if (longest(own, after) + longest(own, before) + 1 > MAX_HOPS)
        throw linkError("redirect_loop", "The link would redirect in a loop or through more than three short links.")
    },
  }
}

const isSamePlace = (a: Place, b: Place): boolean => a.domainId === b.domainId && slugKey(a.slug) === slugKey(b.slug)

/** Returns the length of the longest path from a link, at most `MAX_HOPS`, which a loop always reaches. */
function longest(from: Node, step: (node: Node) => Node[]): number {
  let level = [from]
  for (let steps = 0; steps < MAX_HOPS; steps++) {
    level = [...new Map(level.flatMap(step).map((node) => [node.id, node])).values()]
    if (level.length === 0) return steps
  }
  return MAX_HOPS
}
