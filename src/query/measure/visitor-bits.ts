import type { Part, Snapshot } from "../../store/events/part.ts"

/** Creates a bit for each visitor of a site. The words are signed, because JavaScript engines treat unsigned words with the highest bit as doubles. */
export const bitset = (visitorLimit: number): Int32Array => new Int32Array((visitorLimit >>> 5) + 1)

export function countBits(bits: Int32Array): number {
  let count = 0
  for (let i = 0; i < bits.length; i++) {
    let word = bits[i]!
    word -= (word >>> 1) & 0x5555_5555
    word = (word & 0x3333_3333) + ((word >>> 2) & 0x3333_3333)
    count += Math.imul((word + (word >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
  }
  return count
}

interface Seen {
  /** Visitors with at least one visit, and with several. */
  seen: Int32Array
  again: Int32Array
}

/** Returns the visitors with several visits in the parts, as bits. What segments contribute is kept until other segments replace them. */
export function returningVisitors({ results, version, visitorLimit }: Snapshot, parts: readonly Part[]): Int32Array {
  const stored = parts.filter(({ id }) => id !== undefined)
  const key = `returning ${Bun.hash(stored.map(({ id }) => id).join()).toString(36)}`
  let bits = results.get(key, version.sealed) as Seen | undefined // set below
  if (!bits) {
    bits = { seen: bitset(visitorLimit), again: bitset(visitorLimit) }
    for (const part of stored) markReturning(part.visit("visitor"), bits)
    results.set(key, version.sealed, bits, bits.seen.byteLength + bits.again.byteLength)
  }
  if (stored.length === parts.length) return bits.again
  const all = { seen: grownBits(bits.seen, visitorLimit), again: grownBits(bits.again, visitorLimit) }
  for (const part of parts) if (part.id === undefined) markReturning(part.visit("visitor"), all)
  return all.again
}

/** Returns a copy with a bit for each visitor. */
function grownBits(bits: Int32Array, visitorLimit: number): Int32Array {
  const grown = new Int32Array(Math.max(bits.length, (visitorLimit >>> 5) + 1))
  grown.set(bits)
  return grown
}

function markReturning(visitors: Uint32Array, { seen, again }: Seen): void {
  for (let visit = 0; visit < visitors.length; visit++) {
    const visitor = visitors[visit]!
    const bit = 1 << (visitor & 31)
    again[visitor >>> 5]! |= seen[visitor >>> 5]! & bit
    seen[visitor >>> 5]! |= bit
  }
}
