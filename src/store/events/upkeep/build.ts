import { constantOf, encodeColumn, type Numbers } from "../bytes/codec.ts"
import { type Column, columnNumber, type SegmentHeader } from "../bytes/columns.ts"
import { EVENT_COLUMNS, lastArrivals, type Part, VISIT_COLUMNS } from "../part.ts"
import { sealHeader } from "../segment.ts"
import { runStepsYielding, type Steps } from "../steps.ts"
import { orderOfChosen, type VisitOrder } from "../tail/order.ts"
import { SiteTail } from "../tail/tail.ts"
import { orderByStart } from "./visit-order.ts"

/** Maximum number of events in a segment. A visit has at most 10,000 events, so every visit fits. */
export const SEGMENT_EVENTS = 65_536

/** What a segment stores. */
export type SegmentRows = Pick<
  Part,
  "visits" | "events" | "starts" | "sequences" | "visit" | "event" | "props" | "revenue" | "engagement" | "vitals"
>

/** A source of rows for new segments: a tail when sealing, segments when merging or erasing, a batch when importing. */
export interface Source<Rows = SegmentRows> {
  part: Rows
  /** 1 for each visit to take. Default: all visits. */
  keep?: Uint8Array
}

/** A finished segment, not stored yet. */
export interface BuiltSegment {
  visits: number
  events: number
  min_start: number
  max_start: number
  min_at: number
  max_at: number
  visitor_limit: number
  bytes: number
  header: Uint8Array
  columns: { name: Column; data: Uint8Array }[]
  /** Of each visit: its row in its source, and the sequence of its first event. */
  rows: Uint32Array
  sequences: Float64Array
}

/** Builds segments from the visits of all sources, sorted by start. Compresses on another thread, one column at a time. */
export async function* buildSegments(sources: readonly Source[]): AsyncGenerator<BuiltSegment> {
  const readers: SourceReader[] = []
  for (const source of sources) {
    readers.push(new SourceReader(source, await orderIn(source)))
    await yieldToEventLoop()
  }
  const visits = await runStepsYielding(sortedVisits(readers))
  for (const chunk of chunks(readers, visits)) {
    await yieldToEventLoop()
    yield await buildSegment(readers, chunk)
  }
}

/** Lets other work run. A tail may grow meanwhile, but the chosen visits do not change, because they are closed. */
const yieldToEventLoop = () => Bun.sleep(0)

/** Returns the positions of each visit's events. The rows of a segment are sorted already. */
function orderIn({ part, keep }: Source): Promise<VisitOrder> | EventOrder {
  if (part instanceof SiteTail) return runStepsYielding(orderOfChosen(part, keep ?? new Uint8Array(part.visits).fill(1)))
  return { ends: groupStarts(part.event("visit"), part.visits) }
}

interface EventOrder {
  /** Undefined when the event rows are stored by visit. */
  order?: Uint32Array
  ends: Uint32Array
}

/** References to rows: the index of the reader and the row of its part. */
interface RowRefs {
  source: Uint32Array
  row: Uint32Array
}

/** A source with the positions of each visit's events and of each event's optional parts. */
class SourceReader {
  readonly part: SegmentRows
  readonly keep: Uint8Array | undefined
  /** Event rows sorted by visit, time and sequence, or undefined when they are stored in that order. */
  readonly order: Uint32Array | undefined
  readonly #ends: Uint32Array
  readonly #sparse = new Map<string, Uint32Array>()

  constructor({ part, keep }: Source, { order, ends }: EventOrder) {
    this.part = part
    this.keep = keep
    this.order = order
    this.#ends = ends
  }

  /** The range of a visit's events, as positions in `order`. */
  eventsFrom = (visit: number): number => this.#ends[visit]!
  eventsTo = (visit: number): number => this.#ends[visit + 1]!

  /** Returns where the sparse rows of each event row begin. They end where those of the next event row begin. */
  sparse(kind: "props" | "revenue" | "engagement" | "vitals"): Uint32Array {
    const known = this.#sparse.get(kind)
    if (known) return known
    const from = groupStarts(this.part[kind]().row, this.part.events)
    this.#sparse.set(kind, from)
    return from
  }
}

/** Returns where the rows of each key begin when they are grouped by key. */
function groupStarts(keys: Uint32Array, count: number): Uint32Array {
  const from = new Uint32Array(count + 1)
  for (let row = 0; row < keys.length; row++) from[keys[row]! + 1]!++
  for (let key = 0; key < count; key++) from[key + 1]! += from[key]!
  return from
}

/** Returns the chosen visits of all sources by start, then sequence. */
function* sortedVisits(readers: readonly SourceReader[]): Steps<RowRefs> {
  const counts = readers.map(({ part, keep }) => (keep ? keep.reduce((sum, each) => sum + each, 0) : part.visits))
  const count = counts.reduce((sum, each) => sum + each, 0)
  const visits = { source: new Uint32Array(count), row: new Uint32Array(count) }
  const by = { starts: new Float64Array(count), sequences: new Float64Array(count) }
  let at = 0
  readers.forEach(({ part, keep }, index) => {
    const [partStarts, partSequences] = [part.starts(), part.sequences()]
    const last = keep?.length ?? part.visits
    for (let visit = 0; visit < last; visit++) {
      if (keep && keep[visit] !== 1) continue
      visits.source[at] = index
      visits.row[at] = visit
      by.starts[at] = partStarts[visit]!
      by.sequences[at++] = partSequences[visit]!
    }
  })
  yield
  const order = orderByStart(by)
  yield
  return { source: order.map((at) => visits.source[at]!), row: order.map((at) => visits.row[at]!) }
}

/** Splits the visits into runs whose events fit into one segment. */
function* chunks(readers: readonly SourceReader[], { source, row }: RowRefs): Generator<RowRefs> {
  let from = 0
  let events = 0
  for (let visit = 0; visit < source.length; visit++) {
    const reader = readers[source[visit]!]!
    const size = reader.eventsTo(row[visit]!) - reader.eventsFrom(row[visit]!)
    if (events + size > SEGMENT_EVENTS && visit > from) {
      yield { source: source.subarray(from, visit), row: row.subarray(from, visit) }
      from = visit
      events = 0
    }
    events += size
  }
  if (from < source.length) yield { source: source.subarray(from), row: row.subarray(from) }
}

async function buildSegment(readers: readonly SourceReader[], visits: RowRefs): Promise<BuiltSegment> {
  const { events, visitOf } = pickEvents(readers, visits)
  const out = new SegmentOutput()
  const startColumn = await out.add(
    "starts",
    gather64(readers, visits, (part) => part.starts()),
  )
  const sequences = await out.add(
    "sequences",
    gather64(readers, visits, (part) => part.sequences()),
  )
  let visitorLimit = 0
  let lastArrival = 0
  for (const name of VISIT_COLUMNS) {
    const column = await out.add(
      name === "interactive" ? "interactive_events" : name,
      gather32(readers, visits, (part) => part.visit(name)),
    )
    if (name === "visitor") visitorLimit = column.reduce((limit: number, ordinal: number) => Math.max(limit, ordinal + 1), 0)
    if (name === "arrival") lastArrival = lastArrivals(startColumn, column).reduce((latest, at) => Math.max(latest, at), 0)
  }
  await out.add("event.visit", visitOf)
  const offsets = gather32(readers, events, (part) => part.event("offset"))
  await out.add("event.step", steps(offsets, visitOf))
  for (const name of EVENT_COLUMNS) {
    if (name === "visit" || name === "offset") continue
    await out.add(
      `event.${name}`,
      gather32(readers, events, (part) => part.event(name)),
    )
  }
  const sparse = await addSparse(out, readers, events)
  return {
    ...out.finish(sparse, lastArrival),
    visits: visitOf.length === 0 ? 0 : visits.row.length,
    events: visitOf.length,
    ...spans(startColumn, visitOf, offsets),
    visitor_limit: visitorLimit,
    rows: visits.row,
    sequences,
  }
}

/** Collects the columns of a segment. Columns whose rows are all equal become constants in the header. */
class SegmentOutput {
  readonly #columns: { name: Column; data: Uint8Array }[] = []
  readonly #constants: Record<string, number> = {}

  async add<Values extends Numbers>(name: Column, values: Values): Promise<Values> {
    const constant = constantOf(values)
    if (constant === undefined) this.#columns.push({ name, data: await encodeColumn(values) })
    else if (constant !== 0) this.#constants[name] = constant
    return values
  }

  finish(sparse: SegmentHeader["sparse"], last_arrival: number) {
    const columns = this.#columns
    const header = sealHeader({ stored: columns.map(({ name }) => columnNumber(name)), constants: this.#constants, sparse, last_arrival })
    return { columns, header, bytes: columns.reduce((sum, { data }) => sum + data.length, header.length) }
  }
}

function pickEvents(readers: readonly SourceReader[], visits: RowRefs): { events: RowRefs; visitOf: Uint32Array } {
  let count = 0
  for (let visit = 0; visit < visits.row.length; visit++) {
    const reader = readers[visits.source[visit]!]!
    count += reader.eventsTo(visits.row[visit]!) - reader.eventsFrom(visits.row[visit]!)
  }
  const events = { source: new Uint32Array(count), row: new Uint32Array(count) }
  const visitOf = new Uint32Array(count)
  let at = 0
  for (let visit = 0; visit < visits.row.length; visit++) {
    const reader = readers[visits.source[visit]!]!
    const to = reader.eventsTo(visits.row[visit]!)
    for (let place = reader.eventsFrom(visits.row[visit]!); place < to; place++, at++) {
      events.source[at] = visits.source[visit]!
      events.row[at] = reader.order ? reader.order[place]! : place
      visitOf[at] = visit
    }
  }
  return { events, visitOf }
}

function gather32(readers: readonly SourceReader[], { source, row }: RowRefs, column: (part: SegmentRows) => Uint32Array): Uint32Array {
  const columns = readers.map(({ part }) => column(part))
  const out = new Uint32Array(row.length)
  for (let at = 0; at < out.length; at++) out[at] = columns[source[at]!]![row[at]!]!
  return out
}

function gather64(readers: readonly SourceReader[], { source, row }: RowRefs, column: (part: SegmentRows) => Float64Array): Float64Array {
  const columns = readers.map(({ part }) => column(part))
  const out = new Float64Array(row.length)
  for (let at = 0; at < out.length; at++) out[at] = columns[source[at]!]![row[at]!]!
  return out
}

function steps(offsets: Uint32Array, visitOf: Uint32Array): Uint32Array {
  return offsets.map((offset, row) => (visitOf[row] === visitOf[row - 1] ? offset - offsets[row - 1]! : offset))
}

function spans(starts: Float64Array, visitOf: Uint32Array, offsets: Uint32Array) {
  let minAt = Number.POSITIVE_INFINITY
  let maxAt = Number.NEGATIVE_INFINITY
  for (let row = 0; row < visitOf.length; row++) {
    const at = starts[visitOf[row]!]! + offsets[row]!
    if (at < minAt) minAt = at
    if (at > maxAt) maxAt = at
  }
  return { min_start: starts[0]!, max_start: starts.at(-1)!, min_at: minAt, max_at: maxAt }
}

/** Adds the sparse columns in the order of the new event rows. */
async function addSparse(out: SegmentOutput, readers: readonly SourceReader[], events: RowRefs): Promise<SegmentHeader["sparse"]> {
  const counts = { props: 0, revenue: 0, engagement: 0, vitals: 0 }
  for (const kind of ["props", "revenue", "engagement", "vitals"] as const) {
    await yieldToEventLoop()
    const { picked, newRow } = pickSparse(readers, events, kind)
    counts[kind] = newRow.length
    if (newRow.length === 0) continue
    await out.add(`${kind}.row`, newRow)
    const { row: _, ...others } = readers[0]!.part[kind]()
    for (const name of Object.keys(others)) {
      // The casts hold because the names are those of the sparse columns.
      const of = (part: SegmentRows) => (part[kind]() as unknown as Record<string, Numbers>)[name]!
      const column = `${kind}.${name}` as Column
      if (name === "amount") await out.add(column, gather64(readers, picked, of as (part: SegmentRows) => Float64Array))
      else await out.add(column, gather32(readers, picked, of as (part: SegmentRows) => Uint32Array))
    }
  }
  return counts
}

function pickSparse(readers: readonly SourceReader[], events: RowRefs, kind: keyof SegmentHeader["sparse"]) {
  const from = readers.map((reader) => (reader.part[kind]().row.length === 0 ? undefined : reader.sparse(kind)))
  let count = 0
  for (let at = 0; at < events.row.length; at++) {
    const places = from[events.source[at]!]
    if (places) count += places[events.row[at]! + 1]! - places[events.row[at]!]!
  }
  const picked = { source: new Uint32Array(count), row: new Uint32Array(count) }
  const newRow = new Uint32Array(count)
  let next = 0
  for (let at = 0; at < events.row.length && next < count; at++) {
    const places = from[events.source[at]!]
    if (!places) continue
    const old = events.row[at]!
    for (let place = places[old]!; place < places[old + 1]!; place++, next++) {
      picked.source[next] = events.source[at]!
      picked.row[next] = place
      newRow[next] = at
    }
  }
  return { picked, newRow }
}
