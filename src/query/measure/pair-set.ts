import { grownNumbers, NumberBuffer } from "../filter/buffers.ts"
import { differs } from "../filter/masks.ts"
import type { Crossing } from "../parts/sums.ts"

/** Blocks of 4,096 visitors, which are sorted within the L1 cache. */
const VISITOR_BITS = 12
/** Number of pairs at which duplicates are removed. */
const COMPACT_AT = 4_000_000

/**
 * An exact set of visitors for each of many groups.
 *
 * A pair takes four bytes and is stored in a block of adjacent visitors. Duplicates are found when a block is sorted by visitor. A bitset
 * per group would need groups × visitors bits, a hash table four times the memory.
 */
export class PairSet {
  private blocks = new PairBlocks(VISITOR_BITS)
  private compactAt = COMPACT_AT

  /** Adds the first `count` pairs. `groupLimit` is greater than every group. */
  add(groups: Uint32Array, visitors: Uint32Array, count: number, groupLimit: number): void {
    // The last group stays unused, because a pair of ones would look like an empty slot of a hash table.
    while (groupLimit >= 2 ** (32 - this.blocks.visitorBits)) this.narrow()
    this.blocks.add(groups, visitors, count)
    if (this.blocks.total > this.compactAt) this.compact(groupLimit)
  }

  /** Returns the number of distinct visitors by group. */
  counts(groupLimit: number): Uint32Array {
    const counts = new Uint32Array(groupLimit)
    const { blocks } = this
    const distinct = createDistinctPairs(blocks.visitorBits, groupLimit)
    for (const block of blocks.used()) countGroups(distinct(block, blocks.pairs(block)), blocks.visitorBits, counts)
    return counts
  }

  /** Empties the set. Returns the pairs of crossing visitors, and the number of the others by group. */
  take(groupLimit: number, { from, bits }: Crossing) {
    const counts = new Uint32Array(groupLimit)
    const [groups, visitors] = [[] as number[], [] as number[]]
    const { blocks } = this
    const { visitorBits } = blocks
    const distinct = createDistinctPairs(visitorBits, groupLimit)
    for (const block of blocks.used()) {
      for (const pair of distinct(block, blocks.pairs(block))) {
        const visitor = block * 2 ** visitorBits + (pair & (2 ** visitorBits - 1))
        if (((bits[(visitor >>> 5) - from]! >>> (visitor & 31)) & 1) === 0) counts[pair >>> visitorBits]!++
        else {
          groups.push(pair >>> visitorBits)
          visitors.push(visitor)
        }
      }
    }
    blocks.clear()
    return { counts, crossing: { groups: Uint32Array.from(groups), visitors: Uint32Array.from(visitors) } }
  }

  private compact(groupLimit: number): void {
    const { blocks } = this
    const distinct = createDistinctPairs(blocks.visitorBits, groupLimit)
    for (const block of blocks.used()) blocks.replace(block, distinct(block, blocks.pairs(block)))
    this.compactAt = Math.max(COMPACT_AT, blocks.total * 2)
  }

  /** Rebuilds the blocks when there are so many groups that a pair has fewer bits left for the visitor. */
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

/** Creates the function that lists the distinct pairs of a block. A list remains valid until the next call. */
function createDistinctPairs(bits: number, groupLimit: number) {
  const ends = new Uint32Array(2 ** bits)
  // The latest visitor by group, counted from 1 over all blocks.
  const stamps = new Uint32Array(groupLimit)
  const buffer = new NumberBuffer()
  const slots = new Uint32Array(ends.length / 2)
  return (block: number, codes: Uint32Array): Uint32Array => {
    const sorted = buffer.room(codes.length)
    // Few pairs take less time in a hash table than a pass over the counters of all visitors.
    if (codes.length * 2 <= slots.length) return sorted.subarray(0, keepFirsts(codes, slots.fill(0), sorted))
    sortByVisitor(codes, ends.fill(0), sorted)
    const kept = keepDistinct(sorted, codes.length, bits, { stamps, before: block * 2 ** bits + 1 })
    return sorted.subarray(0, kept)
  }
}

/** Keeps each pair once, with a hash table with open addressing, whose slots contain pair + 1. */
function keepFirsts(codes: Uint32Array, slots: Uint32Array, kept: Uint32Array): number {
  const last = slots.length - 1
  let count = 0
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]!
    let slot = (Math.imul(code, 0x9e37_79b1) >>> 9) & last
    while (slots[slot] !== 0 && slots[slot] !== code + 1) slot = (slot + 1) & last
    if (slots[slot] !== 0) continue
    slots[slot] = code + 1
    kept[count++] = code
  }
  return count
}

/** Sorts by the low bits, in one pass of a counting sort. */
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

/** Keeps each pair once. A group is new for a visitor when it is not stamped with that visitor. */
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

/** An address consists of the number of a slab, above SLAB_BITS, and a position in the slab, below. A chunk has 512 pairs. */
const SLAB_BITS = 18
const SLAB_LOW = 2 ** SLAB_BITS - 1
const CHUNK_BITS = 9
const CHUNK_LOW = 2 ** CHUNK_BITS - 1

/**
 * Lists of (group, visitor) pairs by block of adjacent visitors. A pair is one number: the group above the low bits of the visitor.
 * Lists grow by chunks inside large slabs, so that growing copies nothing and rarely allocates.
 */
export class PairBlocks {
  /** Number of pairs in all lists. */
  total = 0
  private readonly slabs: Uint32Array[] = []
  /** Address of the next pair by block. At the start of a chunk, the previous chunk is full. 0 means that there are no pairs yet. */
  private heads: Uint32Array = new Uint32Array(64)
  /** Previous chunk in the list by chunk. 0 means none. */
  private previous: Uint32Array = new Uint32Array(64)
  private chunks = 1
  private readonly free: number[] = []
  private readonly buffer = new NumberBuffer()

  /** `visitorBits` is the number of low bits of a visitor that a pair contains. The other bits are the number of the block. */
  constructor(readonly visitorBits: number) {}

  add(groups: Uint32Array, visitors: Uint32Array, count: number): void {
    const bits = this.visitorBits
    const low = 2 ** bits - 1
    let block = -1
    let address = 0
    let slab: Uint32Array = NOTHING
    for (let i = 0; i < count; i++) {
      const visitor = visitors[i]!
      if (visitor >>> bits !== block) {
        if (block !== -1) this.heads[block] = address
        block = visitor >>> bits
        address = this.head(block)
        slab = this.slabs[address >>> SLAB_BITS] ?? NOTHING
      }
      if ((address & CHUNK_LOW) === 0) {
        address = this.begin(address)
        slab = this.slabs[address >>> SLAB_BITS]!
      }
      slab[address & SLAB_LOW] = (groups[i]! << bits) | (visitor & low)
      address++
    }
    if (block !== -1) this.heads[block] = address
    this.total += count
  }

  /** Removes all pairs. The memory is used again. */
  clear(): void {
    this.heads.fill(0)
    this.chunks = 1
    this.free.length = 0
    this.total = 0
  }

  /** Returns the blocks that have pairs. */
  used(): number[] {
    return Array.from(this.heads.keys()).filter((block) => this.heads[block] !== 0)
  }

  /** Returns the pairs of a block. Valid until the next call. */
  pairs(block: number): Uint32Array {
    const chunks = this.chunksOf(block)
    const last = ((this.heads[block]! - 1) & CHUNK_LOW) + 1
    const count = (chunks.length - 1) * (CHUNK_LOW + 1) + last
    const out = this.buffer.room(count)
    chunks.forEach((chunk, i) => {
      out.set(this.chunk(chunk, i === chunks.length - 1 ? last : CHUNK_LOW + 1), i * (CHUNK_LOW + 1))
    })
    return out.subarray(0, count)
  }

  /** Replaces the pairs of a block with fewer pairs, at least one. */
  replace(block: number, pairs: Uint32Array): void {
    const chunks = this.chunksOf(block)
    this.total += pairs.length - (chunks.length - 1) * (CHUNK_LOW + 1) - (((this.heads[block]! - 1) & CHUNK_LOW) + 1)
    const needed = Math.ceil(pairs.length / (CHUNK_LOW + 1))
    for (let i = 0; i < needed; i++) {
      const some = pairs.subarray(i * (CHUNK_LOW + 1), (i + 1) * (CHUNK_LOW + 1))
      this.chunk(chunks[i]!, some.length).set(some)
      this.heads[block] = (chunks[i]! << CHUNK_BITS) + some.length
    }
    this.free.push(...chunks.slice(needed))
  }

  private head(block: number): number {
    this.heads = grownNumbers(this.heads, block + 1)
    return this.heads[block]!
  }

  /** Adds a chunk to the list that ends before an address. Returns the address of its first pair. */
  private begin(after: number): number {
    const chunk = this.free.pop() ?? this.chunks++
    this.previous = grownNumbers(this.previous, chunk + 1)
    this.previous[chunk] = after === 0 ? 0 : (after - 1) >>> CHUNK_BITS
    const address = chunk << CHUNK_BITS
    while (address >>> SLAB_BITS >= this.slabs.length) this.slabs.push(new Uint32Array(2 ** SLAB_BITS))
    return address
  }

  /** Returns the chunks of a block in the order in which they were filled. */
  private chunksOf(block: number): number[] {
    const chunks: number[] = []
    for (let chunk = (this.heads[block]! - 1) >>> CHUNK_BITS; chunk !== 0; chunk = this.previous[chunk]!) chunks.push(chunk)
    return chunks.reverse()
  }

  private chunk(chunk: number, length: number): Uint32Array {
    const start = (chunk << CHUNK_BITS) & SLAB_LOW
    return this.slabs[chunk >>> (SLAB_BITS - CHUNK_BITS)]!.subarray(start, start + length)
  }
}

const NOTHING = new Uint32Array(0)
