import { slugKey } from "#plugin"
import { type Target, targetOf } from "../destination.ts"
import { linkError } from "../errors.ts"
import { destinationsOf, type Link, type LinkFields, type LinksHost } from "../link.ts"
import type { Cache, Kept } from "./cache.ts"

/** Where a link is: on a link domain, or below the prefix of the instance. */
interface Place {
  domainId: number | null
  slug: string
}

/** Links that lead to links of this instance. */
export interface Chains {
  /** Returns which link an address means, if it is one of ours, whether there is such a link or not; `path` follows the slug. */
  placeOf(url: string): (Place & { path: string }) | undefined
  /** Returns whether a link may lead to another one at all. Looks nothing up. */
  mayLeadOn(kept: Kept): boolean
  /**
   * Throws `redirect_loop` when some chain with this link has more than three links, or no end. `written` are links that were written
   * earlier in the same transaction, in order: the cache does not hold them yet.
   */
  refuseLoop(link: Wanted, written?: readonly Link[]): void
}

/** A link as it is to be stored. */
type Wanted = Pick<Link, "id"> & LinkFields

/** A link of a chain. */
interface Node extends Place {
  id: number
  targets: readonly Target[]
}

/** Links that one visitor may pass through. */
export const MOST_HOPS = 3

export function createChains({ isOwnHost }: Pick<LinksHost, "isOwnHost">, cache: Cache, prefix: string): Chains {
  const isLinkHost = (host: string): boolean => cache.domain(host) !== undefined || isOwnHost(host)

  function meant(target: Target): (Place & { path: string }) | undefined {
    const { host, isPrefixed, slug, path } = target
    if (slug === "" || !isLinkHost(host)) return undefined
    // The prefix comes first on every host, link domains included.
    if (isPrefixed) return { domainId: null, slug, path }
    const domain = cache.domain(host)
    return domain && { domainId: domain.id, slug, path }
  }
  const nodeOf = ({ link, targets }: Kept): Node => ({ id: link.id, domainId: link.domain_id, slug: link.slug, targets })
  const nodeOfLink = (link: Wanted): Node => ({
    id: link.id,
    domainId: link.domain_id,
    slug: link.slug,
    targets: destinationsOf(link).flatMap((destination) => targetOf(destination, prefix) ?? []),
  })

  /** Links as they will be with those of one transaction, looked up by their places and by what they lead to. */
  function withChanges(changed: ReadonlyMap<number, Node | undefined>) {
    const isUnchanged = ({ id }: Node) => !changed.has(id)
    const present = [...changed.values()].filter((node) => node !== undefined)
    const leadsTo = (node: Node, place: Place): boolean =>
      node.targets.some((target) => {
        const to = meant(target)
        return to !== undefined && isSamePlace(to, place)
      })
    function at(place: Place): Node[] {
      const kept = cache.at(place.domainId, place.slug)
      return [...present.filter((node) => isSamePlace(node, place)), ...(kept ? [nodeOf(kept)].filter(isUnchanged) : [])]
    }
    return {
      after: (node: Node): Node[] => node.targets.flatMap((target) => meant(target) ?? []).flatMap(at),
      before(place: Node): Node[] {
        const host = place.domainId === null ? null : cache.domainById(place.domainId)?.host
        const kept = host === undefined ? [] : [...cache.leadingTo(host, place.slug)].map(nodeOf).filter(isUnchanged)
        return [...kept, ...present].filter((node) => leadsTo(node, place))
      },
    }
  }

  return {
    placeOf(url) {
      const target = targetOf(url, prefix)
      return target && meant(target)
    },
    mayLeadOn: ({ targets }) => targets.some(({ host }) => isLinkHost(host)),
    refuseLoop(link, written = []) {
      const own = nodeOfLink(link)
      const changed = new Map(written.map((each) => [each.id, each.deleted_at === null ? nodeOfLink(each) : undefined]))
      const { after, before } = withChanges(changed.set(own.id, own))
      if (longest(own, after) + longest(own, before) + 1 > MOST_HOPS)
        throw linkError("redirect_loop", "The link would redirect in a loop or through more than three short links.")
    },
  }
}

const isSamePlace = (a: Place, b: Place): boolean => a.domainId === b.domainId && slugKey(a.slug) === slugKey(b.slug)

/** Returns how many steps can be taken from a link, at most `MOST_HOPS`, which a circle always has. */
function longest(from: Node, step: (node: Node) => Node[]): number {
  let level = [from]
  for (let steps = 0; steps < MOST_HOPS; steps++) {
    level = [...new Map(level.flatMap(step).map((node) => [node.id, node])).values()]
    if (level.length === 0) return steps
  }
  return MOST_HOPS
}
