import type { DictionaryName } from "../../../domain/dimension.ts"
import { IMPORTED_TABLES, type ImportedKind } from "../../../domain/imported.ts"
import { propertyDictionary } from "../../events/dictionary/texts.ts"
import type { Snapshot } from "../../events/part.ts"
import type { TotalsPart } from "../../events/totals.ts"
import type { SiteNumbers } from "./numbers.ts"

/** Imported totals of the local store with the numbers that the reader of ClickHouse gives to their texts. */
export class RenumberedTotals implements TotalsPart {
  readonly id: number
  readonly importId: number
  readonly run: number
  readonly rows: number
  readonly firstDay: number
  readonly lastDay: number
  readonly #part: TotalsPart
  readonly #kind: ImportedKind
  readonly #local: Pick<Snapshot, "dictionary">
  readonly #numbers: SiteNumbers

  constructor(part: TotalsPart, kind: ImportedKind, local: Pick<Snapshot, "dictionary">, numbers: SiteNumbers) {
    this.id = part.id
    this.importId = part.importId
    this.run = part.run
    this.rows = part.rows
    this.firstDay = part.firstDay
    this.lastDay = part.lastDay
    this.#part = part
    this.#kind = kind
    this.#local = local
    this.#numbers = numbers
  }

  days(): Uint32Array {
    return this.#part.days()
  }
  hours(): Uint32Array {
    return this.#part.hours()
  }
  count(column: string): Float64Array {
    return this.#part.count(column)
  }
  text(column: string): Uint32Array {
    const own = this.#part.text(column)
    const dictionary = (IMPORTED_TABLES[this.#kind].texts as Readonly<Record<string, DictionaryName>>)[column]! // one of its columns
    if (column !== "value" && column !== "link_url" && column !== "path")
      return own.map((number) => this.#renumbered(dictionary, dictionary, number))
    const keys = this.#keys(column)
    return own.map((number, row) => (number === 0 ? 0 : this.#renumbered(...this.#valuesOf(keys(row)), number)))
  }

  /** Returns the local number of the key of the property whose values a column has, by row. */
  #keys(column: string): (row: number) => number {
    if (column === "value") {
      const keys = this.#part.text("property")
      return (row) => keys[row]!
    }
    const key = this.#local.dictionary("property").find(column === "path" ? "path" : "url") ?? 0
    return () => key
  }

  /** Returns the names of the dictionary of a property's values, the local one and the reader's. */
  #valuesOf(localKey: number): [DictionaryName, DictionaryName] {
    const key = this.#numbers.dictionary("property").number(this.#local.dictionary("property").text(localKey))
    return [propertyDictionary(localKey), propertyDictionary(key)]
  }

  #renumbered(local: DictionaryName, own: DictionaryName, number: number): number {
    return this.#numbers.dictionary(own).number(this.#local.dictionary(local).text(number))
  }
}
