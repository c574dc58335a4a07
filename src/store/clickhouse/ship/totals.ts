import type { DictionaryName } from "../../../domain/dimension.ts"
import { IMPORTED_TABLES, type ImportedKind } from "../../../domain/imported.ts"
import { ByteWriter } from "../../events/bytes/bytes.ts"
import { propertyDictionary } from "../../events/dictionary/texts.ts"
import type { Dictionary } from "../../events/part.ts"
import type { TotalsPart } from "../../events/totals.ts"
import type { Clickhouse, Settings } from "../client.ts"
import type { ChangeReader } from "./changes.ts"

/** The columns of a segment of totals, as ClickHouse stores them. */
export interface TotalsContent {
  days: readonly number[]
  hours: readonly number[]
  counts: Readonly<Record<string, readonly number[]>>
  texts: Readonly<Record<string, ListedTexts>>
}

/** The texts of a column: different ones, and the place of that of each row. */
interface ListedTexts {
  list: readonly string[]
  places: readonly number[]
}

/** A segment of totals that ClickHouse does not have. */
interface NewTotals {
  siteId: number
  kind: ImportedKind
  part: TotalsPart
  dictionary(name: DictionaryName): Pick<Dictionary, "text" | "find">
}

/** A segment of totals by its key on ClickHouse, without the node. */
export interface TotalsKey {
  siteId: number
  segment: number
}

/** The segments of totals that a store has and ClickHouse does not, and those of which it is the other way round. */
export interface ChangedTotals {
  /** Number of the state of the store. */
  generation: number
  added: NewTotals[]
  removed: TotalsKey[]
}

const COLUMNS = ["site_id", "node", "segment", "version", "gone", "import_id", "run", "kind", "rows", "first_day", "last_day", "content"]
/** Bytes per insert. What replaces other totals is inserted at once. */
const INSERT_BYTES = 16 << 20

interface TotalsShipperOptions {
  reader: Pick<ChangeReader, "changedTotals">
  clickhouse: Clickhouse
  /** Number of the node. */
  node: number
  /** Settings of inserts. */
  settings?: Settings
}

/** Makes ClickHouse have the imported totals of a store. */
export class TotalsShipper {
  readonly #options: TotalsShipperOptions
  /** What ClickHouse has, by segment. */
  #known: Map<number, TotalsKey> | undefined
  /** State of the store that ClickHouse has. */
  #generation = -1

  constructor(options: TotalsShipperOptions) {
    this.#options = options
  }

  async ship(): Promise<void> {
    this.#known ??= await this.#shipped()
    const known = this.#known
    const changed = this.#options.reader.changedTotals(known, this.#generation)
    if (!changed) return
    const { generation, added, removed } = changed
    const rows = new TotalsRows(this.#options.node)
    for (const key of removed) rows.remove(key)
    for (const totals of added) {
      rows.add(totals)
      if (removed.length === 0 && rows.length >= INSERT_BYTES) await this.#insert(rows)
    }
    await this.#insert(rows)
    await this.#deleteContent(removed)
    for (const { segment } of removed) known.delete(segment)
    for (const { siteId, part } of added) known.set(part.id, { siteId, segment: part.id })
    this.#generation = generation
  }

  async #shipped(): Promise<Map<number, TotalsKey>> {
    const sql = "select site_id as siteId, segment from totals final where node = {node:UInt8}"
    const rows = await this.#options.clickhouse.rows<TotalsKey>(sql, { parameters: { node: this.#options.node } })
    return new Map(rows.map((row) => [row.segment, row]))
  }

  /** Deletes removed segments from the disks of the server, without waiting for it. The tombstones stay. */
  async #deleteContent(removed: readonly TotalsKey[]): Promise<void> {
    if (removed.length === 0) return
    const segments = removed.map(({ segment }) => segment)
    const { clickhouse, node } = this.#options
    await clickhouse.run(`alter table totals delete where node = ${node} and gone = 0 and segment in (${segments.join()})`)
  }

  async #insert(rows: TotalsRows): Promise<void> {
    const { clickhouse, settings = {} } = this.#options
    if (rows.length > 0) await clickhouse.insert("totals", COLUMNS, rows.finish(), { settings })
  }
}

class TotalsRows {
  readonly #node: number
  #out = new ByteWriter()

  constructor(node: number) {
    this.#node = node
  }

  get length(): number {
    return this.#out.length
  }

  add({ siteId, kind, part, dictionary }: NewTotals): void {
    const out = this.#out
    this.#key({ siteId, segment: part.id }, 0)
    out.uint32(part.importId)
    out.uint32(part.run)
    out.text(kind)
    out.uint32(part.rows)
    out.uint32(part.firstDay)
    out.uint32(part.lastDay)
    out.text(JSON.stringify(contentOf(part, kind, dictionary)))
  }

  remove(key: TotalsKey): void {
    this.#key(key, 1)
    for (let left = 4 + 4 + 1 + 4 + 4 + 4 + 1; left > 0; left--) this.#out.byte(0)
  }

  /** Returns the rows. What is added later belongs to the next insert. */
  finish(): Uint8Array<ArrayBuffer> {
    const bytes = this.#out.content()
    this.#out = new ByteWriter()
    return bytes
  }

  /** The version of a removed segment is 1, so that a row which is written late does not bring it back. */
  #key({ siteId, segment }: TotalsKey, gone: 0 | 1): void {
    const out = this.#out
    out.uint32(siteId)
    out.byte(this.#node)
    out.uint32(segment)
    out.byte(gone)
    out.byte(gone)
  }
}

function contentOf(part: TotalsPart, kind: ImportedKind, dictionary: NewTotals["dictionary"]): TotalsContent {
  const { texts, counts } = IMPORTED_TABLES[kind]
  const columns = Object.entries(texts).map(([name, own]) => {
    const dictionaryOf = propertyValues(part, name, dictionary) ?? (() => dictionary(own))
    return [name, listed(Array.from(part.text(name), (id, row) => (id === 0 ? "" : dictionaryOf(row).text(id))))]
  })
  return {
    days: [...part.days()],
    hours: [...part.hours()],
    counts: Object.fromEntries(counts.map((name) => [name, [...part.count(name)]])),
    texts: Object.fromEntries(columns),
  }
}

/** Returns the dictionary of each row of a column that has values of properties. Undefined for other columns. */
function propertyValues(part: TotalsPart, column: string, dictionary: NewTotals["dictionary"]) {
  if (column === "value") {
    const keys = part.text("property")
    return (row: number) => dictionary(propertyDictionary(keys[row]!))
  }
  if (column !== "link_url" && column !== "path") return undefined
  const key = dictionary("property").find(column === "path" ? "path" : "url") ?? 0
  return () => dictionary(propertyDictionary(key))
}

function listed(values: readonly string[]): ListedTexts {
  const places = new Map<string, number>()
  const ofRows = values.map((value) => {
    const place = places.get(value) ?? places.size
    places.set(value, place)
    return place
  })
  return { list: [...places.keys()], places: ofRows }
}
