import type { Part } from "../../store/events/part.ts"
import { grownNumbers, grownSums } from "../filter/buffers.ts"

/** Takes the marked events from `begin` to before `end`, of one visitor, in order of time. */
export type AddTrail = (at: Float64Array, marks: Uint32Array, begin: number, end: number) => void

/** The mark of the first step. */
export const FIRST_STEP = 1

/** What is known of a visitor: has one visit, or several, of which one may have an event of the first step. */
export const ONE_VISIT = 1
export const SEVERAL_VISITS = 2
export const ENTERED = 3

/**
 * The marked events of visits, until those of a visitor are all there: at once with one visit, at the end with several. A
 * visit's events are written behind those that are kept and stay there when they are needed later, so nothing is copied.
 */
export class Trails {
  /** Times and marks of the kept events; of the visit being read too. */
  at: Float64Array = new Float64Array(0)
  marks: Uint32Array = new Uint32Array(0)
  private visitor: Uint32Array = new Uint32Array(0)
  /** Of each kept visit its row in the part, and the part. */
  private row: Uint32Array = new Uint32Array(0)
  private part: Uint32Array = new Uint32Array(0)
  private readonly parts: Part[] = []
  /** Where the events of each kept visit begin; they end where those of the next one begin. */
  private begin: Uint32Array = new Uint32Array(1)
  private kept = 0

  /** `visitors` holds what is known of each, and is written to. `isComplete`: all who entered are marked in it already. */
  constructor(
    private readonly visitors: Uint8Array,
    private readonly isComplete: boolean,
    private readonly add: AddTrail,
  ) {}

  /** Visits of this part come now: makes room for so many of its events and says where the first one goes. */
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

  /**
   * The visit's events lie behind the kept ones up to `end`; `row` is the visit's, `union` all of their marks together. Says
   * where the events of the next one go.
   */
  endVisit(visitor: number, row: number, union: number, end: number): number {
    const begin = this.begin[this.kept]!
    const enters = (union & FIRST_STEP) !== 0
    if (this.visitors[visitor] === ONE_VISIT) {
      if (enters) this.add(this.at, this.marks, begin, end)
      return begin
    }
    if (enters) this.visitors[visitor] = ENTERED
    else if (this.isComplete && this.visitors[visitor] !== ENTERED) return begin
    this.keep(visitor, row, end)
    return end
  }

  /** After the last part: visitors with several visits who took the first step. */
  finish(): void {
    const next = new Uint32Array(this.kept)
    const first = this.linkByVisitor(next)
    const list: number[] = []
    for (let visit = 0; visit < this.kept; visit++) {
      const visitor = this.visitor[visit]!
      if (this.visitors[visitor] !== ENTERED) continue
      this.visitors[visitor] = 0
      list.length = 0
      for (let link = first[visitor]!; link > 0; link = next[link - 1]!) list.push(link - 1)
      this.addVisits(list)
    }
  }

  private keep(visitor: number, row: number, end: number): void {
    this.visitor = grownNumbers(this.visitor, this.kept + 1)
    this.row = grownNumbers(this.row, this.kept + 1)
    this.part = grownNumbers(this.part, this.kept + 1)
    this.begin = grownNumbers(this.begin, this.kept + 2)
    this.visitor[this.kept] = visitor
    this.row[this.kept] = row
    this.part[this.kept] = this.parts.length - 1
    this.begin[++this.kept] = end
  }

  /** Lists of visits by visitor: links count from 1, 0 ends a list. Backwards, so that lists run forwards. */
  private linkByVisitor(next: Uint32Array): Uint32Array {
    const first = new Uint32Array(this.visitors.length)
    for (let visit = this.kept - 1; visit >= 0; visit--) {
      const visitor = this.visitor[visit]!
      if (this.visitors[visitor] !== ENTERED) continue
      next[visit] = first[visitor]!
      first[visitor] = visit + 1
    }
    return first
  }

  /** Of one visitor. Visits are mostly kept in order of time, one after the other. */
  private addVisits(list: number[]): void {
    if (!this.isInOrder(list)) list.sort((a, b) => this.startOf(a) - this.startOf(b))
    const first = list[0]!
    if (list.length === 1) this.add(this.at, this.marks, this.begin[first]!, this.begin[first + 1]!)
    else if (this.isInOrder(list)) this.addJoined(list)
    else this.addMerged(list)
  }

  /** Each visit ends before the next one begins. */
  private isInOrder(list: readonly number[]): boolean {
    for (let i = 1; i < list.length; i++) {
      if (this.startOf(list[i]!) <= this.at[this.begin[list[i - 1]! + 1]! - 1]!) return false
    }
    return true
  }

  /** The joined events are written behind the kept ones, over those of the visitor before. */
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
    this.add(at, marks, start, end)
  }

  /** Visits at the same time are rare. Within a visit the events are in order already. */
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
    this.add(this.at, this.marks, start, start + events.length)
  }

  /** Orders visits at equal times, which are rare: not worth a place in memory for every visit of every part. */
  private sequenceOf(visit: number): number {
    return this.parts[this.part[visit]!]!.sequences()[this.row[visit]!]!
  }

  private startOf(visit: number): number {
    return this.at[this.begin[visit]!]!
  }
}
