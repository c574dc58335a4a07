import { AppError, type OwnStatements, type Site, SLUG_KEPT_MS } from "#plugin"
import type { Cache } from "./cache.ts"
import type { Link, LinksHost } from "./link.ts"
import { linkAt, putTombstone, removeTombstone, tombstoneAt } from "./rows.ts"
import { newSlug, suggestions } from "./slug.ts"

/** A slug that somebody wants. */
interface Wish {
  domainId: number | null
  slug: string
  /** Of the link that is to have it, when it is there already. */
  id?: number
  organizationId: number
  /** Takes what the same organization gave up lately. */
  force: boolean
}

type SlugFault = "slug_taken" | "slug_recently_used"

/** Who has which slug: links that are there, and for 90 days those that gave one up, for codes with it are on paper. */
interface SlugClaims {
  /** Why a slug cannot be taken; undefined when it can. */
  fault(statements: OwnStatements, wish: Wish): Promise<SlugFault | undefined>
  /** Throws `slug_taken` with others that are free, `slug_recently_used`. */
  refuseTaken(statements: OwnStatements, wish: Wish): Promise<void>
  /** Takes it, in the transaction that stores the link. Throws as `refuseTaken`. */
  take(statements: OwnStatements, wish: Wish): Promise<void>
  /** The place of the link stays shut for others. */
  giveUp(statements: OwnStatements, link: Link, site: Site): Promise<void>
  /** One that nobody has. */
  free(domainId: number | null): string
  suggest(domainId: number | null, slug: string): string[]
}

export function createSlugClaims({ now, random }: Pick<LinksHost, "now" | "random">, cache: Pick<Cache, "at">): SlugClaims {
  const isFree = (domainId: number | null) => (slug: string) => cache.at(domainId, slug) === undefined
  const suggest: SlugClaims["suggest"] = (domainId, slug) => suggestions(slug, isFree(domainId), random)

  async function fault(statements: OwnStatements, wish: Wish): Promise<SlugFault | undefined> {
    const present = await linkAt(statements, wish.domainId, wish.slug)
    if (present && present.id !== wish.id) return "slug_taken"
    const stone = await tombstoneAt(statements, wish.domainId, wish.slug)
    if (!stone || stone.until <= now() || (wish.id !== undefined && stone.link_id === wish.id)) return undefined
    return wish.force && stone.organization_id === wish.organizationId ? undefined : "slug_recently_used"
  }

  async function refuseTaken(statements: OwnStatements, wish: Wish): Promise<void> {
    const code = await fault(statements, wish)
    if (code === "slug_taken") throw new AppError(code, "Another link has this slug.", { suggestions: suggest(wish.domainId, wish.slug) })
    if (code) throw new AppError(code, "A deleted link had this slug lately.")
  }

  return {
    fault,
    refuseTaken,
    async take(statements, wish) {
      await refuseTaken(statements, wish)
      await removeTombstone(statements, wish.domainId, wish.slug)
    },
    giveUp: (statements, link, { organization_id }) =>
      putTombstone(statements, link, { organizationId: organization_id, now: now(), until: now() + SLUG_KEPT_MS }),
    free(domainId) {
      for (;;) {
        const slug = newSlug(random)
        if (isFree(domainId)(slug)) return slug
      }
    },
    suggest,
  }
}
