import { SUGGESTED_CHARS, newSlug as slugOf, slugSuggestions } from "#plugin"

type Random = (bytes: number) => Uint8Array
const GENERATED_CHARS = 7

export const newSlug = (random: Random): string => slugOf(random, GENERATED_CHARS)

/** Three free slugs that look like the wanted one, whatever that is made of. */
export function suggestions(wanted: string, isFree: (slug: string) => boolean, random: Random): string[] {
  const plain = wanted.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, SUGGESTED_CHARS)
  return slugSuggestions(plain.replace(/^-+|-+$/g, "") || newSlug(random), isFree)
}
