import { NumberBuffer } from "./buffer.ts"
import { differs } from "./flags.ts"
import { PairBlocks } from "./pair-blocks.ts"

/** Blocks of 4,096 visitors: all that sorting one touches then lies in the processor's nearest cache. */
const VISITOR_BITS = 12
/** Pairs kept before those that came twice are thrown out. */
const COMPACT_AT = 4_000_000

/**
 * A set of visitors for each of many groups, exact.
 *
 * Pairs are four bytes each and lie in blocks of neighbouring visitors; those that come twice are found when a block is
 * sorted by visitor. A bitset for each group would need groups × visitors bits, a hash table four times the memory.
 */
export class PairSet {
  private blocks = new PairBlocks(VISITOR_BITS)
  private compactAt = COMPACT_AT

  /** Adds the first `count` pairs. `groupLimit` lies above every group. */
  add(groups: Uint32Array, visitors: Uint32Array, count: number, groupLimit: number): void {
    while (groupLimit > 2 ** (32 - this.blocks.visitorBits)) this.narrow()
    this.blocks.add(groups, visitors, count)
    if (this.blocks.total > this.compactAt) this.compact(groupLimit)
  }

  /** Distinct visitors of each group. */
  counts(groupLimit: number): Uint32Array {
    const counts = new Uint32Array(groupLimit)
    const { blocks } = this
    const distinct = createDistinctPairs(blocks.visitorBits, groupLimit)
    for (const block of blocks.used()) countGroups(distinct(block, blocks.pairs(block)), blocks.visitorBits, counts)
    return counts
  }

  private compact(groupLimit: number): void {
    const { blocks } = this
    const distinct = createDistinctPairs(blocks.visitorBits, groupLimit)
    for (const block of blocks.used()) blocks.replace(block, distinct(block, blocks.pairs(block)))
    this.compactAt = Math.max(COMPACT_AT, blocks.total * 2)
  }

  /** So many groups that a number has room for fewer bits of the visitor. */
  private narrow(): void {
    const wide = this.blocks
    const bits = wide.visitorBits
    this.blocks = new PairBlocks(bits - 4)
    for (const block of wide.used()) {
      const pairs = wide.pairs(block)
      const visitors = pairs.map((pair) => block * 2 ** bits + (pair & (2 ** bits - 1)))
      const groups = pairs.map((pair) => pair >>> bits)
      this.blocks.add(groups, visitors, pairs.length)
    }
  }
}

/** Makes lists of a block's pairs, each once; a list is good until the next is made. */
function createDistinctPairs(bits: number, groupLimit: number) {
  const ends = new Uint32Array(2 ** bits)
  // By group, the visitor seen last in it, counted from 1 over all blocks.
  const stamps = new Uint32Array(groupLimit)
  const buffer = new NumberBuffer()
  return (block: number, codes: Uint32Array): Uint32Array => {
    const sorted = buffer.room(codes.length)
    sortByVisitor(codes, ends.fill(0), sorted)
    const kept = keepDistinct(sorted, codes.length, bits, { stamps, before: block * 2 ** bits + 1 })
    return sorted.subarray(0, kept)
  }
}

/** One counting pass over the low bits. */
function sortByVisitor(codes: Uint32Array, ends: Uint32Array, sorted: Uint32Array): void {
  const low = ends.length - 1
  for (let i = 0; i < codes.length; i++) ends[codes[i]! & low]!++
  let start = 0
  for (let visitor = 0; visitor <= low; visitor++) {
    const length = ends[visitor]!
    ends[visitor] = start
    start += length
  }
  for (let i = 0; i < codes.length; i++) sorted[ends[codes[i]! & low]!++] = codes[i]!
}

/** Of one visitor, a group is new when it is not stamped with that visitor. */
function keepDistinct(
  sorted: Uint32Array,
  count: number,
  bits: number,
  { stamps, before }: { stamps: Uint32Array; before: number },
): number {
  const low = 2 ** bits - 1
  let kept = 0
  for (let i = 0; i < count; i++) {
    const code = sorted[i]!
    const stamp = (code & low) + before
    const group = code >>> bits
    sorted[kept] = code
    kept += differs(stamps[group]!, stamp)
    stamps[group] = stamp
  }
  return kept
}

function countGroups(codes: Uint32Array, bits: number, counts: Uint32Array): void {
  for (let i = 0; i < codes.length; i++) counts[codes[i]! >>> bits]!++
}
