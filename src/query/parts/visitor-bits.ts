import type { Part, Snapshot } from "../../store/events/part.ts"

/** Creates a bit for each visitor of a site. The words are signed, because JavaScript engines treat unsigned words with the highest bit as doubles. */
export const bitset = (visitorLimit: number): Int32Array => new Int32Array((visitorLimit >>> 5) + 1)

export function countBits(bits: Int32Array): number {
  let count = 0
  for (let i = 0; i < bits.length; i++) count += bitsOf(bits[i]!)
  return count
}

/** Returns the number of bits of a word. */
export function bitsOf(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555)
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}

/** Visitors with at least one visit, and with several. */
export interface VisitorBits {
  seen: Int32Array
  again: Int32Array
}

interface Seen extends VisitorBits {
  /** The segments that are read. */
  ids: ReadonlySet<number>
}

/**
 * Returns the visitors with several visits in the parts, as bits. What segments contribute is kept, and segments that were added since are
 * read only: each seal adds one to the many of a range that lasts until now.
 */
export function returningVisitors(snapshot: Snapshot, parts: readonly Part[]): Int32Array {
  const { results, visitorLimit } = snapshot
  const stored = parts.filter(({ id }) => id !== undefined)
  const key = `returning ${nameOf(snapshot, stored)}`
  const known = results.get(key, ALWAYS) as Seen | undefined // set below
  const bits = withSegments(known, stored, visitorLimit)
  if (bits !== known) results.set(key, ALWAYS, bits, bits.seen.byteLength + bits.again.byteLength)
  if (stored.length === parts.length) return bits.again
  const all = { seen: grownBits(bits.seen, visitorLimit), again: grownBits(bits.again, visitorLimit) }
  for (const part of parts) if (part.id === undefined) markReturning(part.visit("visitor"), all)
  return all.again
}

/** Version of results about segments, which are never changed: what they contribute is valid as long as it is kept. */
export const ALWAYS = ""

/** Returns a text that is the same for segments up to the newest one, whatever is added to them, and that differs for other ranges. */
function nameOf({ siteId, parts }: Snapshot, stored: readonly Part[]): string {
  const newest = parts.findLast(({ id }) => id !== undefined)
  const isLasting = newest !== undefined && stored.at(-1) === newest
  return isLasting ? `${siteId} since ${stored[0]!.id}` : Bun.hash(stored.map(({ id }) => id).join()).toString(36)
}

/** Returns the bits of segments, from those of some of them if these are known. */
function withSegments(known: Seen | undefined, stored: readonly Part[], visitorLimit: number): Seen {
  const ids = new Set(stored.map(({ id }) => id!)) // those with an id
  const isPart = known !== undefined && known.ids.size <= ids.size && [...known.ids].every((id) => ids.has(id))
  if (isPart && known.ids.size === ids.size) return known
  const bits: Seen = isPart
    ? { seen: grownBits(known.seen, visitorLimit), again: grownBits(known.again, visitorLimit), ids }
    : { seen: bitset(visitorLimit), again: bitset(visitorLimit), ids }
  for (const part of stored) if (!isPart || !known.ids.has(part.id!)) markReturning(part.visit("visitor"), bits)
  return bits
}

/** Returns a copy with a bit for each visitor. */
export function grownBits(bits: Int32Array, visitorLimit: number): Int32Array {
  const grown = new Int32Array(Math.max(bits.length, (visitorLimit >>> 5) + 1))
  grown.set(bits)
  return grown
}

/** Adds the visitors of visits. */
export function markReturning(visitors: Uint32Array, { seen, again }: VisitorBits): void {
  for (let visit = 0; visit < visitors.length; visit++) {
    const visitor = visitors[visit]!
    const bit = 1 << (visitor & 31)
    again[visitor >>> 5]! |= seen[visitor >>> 5]! & bit
    seen[visitor >>> 5]! |= bit
  }
}
