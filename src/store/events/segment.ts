import type { Database } from "bun:sqlite"
import type { Range } from "../../domain/query.ts"
import { VISIT_IDLE_MS } from "../../domain/visit.ts"
import { firstAtLeast } from "./bytes/ascending.ts"
import { ByteReader, ByteWriter, unseal } from "./bytes/bytes.ts"
import {
  type Column,
  type ColumnSource,
  type Group,
  rowsOf,
  type SegmentHeader,
  type StoredColumns,
  type WideColumn,
} from "./bytes/columns.ts"
import { lastOffsets } from "./bytes/event-codes.ts"
import { GroupedColumns } from "./bytes/grouped-columns.ts"
import { type ItemRows, type Items, LazyItems, openItemRows, packItemRows, packVisits } from "./bytes/items.ts"
import { SEGMENT_KINDS, type SegmentKind } from "./bytes/lanes.ts"
import { SingleColumns } from "./bytes/single-columns.ts"
import { zeros } from "./bytes/zeros.ts"
import type { Cached, ColumnCache } from "./cache.ts"
import { StoreFault } from "./fault.ts"
import {
  ARRIVAL_UNIT_MS,
  type EngagementColumns,
  type EventColumn,
  type Part,
  type PropColumns,
  type RevenueColumns,
  type Steps,
  type VisitColumn,
  type VitalColumns,
} from "./part.ts"
import { SegmentSlice, type SliceRows, type SliceTimes } from "./segment-slice.ts"

/** The format version of columns. Every release reads all earlier formats. */
export const FORMAT = 2

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

/** Which segments of a site are listed. Default: all. */
export interface SegmentChoice {
  /** Only those that begin before, epoch ms. */
  startsBefore?: number
  /** Only those of which visits can be taken back. */
  isOpen?: boolean
}

/** Lists the ids of a site's segments of all kinds whose rows are visits, by start. */
export function listAllSegmentIds(
  db: Database,
  siteId: number,
  { startsBefore = Number.MAX_SAFE_INTEGER, isOpen = false }: SegmentChoice = {},
): number[] {
  const sql = `select id from segments where site_id = ? and kind in (${KINDS}) and retired_at is null and min_start < ?
    ${isOpen ? "and open_until is not null" : ""} order by min_start, id`
  return db
    .query<{ id: number }, [number, number]>(sql)
    .all(siteId, startsBefore)
    .map(({ id }) => id)
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
  #columns: StoredColumns | undefined
  /** Names of the columns whose values are all 0. */
  readonly #empty = new Set<string>()
  /** Its visits within the last range that cut it. */
  #cut: { range: Range; parts: Part[] } | undefined

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
    return this.#float64("starts")
  }
  sequences(): Float64Array {
    return this.#float64("sequences")
  }
  visit(column: VisitColumn): Uint32Array {
    return this.#uint32(column === "interactive" ? "interactive_events" : column, this.visits)
  }
  event(column: EventColumn): Uint32Array {
    return this.#uint32(`event.${column}`, this.events)
  }
  order(): null {
    return null
  }
  isOpen(row: number, now: number): boolean {
    if (this.openUntil === undefined || now > this.openUntil) return false
    const lastArrival = this.starts()[row]! + (this.visit("arrival")[row]! + 1) * ARRIVAL_UNIT_MS
    return Math.abs(now - lastArrival) <= VISIT_IDLE_MS
  }

  items(): Items {
    const rows = () => this.#itemRows()
    return new LazyItems({
      ...{ rows, table: () => this.#stored().itemTable?.() ?? rows() },
      visits: () => this.#cached("visits of items", () => packVisits(rows())),
    })
  }
  lacks(column: VisitColumn | EventColumn, values: Uint8Array): boolean {
    return this.#stored().lacks(column, values)
  }

  props(): PropColumns {
    const count = this.#sparse().props
    return { row: this.#uint32("props.row", count), key: this.#uint32("props.key", count), value: this.#uint32("props.value", count) }
  }
  revenue(): RevenueColumns {
    const count = this.#sparse().revenue
    return {
      row: this.#uint32("revenue.row", count),
      amount: this.#float64("revenue.amount"),
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

  steps(): Steps | undefined {
    return this.#known("event.offset") ? undefined : this.#stored().steps?.()
  }
  within(range: Range): Part[] {
    if (this.#cut?.range.from !== range.from || this.#cut.range.to !== range.to) this.#cut = { range, parts: this.#cutTo(range) }
    return this.#cut.parts
  }
  readAhead(): void {
    this.#stored().readAhead?.()
    void this.items().visits
  }

  #cutTo({ from, to }: Range): Part[] {
    const starts = this.starts()
    const [first, end] = [firstAtLeast(starts, from), firstAtLeast(starts, to)]
    const before = this.minAt < from ? firstLasting(starts, this.#lasts(), { first: 0, end: first }, from) : first
    const after = this.maxAt >= to ? firstLasting(starts, this.#lasts(), { first, end }, to) : end
    const { minStart, maxStart, minAt, maxAt } = this
    const inside = {
      ...{ minStart: Math.max(minStart, from), maxStart: Math.min(maxStart, to - 1) },
      ...{ minAt: Math.max(minAt, from), maxAt: Math.min(maxAt, to - 1) },
    }
    return [
      this.#slice({ first: before, end: first }, this),
      this.#slice({ first, end: after }, inside),
      this.#slice({ first: after, end }, this),
    ].filter(({ visits }) => visits > 0)
  }

  #slice(rows: SliceRows, times: SliceTimes): Part {
    const name = `visits of items ${rows.first}-${rows.end}`
    return new SegmentSlice(this, rows, { times, visitsOfItems: (items) => this.#cached(name, () => packVisits(items)) })
  }

  /** Returns the time of the last event of each visit, engagement included, since its start. */
  #lasts(): Uint32Array {
    return this.#cached("lasts", () => {
      const steps = this.steps()
      const { firsts } = this.#itemRows()
      if (steps) return lastOffsets((row) => steps.at(row), firsts)
      const offset = this.event("offset")
      return Uint32Array.from({ length: this.visits }, (_, visit) => offset[firsts[visit + 1]! - 1] ?? 0)
    })
  }

  #sparse() {
    return this.#headers().sparse
  }

  #headers(): SegmentHeader {
    this.#header ??= readHeader(this.#row)
    return this.#header
  }

  #uint32(name: Column | "event.offset", count: number): Uint32Array {
    if (this.#empty.has(name)) return zeros(count)
    const known = this.#known(name)
    if (known) return known
    const column = this.#stored().uint32(name)
    if (column) this.#cache.set(`${this.id} ${name}`, column)
    else this.#empty.add(name)
    return column ?? zeros(count)
  }

  #float64(name: WideColumn): Float64Array {
    return this.#cached(name, () => this.#stored().float64(name))
  }

  #itemRows(): ItemRows {
    return openItemRows(this.#cached("items", () => packItemRows(this.#stored().itemRows())))
  }

  #known(name: string): Uint32Array | undefined {
    return this.#cache.get(`${this.id} ${name}`) as Uint32Array | undefined // see #cached
  }

  /** Returns what is known under a name, or computes it. A name always stands for the same type. */
  #cached<Values extends Cached>(name: string, compute: () => Values): Values {
    const key = `${this.id} ${name}`
    const known = this.#cache.get(key)
    if (known) return known as Values
    const values = compute()
    this.#cache.set(key, values)
    return values
  }

  #stored(): StoredColumns {
    this.#columns ??= this.#openColumns()
    return this.#columns
  }

  #openColumns(): StoredColumns {
    const { id, visits, events } = this
    const header = this.#headers()
    const source: ColumnSource = {
      ...{ id, visits, events, header },
      bytes: (row, name) => this.#bytes(row, name),
      uint32: (name) => this.#uint32(name, rowsOf(name, this, header)),
      known: (name) => this.#known(name),
      itemRows: () => this.#itemRows(),
      packed: (group, open) => (PACKED.has(group) ? this.#cached(group, open) : open()),
    }
    return header.groups ? new GroupedColumns(source) : new SingleColumns(source)
  }

  #bytes(row: number, name: string): Uint8Array {
    const sql = "select data from segment_columns where id = ?"
    const found = this.#db.query<{ data: Uint8Array }, [number]>(sql).get(row)
    if (!found) throw new StoreFault("damaged", `Column ${name} of segment ${this.id} is missing`)
    return found.data
  }
}

/** Returns the first of some visits that has an event at or after a time, or the end of them. */
function firstLasting(starts: Float64Array, lasts: Uint32Array, { first, end }: SliceRows, at: number): number {
  let visit = first
  while (visit < end && starts[visit]! + lasts[visit]! < at) visit++
  return visit
}

/** The groups that are kept in the cache: several columns are decoded from each, most of them by later reports. */
const PACKED: ReadonlySet<Group> = new Set<Group>(["core", "origins", "places", "clients", "entries", "steps", "engagement", "props"])
