import { ENGAGEMENT, VITALS } from "../../../domain/dimension.ts"
import { constantOf, encodeGroup, type Numbers } from "../bytes/codec.ts"
import {
  COMBINED,
  type Group,
  ITEM_COLUMNS,
  type SegmentHeader,
  SPARSE_COLUMNS,
  type SparseCounts,
  type SparseGroup,
} from "../bytes/columns.ts"
import { combining } from "../bytes/combinations.ts"
import {
  customOf,
  encodeItems,
  engagedOf,
  entriesOf,
  exitsOf,
  longestEngagements,
  minus,
  rowsNamed,
  stepsOf,
  successorsOf,
} from "../bytes/event-codes.ts"
import { type ItemRows, MAX_ROWS } from "../bytes/items.ts"
import { type EventColumn, lastArrivals, type Part, type VisitColumn } from "../part.ts"
import { sealHeader } from "../segment.ts"
import { runStepsYielding, type Steps } from "../steps.ts"
import { orderOfChosen, type VisitOrder } from "../tail/order.ts"
import { SiteTail } from "../tail/tail.ts"
import { orderByStart } from "./visit-order.ts"

/** Maximum number of events in a segment. A visit has at most 10,000 events, so every visit fits. */
export const SEGMENT_EVENTS = MAX_ROWS

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

/** What is stored of a segment. */
export interface StoredSegment {
  visits: number
  events: number
  min_start: number
  max_start: number
  min_at: number
  max_at: number
  visitor_limit: number
  bytes: number
  header: Uint8Array
  groups: { group: Group; data: Uint8Array }[]
}

/** A finished segment, not stored yet. */
export interface BuiltSegment extends StoredSegment {
  /** Of each visit: its row in its source, and the sequence of its first event. */
  rows: Uint32Array
  sequences: Float64Array
}

/** Builds segments from the visits of all sources, sorted by start: column by column, with other work in between. Compresses on another thread. */
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

/** Makes a function let other work run before it does its own. */
const inTurn =
  <Argument, Result>(work: (argument: Argument) => Result) =>
  async (argument: Argument): Promise<Result> => {
    await yieldToEventLoop()
    return work(argument)
  }

/** Reads columns one after another. */
async function eachOf<Name>(names: readonly Name[], read: (name: Name) => Promise<Uint32Array>): Promise<Uint32Array[]> {
  const columns: Uint32Array[] = []
  for (const name of names) columns.push(await read(name))
  return columns
}

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
  const { events, firsts } = pickEvents(readers, visits)
  const out = new SegmentOutput()
  const visit = inTurn((name: VisitColumn) => gather32(readers, visits, (part) => part.visit(name)))
  const event = inTurn((name: EventColumn) => gather32(readers, events, (part) => part.event(name)))
  await yieldToEventLoop()
  const starts = gather64(readers, visits, (part) => part.starts())
  await out.add("starts", [starts])
  const sequences = gather64(readers, visits, (part) => part.sequences())
  const arrival = await visit("arrival")
  await out.add("records", [sequences, arrival, await visit("visitor_kind")])
  const visitor = await visit("visitor")
  const [pageviews, counted] = [await visit("pageviews"), await visit("events")]
  const custom = customOf(counted, pageviews)
  await out.add("core", [visitor, pageviews, custom, minus(await visit("interactive"), custom), await visit("duration")])
  for (const group of ["origins", "places", "clients"] as const) await out.add(group, await combined(await eachOf(COMBINED[group], visit)))
  const rows = await addItems(out, await eachOf(ITEM_COLUMNS, event), { visit, counted, firsts })
  const offsets = await event("offset")
  const spans = spansOf(starts, firsts, offsets)
  await out.add("steps", [stepsOf(offsets, firsts)])
  const sparse = await addSparse(out, readers, events, { rows, offsets, engaged: await visit("engaged") })
  const lastArrival = lastArrivals(starts, arrival).reduce((latest, at) => Math.max(latest, at), 0)
  return {
    ...out.finish(sparse, lastArrival),
    visits: visits.row.length,
    events: events.row.length,
    ...spans,
    visitor_limit: visitor.reduce((limit, ordinal) => Math.max(limit, ordinal + 1), 0),
    rows: visits.row,
    sequences,
  }
}

/** Returns combinations as columns. Where hardly any occurs twice, each row is one by itself, which needs no bytes for the numbers. */
async function combined(columns: readonly Uint32Array[]): Promise<Uint32Array[]> {
  const { of, table } = await runStepsYielding(combining(columns))
  return table[0]!.length * 2 > of.length ? [of.map((_, row) => row), ...columns] : [of, ...table]
}

interface ItemSources {
  visit(name: VisitColumn): Promise<Uint32Array>
  counted: Uint32Array
  firsts: Uint32Array
}

/** Adds the columns of events that depend on each other, and the columns of visits that depend on them. */
async function addItems(out: SegmentOutput, columns: readonly Uint32Array[], { visit, counted, firsts }: ItemSources): Promise<ItemRows> {
  const { of, table } = await runStepsYielding(combining(columns))
  const [names, pages, hostnames] = table as [Uint32Array, Uint32Array, Uint32Array]
  const rows = { names, pages, itemOf: Uint16Array.from(of), firsts }
  await yieldToEventLoop()
  const successors = successorsOf(rows)
  await yieldToEventLoop()
  const { entries, codes } = encodeItems(rows, successors)
  const entered = async (name: VisitColumn, values: Uint32Array) => minus(await visit(name), entriesOf(values, names, entries))
  const left = async (name: VisitColumn, values: Uint32Array) => minus(await visit(name), exitsOf(values, rows))
  const expected = [await entered("entry_page", pages), await entered("entry_page_hostname", hostnames)]
  await out.add("entries", [entries, ...expected, successors, ...table])
  const others = counted.map((count, of) => firsts[of + 1]! - firsts[of]! - count)
  await out.add("items", [others, codes, await left("exit_page", pages), await left("exit_page_hostname", hostnames)])
  return rows
}

/** Collects the groups of columns of a segment. */
class SegmentOutput {
  readonly #groups: { group: Group; data: Uint8Array }[] = []

  async add(group: Group, columns: readonly Numbers[]): Promise<void> {
    this.#groups.push({ group, data: await encodeGroup(columns) })
  }

  finish(sparse: SegmentHeader["sparse"], last_arrival: number) {
    const groups = this.#groups
    const header = sealHeader({ groups: groups.map(({ group }) => group), sparse, last_arrival })
    return { groups, header, bytes: groups.reduce((sum, { data }) => sum + data.length, header.length) }
  }
}

function pickEvents(readers: readonly SourceReader[], visits: RowRefs): { events: RowRefs; firsts: Uint32Array } {
  const firsts = new Uint32Array(visits.row.length + 1)
  for (let visit = 0; visit < visits.row.length; visit++) {
    const reader = readers[visits.source[visit]!]!
    firsts[visit + 1] = firsts[visit]! + reader.eventsTo(visits.row[visit]!) - reader.eventsFrom(visits.row[visit]!)
  }
  const count = firsts.at(-1)!
  const events = { source: new Uint32Array(count), row: new Uint32Array(count) }
  for (let visit = 0; visit < visits.row.length; visit++) {
    const reader = readers[visits.source[visit]!]!
    const from = reader.eventsFrom(visits.row[visit]!)
    for (let at = firsts[visit]!; at < firsts[visit + 1]!; at++) {
      const place = from + at - firsts[visit]!
      events.source[at] = visits.source[visit]!
      events.row[at] = reader.order ? reader.order[place]! : place
    }
  }
  return { events, firsts }
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

function spansOf(starts: Float64Array, firsts: Uint32Array, offsets: Uint32Array) {
  let minAt = Number.POSITIVE_INFINITY
  let maxAt = Number.NEGATIVE_INFINITY
  for (let visit = 0; visit < starts.length; visit++) {
    for (let row = firsts[visit]!; row < firsts[visit + 1]!; row++) {
      const at = starts[visit]! + offsets[row]!
      if (at < minAt) minAt = at
      if (at > maxAt) maxAt = at
    }
  }
  return { min_start: starts[0]!, max_start: starts.at(-1)!, min_at: minAt, max_at: maxAt }
}

interface SparseSources {
  rows: ItemRows
  offsets: Uint32Array
  engaged: Uint32Array
}

/** Adds the sparse columns in the order of the new event rows. */
async function addSparse(
  out: SegmentOutput,
  readers: readonly SourceReader[],
  events: RowRefs,
  { rows, offsets, engaged }: SparseSources,
): Promise<SparseCounts> {
  const counts = { props: 0, revenue: 0, engagement: 0, vitals: 0 }
  const kinds = Object.keys(SPARSE_COLUMNS) as SparseGroup[] // the keys of a literal
  for (const kind of kinds) {
    await yieldToEventLoop()
    const { picked, newRow } = pickSparse(readers, events, kind)
    counts[kind] = newRow.length
    const [, ...names] = SPARSE_COLUMNS[kind]
    await yieldToEventLoop()
    const others = names.map((name) => gatherSparse(readers, picked, kind, name))
    if (kind === "engagement") {
      const [times, ...scroll] = others as [Uint32Array, Uint32Array]
      const sums = minus(engaged, engagedOf(newRow, times, rows.firsts))
      if (newRow.length === 0 && constantOf(sums) === 0) continue
      const expected = minus(times, longestEngagements(newRow, offsets, rows))
      await out.add(kind, [differingRows(newRow, rowsNamed(ENGAGEMENT, rows)), expected, ...scroll, sums])
    } else if (newRow.length > 0) {
      const own = kind === "vitals" ? differingRows(newRow, rowsNamed(VITALS, rows)) : newRow
      await out.add(kind, [own, ...others])
    }
  }
  return counts
}

const differingRows = (rows: Uint32Array, named: Uint32Array): Numbers => (named.length === rows.length ? minus(rows, named) : rows)

/** Gathers a sparse column, whose name is one of those of its kind. */
function gatherSparse(readers: readonly SourceReader[], picked: RowRefs, kind: SparseGroup, name: string): Uint32Array | Float64Array {
  const of = (part: SegmentRows) => (part[kind]() as unknown as Record<string, Uint32Array | Float64Array>)[name]!
  if (name === "amount") return gather64(readers, picked, of as (part: SegmentRows) => Float64Array)
  return gather32(readers, picked, of as (part: SegmentRows) => Uint32Array)
}

function pickSparse(readers: readonly SourceReader[], events: RowRefs, kind: SparseGroup) {
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
