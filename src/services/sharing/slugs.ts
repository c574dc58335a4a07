import { AppError } from "../../domain/error.ts"
import type { Random } from "../secrets/secrets.ts"

/** Valid slugs of links and pixels. */
const SLUG = /^[A-Za-z0-9_-]{1,64}$/
/** Slugs that are reserved because the program has pages or files of that name. */
const RESERVED: ReadonlySet<string> = new Set(
  "api share assets p l js count admin login signin setup health metrics robots.txt favicon.ico .well-known".split(" "),
)
/** Characters of generated slugs, without those that look alike: 0 O 1 l I. */
const LETTERS = "23456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
const SUGGESTIONS = 3
/** Number of characters that suggested slugs share with the requested one, so that a number fits after them. */
export const SUGGESTED_CHARS = 56

/** Time for which the slug of a deleted object stays reserved. */
export const SLUG_RESERVED_MS = 90 * 86_400_000

/** Returns the key by which slugs are compared, ignoring case. */
export const slugKey = (slug: string): string => slug.toLowerCase()

export const isReservedSlug = (word: string): boolean => RESERVED.has(slugKey(word))

/**
 * Removes unnecessary escapes from a path or slug: `%61` is `a` (RFC 3986, 6.2.2.2). Proxies and clients may normalize URLs in the same
 * way, so routes and the checks of destinations have to treat both forms alike.
 */
export const unescaped = (path: string): string => (path.includes("%") ? path.replace(ESCAPE, unescapedCharacter) : path)

/** Returns why a slug is not allowed, or undefined if it is. */
export function slugFault(slug: string): "slug_reserved" | "invalid_slug" | undefined {
  if (isReservedSlug(slug)) return "slug_reserved"
  return SLUG.test(slug) ? undefined : "invalid_slug"
}

/** Throws `slug_reserved` or `invalid_slug` for a slug that is not allowed. */
export function refuseSlug(slug: string): void {
  const code = slugFault(slug)
  if (code === "slug_reserved") throw new AppError(code, "This slug is reserved by Footfall.")
  if (code) throw new AppError(code, "A slug has 1 to 64 letters, digits, hyphens and underscores.")
}

/** Generates a slug of uniformly distributed characters. Bytes beyond the largest multiple of the number of characters are discarded. */
export function newSlug(random: Random, length: number, letters: string = LETTERS): string {
  const fair = 256 - (256 % letters.length)
  let slug = ""
  while (slug.length < length)
    for (const byte of random(length)) if (byte < fair && slug.length < length) slug += letters[byte % letters.length]
  return slug
}

/** Returns three free slugs that resemble the requested one. */
export function slugSuggestions(wanted: string, isFree: (slug: string) => boolean): string[] {
  const base = wanted.slice(0, SUGGESTED_CHARS)
  const found: string[] = []
  for (let number = 2; found.length < SUGGESTIONS; number++) {
    const slug = `${base}-${number}`
    if (slugFault(slug) === undefined && isFree(slug)) found.push(slug)
  }
  return found
}

const ESCAPE = /%[2-7][0-9a-f]/gi
function unescapedCharacter(escaped: string): string {
  const character = decodeURIComponent(escaped)
  return /^[A-Za-z0-9._~-]$/.test(character) ? character : escaped
}
