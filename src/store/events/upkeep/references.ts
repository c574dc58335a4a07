import type { DictionaryName } from "../../../domain/dimension.ts"
import { IMPORTED_TABLES } from "../../../domain/imported.ts"
import { TRAITS } from "../../../domain/visit.ts"
import type { Part } from "../part.ts"
import type { Steps } from "../steps.ts"
import type { Totals } from "../totals.ts"

/** A growing set of small numbers. */
class Marks {
  #marks = new Uint8Array(256)

  has(number: number): boolean {
    return this.#marks[number] === 1
  }

  add(numbers: Uint32Array): void {
    let highest = 0
    for (let row = 0; row < numbers.length; row++) if (numbers[row]! > highest) highest = numbers[row]!
    this.#reach(highest)
    for (let row = 0; row < numbers.length; row++) this.#marks[numbers[row]!] = 1
  }

  addOne(number: number): void {
    this.#reach(number)
    this.#marks[number] = 1
  }

  #reach(highest: number): void {
    if (highest < this.#marks.length) return
    const grown = new Uint8Array(Math.max(highest + 1, this.#marks.length * 2))
    grown.set(this.#marks)
    this.#marks = grown
  }
}

/** The dictionary numbers and visitors that the rows of a site refer to. */
export class References {
  readonly #numbers = new Map<DictionaryName, Marks>()
  readonly #visitors = new Marks()

  has(name: DictionaryName, id: number): boolean {
    return this.#numbers.get(name)?.has(id) ?? false
  }

  hasVisitor(ordinal: number): boolean {
    return this.#visitors.has(ordinal)
  }

  /** Adds the references of a part, column by column. Events that enter a tail between two steps may be missed. */
  *add(part: Part): Steps<void> {
    this.#visitors.add(part.visit("visitor"))
    for (const trait of TRAITS) {
      this.#marks(trait).add(part.visit(trait))
      yield
    }
    for (const column of ["entry_page", "exit_page"] as const) this.#marks("page").add(part.visit(column))
    for (const column of ["entry_page_hostname", "exit_page_hostname"] as const) this.#marks("hostname").add(part.visit(column))
    yield
    for (const column of ["name", "page", "hostname", "title"] as const) {
      this.#marks(column).add(part.event(column))
      yield
    }
    this.#marks("currency").add(part.revenue().currency)
    const { key, value } = part.props()
    this.#marks("property").add(key)
    yield
    this.#addValues(key, value)
  }

  /** Adds the values of properties. Their dictionary is looked up once per key, because a part has many thousand values. */
  #addValues(keys: Uint32Array, values: Uint32Array): void {
    const known: Marks[] = []
    for (let row = 0; row < keys.length; row++) {
      const key = keys[row]!
      known[key] ??= this.#marks(`property:${key}`)
      known[key].addOne(values[row]!)
    }
  }

  /** Adds everything that imported totals refer to. `property` returns the number of a property key. */
  *addTotals(totals: Totals, property: (key: string) => number): Steps<void> {
    for (const [column, dictionary] of Object.entries(IMPORTED_TABLES[totals.kind].texts)) {
      const numbers = totals.text(column)
      if (column === "value") {
        this.#addValues(totals.text("property"), numbers)
      } else if (column === "link_url" || column === "path") {
        const key = property(column === "path" ? "path" : "url")
        this.#marks("property").add(Uint32Array.of(key))
        this.#marks(`property:${key}`).add(numbers)
      } else this.#marks(dictionary).add(numbers)
      yield
    }
  }

  #marks(name: DictionaryName): Marks {
    let marks = this.#numbers.get(name)
    if (!marks) {
      marks = new Marks()
      this.#numbers.set(name, marks)
    }
    return marks
  }
}
