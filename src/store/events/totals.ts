import type { Database } from "bun:sqlite"
import { dayNumber, IMPORTED_KINDS, IMPORTED_TABLES, type ImportedKind, type ImportedRow, WHOLE_DAY } from "../../domain/imported.ts"
import { ByteReader, ByteWriter, unseal } from "./bytes/bytes.ts"
import { constantOf, decodeFloat64, decodeUint32, encodeColumn } from "./bytes/codec.ts"
import type { ColumnCache } from "./cache.ts"
import { propertyDictionary } from "./dictionary/texts.ts"
import { StoreFault } from "./fault.ts"
import type { Journal } from "./journal.ts"
import type { Memory } from "./memory.ts"
import { FORMAT } from "./segment.ts"

/**
 * Columnar segments of imported totals: one row per day, hour and combination of texts. They use the codec, the dictionaries and the
 * generations of visits, but have the columns of their kind: day and hour, then the texts as dictionary numbers, then the counts.
 */

/** Rows of a segment at most. */
const SEGMENT_ROWS = 65_536
/** Rows whose texts are numbered in one transaction: a pause of a few milliseconds. Divides `SEGMENT_ROWS`. */
const SLICE = 512
const DAY_MS = 86_400_000

/** Imported totals as a query reads them. Columns are shared: never write into one. */
export interface TotalsPart {
  /** Id of the segment. */
  readonly id: number
  readonly importId: number
  readonly run: number
  readonly rows: number
  /** First and last day, as days since 1970. */
  readonly firstDay: number
  readonly lastDay: number
  /** Days since 1970. */
  days(): Uint32Array
  /** Local hours, 255 for totals of a whole day. */
  hours(): Uint32Array
  /** Dictionary numbers; of a property's value those of the dictionary of that property. */
  text(column: string): Uint32Array
  count(column: string): Float64Array
}

/** A built segment that is not stored yet. */
interface BuiltTotals {
  rows: number
  firstDay: number
  lastDay: number
  bytes: number
  header: Uint8Array
  columns: { number: number; data: Uint8Array }[]
}

/** Names of a kind's columns, by their number on disk. */
const columnsOf = (kind: ImportedKind): string[] => [
  "day",
  "hour",
  ...Object.keys(IMPORTED_TABLES[kind].texts),
  ...IMPORTED_TABLES[kind].counts,
]

/**
 * Numbers the texts of rows, slice by slice, and builds segments. Numbers are written before the segment that refers to them, and are on disk
 * with the commit that publishes it.
 */
export async function* buildTotals(journal: Journal, place: TotalsPlace, rows: Iterable<ImportedRow>): AsyncGenerator<BuiltTotals> {
  let columns = emptyColumns(place.kind)
  let count = 0
  for (const slice of slicesOf(rows)) {
    if (count + slice.length > SEGMENT_ROWS) {
      yield await built(place.kind, columns, count)
      columns = emptyColumns(place.kind)
      count = 0
    }
    if (count + slice.length > columns.get("day")!.length) columns = doubled(columns)
    journal.change(() => fill(journal.memory, place, slice, count, columns), true)
    count += slice.length
    await Bun.sleep(0)
  }
  if (count > 0) yield await built(place.kind, columns, count)
}

interface TotalsPlace {
  siteId: number
  importId: number
  kind: ImportedKind
}

type TotalsColumns = ReadonlyMap<string, Float64Array>

const emptyColumns = (kind: ImportedKind): TotalsColumns => new Map(columnsOf(kind).map((name) => [name, new Float64Array(SLICE)]))

const doubled = (columns: TotalsColumns): TotalsColumns =>
  new Map(
    [...columns].map(([name, values]) => {
      const larger = new Float64Array(values.length * 2)
      larger.set(values)
      return [name, larger]
    }),
  )

function* slicesOf(rows: Iterable<ImportedRow>): Generator<ImportedRow[]> {
  let slice: ImportedRow[] = []
  for (const row of rows) {
    slice.push(row)
    if (slice.length < SLICE) continue
    yield slice
    slice = []
  }
  if (slice.length > 0) yield slice
}

function fill(
  { interner }: Memory,
  { siteId, importId, kind }: TotalsPlace,
  rows: readonly ImportedRow[],
  from: number,
  columns: TotalsColumns,
): void {
  const { texts, counts } = IMPORTED_TABLES[kind]
  const column = (name: string) => columns.get(name)!
  const isLimited = () => {}
  for (const [index, row] of rows.entries()) {
    const at = from + index
    const counted = `${row.day} import ${importId}`
    const number = (name: Parameters<typeof interner.number>[1], text: string) =>
      Math.max(0, interner.number(siteId, name, text, counted, isLimited))
    const ofProperty = (key: number, text: string) => (key === 0 ? 0 : number(propertyDictionary(key), text))
    column("day")[at] = dayNumber(row.day)
    column("hour")[at] = row.hour ?? WHOLE_DAY
    for (const [name, dictionary] of Object.entries(texts)) {
      const text = row.texts[name] ?? ""
      if (name === "value") column(name)[at] = ofProperty(column("property")[at]!, text)
      else if (name === "link_url" || name === "path")
        column(name)[at] = text === "" ? 0 : ofProperty(number("property", name === "path" ? "path" : "url"), text)
      else column(name)[at] = number(dictionary, text)
    }
    for (const name of counts) column(name)[at] = row.counts[name] ?? 0
  }
  interner.saveCounts()
}

async function built(kind: ImportedKind, grown: TotalsColumns, rows: number): Promise<BuiltTotals> {
  const columns = new Map([...grown].map(([name, values]) => [name, values.subarray(0, rows)]))
  const stored: BuiltTotals["columns"] = []
  const constants: Record<string, number> = {}
  for (const [number, name] of columnsOf(kind).entries()) {
    const values = columns.get(name)!
    const constant = constantOf(values)
    if (constant === undefined) stored.push({ number, data: await encodeColumn(values) })
    else if (constant !== 0) constants[name] = constant
  }
  const days = columns.get("day")!
  const header = new ByteWriter()
  header.text(JSON.stringify({ stored: stored.map(({ number }) => number), constants } satisfies TotalsHeader))
  const sealed = header.seal()
  return {
    rows,
    firstDay: days.reduce((first, day) => Math.min(first, day), Number.POSITIVE_INFINITY),
    lastDay: days.reduce((last, day) => Math.max(last, day), 0),
    bytes: stored.reduce((sum, { data }) => sum + data.length, sealed.length),
    header: sealed,
    columns: stored,
  }
}

/** Stores a segment of totals that is not part of any answer yet. In the transaction of the caller. */
export function insertTotals(
  db: Database,
  { siteId, importId, run, kind }: { siteId: number; importId: number; run: number; kind: ImportedKind },
  { rows, firstDay, lastDay, bytes, header, columns }: BuiltTotals,
): number {
  const { id } = db
    .query<{ id: number }, (string | number | Uint8Array)[]>(`insert into segments
      (site_id, import_id, run, kind, format, visits, events, min_start, max_start, min_at, max_at, visitor_limit, bytes, header, retired_at)
      values (?1, ?2, ?3, ?4, ${FORMAT}, ?5, 0, ?6, ?7, ?6, ?7, 0, ?8, ?9, 0) returning id`)
    .get(siteId, importId, run, kind, rows, firstDay * DAY_MS, lastDay * DAY_MS, bytes, header)!
  const insert = db.query("insert into segment_columns (id, data) values (?, ?)")
  for (const { number, data } of columns) insert.run(id * 128 + number, data)
  return id
}

interface TotalsHeader {
  stored: number[]
  constants: Record<string, number>
}

interface TotalsRow {
  id: number
  import_id: number
  run: number
  kind: ImportedKind
  visits: number
  min_start: number
  max_start: number
  bytes: number
  header: Uint8Array
}

const KINDS = IMPORTED_KINDS.map((kind) => `'${kind}'`).join(", ")

/** Opens the segments of a site's imported totals, by import. Decoded columns are kept in `cache`. */
export function openTotals(db: Database, siteId: number, cache: ColumnCache): Totals[] {
  const sql = `select id, import_id, run, kind, visits, min_start, max_start, bytes, header from segments
    where site_id = ? and kind in (${KINDS}) and retired_at is null order by import_id, id`
  const rows = db.query<TotalsRow, [number]>(sql).all(siteId)
  return rows.map((row) => new Totals(db, row, cache))
}

/** A stored segment of totals. Columns are decoded when they are first requested. */
export class Totals implements TotalsPart {
  readonly id: number
  readonly kind: ImportedKind
  readonly importId: number
  readonly run: number
  readonly rows: number
  readonly firstDay: number
  readonly lastDay: number
  /** Stored size, compressed. */
  readonly bytes: number
  readonly #db: Database
  readonly #header: TotalsHeader
  readonly #cache: ColumnCache

  constructor(db: Database, row: TotalsRow, cache: ColumnCache) {
    const content = unseal(row.header)
    if (!content) throw new StoreFault("damaged", `The header of segment ${row.id} is damaged`)
    this.#db = db
    this.#cache = cache
    this.#header = JSON.parse(new ByteReader(content).text()) as TotalsHeader // written by `built`
    this.id = row.id
    this.kind = row.kind
    this.importId = row.import_id
    this.run = row.run
    this.rows = row.visits
    this.firstDay = row.min_start / DAY_MS
    this.lastDay = row.max_start / DAY_MS
    this.bytes = row.bytes
  }

  days(): Uint32Array {
    return this.text("day")
  }
  hours(): Uint32Array {
    return this.text("hour")
  }
  text(column: string): Uint32Array {
    return this.#column(column, Uint32Array, decodeUint32) as Uint32Array // a column is always read by the same method
  }
  count(column: string): Float64Array {
    return this.#column(column, Float64Array, decodeFloat64) as Float64Array // see `text`
  }

  #column(name: string, Type: Uint32ArrayConstructor | Float64ArrayConstructor, decode: (bytes: Uint8Array) => Uint32Array | Float64Array) {
    const number = columnsOf(this.kind).indexOf(name)
    const key = `${this.id} total ${number}`
    const known = this.#cache.get(key)
    if (known) return known
    const isStored = this.#header.stored.includes(number)
    const column = isStored ? decode(this.#bytes(name, number)) : new Type(this.rows).fill(this.#header.constants[name] ?? 0)
    this.#cache.set(key, column)
    return column
  }

  #bytes(name: string, number: number): Uint8Array {
    const sql = "select data from segment_columns where id = ?"
    const row = this.#db.query<{ data: Uint8Array }, [number]>(sql).get(this.id * 128 + number)
    if (!row) throw new StoreFault("damaged", `Column ${name} of segment ${this.id} is missing`)
    return row.data
  }
}

/** Builds a segment again without the rows before a day. Undefined when no row is left. */
export async function withoutDaysBefore(totals: Totals, day: number): Promise<BuiltTotals | undefined> {
  const keep = Array.from(totals.days().keys()).filter((row) => totals.days()[row]! >= day)
  if (keep.length === 0) return undefined
  const { counts } = IMPORTED_TABLES[totals.kind]
  const isCount = (name: string) => (counts as readonly string[]).includes(name)
  const columns = new Map(
    columnsOf(totals.kind).map((name) => {
      const column = isCount(name) ? totals.count(name) : totals.text(name)
      return [name, Float64Array.from(keep, (row) => column[row]!)]
    }),
  )
  return built(totals.kind, columns, keep.length)
}
