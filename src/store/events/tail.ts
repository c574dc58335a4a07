import { GrowingFloat64, growingColumns, rowsWhere } from "./growing.ts"
import {
  type EngagementColumns,
  EVENT_COLUMNS,
  type EventColumn,
  type Part,
  type PropColumns,
  type RevenueColumns,
  type VisitColumn,
  type VitalColumns,
} from "./part.ts"
import { SparseTail } from "./sparse-tail.ts"
import { orderOf } from "./tail-order.ts"
import type { LogPlace, TailEvent, TailVisit } from "./tail-rows.ts"
import { TailVisits } from "./tail-visits.ts"

/**
 * A site's events that are in no segment yet, as growing columns in order of arrival. The writer and every reader keep
 * one each and feed it the same log, so that the same kernels answer over it as over segments.
 */
export class SiteTail implements Part {
  readonly importId: number = 0
  readonly #visits = new TailVisits()
  readonly #event = growingColumns(EVENT_COLUMNS)
  readonly #eventSequences = new GrowingFloat64()
  readonly #sparse = new SparseTail()
  #order: Uint32Array | undefined
  minStart = Number.POSITIVE_INFINITY
  /** Not lowered when a late event moves a start: a bound that is too wide only costs a test. */
  maxStart = Number.NEGATIVE_INFINITY
  minAt = Number.POSITIVE_INFINITY
  maxAt = Number.NEGATIVE_INFINITY

  constructor(readonly siteId: number) {}

  get visits(): number {
    return this.#visits.length
  }
  get events(): number {
    return this.#eventSequences.length
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
    const row = this.events
    const start = this.#visits.starts.at(visit)
    const { visit: visits, offset, name, page, hostname, title, interactive } = this.#event
    visits.push(visit)
    offset.push(event.at - start)
    name.push(event.name)
    page.push(event.page)
    hostname.push(event.hostname)
    title.push(event.title)
    interactive.push(event.interactive)
    this.#eventSequences.push(event.sequence)
    this.#sparse.add(row, event)
    this.#order = undefined
    this.#stretch(start, event.at)
  }

  findOpen: TailVisits["findOpen"] = (...question) => this.#visits.findOpen(...question)

  /** No event comes to this visit any more: it is being sealed. */
  close(row: number): void {
    this.#visits.close(row)
  }

  /** A tail without the visits marked 1, with the others unchanged. Column by column: it holds up everything else. */
  without(gone: Uint8Array): SiteTail {
    const rest = new SiteTail(this.siteId)
    const visits = rowsWhere(gone.length, (row) => gone[row] !== 1)
    const ofEvent = this.#event.visit.view()
    const events = rowsWhere(ofEvent.length, (row) => gone[ofEvent[row]!] !== 1)
    rest.#visits.take(this.#visits, visits)
    rest.#takeEvents(this, events, newRows(gone.length, visits))
    rest.#sparse.take(this.#sparse, newRows(ofEvent.length, events))
    return rest
  }

  visitAt(row: number): TailVisit {
    return this.#visits.at(row)
  }

  visitPlace(row: number): ReturnType<TailVisits["place"]> {
    return this.#visits.place(row)
  }

  /** Events of chosen visits as the log tells them, in order of arrival. */
  *eventsOf(isChosen: (visit: number) => boolean): IterableIterator<{ visit: number; event: TailEvent }> {
    const { visit: visits, offset, name, page, hostname, title, interactive } = this.#event
    const sparse = this.#sparse.cursor()
    for (let row = 0; row < this.events; row++) {
      const visit = visits.at(row)
      if (!isChosen(visit)) continue
      const event = {
        at: this.#visits.starts.at(visit) + offset.at(row),
        sequence: this.#eventSequences.at(row),
        name: name.at(row),
        page: page.at(row),
        hostname: hostname.at(row),
        title: title.at(row),
        interactive: interactive.at(row),
        ...sparse.at(row),
      }
      yield { visit, event }
    }
  }

  starts(): Float64Array {
    return this.#visits.starts.view()
  }
  sequences(): Float64Array {
    return this.#visits.firstSequences.view()
  }
  visit(column: VisitColumn): Uint32Array {
    return this.#visits.columns[column].view()
  }
  event(column: EventColumn): Uint32Array {
    return this.#event[column].view()
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
    const visits = this.#event.visit.view()
    for (let row = 0; row < visits.length; row++) if (visits[row] === visit) this.#event.offset.add(row, earlierBy)
  }

  #stretch(start: number, at: number): void {
    if (start < this.minStart) this.minStart = start
    if (start > this.maxStart) this.maxStart = start
    if (at < this.minAt) this.minAt = at
    if (at > this.maxAt) this.maxAt = at
  }

  #takeEvents(from: SiteTail, rows: Uint32Array, visitRows: Uint32Array): void {
    for (const column of EVENT_COLUMNS) this.#event[column].take(from.#event[column], rows)
    this.#eventSequences.take(from.#eventSequences, rows)
    const visits = this.#event.visit.view()
    const offsets = this.#event.offset.view()
    const starts = this.#visits.starts.view()
    for (let row = 0; row < rows.length; row++) {
      const visit = visitRows[visits[row]!]! - 1
      visits[row] = visit
      this.#stretch(starts[visit]!, starts[visit]! + offsets[row]!)
    }
  }
}

/** For each old row its new one + 1; 0 where it is gone. */
function newRows(count: number, chosen: Uint32Array): Uint32Array {
  const rows = new Uint32Array(count)
  for (let row = 0; row < chosen.length; row++) rows[chosen[row]!] = row + 1
  return rows
}
