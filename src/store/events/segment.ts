import type { Database } from "bun:sqlite"
import { VISIT_IDLE_MS } from "../../domain/visit.ts"
import { ByteReader, ByteWriter, unseal } from "./bytes/bytes.ts"
import { decodeFloat64, decodeUint32, type Numbers } from "./bytes/codec.ts"
import { type Column, columnNumber, columnRow, type SegmentHeader } from "./bytes/columns.ts"
import { type Items, MAX_ROWS, openItems, packItems } from "./bytes/items.ts"
import { SEGMENT_KINDS, type SegmentKind } from "./bytes/lanes.ts"
import { zeros } from "./bytes/zeros.ts"
import type { ColumnCache } from "./cache.ts"
import { StoreFault } from "./fault.ts"
import {
  ARRIVAL_UNIT_MS,
  type EngagementColumns,
  type EventColumn,
  type Part,
  type PropColumns,
  type RevenueColumns,
  type VisitColumn,
  type VitalColumns,
} from "./part.ts"

/** The format version of columns. Every release reads all earlier formats. */
export const FORMAT = 1

const KINDS = SEGMENT_KINDS.map((kind) => `'${kind}'`).join(", ")

/** A row of the table `segments`. */
export interface SegmentRow {
  id: number
  site_id: number
  import_id: number
  visits: number
  events: number
  min_start: number
  max_start: number
  min_at: number
  max_at: number
  visitor_limit: number
  header: Uint8Array
  run: number
  kind: SegmentKind
  open_until: number | null
}

const FIELDS = "id, site_id, import_id, visits, events, min_start, max_start, min_at, max_at, visitor_limit, header, run, kind, open_until"

/** Lists a site's segments of a kind by start, those of all imports included, without replaced segments. */
export function listSegments(db: Database, siteId: number, kind: SegmentKind): SegmentRow[] {
  const sql = `select ${FIELDS} from segments
    where site_id = ? and kind = ? and retired_at is null order by min_start, id`
  return db.query<SegmentRow, [number, string]>(sql).all(siteId, kind)
}

/** Lists the ids of the same segments, with what can change of a segment. */
export function listSegmentIds(db: Database, siteId: number, kind: SegmentKind): Pick<SegmentRow, "id" | "run" | "open_until">[] {
  const sql = `select id, run, open_until from segments
    where site_id = ? and kind = ? and retired_at is null order by min_start, id`
  return db.query<Pick<SegmentRow, "id" | "run" | "open_until">, [number, string]>(sql).all(siteId, kind)
}

/** Returns a segment that is listed in the same transaction. */
export const segmentById = (db: Database, id: number): SegmentRow =>
  db.query<SegmentRow, [number]>(`select ${FIELDS} from segments where id = ?`).get(id)! // it was listed

/** Lists a site's segments of all kinds whose rows are visits, by start. */
export function listAllSegments(db: Database, siteId: number): SegmentRow[] {
  const sql = `select ${FIELDS} from segments
    where site_id = ? and kind in (${KINDS}) and retired_at is null order by min_start, id`
  return db.query<SegmentRow, [number]>(sql).all(siteId)
}

/** Lists the segments of visits of all sites and imports after a segment, in the order of their ids. */
export function listSegmentsAfter(db: Database, id: number, limit: number): SegmentRow[] {
  const sql = `select ${FIELDS} from segments where id > ? and kind = 'visits' and retired_at is null order by id limit ?`
  return db.query<SegmentRow, [number, number]>(sql).all(id, limit)
}

export function sealHeader(header: SegmentHeader): Uint8Array {
  const out = new ByteWriter()
  out.text(JSON.stringify(header))
  return out.seal()
}

function readHeader(row: SegmentRow): SegmentHeader {
  const content = unseal(row.header)
  if (!content) throw new StoreFault("damaged", `The header of segment ${row.id} is damaged`)
  return JSON.parse(new ByteReader(content).text()) as SegmentHeader // written by sealHeader
}

/** A stored run of closed visits. Columns are read and decoded when they are first requested. */
export class Segment implements Part {
  readonly id: number
  readonly siteId: number
  readonly importId: number
  /** Run of the import that wrote the segment; 0 for a native one. */
  readonly run: number
  readonly visits: number
  readonly events: number
  readonly minStart: number
  readonly maxStart: number
  readonly minAt: number
  readonly maxAt: number
  readonly visitorLimit: number
  /** Until when visits can be taken back, epoch ms; undefined when all of them are closed. */
  readonly openUntil: number | undefined
  readonly #db: Database
  readonly #cache: ColumnCache
  readonly #row: SegmentRow
  #header: SegmentHeader | undefined

  constructor(row: SegmentRow, db: Database, cache: ColumnCache) {
    this.#row = row
    this.id = row.id
    this.#db = db
    this.#cache = cache
    this.siteId = row.site_id
    this.importId = row.import_id
    this.run = row.run
    this.visits = row.visits
    this.events = row.events
    this.minStart = row.min_start
    this.maxStart = row.max_start
    this.minAt = row.min_at
    this.maxAt = row.max_at
    this.visitorLimit = row.visitor_limit
    this.openUntil = row.open_until ?? undefined
  }

  get lastArrival(): number {
    return this.#headers().last_arrival ?? this.maxStart
  }

  starts(): Float64Array {
    return this.#float64("starts", this.visits)
  }
  sequences(): Float64Array {
    return this.#float64("sequences", this.visits)
  }
  visit(column: VisitColumn): Uint32Array {
    return this.#uint32(column === "interactive" ? "interactive_events" : column, this.visits)
  }
  event(column: EventColumn): Uint32Array {
    return column === "offset" ? this.#offsets() : this.#uint32(`event.${column}`, this.events)
  }
  order(): null {
    return null
  }
  isOpen(row: number, now: number): boolean {
    if (this.openUntil === undefined || now > this.openUntil) return false
    const lastArrival = this.starts()[row]! + (this.visit("arrival")[row]! + 1) * ARRIVAL_UNIT_MS
    return Math.abs(now - lastArrival) <= VISIT_IDLE_MS
  }

  items(): Items | undefined {
    if (this.events > MAX_ROWS || this.visits > MAX_ROWS) return undefined
    const key = `${this.id} items`
    const known = this.#cache.get(key)
    if (known) return openItems(known as Uint32Array) // this key is only ever set below
    const columns = { name: this.#passing("event.name"), page: this.#passing("event.page"), visit: this.#passing("event.visit") }
    const packed = packItems(columns, this.visits)
    this.#cache.set(key, packed)
    return openItems(packed)
  }

  props(): PropColumns {
    const count = this.#sparse().props
    return { row: this.#uint32("props.row", count), key: this.#uint32("props.key", count), value: this.#uint32("props.value", count) }
  }
  revenue(): RevenueColumns {
    const count = this.#sparse().revenue
    return {
      row: this.#uint32("revenue.row", count),
      amount: this.#float64("revenue.amount", count),
      currency: this.#uint32("revenue.currency", count),
    }
  }
  engagement(): EngagementColumns {
    const count = this.#sparse().engagement
    return {
      row: this.#uint32("engagement.row", count),
      engaged: this.#uint32("engagement.engaged", count),
      scroll: this.#uint32("engagement.scroll", count),
    }
  }
  vitals(): VitalColumns {
    const count = this.#sparse().vitals
    return {
      row: this.#uint32("vitals.row", count),
      lcp: this.#uint32("vitals.lcp", count),
      inp: this.#uint32("vitals.inp", count),
      fcp: this.#uint32("vitals.fcp", count),
      ttfb: this.#uint32("vitals.ttfb", count),
      cls: this.#uint32("vitals.cls", count),
    }
  }

  #sparse() {
    return this.#headers().sparse
  }

  #headers(): SegmentHeader {
    this.#header ??= readHeader(this.#row)
    return this.#header
  }

  /** Computes the offsets of events. Segments store the distance from the previous event of the visit, which is a smaller number. */
  #offsets(): Uint32Array {
    const key = `${this.id} offset`
    const known = this.#cache.get(key)
    if (known) return known as Uint32Array // this key is only ever set below
    // The steps are not cached: they are summed up in place, and nothing else reads them.
    const offsets = this.#decoded("event.step", this.events)
    addSteps(offsets, this.#passing("event.visit"))
    this.#cache.set(key, offsets)
    return offsets
  }

  #uint32(name: Column, count: number): Uint32Array {
    if (this.#constant(name) === 0) return zeros(count)
    // A column is always read by the same one of the two functions, so the cached type is right.
    return this.#column(name, () => this.#decoded(name, count)) as Uint32Array
  }

  /** Returns a column of events that is read once, to compute something else. It is not added to the cache, and overwritten by the next call. */
  #passing(name: PassingColumn): Uint32Array {
    const known = this.#cache.get(`${this.id} ${name}`)
    if (known) return known as Uint32Array // see #uint32
    passing[name] ??= new Uint32Array(MAX_ROWS)
    return this.#decoded(name, this.events, passing[name])
  }

  #decoded(name: Column, count: number, buffer?: Uint32Array): Uint32Array {
    const constant = this.#constant(name)
    return constant === undefined ? decodeUint32(this.#bytes(name), buffer) : new Uint32Array(count).fill(constant)
  }

  #float64(name: Column, count: number): Float64Array {
    const constant = this.#constant(name)
    return this.#column(name, () =>
      constant === undefined ? decodeFloat64(this.#bytes(name)) : new Float64Array(count).fill(constant),
    ) as Float64Array // see #uint32
  }

  #column(name: Column, decode: () => Numbers): Numbers {
    const key = `${this.id} ${name}`
    const known = this.#cache.get(key)
    if (known) return known
    const column = decode()
    this.#cache.set(key, column)
    return column
  }

  /** Returns the single value of a column without bytes, or undefined when it has bytes. */
  #constant(name: Column): number | undefined {
    const { stored, constants } = this.#headers()
    return stored.includes(columnNumber(name)) ? undefined : (constants[name] ?? 0)
  }

  #bytes(name: Column): Uint8Array {
    const sql = "select data from segment_columns where id = ?"
    const row = this.#db.query<{ data: Uint8Array }, [number]>(sql).get(columnRow(this.id, name))
    if (!row) throw new StoreFault("damaged", `Column ${name} of segment ${this.id} is missing`)
    return row.data
  }
}

/** Turns the steps of events into their offsets. Without branches, because visits are short. */
function addSteps(steps: Uint32Array, visits: Uint32Array): void {
  let offset = 0
  let before = -1
  for (let row = 0; row < steps.length; row++) {
    const change = visits[row]! ^ before
    // All ones within a visit, otherwise 0.
    const isSame = ~((change | -change) >> 31)
    offset = (steps[row]! + (offset & isSame)) | 0
    steps[row] = offset
    before = visits[row]!
  }
}

type PassingColumn = "event.name" | "event.page" | "event.visit"
/** The buffers of such columns. New memory for each segment would take longer than decoding. */
const passing: Partial<Record<PassingColumn, Uint32Array>> = {}
