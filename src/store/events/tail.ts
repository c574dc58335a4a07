import { ENGAGEMENT, PAGEVIEW, VITALS } from "../../domain/dimension.ts"
import { TRAITS, VISITOR_KINDS } from "../../domain/visit.ts"
import { GrowingFloat64, GrowingUint32 } from "./growing.ts"
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
import type { OpenVisit } from "./writer.ts"

/** A visit as the log tells it: everything by number. */
export interface TailVisit {
  id: number
  rotating: number
  visitor: number
  kind: number
  /** In the order of TRAITS. */
  traits: readonly number[]
}

/** An event as the log tells it: everything by number. */
export interface TailEvent {
  at: number
  sequence: number
  name: number
  page: number
  hostname: number
  title: number
  interactive: number
  /** Key, value, key, value, … */
  props: readonly number[]
  revenue: { amount: number; currency: number } | undefined
  engagement: { engaged: number; scroll: number } | undefined
  /** In the order of VITAL_NAMES. */
  vitals: readonly number[] | undefined
}

/** The order of the numbers in `TailEvent.vitals`. */
const VITAL_NAMES = ["lcp", "inp", "fcp", "ttfb", "cls"] as const

/** Where in the log an event stands: the record's id, and when the record arrived. */
export interface LogPlace {
  record: number
  arrivedAt: number
}

/**
 * A site's events that are in no segment yet, as growing columns in order of arrival. The writer and every reader keep
 * one each and feed it the same log, so that the same kernels answer over it as over segments.
 */
export class SiteTail implements Part {
  readonly importId: number = 0
  readonly #visit = columns(VISIT_COLUMNS)
  readonly #event = columns(EVENT_COLUMNS)
  readonly #starts = new GrowingFloat64()
  readonly #firstSequences = new GrowingFloat64()
  readonly #eventSequences = new GrowingFloat64()
  readonly #props = { row: new GrowingUint32(), key: new GrowingUint32(), value: new GrowingUint32() }
  readonly #revenue = { row: new GrowingUint32(), amount: new GrowingFloat64(), currency: new GrowingUint32() }
  readonly #engagement = { row: new GrowingUint32(), engaged: new GrowingUint32(), scroll: new GrowingUint32() }
  readonly #vitals = columns(["row", ...VITAL_NAMES])

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
    this.#addSparse(row, event)
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
    const places = { props: 0, revenue: 0, engagement: 0, vitals: 0 }
    for (let row = 0; row < this.events; row++) {
      const visit = this.#event.visit.at(row)
      if (isChosen(visit)) yield { visit, event: this.#eventAt(row, places) }
    }
  }

  /** `places` are where the sparse columns were left by the row before; rows are asked for in ascending order. */
  #eventAt(row: number, places: { props: number; revenue: number; engagement: number; vitals: number }): TailEvent {
    const { visit, offset, name, page, hostname, title, interactive } = this.#event
    const [revenue, engagement, vitals] = [this.#revenue, this.#engagement, this.#vitals]
    const props: number[] = []
    places.props = skipTo(this.#props.row, places.props, row)
    for (; this.#props.row.has(places.props, row); places.props++) {
      props.push(this.#props.key.at(places.props), this.#props.value.at(places.props))
    }
    const revenueAt = skipTo(revenue.row, places.revenue, row)
    const engagementAt = skipTo(engagement.row, places.engagement, row)
    const vitalsAt = skipTo(vitals.row, places.vitals, row)
    places.revenue = revenueAt
    places.engagement = engagementAt
    places.vitals = vitalsAt
    return {
      at: this.#starts.at(visit.at(row)) + offset.at(row),
      sequence: this.#eventSequences.at(row),
      name: name.at(row),
      page: page.at(row),
      hostname: hostname.at(row),
      title: title.at(row),
      interactive: interactive.at(row),
      props,
      revenue: revenue.row.has(revenueAt, row)
        ? { amount: revenue.amount.at(revenueAt), currency: revenue.currency.at(revenueAt) }
        : undefined,
      engagement: engagement.row.has(engagementAt, row)
        ? { engaged: engagement.engaged.at(engagementAt), scroll: engagement.scroll.at(engagementAt) }
        : undefined,
      vitals: vitals.row.has(vitalsAt, row) ? VITAL_NAMES.map((vital) => vitals[vital].at(vitalsAt)) : undefined,
    }
  }

  /** The row's place in the log and its id: what sealing decides by. */
  visitPlace(row: number): { id: number; rotating: number; record: number; arrivedAt: number; size: number } {
    return {
      id: this.#ids.at(row),
      rotating: this.#rotating.at(row),
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
    const { row, key, value } = this.#props
    return { row: row.view(), key: key.view(), value: value.view() }
  }
  revenue(): RevenueColumns {
    const { row, amount, currency } = this.#revenue
    return { row: row.view(), amount: amount.view(), currency: currency.view() }
  }
  engagement(): EngagementColumns {
    const { row, engaged, scroll } = this.#engagement
    return { row: row.view(), engaged: engaged.view(), scroll: scroll.view() }
  }
  vitals(): VitalColumns {
    const { row, lcp, inp, fcp, ttfb, cls } = this.#vitals
    return { row: row.view(), lcp: lcp.view(), inp: inp.view(), fcp: fcp.view(), ttfb: ttfb.view(), cls: cls.view() }
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

  #addSparse(row: number, { props, revenue, engagement, vitals }: TailEvent): void {
    for (let index = 0; index < props.length; index += 2) {
      this.#props.row.push(row)
      this.#props.key.push(props[index]!)
      this.#props.value.push(props[index + 1]!)
    }
    if (revenue) {
      this.#revenue.row.push(row)
      this.#revenue.amount.push(revenue.amount)
      this.#revenue.currency.push(revenue.currency)
    }
    if (engagement) {
      this.#engagement.row.push(row)
      this.#engagement.engaged.push(engagement.engaged)
      this.#engagement.scroll.push(engagement.scroll)
    }
    if (vitals) {
      this.#vitals.row.push(row)
      VITAL_NAMES.forEach((name, index) => {
        this.#vitals[name].push(vitals[index]!)
      })
    }
  }
}

function columns<Name extends string>(names: readonly Name[]): Record<Name, GrowingUint32> {
  // The cast holds because every name is given its column.
  return Object.fromEntries(names.map((name) => [name, new GrowingUint32()])) as Record<Name, GrowingUint32>
}

/** The first place at or after `place` whose row is not before `row`. */
function skipTo(rows: GrowingUint32, place: number, row: number): number {
  let next = place
  while (next < rows.length && rows.at(next) < row) next++
  return next
}

/** Event rows by visit, then time, then sequence. Rows come in order of sequence, so a stable sort by time is enough. */
function orderOf(tail: SiteTail): Uint32Array {
  const visits = tail.event("visit")
  const offsets = tail.event("offset")
  const ends = new Uint32Array(tail.visits + 1)
  for (const visit of visits) ends[visit + 1]!++
  for (let visit = 0; visit < tail.visits; visit++) ends[visit + 1]! += ends[visit]!
  const order = new Uint32Array(visits.length)
  const filled = ends.slice(0, tail.visits)
  for (let row = 0; row < visits.length; row++) {
    const visit = visits[row]!
    // Nearly always the last: events mostly arrive in order of time.
    let place = filled[visit]!++
    for (; place > ends[visit]! && offsets[order[place - 1]!]! > offsets[row]!; place--) order[place] = order[place - 1]!
    order[place] = row
  }
  return order
}
