/** A set of visitors for each of many groups, exact: which (group, visitor) pairs there were. */
export interface Distinct {
  /** `groupLimit` lies above every group of the first `count` pairs. */
  add(groups: Uint32Array, visitors: Uint32Array, count: number, groupLimit: number): void
  /** Distinct visitors of each group. */
  counts(groupLimit: number): Uint32Array
}

/** Pairs kept before those that came twice are thrown out. */
const COMPACT_AT = 8_000_000

/**
 * Pairs are four bytes each and lie in blocks of neighbouring visitors; pairs that come twice are found when a block is
 * sorted by visitor. A bitset for each group would need groups × visitors bits, a hash table four times the memory.
 */
export class PairSet implements Distinct {
  /** A code holds so many low bits of the visitor below its group. Fewer where there are many groups. */
  private visitorBits = 16
  private blocks: Blocks = new Blocks(16)
  private compactAt = COMPACT_AT

  add(groups: Uint32Array, visitors: Uint32Array, count: number, groupLimit: number): void {
    while (groupLimit > 2 ** (32 - this.visitorBits)) this.narrow()
    addPairs(this.blocks, this.visitorBits, groups, visitors, count)
    if (this.blocks.total > this.compactAt) this.compact()
  }

  counts(groupLimit: number): Uint32Array {
    const counts = new Uint32Array(groupLimit)
    for (const block of this.blocks.used()) countGroups(this.distinctCodes(block), this.visitorBits, counts)
    return counts
  }

  private distinctCodes(block: number): Uint32Array {
    return distinctCodes(this.blocks.codes(block), this.visitorBits)
  }

  private compact(): void {
    for (const block of this.blocks.used()) this.blocks.replace(block, this.distinctCodes(block))
    this.compactAt = Math.max(COMPACT_AT, this.blocks.total * 2)
  }

  private narrow(): void {
    const [wide, bits] = [this.blocks, this.visitorBits]
    this.visitorBits -= 4
    this.blocks = new Blocks(this.visitorBits)
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

/** Growing lists of codes, one for each block of visitors, in chunks, so that growing copies nothing. */
class Blocks {
  readonly chunkLength: number
  /** The chunk being filled, by block, and how full it is. */
  readonly open: Uint32Array[] = []
  filled = new Uint32Array(64)
  private readonly full: Uint32Array[][] = []
  total = 0

  constructor(visitorBits: number) {
    this.chunkLength = Math.max(64, 8_192 >> (16 - visitorBits))
  }

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
    const chunk = new Uint32Array(this.chunkLength)
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
  const length = blocks.chunkLength
  const open = blocks.open
  for (let i = 0; i < count; i++) {
    const visitor = visitors[i]!
    const block = visitor >>> bits
    let chunk = block < open.length ? open[block]! : NOTHING
    if (chunk === NOTHING || blocks.filled[block] === length) chunk = blocks.begin(block)
    chunk[blocks.filled[block]!++] = (groups[i]! << bits) | (visitor & low)
  }
  blocks.total += count
}

/** Each code once. Sorted by visitor with one counting pass; of one visitor a group is new when it was not stamped with it. */
function distinctCodes(codes: Uint32Array, bits: number): Uint32Array {
  const visitors = 2 ** bits
  const ends = new Uint32Array(visitors)
  for (let i = 0; i < codes.length; i++) ends[codes[i]! & (visitors - 1)]!++
  let start = 0
  for (let visitor = 0; visitor < visitors; visitor++) {
    const length = ends[visitor]!
    ends[visitor] = start
    start += length
  }
  const sorted = new Uint32Array(codes.length)
  let maxGroup = 0
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]!
    sorted[ends[code & (visitors - 1)]!++] = code
    if (code >>> bits > maxGroup) maxGroup = code >>> bits
  }
  const stamps = new Uint32Array(maxGroup + 1)
  let kept = 0
  for (let i = 0; i < sorted.length; i++) {
    const code = sorted[i]!
    const visitor = (code & (visitors - 1)) + 1
    if (stamps[code >>> bits] === visitor) continue
    stamps[code >>> bits] = visitor
    sorted[kept++] = code
  }
  return sorted.subarray(0, kept)
}

function countGroups(codes: Uint32Array, bits: number, counts: Uint32Array): void {
  for (let i = 0; i < codes.length; i++) counts[codes[i]! >>> bits]!++
}

/** The set of one group alone: a bit for each visitor of the site. */
export class VisitorSet implements Distinct {
  private readonly bits: Uint32Array

  constructor(visitorLimit: number) {
    this.bits = new Uint32Array((visitorLimit >>> 5) + 1)
  }

  add(_groups: Uint32Array, visitors: Uint32Array, count: number): void {
    setBits(this.bits, visitors, count)
  }

  counts(): Uint32Array {
    return Uint32Array.of(countBits(this.bits))
  }
}

function setBits(bits: Uint32Array, visitors: Uint32Array, count: number): void {
  for (let i = 0; i < count; i++) bits[visitors[i]! >>> 5]! |= 1 << (visitors[i]! & 31)
}

function countBits(bits: Uint32Array): number {
  let count = 0
  for (let i = 0; i < bits.length; i++) {
    let word = bits[i]!
    word -= (word >>> 1) & 0x5555_5555
    word = (word & 0x3333_3333) + ((word >>> 2) & 0x3333_3333)
    count += Math.imul((word + (word >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
  }
  return count
}

/** For one group a bitset, for many groups pairs. */
export const distinctVisitors = (isGrouped: boolean, visitorLimit: number): Distinct =>
  isGrouped ? new PairSet() : new VisitorSet(visitorLimit)
