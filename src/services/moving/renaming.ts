import { numbersOfPseudonyms, pseudonyms } from "../../query/show/pseudonyms.ts"
import type { MovedNames } from "../../store/events/moving/moving.ts"

/** How the visitors and events of a site are renamed. */
interface Renaming {
  siteKey: Uint8Array
  /** Returns the number of a visitor after the move, given by the number before. */
  visitor(number: number): number
  /** The same for the sequence of an event. */
  sequence(sequence: number): number
}

/** Creates the functions by which areas rename visitors and events in their row tables. */
export function movedNames({ siteKey, visitor, sequence }: Renaming): MovedNames {
  const [numbers, names] = [numbersOfPseudonyms(siteKey, "visitor"), pseudonyms(siteKey, "visitor")]
  return { numbers, sequence, pseudonyms: (before) => names(numbers(before).map(visitor)) }
}
