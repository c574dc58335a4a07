import { ENGAGEMENT, PAGEVIEW, VITALS } from "../../domain/dimension.ts"
import { TRAITS, VISITOR_KINDS } from "../../domain/visit.ts"
import { GrowingFloat64, GrowingUint32, growingColumns } from "./growing.ts"
import {
  type EngagementColumns,
  EVENT_COLUMNS,
  type EventColumn,
  type Part,
  type PropColumns,
  type RevenueColumns,
  VISIT_COLUMNS,
  type VisitColumn,
  type VitalColumns,
} from "./part.ts"
import { SparseTail } from "./sparse-tail.ts"
import { orderOf } from "./tail-order.ts"
import type { LogPlace, TailEvent, TailVisit } from "./tail-rows.ts"
import type { OpenVisit } from "./writer.ts"

/**
 * A site's events that are in no segment yet, as growing columns in order of arrival. The writer and every reader keep
 * one each and feed it the same log, so that the same kernels answer over it as over segments.
 */
export class SiteTail implements Part {
  readonly importId: number = 0
  readonly #visit = growingColumns(VISIT_COLUMNS)
  readonly #event = growingColumns(EVENT_COLUMNS)
  readonly #starts = new GrowingFloat64()
  readonly #firstSequences = new GrowingFloat64()
  readonly #eventSequences = new GrowingFloat64()
  readonly #sparse = new SparseTail()

  /** What only open visits need. By visit row. */
  readonly #ids = new GrowingFloat64()
  readonly #rotating = new GrowingUint32()
  readonly #sizes = new GrowingUint32()
  readonly #activeAt = new GrowingFloat64()
  readonly #entryAt = new GrowingFloat64()
  readonly #exitAt = new GrowingFloat64()
  readonly #arrivedAt = new GrowingFloat64()
  readonly #records = new GrowingFloat64()

  readonly #rows = new Map<number, number>()
  readonly #byRotating = new Map<number, number[]>()
  readonly #closed = new Set<number>()
  #order: Uint32Array | undefined
  minStart = Number.POSITIVE_INFINITY
  /** Not lowered when a late event moves a start: a bound that is too wide only costs a test. */
  maxStart = Number.NEGATIVE_INFINITY
  minAt = Number.POSITIVE_INFINITY
  maxAt = Number.NEGATIVE_INFINITY

  constructor(readonly siteId: number) {}

  get visits(): number {
    return this.#starts.length
  }
  get events(): number {
    return this.#eventSequences.length
  }

  has(visitId: number): boolean {
    return this.#rows.has(visitId)
  }

  openVisit(visit: TailVisit, place: LogPlace): void {
    const row = this.visits
    this.#rows.set(visit.id, row)
    const same = this.#byRotating.get(visit.rotating)
    if (same) same.push(row)
    else this.#byRotating.set(visit.rotating, [row])
    for (const column of VISIT_COLUMNS) this.#visit[column].push(0)
    this.#visit.visitor.put(row, visit.visitor)
    this.#visit.visitor_kind.put(row, visit.kind)
    TRAITS.forEach((trait, index) => {
      this.#visit[trait].put(row, visit.traits[index]!)
    })
    this.#ids.push(visit.id)
    this.#rotating.push(visit.rotating)
    this.#sizes.push(0)
    this.#starts.push(Number.POSITIVE_INFINITY)
    this.#firstSequences.push(visit.id)
    this.#activeAt.push(Number.NEGATIVE_INFINITY)
    this.#entryAt.push(Number.POSITIVE_INFINITY)
    this.#exitAt.push(Number.NEGATIVE_INFINITY)
    this.#arrivedAt.push(place.arrivedAt)
    this.#records.push(place.record)
  }

  /** Replaces what the visit keeps from its first event: an earlier one has come in. */
  replaceTraits(visitId: number, traits: readonly number[]): void {
    const row = this.#row(visitId)
    TRAITS.forEach((trait, index) => {
      this.#visit[trait].put(row, traits[index]!)
    })
  }

  identify(visitId: number, visitor: number, kind: number, place: LogPlace): void {
    const row = this.#row(visitId)
    this.#visit.visitor.put(row, visitor)
    this.#visit.visitor_kind.put(row, kind)
    this.#records.put(row, place.record)
  }

  addEvent(visitId: number, event: TailEvent, place: LogPlace): void {
    const visit = this.#row(visitId)
    this.#touch(visit, event, place)
    this.#count(visit, event)
    const row = this.events
    const { visit: visits, offset, name, page, hostname, title, interactive } = this.#event
    visits.push(visit)
    offset.push(event.at - this.#starts.at(visit))
    name.push(event.name)
    page.push(event.page)
    hostname.push(event.hostname)
    title.push(event.title)
    interactive.push(event.interactive)
    this.#eventSequences.push(event.sequence)
    this.#sparse.add(row, event)
    this.#order = undefined
  }

  /** Visits under this rotating visitor that are not being sealed; live views. */
  openVisits(rotating: number): OpenVisit[] {
    const rows = this.#byRotating.get(rotating) ?? []
    return rows.filter((row) => !this.#closed.has(row)).map((row) => this.#openVisit(row))
  }

  /** No event comes to this visit any more: it is being sealed. */
  close(row: number): void {
    this.#closed.add(row)
  }

  /** A tail without the visits marked 1, with the others unchanged. */
  without(gone: Uint8Array): SiteTail {
    const rest = new SiteTail(this.siteId)
    for (let row = 0; row < this.visits; row++) {
      if (gone[row] === 1) continue
      rest.openVisit(this.visitAt(row), { record: this.#records.at(row), arrivedAt: this.#arrivedAt.at(row) })
      if (this.#closed.has(row)) rest.close(rest.visits - 1)
    }
    for (const { visit, event } of this.eventsOf((row) => gone[row] !== 1)) {
      rest.addEvent(this.#ids.at(visit), event, { record: this.#records.at(visit), arrivedAt: this.#arrivedAt.at(visit) })
    }
    return rest
  }

  /** The visit as the log tells it. */
  visitAt(row: number): TailVisit {
    const { visitor, visitor_kind } = this.#visit
    const traits = TRAITS.map((trait) => this.#visit[trait].at(row))
    return { id: this.#ids.at(row), rotating: this.#rotating.at(row), visitor: visitor.at(row), kind: visitor_kind.at(row), traits }
  }

  /** Events of chosen visits as the log tells them, in order of arrival. */
  *eventsOf(isChosen: (visit: number) => boolean): IterableIterator<{ visit: number; event: TailEvent }> {
    const { visit: visits, offset, name, page, hostname, title, interactive } = this.#event
    const sparse = this.#sparse.cursor()
    for (let row = 0; row < this.events; row++) {
      const visit = visits.at(row)
      if (!isChosen(visit)) continue
      const event = {
        at: this.#starts.at(visit) + offset.at(row),
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

  /** The row's place in the log and its id: what sealing decides by. */
  visitPlace(row: number): { id: number; record: number; arrivedAt: number; size: number } {
    return {
      id: this.#ids.at(row),
      record: this.#records.at(row),
      arrivedAt: this.#arrivedAt.at(row),
      size: this.#sizes.at(row),
    }
  }

  starts(): Float64Array {
    return this.#starts.view()
  }
  sequences(): Float64Array {
    return this.#firstSequences.view()
  }
  /** Sequence of each event: only the tail still needs it. */
  eventSequences(): Float64Array {
    return this.#eventSequences.view()
  }
  visit(column: VisitColumn): Uint32Array {
    return this.#visit[column].view()
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
    const row = this.#rows.get(visitId)
    if (row === undefined) throw new Error(`Visit ${visitId} is not in the tail of site ${this.siteId}`)
    return row
  }

  #openVisit(row: number): OpenVisit {
    const tail = this
    return {
      id: tail.#ids.at(row),
      get startedAt() {
        return tail.#starts.at(row)
      },
      get activeAt() {
        return tail.#activeAt.at(row)
      },
      get arrivedAt() {
        return tail.#arrivedAt.at(row)
      },
      get size() {
        return tail.#sizes.at(row)
      },
      get visitor() {
        return tail.#visit.visitor.at(row)
      },
      get visitorKind() {
        return VISITOR_KINDS[tail.#visit.visitor_kind.at(row)]!
      },
    }
  }

  #touch(visit: number, event: TailEvent, place: LogPlace): void {
    this.#sizes.add(visit, 1)
    this.#records.put(visit, place.record)
    this.#arrivedAt.put(visit, Math.max(this.#arrivedAt.at(visit), place.arrivedAt))
    if (event.at > this.#activeAt.at(visit)) this.#activeAt.put(visit, event.at)
    if (event.at < this.minAt) this.minAt = event.at
    if (event.at > this.maxAt) this.maxAt = event.at
    const start = this.#starts.at(visit)
    if (event.at >= start) return
    if (start !== Number.POSITIVE_INFINITY) this.#moveStart(visit, start - event.at)
    else if (event.at > this.maxStart) this.maxStart = event.at
    if (event.at < this.minStart) this.minStart = event.at
    this.#starts.put(visit, event.at)
    this.#firstSequences.put(visit, event.sequence)
  }

  /** A visit now starts earlier: its events lie further from its start. Rare, so a pass over the tail will do. */
  #moveStart(visit: number, earlierBy: number): void {
    const visits = this.#event.visit.view()
    for (let row = 0; row < visits.length; row++) if (visits[row] === visit) this.#event.offset.add(row, earlierBy)
    this.#visit.duration.add(visit, earlierBy)
  }

  #count(visit: number, event: TailEvent): void {
    if (event.engagement) this.#visit.engaged.add(visit, event.engagement.engaged)
    if (event.name === ENGAGEMENT || event.name === VITALS) return
    this.#visit.events.add(visit, 1)
    const duration = event.at - this.#starts.at(visit)
    if (duration > this.#visit.duration.at(visit)) this.#visit.duration.put(visit, duration)
    if (event.name !== PAGEVIEW) {
      this.#visit.interactive.add(visit, event.interactive)
      return
    }
    this.#visit.pageviews.add(visit, 1)
    if (event.at < this.#entryAt.at(visit)) {
      this.#entryAt.put(visit, event.at)
      this.#visit.entry_page.put(visit, event.page)
      this.#visit.entry_page_hostname.put(visit, event.hostname)
    }
    if (event.at >= this.#exitAt.at(visit)) {
      this.#exitAt.put(visit, event.at)
      this.#visit.exit_page.put(visit, event.page)
      this.#visit.exit_page_hostname.put(visit, event.hostname)
    }
  }
}
