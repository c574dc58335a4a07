import type { DictionaryName } from "../../../domain/dimension.ts"
import { IMPORTED_TABLES, type ImportedKind } from "../../../domain/imported.ts"
import type { ColumnCache } from "../../events/cache.ts"
import { propertyDictionary } from "../../events/dictionary/texts.ts"
import type { TotalsPart } from "../../events/totals.ts"
import type { TotalsContent } from "../ship/totals.ts"
import type { ReadColumn } from "./layout.ts"
import type { SiteNumbers } from "./numbers.ts"

/** A segment of totals as ClickHouse lists it. */
export interface ListedTotals {
  node: number
  segment: number
  importId: number
  run: number
  kind: ImportedKind
  rows: number
  firstDay: number
  lastDay: number
}

interface RemoteTotalsOptions {
  siteId: number
  cache: ColumnCache
  numbers: SiteNumbers
  /** Reads the content, which is a text of JSON. */
  read(listed: ListedTotals): string
}

/** A segment of imported totals on ClickHouse. It is read when a column is first requested. */
export class RemoteTotals implements TotalsPart {
  /** The number of the node is part of it, because segments are numbered by each node. */
  readonly id: number
  readonly kind: ImportedKind
  readonly importId: number
  readonly run: number
  readonly rows: number
  readonly firstDay: number
  readonly lastDay: number
  readonly #listed: ListedTotals
  readonly #options: RemoteTotalsOptions

  constructor(listed: ListedTotals, options: RemoteTotalsOptions) {
    this.id = listed.segment * 256 + listed.node
    this.kind = listed.kind
    this.importId = listed.importId
    this.run = listed.run
    this.rows = listed.rows
    this.firstDay = listed.firstDay
    this.lastDay = listed.lastDay
    this.#listed = listed
    this.#options = options
  }

  days(): Uint32Array {
    return this.text("day")
  }
  hours(): Uint32Array {
    return this.text("hour")
  }
  text(column: string): Uint32Array {
    return this.#column(column) as Uint32Array // see `load`
  }
  count(column: string): Float64Array {
    return this.#column(column) as Float64Array // see `load`
  }

  /** Reads the columns and gives numbers to their texts. */
  load(): Map<string, ReadColumn> {
    const { siteId, cache, numbers, read } = this.#options
    const { days, hours, counts, texts } = JSON.parse(read(this.#listed)) as TotalsContent // written by `ship/totals.ts`
    const columns = new Map<string, ReadColumn>([
      ["day", Uint32Array.from(days)],
      ["hour", Uint32Array.from(hours)],
      ...Object.entries(counts).map(([name, values]) => [name, Float64Array.from(values)] as const),
    ])
    // The column `property` comes before `value`, whose dictionary depends on it.
    for (const [name, { list, places }] of Object.entries(texts)) {
      const dictionaryOf = this.#dictionaryOf(name, columns)
      columns.set(
        name,
        Uint32Array.from(places, (place, row) => (list[place] === "" ? 0 : numbers.dictionary(dictionaryOf(row)).number(list[place]!))),
      )
    }
    for (const [name, column] of columns) cache.set(`${siteId} ${this.id} total ${name}`, column)
    return columns
  }

  #dictionaryOf(column: string, columns: ReadonlyMap<string, ReadColumn>): (row: number) => DictionaryName {
    if (column === "value") return (row) => propertyDictionary(columns.get("property")![row]!)
    const { numbers } = this.#options
    if (column === "link_url" || column === "path") {
      const key = numbers.dictionary("property").number(column === "path" ? "path" : "url")
      return () => propertyDictionary(key)
    }
    const dictionary = (IMPORTED_TABLES[this.kind].texts as Readonly<Record<string, DictionaryName>>)[column]! // one of its columns
    return () => dictionary
  }

  #column(name: string): ReadColumn {
    const known = this.#options.cache.get(`${this.#options.siteId} ${this.id} total ${name}`) as ReadColumn | undefined // `load` sets it
    return known ?? this.load().get(name)!
  }
}
