import { ENGAGEMENT, PAGEVIEW, VITALS } from "../../domain/dimension.ts"
import { TRAITS, VISIT_IDLE_MS, VISITOR_KINDS } from "../../domain/visit.ts"
import { GrowingFloat64, GrowingUint32, growingColumns, type RowRuns } from "./growing.ts"
import { VISIT_COLUMNS } from "./part.ts"
import type { LogPlace, TailEvent, TailVisit } from "./tail-rows.ts"
import { VisitIndex } from "./visit-index.ts"
import type { OpenVisit } from "./writer.ts"

/** The visits of a tail, by row: their columns as reports read them, and what only open visits need. */
export class TailVisits {
  readonly columns = growingColumns(VISIT_COLUMNS)
  readonly starts = new GrowingFloat64()
  readonly firstSequences = new GrowingFloat64()
  readonly ids = new GrowingFloat64()
  readonly #rotating = new GrowingUint32()
  readonly #sizes = new GrowingUint32()
  readonly #activeAt = new GrowingFloat64()
  readonly #entryAt = new GrowingFloat64()
  readonly #exitAt = new GrowingFloat64()
  readonly #arrivedAt = new GrowingFloat64()
  readonly #records = new GrowingFloat64()
  readonly #sealing = new GrowingUint32()
  #index: VisitIndex | undefined

  get length(): number {
    return this.starts.length
  }

  /** Ids ascend with the rows, and most events are of a visit that has just begun. */
  find(visitId: number): number | undefined {
    let high = this.length - 1
    if (this.ids.at(high) === visitId) return high
    for (let low = 0; low <= high; ) {
      const row = (low + high) >>> 1
      const id = this.ids.at(row)
      if (id === visitId) return row
      if (id < visitId) low = row + 1
      else high = row - 1
    }
    return undefined
  }

  open(visit: TailVisit, place: LogPlace): void {
    const row = this.length
    for (const column of VISIT_COLUMNS) this.columns[column].push(0)
    this.columns.visitor.put(row, visit.visitor)
    this.columns.visitor_kind.put(row, visit.kind)
    this.replaceTraits(row, visit.traits)
    this.ids.push(visit.id)
    this.#rotating.push(visit.rotating)
    this.#sizes.push(0)
    this.starts.push(Number.POSITIVE_INFINITY)
    this.firstSequences.push(visit.id)
    this.#activeAt.push(Number.NEGATIVE_INFINITY)
    this.#entryAt.push(Number.POSITIVE_INFINITY)
    this.#exitAt.push(Number.NEGATIVE_INFINITY)
    this.#arrivedAt.push(place.arrivedAt)
    this.#records.push(place.record)
    this.#sealing.push(0)
    this.#index?.add(row)
  }

  replaceTraits(row: number, traits: readonly number[]): void {
    for (let at = 0; at < TRAITS.length; at++) this.columns[TRAITS[at]!].put(row, traits[at]!)
  }

  identify(row: number, visitor: number, kind: number, place: LogPlace): void {
    this.columns.visitor.put(row, visitor)
    this.columns.visitor_kind.put(row, kind)
    this.#records.put(row, place.record)
    if (VISITOR_KINDS[kind] === "user") this.#index?.named(row)
  }

  /** Counts an event of the visit. Returns by how many milliseconds the visit now starts earlier than its other events say. */
  add(row: number, event: TailEvent, place: LogPlace): number {
    const earlierBy = this.#touch(row, event, place)
    this.#count(row, event)
    return earlierBy
  }

  /** See `Writer.findOpenVisit`. */
  findOpen(rotating: number, user: number | undefined, now: number, fits: (visit: OpenVisit) => boolean): OpenVisit | undefined {
    this.#index ??= this.#indexed()
    return this.#index.find(rotating, user, now, fits)
  }

  /** No event comes to this visit any more: it is being sealed. */
  close(row: number): void {
    this.#sealing.put(row, 1)
  }

  /** The visit as the log tells it. */
  at(row: number): TailVisit {
    const { visitor, visitor_kind } = this.columns
    const traits = TRAITS.map((trait) => this.columns[trait].at(row))
    return { id: this.ids.at(row), rotating: this.#rotating.at(row), visitor: visitor.at(row), kind: visitor_kind.at(row), traits }
  }

  /** The row's place in the log and its id: what sealing decides by. */
  place(row: number): { id: number; record: number; arrivedAt: number; size: number } {
    return { id: this.ids.at(row), record: this.#records.at(row), arrivedAt: this.#arrivedAt.at(row), size: this.#sizes.at(row) }
  }

  /** Marks with 1 the visits whose last record is not after `floor` and to which nothing can come any more; counts their events. */
  closed(floor: number, now: number): { closed: Uint8Array; events: number; oldest: number } {
    const [records, arrivals, sizes] = [this.#records.view(), this.#arrivedAt.view(), this.#sizes.view()]
    const closed = new Uint8Array(this.length)
    let events = 0
    let oldest = Number.POSITIVE_INFINITY
    for (let row = 0; row < closed.length; row++) {
      const arrivedAt = arrivals[row]!
      if (records[row]! > floor || Math.abs(now - arrivedAt) <= VISIT_IDLE_MS) continue
      closed[row] = 1
      events += sizes[row]!
      if (arrivedAt < oldest) oldest = arrivedAt
    }
    return { closed, events, oldest }
  }

  /** Marks with 1 the visits whose last record is not after `floor`, but for those kept. */
  sealed(floor: number, kept: ReadonlySet<number>): { gone: Uint8Array; count: number } {
    const records = this.#records.view()
    const gone = new Uint8Array(this.length)
    let count = 0
    for (let row = 0; row < gone.length; row++) {
      if (records[row]! > floor || kept.has(this.ids.at(row))) continue
      gone[row] = 1
      count++
    }
    return { gone, count }
  }

  /** Holds from now on the chosen visits of another tail. */
  take(from: TailVisits, rows: RowRuns): void {
    for (const column of VISIT_COLUMNS) this.columns[column].take(from.columns[column], rows)
    for (const name of ["starts", "firstSequences", "ids"] as const) this[name].take(from[name], rows)
    this.#rotating.take(from.#rotating, rows)
    this.#sizes.take(from.#sizes, rows)
    this.#activeAt.take(from.#activeAt, rows)
    this.#entryAt.take(from.#entryAt, rows)
    this.#exitAt.take(from.#exitAt, rows)
    this.#arrivedAt.take(from.#arrivedAt, rows)
    this.#records.take(from.#records, rows)
    this.#sealing.take(from.#sealing, rows)
  }

  #indexed(): VisitIndex {
    return new VisitIndex({
      ids: this.ids,
      rotating: this.#rotating,
      visitor: this.columns.visitor,
      kind: this.columns.visitor_kind,
      starts: this.starts,
      activeAt: this.#activeAt,
      arrivedAt: this.#arrivedAt,
      sizes: this.#sizes,
      sealing: this.#sealing,
    })
  }

  #touch(visit: number, event: TailEvent, place: LogPlace): number {
    this.#sizes.add(visit, 1)
    this.#records.put(visit, place.record)
    this.#arrivedAt.put(visit, Math.max(this.#arrivedAt.at(visit), place.arrivedAt))
    if (event.at > this.#activeAt.at(visit)) this.#activeAt.put(visit, event.at)
    const start = this.starts.at(visit)
    if (event.at >= start) return 0
    this.starts.put(visit, event.at)
    this.firstSequences.put(visit, event.sequence)
    if (start === Number.POSITIVE_INFINITY) return 0
    this.columns.duration.add(visit, start - event.at)
    return start - event.at
  }

  #count(visit: number, event: TailEvent): void {
    const { engaged } = this.columns
    // As much as the column holds, 49 days: only made-up reports say more.
    if (event.engagement) engaged.put(visit, Math.min(0xffff_ffff, engaged.at(visit) + event.engagement.engaged))
    if (event.name === ENGAGEMENT || event.name === VITALS) return
    this.columns.events.add(visit, 1)
    const duration = event.at - this.starts.at(visit)
    if (duration > this.columns.duration.at(visit)) this.columns.duration.put(visit, duration)
    if (event.name !== PAGEVIEW) {
      this.columns.interactive.add(visit, event.interactive)
      return
    }
    this.columns.pageviews.add(visit, 1)
    if (event.at < this.#entryAt.at(visit)) {
      this.#entryAt.put(visit, event.at)
      this.columns.entry_page.put(visit, event.page)
      this.columns.entry_page_hostname.put(visit, event.hostname)
    }
    if (event.at >= this.#exitAt.at(visit)) {
      this.#exitAt.put(visit, event.at)
      this.columns.exit_page.put(visit, event.page)
      this.columns.exit_page_hostname.put(visit, event.hostname)
    }
  }
}
