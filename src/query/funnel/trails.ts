import type { Part } from "../../store/events/part.ts"
import { grownNumbers, grownSums } from "../filter/buffers.ts"
import type { Crossing } from "../parts/sums.ts"

/** Called with the marked events of one visitor in order of time, from `begin` up to, but not including, `end`. */
export type AddTrail = (at: Float64Array, marks: Uint32Array, begin: number, end: number, visitor: number) => void

/** Visits of some visitors, to be added to other trails. */
export interface KeptVisits {
  visitor: Uint32Array
  /** Position of the part of each visit, and its row there. */
  part: Uint32Array
  row: Uint32Array
  /** Where the events of each visit end. They begin where those of the visit before it end. */
  ends: Uint32Array
  at: Float64Array
  marks: Uint32Array
}

/** The mark of the first step. */
export const FIRST_STEP = 1

export interface TrailsOptions {
  /** A bit for each visitor with several visits. */
  returning: Int32Array
  /** A bit for each of them who took the first step. Modified. */
  entered: Int32Array
  /** Whether those who will take it have their bit already. */
  isComplete: boolean
}

/**
 * Collects the marked events of each visitor, and passes them on when they are complete: at once with one visit, at the end with
 * several. The events of a visit are written after those that are kept, and stay there if they are needed later, so that nothing is
 * copied.
 */
export class Trails {
  /** Times and marks of the kept events and of the current visit. */
  at: Float64Array = new Float64Array(0)
  marks: Uint32Array = new Uint32Array(0)
  private visitor: Uint32Array = new Uint32Array(0)
  /** Row of each kept visit in its part, and the index of the part. */
  private row: Uint32Array = new Uint32Array(0)
  private part: Uint32Array = new Uint32Array(0)
  private readonly parts: Part[] = []
  /** Position of the first event of each kept visit. Its events end where those of the next visit begin. */
  private begin: Uint32Array = new Uint32Array(1)
  /** Number of kept visits. */
  private kept = 0

  constructor(
    private readonly options: TrailsOptions,
    private readonly add: AddTrail,
  ) {}

  /** Starts a part with at most `events` events. Returns the position of its first event. */
  enter(part: Part, events: number): number {
    this.parts.push(part)
    return this.reserve(events)
  }

  private reserve(events: number): number {
    const end = this.begin[this.kept]!
    this.at = grownSums(this.at, end + events)
    this.marks = grownNumbers(this.marks, end + events)
    return end
  }

  /** Returns whether the marked events of a visit are needed. `union` is the union of their marks. */
  needs(visitor: number, union: number): boolean {
    if (union === 0 || !this.isReturning(visitor)) return (union & FIRST_STEP) !== 0
    return !this.options.isComplete || (union & FIRST_STEP) !== 0 || isIn(this.options.entered, visitor)
  }

  /**
   * Ends a needed visit, whose marked events were written after the kept ones up to `end`. `row` is that of the visit. Returns the position
   * of the first event of the next visit.
   */
  endVisit(visitor: number, row: number, end: number): number {
    const begin = this.begin[this.kept]!
    if (!this.isReturning(visitor)) {
      this.add(this.at, this.marks, begin, end, visitor)
      return begin
    }
    let union = 0
    for (let i = begin; i < end; i++) union |= this.marks[i]!
    if ((union & FIRST_STEP) !== 0) this.options.entered[visitor >>> 5]! |= 1 << (visitor & 31)
    this.keep({ visitor, row, part: this.parts.length - 1 }, end)
    return end
  }

  /** Keeps all visits of crossing visitors, who can take the first step elsewhere. Called before the parts are read. */
  expect({ from, bits }: Crossing): void {
    for (let word = 0; word < bits.length; word++) this.options.entered[from + word]! |= bits[word]!
  }

  /** Returns the kept visits of crossing visitors, which `finish` then does not pass on. `parts` contains those that were read. */
  takeKept({ from, bits }: Crossing, parts: readonly Part[]): KeptVisits {
    const { entered } = this.options
    for (let word = 0; word < bits.length; word++) entered[from + word]! &= ~bits[word]!
    const places = this.parts.map((part) => parts.indexOf(part))
    const [visits, ends, events] = [[] as number[], [] as number[], [] as number[]]
    for (let visit = 0; visit < this.kept; visit++) {
      const visitor = this.visitor[visit]!
      if (((bits[(visitor >>> 5) - from]! >>> (visitor & 31)) & 1) === 0) continue
      for (let event = this.begin[visit]!; event < this.begin[visit + 1]!; event++) events.push(event)
      visits.push(visit)
      ends.push(events.length)
    }
    return {
      visitor: Uint32Array.from(visits, (visit) => this.visitor[visit]!),
      part: Uint32Array.from(visits, (visit) => places[this.part[visit]!]!),
      row: Uint32Array.from(visits, (visit) => this.row[visit]!),
      ends: Uint32Array.from(ends),
      at: Float64Array.from(events, (event) => this.at[event]!),
      marks: Uint32Array.from(events, (event) => this.marks[event]!),
    }
  }

  /** Adds visits that other trails have kept of `parts`. */
  addKept({ visitor, part, row, ends, at, marks }: KeptVisits, parts: readonly Part[]): void {
    const first = this.parts.length
    this.parts.push(...parts)
    const start = this.reserve(at.length)
    this.at.set(at, start)
    this.marks.set(marks, start)
    for (let visit = 0; visit < visitor.length; visit++) {
      const id = visitor[visit]!
      for (let event = ends[visit - 1] ?? 0; event < ends[visit]!; event++)
        if ((marks[event]! & FIRST_STEP) !== 0) this.options.entered[id >>> 5]! |= 1 << (id & 31)
      this.keep({ visitor: id, row: row[visit]!, part: first + part[visit]! }, start + ends[visit]!)
    }
  }

  /** Forgets all visits. */
  clear(): void {
    this.kept = 0
    this.parts.length = 0
  }

  /** Passes on the visitors with several visits who took the first step. Called after the last part. */
  finish(): void {
    const { entered } = this.options
    const next = new Uint32Array(this.kept)
    const first = this.linkByVisitor(next)
    const list: number[] = []
    for (let visit = 0; visit < this.kept; visit++) {
      const visitor = this.visitor[visit]!
      if (!isIn(entered, visitor)) continue
      entered[visitor >>> 5]! &= ~(1 << (visitor & 31))
      list.length = 0
      for (let link = first(visitor); link > 0; link = next[link - 1]!) list.push(link - 1)
      this.addVisits(list)
    }
  }

  private isReturning(visitor: number): boolean {
    return isIn(this.options.returning, visitor)
  }

  private keep({ visitor, row, part }: { visitor: number; row: number; part: number }, end: number): void {
    this.visitor = grownNumbers(this.visitor, this.kept + 1)
    this.row = grownNumbers(this.row, this.kept + 1)
    this.part = grownNumbers(this.part, this.kept + 1)
    this.begin = grownNumbers(this.begin, this.kept + 2)
    this.visitor[this.kept] = visitor
    this.row[this.kept] = row
    this.part[this.kept] = part
    this.begin[++this.kept] = end
  }

  /**
   * Links the kept visits of each visitor who entered, and returns the first one of a visitor. Links count from 1, and 0 ends a list. Runs
   * backwards, so that lists run forwards.
   */
  private linkByVisitor(next: Uint32Array): (visitor: number) => number {
    const { entered } = this.options
    // A hash table with open addressing: an array by visitor would be larger than everything else.
    const slots = new Uint32Array(2 ** (33 - Math.clz32(this.kept)))
    const last = slots.length - 1
    const slotOf = (visitor: number): number => {
      let slot = (Math.imul(visitor, 0x9e37_79b1) >>> 7) & last
      while (slots[slot] !== 0 && this.visitor[slots[slot]! - 1] !== visitor) slot = (slot + 1) & last
      return slot
    }
    for (let visit = this.kept - 1; visit >= 0; visit--) {
      const visitor = this.visitor[visit]!
      if (!isIn(entered, visitor)) continue
      const slot = slotOf(visitor)
      next[visit] = slots[slot]!
      slots[slot] = visit + 1
    }
    return (visitor) => slots[slotOf(visitor)]!
  }

  /** Passes on the visits of one visitor. In most cases they are in order and do not overlap. */
  private addVisits(list: number[]): void {
    if (!this.isInOrder(list)) list.sort((a, b) => this.startOf(a) - this.startOf(b))
    const first = list[0]!
    if (list.length === 1) this.add(this.at, this.marks, this.begin[first]!, this.begin[first + 1]!, this.visitor[first]!)
    else if (this.isInOrder(list)) this.addJoined(list)
    else this.addMerged(list)
  }

  /** Returns whether each visit ends before the next one begins. */
  private isInOrder(list: readonly number[]): boolean {
    for (let i = 1; i < list.length; i++) {
      if (this.startOf(list[i]!) <= this.at[this.begin[list[i - 1]! + 1]! - 1]!) return false
    }
    return true
  }

  /** Passes on concatenated visits. They are written after the kept events, over those of the previous visitor. */
  private addJoined(list: readonly number[]): void {
    let length = 0
    for (const visit of list) length += this.begin[visit + 1]! - this.begin[visit]!
    const start = this.reserve(length)
    const { at, marks, begin } = this
    let end = start
    for (const visit of list) {
      for (let i = begin[visit]!; i < begin[visit + 1]!; i++) {
        at[end] = at[i]!
        marks[end++] = marks[i]!
      }
    }
    this.add(at, marks, start, end, this.visitor[list[0]!]!)
  }

  /** Passes on overlapping visits, which are rare, merged by time. The events of each visit are already in order. */
  private addMerged(list: readonly number[]): void {
    const events = list.flatMap((visit) =>
      Array.from({ length: this.begin[visit + 1]! - this.begin[visit]! }, (_, i) => ({
        event: this.begin[visit]! + i,
        visit,
      })),
    )
    events.sort((a, b) => this.at[a.event]! - this.at[b.event]! || this.sequenceOf(a.visit) - this.sequenceOf(b.visit))
    const start = this.reserve(events.length)
    events.forEach(({ event }, i) => {
      this.at[start + i] = this.at[event]!
      this.marks[start + i] = this.marks[event]!
    })
    this.add(this.at, this.marks, start, start + events.length, this.visitor[list[0]!]!)
  }

  /** Returns the sequence of a visit, which orders events at equal times. Looked up on demand, because that is rarely needed. */
  private sequenceOf(visit: number): number {
    return this.parts[this.part[visit]!]!.sequences()[this.row[visit]!]!
  }

  private startOf(visit: number): number {
    return this.at[this.begin[visit]!]!
  }
}

const isIn = (bits: Int32Array, visitor: number): boolean => ((bits[visitor >>> 5]! >>> (visitor & 31)) & 1) === 1
