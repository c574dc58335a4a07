import { ENGAGEMENT, PAGEVIEW, VITALS } from "../../../domain/dimension.ts"
import { TRAITS, VISITOR_KINDS } from "../../../domain/visit.ts"
import { arrivalSince, EVENT_COLUMNS, VISIT_COLUMNS, type VisitColumn } from "../part.ts"
import type { Steps } from "../steps.ts"
import type { OpenVisit } from "../writer.ts"
import { GrowingRows, type RowRuns } from "./growing.ts"
import type { LogPlace, TailEvent, TailVisit } from "./rows.ts"
import { isOpen, VisitIndex, VisitView } from "./visit-index.ts"

/**
 * Columns that only the tail needs, next to those of reports. `sealing` is 1 for a visit that is closed to further events. `key` is the
 * highest id so far, by which visits are found.
 */
const NARROW = [...VISIT_COLUMNS, "rotating", "eventCount", "sealing"] as const
const WIDE = ["start", "firstSequence", "id", "key", "activeAt", "entryAt", "exitAt", "arrivedAt", "record"] as const

/** Memory of a visit. */
export const VISIT_BYTES = NARROW.length * 4 + WIDE.length * 8
/** Memory of an event, without its optional parts. */
export const EVENT_BYTES = EVENT_COLUMNS.length * 4 + 8

/** Resolution of the ages by which idle visits are chosen. */
const AGE_UNIT_MS = 1_000

/** The visits of a tail. */
export class TailVisits {
  readonly #rows = new GrowingRows(NARROW, WIDE)
  #index: VisitIndex | undefined
  /** Rows of the visits whose id is below that of an earlier row. */
  readonly #outOfOrder = new Map<number, number>()
  /** Number of events of visits that `close` has closed. */
  closedEvents = 0

  get length(): number {
    return this.#rows.length
  }

  column(name: VisitColumn): Uint32Array {
    return this.#rows.view(name)
  }
  starts(): Float64Array {
    return this.#rows.wideView("start")
  }
  firstSequences(): Float64Array {
    return this.#rows.wideView("firstSequence")
  }
  start(row: number): number {
    return this.#rows.float64.start[row]!
  }
  firstSequence(row: number): number {
    return this.#rows.float64.firstSequence[row]!
  }

  /**
   * Returns the row of a visit. Ids ascend, except for some that a seal has carried over last, so this is a binary search. It tries the last
   * row first: most events belong to new visits.
   */
  find(visitId: number): number | undefined {
    const { id: ids, key: keys } = this.#rows.float64
    let high = this.length
    if (high > 0 && ids[high - 1] === visitId) return high - 1
    let low = 0
    while (low < high) {
      const row = (low + high) >>> 1
      if (keys[row]! < visitId) low = row + 1
      else high = row
    }
    return low < this.length && ids[low] === visitId ? low : this.#outOfOrder.get(visitId)
  }

  rotating(row: number): number {
    return this.#rows.uint32.rotating[row]!
  }

  open(visit: TailVisit, place: LogPlace): void {
    const row = this.#rows.add()
    const { uint32, float64 } = this.#rows
    uint32.visitor[row] = visit.visitor
    uint32.visitor_kind[row] = visit.kind
    uint32.rotating[row] = visit.rotating
    float64.id[row] = visit.id
    const before = row === 0 ? 0 : float64.key[row - 1]!
    float64.key[row] = Math.max(before, visit.id)
    if (visit.id < before) this.#outOfOrder.set(visit.id, row)
    float64.start[row] = Number.POSITIVE_INFINITY
    float64.firstSequence[row] = visit.id
    float64.activeAt[row] = Number.NEGATIVE_INFINITY
    float64.entryAt[row] = Number.POSITIVE_INFINITY
    float64.exitAt[row] = Number.NEGATIVE_INFINITY
    float64.arrivedAt[row] = place.arrivedAt
    float64.record[row] = place.record
    // Most traits are 0, the initial value of the row.
    for (let at = 0; at < TRAITS.length; at++) if (visit.traits[at] !== 0) uint32[TRAITS[at]!][row] = visit.traits[at]!
    this.#index?.add(row)
  }

  replaceTraits(row: number, traits: readonly number[]): void {
    for (let at = 0; at < TRAITS.length; at++) this.#rows.uint32[TRAITS[at]!][row] = traits[at]!
  }

  identify(row: number, visitor: number, kind: number, place: LogPlace): void {
    const { uint32, float64 } = this.#rows
    uint32.visitor[row] = visitor
    uint32.visitor_kind[row] = kind
    float64.record[row] = place.record
    if (VISITOR_KINDS[kind] === "user") this.#index?.addToUser(row)
  }

  /** Adds an event to the figures of a visit. Returns the milliseconds by which the visit's start moved to an earlier time. */
  add(row: number, event: TailEvent, place: LogPlace): number {
    const earlierBy = this.#touch(row, event, place)
    this.#count(row, event)
    return earlierBy
  }

  /** See `Writer.findOpenVisit`. */
  findOpen(rotating: number, user: number | undefined, now: number, fits: (visit: OpenVisit) => boolean): OpenVisit | undefined {
    this.#index ??= new VisitIndex(this.#rows)
    return this.#index.find(rotating, user, now, fits)
  }

  isOpen(row: number, now: number): boolean {
    return isOpen(this.#rows, row, now)
  }

  /** Returns a visit, given by row, that is open. */
  openAt(row: number): OpenVisit {
    return new VisitView(this.#rows, row)
  }

  /** Closes a visit to further events, before it is sealed. */
  close(row: number): void {
    const { sealing, eventCount } = this.#rows.uint32
    if (sealing[row] === 0) this.closedEvents += eventCount[row]!
    sealing[row] = 1
  }

  /** Returns a visit in the form of the log. */
  at(row: number): TailVisit {
    const { uint32, float64 } = this.#rows
    const { rotating, visitor, visitor_kind } = uint32
    const traits = TRAITS.map((trait) => uint32[trait][row]!)
    return { id: float64.id[row]!, rotating: rotating[row]!, visitor: visitor[row]!, kind: visitor_kind[row]!, traits }
  }

  /** Returns the last record that concerns a visit. */
  record(row: number): number {
    return this.#rows.float64.record[row]!
  }

  /** Returns the properties by which sealing selects visits. */
  place(row: number): { id: number; arrivedAt: number; size: number } {
    const { id, arrivedAt } = this.#rows.float64
    return { id: id[row]!, arrivedAt: arrivedAt[row]!, size: this.#rows.uint32.eventCount[row]! }
  }

  /** Marks with 1 the closed visits whose last record is not after `floor`. Returns also their events and their oldest arrival. */
  findClosed(floor: number, now: number): { closed: Uint8Array; events: number; oldest: number } {
    const { record: records, arrivedAt: arrivals } = this.#rows.float64
    const { eventCount: sizes } = this.#rows.uint32
    const closed = new Uint8Array(this.length)
    let events = 0
    let oldest = Number.POSITIVE_INFINITY
    for (let row = 0; row < closed.length; row++) {
      const arrivedAt = arrivals[row]!
      if (records[row]! > floor || isOpen(this.#rows, row, now)) continue
      closed[row] = 1
      events += sizes[row]!
      if (arrivedAt < oldest) oldest = arrivedAt
    }
    return { closed, events, oldest }
  }

  /** Adds the memory of the visits and their events by the time since their last arrival, in seconds. */
  ageBytes(now: number, byAge: Float64Array): void {
    const { arrivedAt } = this.#rows.float64
    const { eventCount } = this.#rows.uint32
    const oldest = byAge.length - 1
    for (let row = 0; row < this.length; row++)
      byAge[Math.min(oldest, ageOf(arrivedAt[row]!, now))]! += VISIT_BYTES + eventCount[row]! * EVENT_BYTES
  }

  /** Marks with 1 the closed visits, and with 2 the open ones that have had no arrival for so many seconds. Returns also their memory. */
  findIdle(now: number, minAge: number): { chosen: Uint8Array; bytes: number } {
    const { arrivedAt } = this.#rows.float64
    const { eventCount } = this.#rows.uint32
    const chosen = new Uint8Array(this.length)
    let bytes = 0
    for (let row = 0; row < chosen.length; row++) {
      const isOpen = this.isOpen(row, now)
      if (isOpen && ageOf(arrivedAt[row]!, now) < minAge) continue
      chosen[row] = isOpen ? 2 : 1
      bytes += VISIT_BYTES + eventCount[row]! * EVENT_BYTES
    }
    return { chosen, bytes }
  }

  /** Marks with 1 the visits whose last record is not after `floor`, except for the carried ones. */
  findSealed(floor: number, carried: ReadonlySet<number>): { sealed: Uint8Array; count: number } {
    const { record: records, id: ids } = this.#rows.float64
    const sealed = new Uint8Array(this.length)
    let count = 0
    for (let row = 0; row < sealed.length; row++) {
      if (records[row]! > floor || carried.has(ids[row]!)) continue
      sealed[row] = 1
      count++
    }
    return { sealed, count }
  }

  /** Replaces the visits with the given ones of another tail, in steps. They can change between steps; `takeChanged` then takes them again. */
  take(from: TailVisits, rows: RowRuns): Steps<void> {
    return this.#rows.takeAll(from.#rows, rows)
  }

  /** Frees the memory of all columns. */
  release(): void {
    this.#rows.release()
  }

  /** Returns the last record that concerns any visit. */
  latestRecord(): number {
    return this.#rows.wideView("record").reduce((latest, record) => Math.max(latest, record), 0)
  }

  /**
   * Takes the visits that have changed after a record, and those that were opened since `take`, which had `newRows` for the earlier ones:
   * each new row + 1, or 0 if it was not taken. Returns the new rows of all visits.
   */
  takeChanged(from: TailVisits, newRows: Uint32Array, after: number): Uint32Array {
    const rows = new Uint32Array(from.length)
    rows.set(newRows)
    const { record } = from.#rows.float64
    for (let row = 0; row < rows.length; row++) {
      if (row >= newRows.length) rows[row] = this.#rows.add() + 1
      else if (rows[row] === 0 || record[row]! <= after) continue
      this.#rows.takeRow(rows[row]! - 1, from.#rows, row)
    }
    this.#recount()
    return rows
  }

  #recount(): void {
    const { sealing, eventCount } = this.#rows.uint32
    const { id, key } = this.#rows.float64
    for (let row = 0; row < this.length; row++) {
      if (sealing[row] === 1) this.closedEvents += eventCount[row]!
      if (id[row] !== key[row]) this.#outOfOrder.set(id[row]!, row)
    }
  }

  #touch(visit: number, event: TailEvent, place: LogPlace): number {
    const { uint32, float64 } = this.#rows
    uint32.eventCount[visit]! += 1
    float64.record[visit] = place.record
    float64.arrivedAt[visit] = Math.max(float64.arrivedAt[visit]!, place.arrivedAt)
    if (event.at > float64.activeAt[visit]!) float64.activeAt[visit] = event.at
    const start = float64.start[visit]!
    uint32.arrival[visit] = arrivalSince(Math.min(start, event.at), float64.arrivedAt[visit]!)
    if (event.at >= start) return 0
    float64.start[visit] = event.at
    float64.firstSequence[visit] = event.sequence
    if (start === Number.POSITIVE_INFINITY) return 0
    uint32.duration[visit]! += start - event.at
    return start - event.at
  }

  #count(visit: number, event: TailEvent): void {
    const { uint32, float64 } = this.#rows
    // Limited to the column's maximum of 49 days, which only forged events exceed.
    if (event.engagement) uint32.engaged[visit] = Math.min(0xffff_ffff, uint32.engaged[visit]! + event.engagement.engaged)
    if (event.name === ENGAGEMENT || event.name === VITALS) return
    uint32.events[visit]! += 1
    const duration = event.at - float64.start[visit]!
    if (duration > uint32.duration[visit]!) uint32.duration[visit] = duration
    if (event.name !== PAGEVIEW) {
      uint32.interactive[visit]! += event.interactive
      return
    }
    uint32.pageviews[visit]! += 1
    if (event.at < float64.entryAt[visit]!) {
      float64.entryAt[visit] = event.at
      uint32.entry_page[visit] = event.page
      uint32.entry_page_hostname[visit] = event.hostname
    }
    if (event.at >= float64.exitAt[visit]!) {
      float64.exitAt[visit] = event.at
      uint32.exit_page[visit] = event.page
      uint32.exit_page_hostname[visit] = event.hostname
    }
  }
}

/** Returns the whole units since an arrival. One in the future comes from a clock that was wrong then. */
const ageOf = (arrivedAt: number, now: number): number => Math.floor(Math.abs(now - arrivedAt) / AGE_UNIT_MS)
