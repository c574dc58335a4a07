import { SUGGESTED_CHARS, newSlug as slugOf, slugSuggestions } from "#plugin"

type Random = (bytes: number) => Uint8Array
const GENERATED_CHARS = 7

export const newSlug = (random: Random): string => slugOf(random, GENERATED_CHARS)

/** Three free slugs that look like the wanted one, whatever that is made of. */
export function suggestions(wanted: string, isFree: (slug: string) => boolean, random: Random): string[] {
  const plain = wanted.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, SUGGESTED_CHARS)
  return slugSuggestions(plain.replace(/^-+|-+$/g, "") || newSlug(random), isFree)
}

/**
 * A path, or a slug of one, without needless escapes: `%61` is `a` (RFC 3986, 6.2.2.2). Proxies before us and programs that write
 * addresses anew may do the same, so the door and whoever judges a destination read it alike.
 */
export const unescaped = (path: string): string => (path.includes("%") ? path.replace(ESCAPE, plainSign) : path)

const ESCAPE = /%[2-7][0-9a-f]/gi
function plainSign(escaped: string): string {
  const sign = decodeURIComponent(escaped)
  return /^[A-Za-z0-9_-]$/.test(sign) ? sign : escaped
}
