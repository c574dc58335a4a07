import { grownNumbers, NumberBuffer } from "../filter/buffers.ts"
import { differs } from "../filter/masks.ts"

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

/** An address is a place in one of the slabs: the slab's number above SLAB_BITS, the place in it below. Chunks are 512 long. */
const SLAB_BITS = 18
const SLAB_LOW = 2 ** SLAB_BITS - 1
const CHUNK_BITS = 9
const CHUNK_LOW = 2 ** CHUNK_BITS - 1

/**
 * (group, visitor) pairs in lists by block of neighbouring visitors: a pair is one number, its group above the low bits of
 * its visitor. Lists grow chunk by chunk inside large slabs, so that growing copies nothing and allocates little.
 */
export class PairBlocks {
  /** Pairs in all lists. */
  total = 0
  private readonly slabs: Uint32Array[] = []
  /** By block the address of its next pair; at the start of a chunk, the one before is full. 0: no pairs yet. */
  private heads: Uint32Array = new Uint32Array(64)
  /** By chunk the one before it in its list. Chunk 0 is none. */
  private previous: Uint32Array = new Uint32Array(64)
  private chunks = 1
  private readonly free: number[] = []
  private readonly buffer = new NumberBuffer()

  /** `visitorBits`: how many low bits of a visitor are in its number, the others name the block. */
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

  /** Blocks with pairs. */
  used(): number[] {
    return Array.from(this.heads.keys()).filter((block) => this.heads[block] !== 0)
  }

  /** The pairs of a block, until the next call. */
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

  /** Puts fewer pairs, at least one, in the place of all those of a block. */
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

  /** A new chunk for the list that ends before this address; returns the address of its first pair. */
  private begin(after: number): number {
    const chunk = this.free.pop() ?? this.chunks++
    this.previous = grownNumbers(this.previous, chunk + 1)
    this.previous[chunk] = after === 0 ? 0 : (after - 1) >>> CHUNK_BITS
    const address = chunk << CHUNK_BITS
    while (address >>> SLAB_BITS >= this.slabs.length) this.slabs.push(new Uint32Array(2 ** SLAB_BITS))
    return address
  }

  /** In the order in which they were filled. */
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
