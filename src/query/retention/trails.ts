import type { Dimension } from "../../domain/dimension.ts"
import type { RetentionQuery } from "../../domain/people.ts"
import type { Range } from "../../domain/query.ts"
import type { Part, Snapshot, VisitColumn } from "../../store/events/part.ts"
import { SEGMENT_EVENTS } from "../../store/events/upkeep/build.ts"
import { grownNumbers, grownSums } from "../filter/buffers.ts"
import { type CompiledFilter, compileFilter } from "../filter/filters.ts"
import { orderedPart } from "../measure/ordered-part.ts"
import { countedVisits, type People, STARTS, startFilter, startingPeople } from "./starts.ts"

/** What an event is for a report, as bits. `FIRST` is a start that need not satisfy the filter. */
export const START = 1
export const RETURN = 2
export const ANY_START = 4

/** The events of some people. `order` lists them by person and time. */
export interface Trails {
  at: Float64Array
  marks: Uint32Array
  /** Number of the breakdown's value. Empty without a breakdown. */
  values: Uint32Array
  order: Uint32Array
  /** By person, the position in `order` after the last event. */
  ends: Uint32Array
}

/** Number of adjacent people who are read together. */
const BLOCK_BITS = 10

export interface TrailReader {
  /** Calls `read` with the events of all people who may start in a cohort, some people at a time. The arrays are reused. */
  each(read: (trails: Trails) => void): void
}

/** Creates the reader of a report's starts and returns. */
export function trailReader(snapshot: Snapshot, query: RetentionQuery, people: People, maxEvents: number, check: () => void): TrailReader {
  const range = trailRange(query)
  const parts = snapshot.parts.filter((part) => part.events > 0 && part.maxAt >= range.from && part.minAt < range.to)
  const states = startingPeople(snapshot, query, people, check)
  const marks: (readonly [filter: CompiledFilter, mark: number])[] = [
    [compileFilter(snapshot, startFilter(query), query.site), START],
    [compileFilter(snapshot, query.returning, query.site), RETURN],
    ...(query.firstEver ? ([[compileFilter(snapshot, query.start, query.site), ANY_START]] as const) : []),
  ]
  const some = batches(parts, states, maxEvents, check)
  return {
    each(read) {
      const events = new GatheredEvents(query.breakdown, Math.max(0, ...some.map(({ count }) => count)) + SEGMENT_EVENTS)
      for (const { from, to } of some) {
        events.clear()
        for (const part of parts) {
          check()
          const visits = chosenVisits(part, states, people, from, to)
          if (visits) events.add(orderedPart(part), visits, marks, range)
        }
        read(events.sorted(from, to))
      }
    },
  }
}

/** Returns the time in which starts and returns count. */
function trailRange({ edges, cohorts, periods, counting, elapsed, scope }: RetentionQuery): Range {
  const until = scope.now + 1
  const last = elapsed ? edges[cohorts]! + periods * DAY_MS : (edges[cohorts + periods - 1] ?? until)
  return { from: edges[0]!, to: counting === "exact" ? Math.min(last, until) : until }
}
export const DAY_MS = 86_400_000

/** People who are read together, by their ordinals, and an estimate of their events. */
interface Batch extends Range {
  count: number
}

/** Divides the people who may start in a cohort into batches with few enough events. */
function batches(parts: readonly Part[], states: Uint8Array, maxEvents: number, check: () => void): Batch[] {
  const events = new Float64Array((states.length >>> BLOCK_BITS) + 1)
  for (const part of parts) {
    check()
    countEvents(part.visit("visitor"), part.visit("events"), part.visits, states, events)
  }
  const some: Batch[] = []
  let sum = 0
  let from = 0
  for (let block = 0; block < events.length; block++) {
    if (sum > 0 && sum + events[block]! > maxEvents) {
      some.push({ from, to: block << BLOCK_BITS, count: sum })
      from = block << BLOCK_BITS
      sum = 0
    }
    sum += events[block]!
  }
  return sum > 0 ? [...some, { from, to: states.length, count: sum }] : some
}

function countEvents(visitor: Uint32Array, column: Uint32Array, visits: number, states: Uint8Array, events: Float64Array): void {
  for (let visit = 0; visit < visits; visit++) {
    const person = visitor[visit]!
    if (states[person] === STARTS) events[person >>> BLOCK_BITS]! += column[visit]!
  }
}

/** Returns the visits of chosen people, or undefined without one. */
function chosenVisits(part: Part, states: Uint8Array, people: People, from: number, to: number): Uint8Array | undefined {
  const mask = countedVisits(part, "all", people)
  const chosen = new Uint8Array(part.visits)
  const visitor = part.visit("visitor")
  let count = 0
  for (let visit = 0; visit < chosen.length; visit++) {
    const person = visitor[visit]!
    if (states[person] !== STARTS || person < from || person >= to || (mask !== "all" && mask[visit] === 0)) continue
    chosen[visit] = 1
    count++
  }
  return count === 0 ? undefined : chosen
}

/** Events of some people with what they are for the report, in order of the parts. */
class GatheredEvents {
  private at: Float64Array = new Float64Array(0)
  private marks: Uint32Array = new Uint32Array(0)
  private person: Uint32Array = new Uint32Array(0)
  /** Number of each event's visit, counted over all parts. */
  private visit: Uint32Array = new Uint32Array(0)
  private values: Uint32Array = new Uint32Array(0)
  private count = 0
  private readonly parts: Part[] = []
  /** Number of the first visit of each part. */
  private readonly bases: number[] = [0]

  /** `capacity` is the expected number of events. */
  constructor(
    private readonly breakdown: Dimension | undefined,
    capacity: number,
  ) {
    this.reserve(capacity)
  }

  /** Adds the events of chosen visits that have a mark. The part must be ordered. */
  add(part: Part, visits: Uint8Array, marks: readonly (readonly [filter: CompiledFilter, mark: number])[], range: Range): void {
    this.parts.push(part)
    this.bases.push(this.bases.at(-1)! + part.visits)
    const end = this.count + part.events
    this.reserve(end)
    const found = this.marks.subarray(this.count, end).fill(0)
    for (const [filter, mark] of marks) addMarks(found, filter.events(part), mark)
    this.compact(part, visits, range)
  }

  private reserve(events: number): void {
    this.at = grownSums(this.at, events)
    this.marks = grownNumbers(this.marks, events)
    this.person = grownNumbers(this.person, events)
    this.visit = grownNumbers(this.visit, events)
    if (this.breakdown) this.values = grownNumbers(this.values, events)
  }

  /** Forgets all events. The arrays are kept. */
  clear(): void {
    this.count = 0
    this.parts.length = 0
    this.bases.length = 1
  }

  /** Keeps the marked events of chosen visits in the range. */
  private compact(part: Part, visits: Uint8Array, { from, to }: Range): void {
    const [visit, offset, starts, visitor] = [part.event("visit"), part.event("offset"), part.starts(), part.visit("visitor")]
    const base = this.bases.at(-2)!
    const first = this.count
    let count = first
    for (let row = 0; row < part.events; row++) {
      const of = visit[row]!
      const mark = this.marks[first + row]!
      if (mark === 0 || visits[of] === 0) continue
      const at = starts[of]! + offset[row]!
      if (at < from || at >= to) continue
      this.at[count] = at
      this.marks[count] = mark
      this.person[count] = visitor[of]!
      this.visit[count++] = base + of
    }
    this.count = count
    if (this.breakdown) this.addValues(part.visit(this.breakdown as VisitColumn), base, first) // the dimensions of visits are columns
  }

  private addValues(column: Uint32Array, base: number, first: number): void {
    for (let i = first; i < this.count; i++) this.values[i] = column[this.visit[i]! - base]!
  }

  /** Returns the events by person in order of time. All people are from `from` up to, but not including, `to`. */
  sorted(from: number, to: number): Trails {
    const { at, marks, values, person, count } = this
    const ends = new Uint32Array(to - from)
    const order = new Uint32Array(count)
    sortByPerson(person.subarray(0, count), from, ends, order)
    let begin = 0
    // An iterator over millions of people would take longer than the sort.
    for (let i = 0; i < ends.length; i++) {
      const end = ends[i]!
      if (end - begin > 1 && !this.isInOrder(order, begin, end)) order.subarray(begin, end).sort((a, b) => this.compare(a, b))
      begin = end
    }
    return { at, marks, values, order, ends }
  }

  private isInOrder(order: Uint32Array, begin: number, end: number): boolean {
    const { at } = this
    for (let i = begin + 1; i < end; i++) {
      const before = order[i - 1]!
      const event = order[i]!
      if (at[before]! > at[event]! || (at[before] === at[event] && this.compare(before, event) > 0)) return false
    }
    return true
  }

  /** Compares by time, events at equal times by the sequence of their visits, and those of one visit by their rows. */
  private compare(a: number, b: number): number {
    return this.at[a]! - this.at[b]! || this.sequenceOf(a) - this.sequenceOf(b) || a - b
  }

  private sequenceOf(event: number): number {
    const visit = this.visit[event]!
    const part = this.bases.findLastIndex((base) => base <= visit)
    return this.parts[part]!.sequences()[visit - this.bases[part]!]!
  }
}

function addMarks(marks: Uint32Array, mask: Uint8Array, mark: number): void {
  for (let row = 0; row < marks.length; row++) marks[row] = marks[row]! | (mask[row]! * mark)
}

/** Lists the events by person with a counting sort, and writes the end of each person's events. */
function sortByPerson(person: Uint32Array, from: number, ends: Uint32Array, order: Uint32Array): void {
  for (let i = 0; i < person.length; i++) ends[person[i]! - from]!++
  let begin = 0
  for (let i = 0; i < ends.length; i++) {
    const count = ends[i]!
    ends[i] = begin
    begin += count
  }
  for (let i = 0; i < person.length; i++) order[ends[person[i]! - from]!++] = i
}
