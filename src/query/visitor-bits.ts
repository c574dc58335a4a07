import type { Part } from "../store/events/part.ts"

/** A bit for each visitor of a site. Signed words: of unsigned ones the engine takes those with the highest bit for floating-point numbers. */
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

/** Visitors that have two or more visits in the parts. */
export function returningVisitors(parts: readonly Part[], visitorLimit: number): Int32Array {
  const [seen, again] = [bitset(visitorLimit), bitset(visitorLimit)]
  for (const part of parts) markReturning(part.visit("visitor"), seen, again)
  return again
}

function markReturning(visitors: Uint32Array, seen: Int32Array, again: Int32Array): void {
  for (let visit = 0; visit < visitors.length; visit++) {
    const visitor = visitors[visit]!
    const bit = 1 << (visitor & 31)
    again[visitor >>> 5]! |= seen[visitor >>> 5]! & bit
    seen[visitor >>> 5]! |= bit
  }
}
