import type { DictionaryName } from "../../../domain/dimension.ts"
import { HashTable } from "../../events/dictionary/hash-table.ts"
import { fixedTexts } from "../../events/dictionary/texts.ts"
import type { Dictionary } from "../../events/part.ts"
import type { Hash64 } from "../../events/writer.ts"
import type { Wide } from "./native.ts"

/** The texts of a dictionary as a reader has numbered them, in the order in which it met them. */
class TextNumbers implements Dictionary {
  readonly #texts: string[]
  readonly #numbers: Map<string, number>

  constructor(name: DictionaryName) {
    this.#texts = [...fixedTexts(name)]
    this.#numbers = new Map(this.#texts.map((text, number) => [text, number]))
  }

  get size(): number {
    return this.#texts.length
  }

  text(id: number): string {
    return this.#texts[id] ?? ""
  }

  find(text: string): number | undefined {
    return text === "" ? undefined : this.#numbers.get(text)
  }

  /** Returns the number of a text, which gets one if it is new. */
  number(text: string): number {
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    this.#texts.push(text)
    this.#numbers.set(text, this.#texts.length - 1)
    return this.#texts.length - 1
  }
}

/** The numbers that a reader has given to the texts and visitors of a site. They are its own and mean nothing to another reader. */
export class SiteNumbers {
  readonly #dictionaries = new Map<DictionaryName, TextNumbers>()
  readonly #visitors = new HashTable()
  /** Numbers of the visitors, by ordinal. */
  readonly #visitorNumbers: number[] = []

  dictionary(name: DictionaryName): TextNumbers {
    let dictionary = this.#dictionaries.get(name)
    if (!dictionary) {
      dictionary = new TextNumbers(name)
      this.#dictionaries.set(name, dictionary)
    }
    return dictionary
  }

  /** Number of visitors so far. */
  get visitors(): number {
    return this.#visitors.size
  }

  /** Returns the ordinals of visitors, given by number. New ones get an ordinal. */
  ordinals({ halves }: Wide): Uint32Array {
    const ordinals = new Uint32Array(halves.length / 2)
    const id = { low: 0, high: 0 }
    for (let row = 0; row < ordinals.length; row++) {
      id.low = halves[row * 2]!
      id.high = halves[row * 2 + 1]!
      ordinals[row] = this.#visitors.get(id) ?? this.#added(id)
    }
    return ordinals
  }

  #added(id: Hash64): number {
    const ordinal = this.#visitors.size
    this.#visitors.set(id, ordinal)
    this.#visitorNumbers.push(id.high * 2 ** 32 + id.low)
    return ordinal
  }

  /** Returns the ordinal of a visitor, given by number, or undefined if it has none so far. */
  ordinal(number: number): number | undefined {
    return this.#visitors.get({ high: Math.floor(number / 2 ** 32), low: number >>> 0 })
  }

  /** Returns the number of a visitor, given by ordinal. */
  number(ordinal: number): number {
    return this.#visitorNumbers[ordinal]!
  }
}
