import { AppError } from "../../domain/error.ts"
import type { Random, Secrets } from "../secrets/secrets.ts"
import { tokenHash } from "../sign-in/sessions.ts"

/** How a word in an address of a link or a pixel may look, for all areas that give such words away. */
const SLUG = /^[A-Za-z0-9_-]{1,64}$/
/** Words that lead somewhere else on the same host. */
const RESERVED: ReadonlySet<string> = new Set(
  "api share assets p l js count admin login signin setup health metrics robots.txt favicon.ico .well-known".split(" "),
)
/** Without those that are taken for one another: 0 O 1 l I. */
const LETTERS = "23456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
const SUGGESTED = 3
/** As much of a wanted slug as a suggested one begins with: there is room for a number behind it. */
export const SUGGESTED_CHARS = 56

/** How long the slug of something deleted stays reserved. */
export const SLUG_RESERVED_MS = 90 * 86_400_000

/** Equal for slugs that differ by case alone. */
export const slugKey = (slug: string): string => slug.toLowerCase()

export const isReservedSlug = (word: string): boolean => RESERVED.has(slugKey(word))

/**
 * A path, or a slug of one, without needless escapes: `%61` is `a` (RFC 3986, 6.2.2.2). Proxies before us and programs that write
 * addresses anew may do the same, so the doors and whoever judges a destination read it alike.
 */
export const unescaped = (path: string): string => (path.includes("%") ? path.replace(ESCAPE, plainSign) : path)

/** What is wrong with a slug as such; undefined when nothing is. */
export function slugFault(slug: string): "slug_reserved" | "invalid_slug" | undefined {
  if (isReservedSlug(slug)) return "slug_reserved"
  return SLUG.test(slug) ? undefined : "invalid_slug"
}

/** Throws `slug_reserved` or `invalid_slug`. */
export function refuseSlug(slug: string): void {
  const code = slugFault(slug)
  if (code === "slug_reserved") throw new AppError(code, "The program has this word for itself.")
  if (code) throw new AppError(code, "A slug has 1 to 64 letters, digits, hyphens and underscores.")
}

/** So many letters, each of them as likely as any other one: bytes beyond the last whole run of the letters are thrown away. */
export function newSlug(random: Random, length: number, letters: string = LETTERS): string {
  const fair = 256 - (256 % letters.length)
  let slug = ""
  while (slug.length < length)
    for (const byte of random(length)) if (byte < fair && slug.length < length) slug += letters[byte % letters.length]
  return slug
}

/** Three free slugs that look like the wanted one. */
export function slugSuggestions(wanted: string, isFree: (slug: string) => boolean): string[] {
  const base = wanted.slice(0, SUGGESTED_CHARS)
  const found: string[] = []
  for (let number = 2; found.length < SUGGESTED; number++) {
    const slug = `${base}-${number}`
    if (slugFault(slug) === undefined && isFree(slug)) found.push(slug)
  }
  return found
}

const ESCAPE = /%[2-7][0-9a-f]/gi
function plainSign(escaped: string): string {
  const sign = decodeURIComponent(escaped)
  return /^[A-Za-z0-9._~-]$/.test(sign) ? sign : escaped
}

const SLUG_CHARS = 22
const BASE_62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** One place for all of them: an address that is moved to another row still leads where its hash leads. */
export const SLUG_PLACE = { table: "shares", row: "slug", purpose: "slug" }

/** Addresses of shared views: whoever has one sees the view, so they are kept as hashes, and sealed for their owners. */
interface ShareSlugs {
  /** A new one, as it is stored. */
  make(): { slugHash: Uint8Array; slugSealed: Uint8Array }
  /** Undefined without the key that has sealed it. */
  opened(sealed: Uint8Array): string | undefined
}

export function shareSlugs({ random, secrets }: { random: Random; secrets: Secrets }): ShareSlugs {
  return {
    make() {
      const slug = newSlug(random, SLUG_CHARS, BASE_62)
      return { slugHash: slugHashOf(slug), slugSealed: secrets.seal(new TextEncoder().encode(slug), SLUG_PLACE) }
    },
    opened(sealed) {
      const plain = secrets.open(sealed, SLUG_PLACE)
      return plain && new TextDecoder().decode(plain)
    },
  }
}

export const slugHashOf = (slug: string): Uint8Array => tokenHash(slug)
