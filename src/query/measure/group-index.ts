import { grownNumbers } from "../filter/buffers.ts"

/**
 * Numbers the groups of a report from 0, so that sums fit into small arrays. A group is a combination of
 * one code per grouping: a dictionary number, a bucket or a goal.
 */
export interface GroupIndex {
  /** Number of groups so far. */
  readonly size: number
  /** Writes the groups of the first `count` tuples of codes, one array per grouping. New groups are added. */
  assign(codes: readonly Uint32Array[], count: number, out: Uint32Array): void
  codeOf(group: number, grouping: number): number
  /** Whether the codes of the only grouping are the groups. */
  readonly isDirect: boolean
}

/** Number of codes up to which sums for all of them stay small. */
const MAX_DIRECT = 4_096

/** Creates an index. `widths` are greater than every code of each grouping. */
export function groupIndex(widths: readonly number[]): GroupIndex {
  if (widths.length === 0) return new OnlyGroup()
  const [first, ...others] = widths
  if (others.length === 0 && first! <= MAX_DIRECT) return new DirectIndex(first!)
  return others.reduce<GroupIndex>((index) => new PairIndex(index), new CodeIndex(first!))
}

class OnlyGroup implements GroupIndex {
  readonly size = 1
  readonly isDirect = false
  assign(_codes: readonly Uint32Array[], count: number, out: Uint32Array): void {
    out.fill(0, 0, count)
  }
  codeOf(): number {
    return 0
  }
}

/** Has a group for each code, whether it occurs or not. */
class DirectIndex implements GroupIndex {
  readonly isDirect = true
  constructor(readonly size: number) {}

  assign([codes]: readonly Uint32Array[], count: number, out: Uint32Array): void {
    out.set(codes!.subarray(0, count))
  }
  codeOf(group: number): number {
    return group
  }
}

class CodeIndex implements GroupIndex {
  readonly isDirect = false
  size = 0
  /** Group by code, counted from 1. 0 means that the code has no group yet. */
  private readonly groups: Uint32Array
  private codes: Uint32Array = new Uint32Array(64)

  constructor(width: number) {
    this.groups = new Uint32Array(width)
  }

  assign([codes]: readonly Uint32Array[], count: number, out: Uint32Array): void {
    const column = codes!
    const groups = this.groups
    for (let i = 0; i < count; i++) {
      const group = groups[column[i]!]!
      out[i] = (group === 0 ? this.add(column[i]!) : group) - 1
    }
  }

  codeOf(group: number): number {
    return this.codes[group]!
  }

  private add(code: number): number {
    this.codes = grownNumbers(this.codes, this.size + 1)
    this.codes[this.size++] = code
    this.groups[code] = this.size
    return this.size
  }
}

/** Splits the groups of another index by one more code. A hash table with open addressing, whose slots contain group + 1. */
class PairIndex implements GroupIndex {
  readonly isDirect = false
  size = 0
  private readonly outer: GroupIndex
  private slots = new Uint32Array(1_024)
  private outerOf: Uint32Array = new Uint32Array(512)
  private codes: Uint32Array = new Uint32Array(512)

  constructor(outer: GroupIndex) {
    this.outer = outer
  }

  assign(codes: readonly Uint32Array[], count: number, out: Uint32Array): void {
    this.outer.assign(codes, count, out)
    const column = codes[this.depth]!
    let [lastOuter, lastCode, lastGroup] = [-1, -1, 0]
    for (let i = 0; i < count; i++) {
      const outer = out[i]!
      const code = column[i]!
      if (outer !== lastOuter || code !== lastCode) lastGroup = this.find(outer, code)
      lastOuter = outer
      lastCode = code
      out[i] = lastGroup
    }
  }

  codeOf(group: number, grouping: number): number {
    return grouping === this.depth ? this.codes[group]! : this.outer.codeOf(this.outerOf[group]!, grouping)
  }

  private get depth(): number {
    return this.outer instanceof PairIndex ? this.outer.depth + 1 : 1
  }

  private find(outer: number, code: number): number {
    const last = this.slots.length - 1
    let slot = hash(outer, code) & last
    for (let group = this.slots[slot]!; group !== 0; group = this.slots[slot]!) {
      if (this.outerOf[group - 1] === outer && this.codes[group - 1] === code) return group - 1
      slot = (slot + 1) & last
    }
    return this.add(outer, code, slot)
  }

  private add(outer: number, code: number, slot: number): number {
    const group = this.size++
    this.outerOf = grownNumbers(this.outerOf, this.size)
    this.codes = grownNumbers(this.codes, this.size)
    this.outerOf[group] = outer
    this.codes[group] = code
    this.slots[slot] = group + 1
    if (this.size * 2 > this.slots.length) this.rehash()
    return group
  }

  private rehash(): void {
    this.slots = new Uint32Array(this.slots.length * 4)
    const last = this.slots.length - 1
    for (let group = 0; group < this.size; group++) {
      let slot = hash(this.outerOf[group]!, this.codes[group]!) & last
      while (this.slots[slot] !== 0) slot = (slot + 1) & last
      this.slots[slot] = group + 1
    }
  }
}

function hash(a: number, b: number): number {
  const mixed = Math.imul(a, 0x9e37_79b1) ^ Math.imul(b, 0x85eb_ca77)
  return mixed ^ (mixed >>> 15)
}
