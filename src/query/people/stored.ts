import type { PeopleSet } from "../../domain/people.ts"
import type { Snapshot } from "../../store/events/part.ts"
import { numbersOfPseudonymBytes } from "../show/pseudonyms.ts"

type StoredMembers = Extract<PeopleSet["members"], { by: "stored" }>

/**
 * Returns the ordinals of the pseudonyms that an area keeps in its rows. They stay in the memory of the worker until the segments of the
 * site change, because decrypting a million of them takes longer than evaluating most sets.
 */
export function storedOrdinals(
  { visitors, results, version, eachRow }: Snapshot,
  { text, values }: StoredMembers,
  siteKey: Uint8Array,
  check: () => void,
): Uint32Array {
  const key = `stored ${JSON.stringify([text, values])}`
  const known = results.get(key, version.sealed) as Uint32Array | undefined // set below
  if (known) return known
  const decode = numbersOfPseudonymBytes(siteKey, "visitor")
  const chunks: Uint32Array[] = []
  eachRow({ text, values }, (row) => {
    check()
    chunks.push(ordinalsOf({ visitors }, decode((row as { visitors: Uint8Array }).visitors)))
  })
  const ordinals = new Uint32Array(chunks.reduce((length, chunk) => length + chunk.length, 0))
  let length = 0
  for (const chunk of chunks) {
    ordinals.set(chunk, length)
    length += chunk.length
  }
  results.set(key, version.sealed, ordinals, ordinals.byteLength)
  return ordinals
}

/** Returns the ordinals of visitors, given by number. Those that the snapshot does not have are left out. */
export function ordinalsOf({ visitors }: Pick<Snapshot, "visitors">, numbers: readonly number[] | Float64Array): Uint32Array {
  const ordinals = new Uint32Array(numbers.length)
  let count = 0
  for (let i = 0; i < numbers.length; i++) {
    const ordinal = visitors.ordinal(numbers[i]!)
    if (ordinal !== undefined) ordinals[count++] = ordinal
  }
  return ordinals.subarray(0, count)
}
