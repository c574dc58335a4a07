import type { Part } from "../store/events/part.ts"
import { NumberBuffer } from "./buffer.ts"
import { differs } from "./flags.ts"

/** A set of visitors for each of many groups, exact. */
export interface Distinct {
  /**
   * For each visitor of the site a bit: 1 when it may come again. A kernel counts the others itself, as what they are:
   * visitors that no group has met. It must not take a visit twice for one group.
   */
  readonly returning: Int32Array
  /** Adds the first `count` pairs, of visitors that may come again. `groupLimit` lies above every group. */
  add(groups: Uint32Array, visitors: Uint32Array, count: number, groupLimit: number): void
  /** Distinct visitors of each group, those that the kernels counted themselves left out. */
  counts(groupLimit: number): Uint32Array
}

/** Pairs kept before those that came twice are thrown out. */
const COMPACT_AT = 8_000_000

/**
 * Pairs are four bytes each and lie in blocks of neighbouring
 * visitors; those that come twice are found when a block is sorted by visitor. A bitset for each group would need groups ×
 * visitors bits, a hash table four times the memory.
 */
class PairSet implements Distinct {
  /** A code holds so many low bits of the visitor below its group. Fewer where there are many groups. */
  private visitorBits = VISITOR_BITS
  private blocks = new Blocks()
  private compactAt = COMPACT_AT

  constructor(readonly returning: Int32Array) {}

  add(groups: Uint32Array, visitors: Uint32Array, count: number, groupLimit: number): void {
    while (groupLimit > 2 ** (32 - this.visitorBits)) this.narrow()
    addPairs(this.blocks, this.visitorBits, groups, visitors, count)
    if (this.blocks.total > this.compactAt) this.compact(groupLimit)
  }

  counts(groupLimit: number): Uint32Array {
    const counts = new Uint32Array(groupLimit)
    const distinct = createDistinctCodes(this.visitorBits, groupLimit)
    for (const block of this.blocks.used()) countGroups(distinct(block, this.blocks.codes(block)), this.visitorBits, counts)
    return counts
  }

  private compact(groupLimit: number): void {
    const distinct = createDistinctCodes(this.visitorBits, groupLimit)
    for (const block of this.blocks.used()) this.blocks.replace(block, distinct(block, this.blocks.codes(block)).slice())
    this.compactAt = Math.max(COMPACT_AT, this.blocks.total * 2)
  }

  private narrow(): void {
    const [wide, bits] = [this.blocks, this.visitorBits]
    this.visitorBits -= 4
    this.blocks = new Blocks()
    for (const block of wide.used()) {
      const codes = wide.codes(block)
      const visitors = codes.map((code) => block * 2 ** bits + (code & (2 ** bits - 1)))
      addPairs(
        this.blocks,
        this.visitorBits,
        codes.map((code) => code >>> bits),
        visitors,
        codes.length,
      )
      wide.replace(block, new Uint32Array(0))
    }
  }
}

/** Blocks of 4,096 visitors: all that sorting one touches then lies in the processor's nearest cache. */
const VISITOR_BITS = 12
const CHUNK = 512

/** Growing lists of codes, one for each block of visitors, in chunks, so that growing copies nothing. */
class Blocks {
  /** The chunk being filled, by block, and how full it is. */
  readonly open: Uint32Array[] = []
  filled = new Uint32Array(64)
  private readonly full: Uint32Array[][] = []
  total = 0

  /** Called when a block's chunk is full or missing. */
  begin(block: number): Uint32Array {
    while (this.open.length <= block) {
      this.open.push(NOTHING)
      this.full.push([])
    }
    if (this.filled.length < this.open.length) {
      const grown = new Uint32Array(this.open.length * 2)
      grown.set(this.filled)
      this.filled = grown
    }
    if (this.open[block] !== NOTHING) this.full[block]!.push(this.open[block]!)
    const chunk = new Uint32Array(CHUNK)
    this.open[block] = chunk
    this.filled[block] = 0
    return chunk
  }

  used(): number[] {
    return this.open.flatMap((chunk, block) => (chunk === NOTHING ? [] : [block]))
  }

  codes(block: number): Uint32Array {
    const chunks = [...this.full[block]!, this.open[block]!.subarray(0, this.filled[block]!)]
    const codes = new Uint32Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
    let at = 0
    for (const chunk of chunks) {
      codes.set(chunk, at)
      at += chunk.length
    }
    return codes
  }

  replace(block: number, codes: Uint32Array): void {
    this.total -= this.full[block]!.reduce((sum, chunk) => sum + chunk.length, this.filled[block]!) - codes.length
    this.full[block] = codes.length === 0 ? [] : [codes]
    this.open[block] = NOTHING
    if (codes.length > 0) this.begin(block)
  }
}

const NOTHING = new Uint32Array(0)

function addPairs(blocks: Blocks, bits: number, groups: Uint32Array, visitors: Uint32Array, count: number): void {
  const low = 2 ** bits - 1
  let block = -1
  let chunk: Uint32Array = NOTHING
  let at = 0
  for (let i = 0; i < count; i++) {
    const visitor = visitors[i]!
    if (visitor >>> bits !== block) {
      if (block !== -1) blocks.filled[block] = at
      block = visitor >>> bits
      chunk = blocks.open[block] ?? NOTHING
      at = chunk === NOTHING ? CHUNK : blocks.filled[block]!
    }
    if (at === CHUNK) {
      if (chunk !== NOTHING) blocks.filled[block] = at
      chunk = blocks.begin(block)
      at = 0
    }
    chunk[at++] = (groups[i]! << bits) | (visitor & low)
  }
  if (block !== -1) blocks.filled[block] = at
  blocks.total += count
}

/** Makes lists of a block's codes, each once; a list is good until the next is made. */
function createDistinctCodes(bits: number, groupLimit: number) {
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

/** The set of one group alone: a bit for each visitor of the site. */
class VisitorSet implements Distinct {
  readonly returning: Int32Array
  private readonly bits: Int32Array

  constructor(visitorLimit: number) {
    this.returning = bitset(visitorLimit).fill(-1)
    this.bits = bitset(visitorLimit)
  }

  add(_groups: Uint32Array, visitors: Uint32Array, count: number): void {
    setBits(this.bits, visitors, count)
  }

  counts(): Uint32Array {
    return Uint32Array.of(countBits(this.bits))
  }
}

/** Signed words: of unsigned ones the engine takes those with the highest bit for floating-point numbers. */
const bitset = (limit: number) => new Int32Array((limit >>> 5) + 1)

function setBits(bits: Int32Array, visitors: Uint32Array, count: number): void {
  for (let i = 0; i < count; i++) bits[visitors[i]! >>> 5]! |= 1 << (visitors[i]! & 31)
}

function countBits(bits: Int32Array): number {
  let count = 0
  for (let i = 0; i < bits.length; i++) {
    let word = bits[i]!
    word -= (word >>> 1) & 0x5555_5555
    word = (word & 0x3333_3333) + ((word >>> 2) & 0x3333_3333)
    count += Math.imul((word + (word >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
  }
  return count
}

/** For one group a bitset, for many groups pairs. `returning` is that of `returningVisitors`. */
export const distinctVisitors = (isGrouped: boolean, visitorLimit: number, returning: Int32Array): Distinct =>
  isGrouped ? new PairSet(returning) : new VisitorSet(visitorLimit)

/** A bit for each visitor of the site: whether it has two or more visits in the parts. */
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
