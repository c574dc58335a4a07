import type { DictionaryName } from "../../../domain/dimension.ts"
import { IMPORTED_TABLES } from "../../../domain/imported.ts"
import { TRAITS } from "../../../domain/visit.ts"
import { propertyDictionary } from "../dictionary/texts.ts"
import type { EventColumn, Part, VisitColumn } from "../part.ts"
import type { Steps } from "../steps.ts"
import type { Totals } from "../totals.ts"

/** A growing set of small numbers, a bit each. */
export class NumberSet {
  #words = new Int32Array(8)
  size = 0

  has(number: number): boolean {
    return ((this.#words[number >>> 5]! >>> (number & 31)) & 1) === 1
  }

  add(number: number): void {
    if (this.has(number)) return
    const place = number >>> 5
    if (place >= this.#words.length) {
      const grown = new Int32Array(Math.max(place + 1, this.#words.length * 2))
      grown.set(this.#words)
      this.#words = grown
    }
    this.#words[place]! |= 1 << (number & 31)
    this.size++
  }

  delete(number: number): void {
    if (!this.has(number)) return
    this.#words[number >>> 5]! &= ~(1 << (number & 31))
    this.size--
  }

  /** Removes all numbers of a column. */
  deleteAll(numbers: Uint32Array): void {
    if (this.size === 0) return
    const words = this.#words
    for (let row = 0; row < numbers.length; row++) {
      const number = numbers[row]!
      if (((words[number >>> 5]! >>> (number & 31)) & 1) === 1) this.delete(number)
    }
  }

  *[Symbol.iterator](): Generator<number> {
    for (let place = 0; place < this.#words.length; place++)
      for (let word = this.#words[place]!, bit = 0; word !== 0; word >>>= 1, bit++) if ((word & 1) === 1) yield place * 32 + bit
  }
}

/** The columns that refer to each dictionary of visits. */
const VISIT_COLUMNS: readonly (readonly [DictionaryName, readonly VisitColumn[]])[] = [
  ...TRAITS.map((trait) => [trait, [trait]] as const),
  ["page", ["entry_page", "exit_page"]],
  ["hostname", ["entry_page_hostname", "exit_page_hostname"]],
]
const EVENT_COLUMNS: readonly (EventColumn & DictionaryName)[] = ["name", "page", "hostname", "title"]

/**
 * Texts and visitors that may have lost their last row: those of removed visits. Of these, the ones that other rows refer to are
 * removed, part by part. A column is only read while a text of its dictionary is left, so most columns of most parts are not.
 */
export class Candidates {
  readonly #texts = new Map<DictionaryName, NumberSet>()
  visitors = new NumberSet()

  get isEmpty(): boolean {
    return this.visitors.size === 0 && this.#texts.values().every(({ size }) => size === 0)
  }

  *texts(): Generator<[DictionaryName, number]> {
    for (const [name, numbers] of this.#texts) for (const number of numbers) yield [name, number]
  }

  byDictionary(): Iterable<readonly [DictionaryName, NumberSet]> {
    return this.#texts
  }

  addText(name: DictionaryName, number: number): void {
    this.#numbers(name).add(number)
  }

  /** Adds what the chosen visits (1 in the mask) of a part refer to, column by column. */
  *add(part: Part, chosen: Uint8Array): Steps<void> {
    const visits = rowsWhere(part.visits, (visit) => chosen[visit] === 1)
    yield
    addRows(this.visitors, part.visit("visitor"), visits)
    yield
    for (const [name, columns] of VISIT_COLUMNS) {
      for (const column of columns) addRows(this.#numbers(name), part.visit(column), visits)
      yield
    }
    const visitOf = part.event("visit")
    yield
    const isChosen = (row: number) => chosen[visitOf[row]!] === 1
    const events = rowsWhere(part.events, isChosen)
    yield
    for (const column of EVENT_COLUMNS) {
      addRows(this.#numbers(column), part.event(column), events)
      yield
    }
    const { row: sold, currency } = part.revenue()
    for (let at = 0; at < sold.length; at++) if (isChosen(sold[at]!)) this.addText("currency", currency[at]!)
    yield
    const { row, key, value } = part.props()
    yield
    for (let at = 0; at < row.length; at++) {
      if (!isChosen(row[at]!)) continue
      this.addText("property", key[at]!)
      this.addText(propertyDictionary(key[at]!), value[at]!)
    }
  }

  /** Removes what a part refers to. Events that enter a tail between two steps may be missed. */
  *keepUnusedBy(part: Part): Steps<void> {
    if (this.visitors.size > 0) this.visitors.deleteAll(part.visit("visitor"))
    yield
    for (const [name, columns] of VISIT_COLUMNS) {
      if (!this.#has(name)) continue
      for (const column of columns) this.#numbers(name).deleteAll(part.visit(column))
      yield
    }
    for (const column of EVENT_COLUMNS) {
      if (!this.#has(column)) continue
      this.#numbers(column).deleteAll(part.event(column))
      yield
    }
    if (this.#has("currency")) this.#numbers("currency").deleteAll(part.revenue().currency)
    if (![...this.#texts].some(([name, { size }]) => size > 0 && name.startsWith("property"))) return
    yield
    const { key, value } = part.props()
    yield
    this.#numbers("property").deleteAll(key)
    yield
    this.#keepUnusedValues(key, value)
  }

  /** Removes everything that imported totals refer to. `property` returns the number of a property key. */
  *keepUnusedByTotals(totals: Totals, property: (key: string) => number): Steps<void> {
    for (const [column, dictionary] of Object.entries(IMPORTED_TABLES[totals.kind].texts)) {
      const numbers = totals.text(column)
      if (column === "value") {
        this.#keepUnusedValues(totals.text("property"), numbers)
      } else if (column === "link_url" || column === "path") {
        const key = property(column === "path" ? "path" : "url")
        this.#numbers("property").delete(key)
        this.#numbers(propertyDictionary(key)).deleteAll(numbers)
      } else this.#numbers(dictionary).deleteAll(numbers)
      yield
    }
  }

  /** The dictionary of the values is looked up once per key, because a part has many thousand values. */
  #keepUnusedValues(keys: Uint32Array, values: Uint32Array): void {
    const known: NumberSet[] = []
    for (let row = 0; row < keys.length; row++) {
      const key = keys[row]!
      known[key] ??= this.#numbers(propertyDictionary(key))
      known[key].delete(values[row]!)
    }
  }

  #has(name: DictionaryName): boolean {
    return (this.#texts.get(name)?.size ?? 0) > 0
  }

  #numbers(name: DictionaryName): NumberSet {
    let numbers = this.#texts.get(name)
    if (!numbers) {
      numbers = new NumberSet()
      this.#texts.set(name, numbers)
    }
    return numbers
  }
}

function rowsWhere(count: number, test: (row: number) => boolean): Uint32Array {
  const rows = new Uint32Array(count)
  let found = 0
  for (let row = 0; row < count; row++) if (test(row)) rows[found++] = row
  return rows.subarray(0, found)
}

function addRows(numbers: NumberSet, column: Uint32Array, rows: Uint32Array): void {
  // The iterator of a typed array is slow until it is compiled.
  for (let at = 0; at < rows.length; at++) numbers.add(column[rows[at]!]!)
}
