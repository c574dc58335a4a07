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
import { TailVisits } from "./visits.ts"

/**
 * A site's events that are in no segment yet, as growing columns in order of arrival. The writer and every reader keep
 * one each and feed it the same log, so that the same kernels answer over it as over segments.
 */
export class SiteTail implements Part {
  readonly importId: number = 0
  readonly #visits = new TailVisits()
  readonly #rows = new GrowingRows(EVENT_COLUMNS, ["sequence"])
  readonly #sparse = new SparseTail()
  #order: Uint32Array | undefined
  minStart = Number.POSITIVE_INFINITY
  /** Not lowered when a late event moves a start or visits go: a bound that is too wide only costs a test. */
  maxStart = Number.NEGATIVE_INFINITY
  minAt = Number.POSITIVE_INFINITY
  maxAt = Number.NEGATIVE_INFINITY

  constructor(readonly siteId: number) {}

  get visits(): number {
    return this.#visits.length
  }
  get events(): number {
    return this.#rows.length
  }

  has(visitId: number): boolean {
    return this.#visits.find(visitId) !== undefined
  }

  openVisit(visit: TailVisit, place: LogPlace): void {
    this.#visits.open(visit, place)
  }

  /** Replaces what the visit keeps from its first event: an earlier one has come in. */
  replaceTraits(visitId: number, traits: readonly number[]): void {
    this.#visits.replaceTraits(this.#row(visitId), traits)
  }

  identify(visitId: number, visitor: number, kind: number, place: LogPlace): void {
    this.#visits.identify(this.#row(visitId), visitor, kind, place)
  }

  addEvent(visitId: number, event: TailEvent, place: LogPlace): void {
    const visit = this.#row(visitId)
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
  }

  findOpen: TailVisits["findOpen"] = (...question) => this.#visits.findOpen(...question)

  /** No event comes to this visit any more: it is being sealed. */
  close(row: number): void {
    this.#visits.close(row)
  }

  /**
   * A tail without the visits marked 1, which are closed, and with all others as they are after the last step: what an event
   * may change of a visit is copied then. Column by column: it holds up everything else.
   */
  *without(marked: Uint8Array): Steps<SiteTail> {
    const rest = new SiteTail(this.siteId)
    const events = this.#eventsWithout(marked)
    rest.#rows.begin(events.runs)
    yield
    for (const column of FIXED_COLUMNS) {
      rest.#rows.take(column, this.#rows, events.runs)
      yield
    }
    rest.#rows.takeWide("sequence", this.#rows, events.runs)
    rest.#sparse.take(this.#sparse, newRows(events.looked, events.runs))
    yield
    const gone = new Uint8Array(this.visits)
    gone.set(marked)
    const visits = unmarkedRows(gone)
    rest.#visits.take(this.#visits, visits)
    rest.#takePlaces(this, events.runs, newRows(gone.length, visits))
    rest.#follow(this, events.looked, newRows(gone.length, visits))
    return rest
  }

  #eventsWithout(marked: Uint8Array): { runs: RowRuns; looked: number } {
    const ofEvent = this.#rows.view("visit")
    const gone = new Uint8Array(ofEvent.length)
    for (let row = 0; row < ofEvent.length; row++) if (marked[ofEvent[row]!] === 1) gone[row] = 1
    return { runs: unmarkedRows(gone), looked: ofEvent.length }
  }

  visitAt(row: number): TailVisit {
    return this.#visits.at(row)
  }

  closedVisits: TailVisits["closed"] = (...question) => this.#visits.closed(...question)

  sealedVisits: TailVisits["sealed"] = (...question) => this.#visits.sealed(...question)

  visitPlace(row: number): ReturnType<TailVisits["place"]> {
    return this.#visits.place(row)
  }

  /** Events of the visits marked 1 with a sequence below `boundary` as the log tells them, in order of arrival. */
  *eventsOf(chosen: Uint8Array, boundary: number): IterableIterator<{ visit: number; event: TailEvent }> {
    const { uint32, float64 } = this.#rows
    const sparse = this.#sparse.cursor()
    for (let row = 0; row < this.events && float64.sequence[row]! < boundary; row++) {
      const visit = uint32.visit[row]!
      if (chosen[visit] !== 1) continue
      const event = {
        at: this.#visits.start(visit) + uint32.offset[row]!,
        sequence: float64.sequence[row]!,
        name: uint32.name[row]!,
        page: uint32.page[row]!,
        hostname: uint32.hostname[row]!,
        title: uint32.title[row]!,
        interactive: uint32.interactive[row]!,
        ...sparse.at(row),
      }
      yield { visit, event }
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

  /** A visit now starts earlier: its events lie further from its start. Rare, so a pass over the tail will do. */
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

  /** Of chosen events what may change as long as their visit is open. */
  #takePlaces(from: SiteTail, rows: RowRuns, visitRows: Uint32Array): void {
    for (const column of ["visit", "offset"] as const) this.#rows.take(column, from.#rows, rows)
    const visits = this.#rows.view("visit")
    for (let row = 0; row < visits.length; row++) visits[row] = visitRows[visits[row]!]! - 1
    const starts = this.#visits.starts()
    for (let visit = 0; visit < starts.length; visit++) if (starts[visit]! < this.minStart) this.minStart = starts[visit]!
    this.minAt = this.minStart // a visit starts with its first event
    this.maxStart = from.maxStart
    this.maxAt = from.maxAt
  }

  /** Takes over the events that have come since `row`; their visits are here already. */
  #follow(from: SiteTail, row: number, visitRows: Uint32Array): void {
    const sparse = from.#sparse.cursor()
    for (let next = row; next < from.events; next++) {
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

/** What no later event changes of an event. */
const FIXED_COLUMNS = ["name", "page", "hostname", "title", "interactive"] as const

/** For each old row its new one + 1; 0 where it is gone. */
function newRows(count: number, { froms, tos }: RowRuns): Uint32Array {
  const rows = new Uint32Array(count)
  let next = 1
  for (let run = 0; run < froms.length; run++) for (let row = froms[run]!; row < tos[run]!; row++) rows[row] = next++
  return rows
}
