import {
  type EngagementColumns,
  EVENT_COLUMNS,
  type EventColumn,
  type Part,
  type PropColumns,
  type RevenueColumns,
  type VisitColumn,
  type VitalColumns,
} from "../part.ts"
import type { Steps } from "../steps.ts"
import { GrowingRows, type RowRuns, unmarkedRows } from "./growing.ts"
import { orderOf } from "./order.ts"
import type { LogPlace, TailEvent, TailVisit } from "./rows.ts"
import { SparseTail } from "./sparse.ts"
import { EVENT_BYTES, TailVisits, VISIT_BYTES } from "./visits.ts"

/**
 * The events of a site that are not in a segment yet, as growing columns in order of arrival. The writer and every reader have their
 * own copy, built from the same log. The kernels of reports read a tail in the same way as a segment.
 */
export class SiteTail implements Part {
  readonly importId: number = 0
  readonly #visits = new TailVisits()
  readonly #rows = new GrowingRows(EVENT_COLUMNS, ["sequence"])
  readonly #sparse = new SparseTail()
  #order: Uint32Array | undefined
  minStart = Number.POSITIVE_INFINITY
  /** An upper bound. It is not lowered when a late event moves a start or when visits are removed: a bound that is too wide is harmless. */
  maxStart = Number.NEGATIVE_INFINITY
  /** Its visits still receive events. */
  readonly lastArrival = Number.POSITIVE_INFINITY
  minAt = Number.POSITIVE_INFINITY
  maxAt = Number.NEGATIVE_INFINITY

  constructor(readonly siteId: number) {}

  get visits(): number {
    return this.#visits.length
  }
  get events(): number {
    return this.#rows.length
  }

  openVisit(visit: TailVisit, place: LogPlace): void {
    this.#visits.open(visit, place)
  }

  /** Replaces the traits of a visit, because an event earlier than its first one has arrived. */
  replaceTraits(visitId: number, traits: readonly number[]): void {
    this.#visits.replaceTraits(this.#row(visitId), traits)
  }

  identify(visitId: number, visitor: number, kind: number, place: LogPlace): void {
    this.#visits.identify(this.#row(visitId), visitor, kind, place)
  }

  /** Returns the sequence of a visit's first event. */
  firstSequence(visitId: number): number {
    return this.#visits.firstSequence(this.#row(visitId))
  }

  /** Returns the start of a visit. */
  start(visitId: number): number {
    return this.#visits.start(this.#row(visitId))
  }

  /** Adds an event to a visit. If it becomes the first one, returns the sequence of the former first one. */
  addEvent(visitId: number, event: TailEvent, place: LogPlace): number | undefined {
    const visit = this.#row(visitId)
    const first = this.#visits.firstSequence(visit)
    const earlierBy = this.#visits.add(visit, event, place)
    if (earlierBy > 0) this.#moveEvents(visit, earlierBy)
    const row = this.#rows.add()
    const start = this.#visits.start(visit)
    const { uint32, float64 } = this.#rows
    uint32.visit[row] = visit
    uint32.offset[row] = event.at - start
    uint32.name[row] = event.name
    uint32.page[row] = event.page
    uint32.hostname[row] = event.hostname
    uint32.title[row] = event.title
    uint32.interactive[row] = event.interactive
    float64.sequence[row] = event.sequence
    this.#sparse.add(row, event)
    this.#order = undefined
    this.#stretch(start, event.at)
    return earlierBy > 0 ? first : undefined
  }

  /** Approximate memory: growing arrays have room for half as many rows again. */
  get bytes(): number {
    return 1.5 * (this.events * EVENT_BYTES + this.visits * VISIT_BYTES + this.#sparse.length * 4)
  }

  /** Returns a visit that events may still join. */
  openVisitAt: TailVisits["openAt"] = (...args) => this.#visits.openAt(...args)

  findOpen: TailVisits["findOpen"] = (...args) => this.#visits.findOpen(...args)

  /** Returns whether events can still join a visit, given by row. */
  isOpen(row: number, now: number): boolean {
    return this.#visits.isOpen(row, now)
  }

  /** Closes a visit, given by row, to further events, before it is sealed. */
  close(row: number): void {
    this.#visits.close(row)
  }

  /** The same for a visit given by id. */
  closeVisit(visitId: number): void {
    this.#visits.close(this.#row(visitId))
  }

  /** Number of events of visits that were closed before their time. */
  get closedEvents(): number {
    return this.#visits.closedEvents
  }

  /**
   * Builds a tail without the visits marked with 1, which must be closed. It works in steps, one column at a time. Events can arrive
   * between steps, so what they can change is copied in the last step.
   */
  *without(marked: Uint8Array): Steps<SiteTail> {
    const rest = new SiteTail(this.siteId)
    const latest = this.#visits.latestRecord()
    const events = this.#eventsWithout(marked)
    yield
    rest.#rows.begin(this.#rows, events.runs)
    yield
    for (const column of FIXED_COLUMNS) {
      rest.#rows.take(column, this.#rows, events.runs)
      yield
    }
    rest.#rows.takeWide("sequence", this.#rows, events.runs)
    yield
    rest.#sparse.take(this.#sparse, newRows(events.scanned, events.runs))
    yield
    const removed = new Uint8Array(this.visits)
    removed.set(marked)
    const visits = unmarkedRows(removed)
    yield* rest.#visits.take(this.#visits, visits)
    const visitRows = rest.#visits.takeChanged(this.#visits, newRows(removed.length, visits), latest)
    rest.#takeOffsets(this, events.runs, visitRows)
    rest.#addEventsSince(this, events.scanned, visitRows)
    return rest
  }

  /** Frees the memory of the tail, which must not be used any more. */
  release(): void {
    this.#rows.release()
    this.#sparse.release()
    this.#visits.release()
  }

  /** Returns the events of the other visits, and the number of events at the time of the call. */
  #eventsWithout(marked: Uint8Array): { runs: RowRuns; scanned: number } {
    const visitOf = this.#rows.view("visit")
    const removed = new Uint8Array(visitOf.length)
    for (let row = 0; row < visitOf.length; row++) if (marked[visitOf[row]!] === 1) removed[row] = 1
    return { runs: unmarkedRows(removed), scanned: visitOf.length }
  }

  visitAt(row: number): TailVisit {
    return this.#visits.at(row)
  }

  /** Returns a visit by id in the form of the log. */
  visitOf(visitId: number): TailVisit {
    return this.#visits.at(this.#row(visitId))
  }

  closedVisits: TailVisits["findClosed"] = (...args) => this.#visits.findClosed(...args)

  sealedVisits: TailVisits["findSealed"] = (...args) => this.#visits.findSealed(...args)

  ageBytes: TailVisits["ageBytes"] = (...args) => this.#visits.ageBytes(...args)

  findIdle: TailVisits["findIdle"] = (...args) => this.#visits.findIdle(...args)

  /** Returns the last record that concerns a visit, given by row. */
  lastRecord(row: number): number {
    return this.#visits.record(row)
  }

  visitPlace(row: number): ReturnType<TailVisits["place"]> {
    return this.#visits.place(row)
  }

  /** Returns the events of the visits marked with 1 whose sequence is below `boundary`, in order of arrival. */
  *eventsOf(chosen: Uint8Array, boundary: number): IterableIterator<{ visit: number; event: TailEvent }> {
    const { uint32, float64 } = this.#rows
    const sparse = this.#sparse.cursor()
    for (let row = 0; row < this.events && float64.sequence[row]! < boundary; row++) {
      const visit = uint32.visit[row]!
      if (chosen[visit] === 1) yield { visit, event: this.#eventAt(row, sparse.at(row)) }
    }
  }

  /** Returns the sequence and the time of the event of each visit that arrived first. Neither changes. */
  firstArrivals(): { first: Float64Array; at: Float64Array } {
    const visits = this.#rows.view("visit")
    const starts = this.#visits.starts()
    const { uint32, float64 } = this.#rows
    const [first, at] = [new Float64Array(starts.length), new Float64Array(starts.length)]
    // Rows are in order of arrival, so the last one that is assigned is the first.
    for (let row = visits.length - 1; row >= 0; row--) {
      const visit = visits[row]!
      first[visit] = float64.sequence[row]!
      at[visit] = starts[visit]! + uint32.offset[row]!
    }
    return { first, at }
  }

  /** Returns the ordinal of the rotating visitor of a visit, given by row. */
  rotating(row: number): number {
    return this.#visits.rotating(row)
  }

  /** Returns an event in the form of the log. */
  eventAt(row: number): TailEvent {
    return this.#eventAt(row, this.#sparse.at(row))
  }

  #eventAt(row: number, optional: ReturnType<SparseTail["at"]>): TailEvent {
    const { uint32, float64 } = this.#rows
    return {
      at: this.#visits.start(uint32.visit[row]!) + uint32.offset[row]!,
      sequence: float64.sequence[row]!,
      name: uint32.name[row]!,
      page: uint32.page[row]!,
      hostname: uint32.hostname[row]!,
      title: uint32.title[row]!,
      interactive: uint32.interactive[row]!,
      ...optional,
    }
  }

  starts(): Float64Array {
    return this.#visits.starts()
  }
  sequences(): Float64Array {
    return this.#visits.firstSequences()
  }
  visit(column: VisitColumn): Uint32Array {
    return this.#visits.column(column)
  }
  event(column: EventColumn): Uint32Array {
    return this.#rows.view(column)
  }
  order(): Uint32Array {
    this.#order ??= orderOf(this)
    return this.#order
  }
  props(): PropColumns {
    return this.#sparse.props()
  }
  revenue(): RevenueColumns {
    return this.#sparse.revenue()
  }
  engagement(): EngagementColumns {
    return this.#sparse.engagement()
  }
  vitals(): VitalColumns {
    return this.#sparse.vitals()
  }

  #row(visitId: number): number {
    const row = this.#visits.find(visitId)
    if (row === undefined) throw new Error(`Visit ${visitId} is not in the tail of site ${this.siteId}`)
    return row
  }

  /** Increases the offsets of a visit's events after its start has moved. This is rare, so a pass over the tail is acceptable. */
  #moveEvents(visit: number, earlierBy: number): void {
    const visits = this.#rows.view("visit")
    const { offset } = this.#rows.uint32
    for (let row = 0; row < visits.length; row++) if (visits[row] === visit) offset[row]! += earlierBy
  }

  #stretch(start: number, at: number): void {
    if (start < this.minStart) this.minStart = start
    if (start > this.maxStart) this.maxStart = start
    if (at < this.minAt) this.minAt = at
    if (at > this.maxAt) this.maxAt = at
  }

  /** Copies the columns of events that can change while their visit is open, and the time bounds. */
  #takeOffsets(from: SiteTail, rows: RowRuns, visitRows: Uint32Array): void {
    for (const column of ["visit", "offset"] as const) this.#rows.take(column, from.#rows, rows)
    const visits = this.#rows.view("visit")
    for (let row = 0; row < visits.length; row++) visits[row] = visitRows[visits[row]!]! - 1
    const starts = this.#visits.starts()
    for (let visit = 0; visit < starts.length; visit++) if (starts[visit]! < this.minStart) this.minStart = starts[visit]!
    this.minAt = this.minStart // a visit starts with its first event
    this.maxStart = from.maxStart
    this.maxAt = from.maxAt
  }

  /** Adds the events that have arrived since `first`. Their visits were copied before. */
  #addEventsSince(from: SiteTail, first: number, visitRows: Uint32Array): void {
    const sparse = from.#sparse.cursor()
    for (let next = first; next < from.events; next++) {
      const row = this.#rows.add()
      const { uint32, float64 } = this.#rows
      this.#sparse.add(row, sparse.at(next))
      uint32.visit[row] = visitRows[from.#rows.uint32.visit[next]!]! - 1
      uint32.offset[row] = from.#rows.uint32.offset[next]!
      for (const column of FIXED_COLUMNS) uint32[column][row] = from.#rows.uint32[column][next]!
      float64.sequence[row] = from.#rows.float64.sequence[next]!
    }
  }
}

/** The columns of an event that later events cannot change. */
const FIXED_COLUMNS = ["name", "page", "hostname", "title", "interactive"] as const

/** Maps each old row to its new row + 1, or to 0 if it is removed. */
function newRows(count: number, { froms, tos }: RowRuns): Uint32Array {
  const rows = new Uint32Array(count)
  let next = 1
  for (let run = 0; run < froms.length; run++) for (let row = froms[run]!; row < tos[run]!; row++) rows[row] = next++
  return rows
}
