import type { Database } from "bun:sqlite"
import { CHANNELS, type DictionaryName, FIXED_NAMES } from "../../../domain/dimension.ts"
import { NEW_VALUES_PER_DAY } from "../../../domain/limits.ts"
import type { Dictionary } from "../part.ts"
import type { ExemptValues } from "../writer.ts"
import type { Uses } from "./uses.ts"

/** The text that replaces values over the limit. */
export const OTHER = "(other)"
/** The number of a property key over the limit. Such properties are discarded. */
export const DISCARDED = -1

/** The counter of the bytes of a day's new values, next to the counters of their numbers. */
const BYTES = "bytes"
type CounterName = DictionaryName | typeof BYTES

/** Maximum number of counters in memory, of all sites and days. */
const MAX_CACHED_COUNTS = 50_000

/** Texts whose numbers are the same on every site. They are not in the table. */
const FIXED: Partial<Record<DictionaryName, readonly string[]>> = { name: FIXED_NAMES, channel: CHANNELS }
const fixedTexts = (name: DictionaryName): readonly string[] => FIXED[name] ?? [""]

interface Numbering {
  numbers: Map<string, number>
  next: number
}

/** Assigns numbers to texts, for the writer. A new text is stored by the commit that first uses it. */
export class Interner {
  readonly #db: Database
  readonly #isExempt: ExemptValues
  readonly #uses: Uses
  /** By site, then by dictionary. Nested maps need no composed keys, which matters for about twenty lookups per event. */
  readonly #numberings = new Map<number, Map<DictionaryName, Numbering>>()
  /** The numberings of the last site. All values of an event belong to one site, and often the next event does too. */
  #latest: { siteId: number; numberings: Map<DictionaryName, Numbering> } | undefined
  readonly #newValues = new Map<string, number>()
  /** The counters that have changed since they were saved. */
  readonly #unsaved = new Map<string, [siteId: number, day: string, name: CounterName]>()

  constructor(db: Database, isExempt: ExemptValues, uses: Uses) {
    this.#db = db
    this.#isExempt = isExempt
    this.#uses = uses
  }

  /**
   * Returns the number of a text, and assigns one to a new text. If the daily limit of new values is reached, it calls `onLimit` and
   * returns the number of `(other)`, or DISCARDED for a property key. `property` is the key of a property value.
   */
  number(siteId: number, name: DictionaryName, text: string, day: string, onLimit: () => void, property?: string): number {
    if (text === "") return 0
    const numbering = this.#numbering(siteId, name)
    const known = numbering.numbers.get(text)
    if (known !== undefined) {
      this.#uses.text(siteId, name, known)
      return known
    }
    if (this.#isWithinLimits(siteId, name, text, day) || text === OTHER || this.#isExempt(siteId, name, text, property)) {
      return this.#add(siteId, name, numbering, text, day)
    }
    onLimit()
    return name === "property" ? DISCARDED : this.number(siteId, name, OTHER, day, onLimit)
  }

  /** Returns a live view of the texts of a dictionary. */
  texts(siteId: number, name: DictionaryName): Pick<ReadonlyMap<string, unknown>, "has" | "keys"> {
    return this.#numbering(siteId, name).numbers
  }

  /** Returns the number of a text, or undefined if the site never had it. */
  find(siteId: number, name: DictionaryName, text: string): number | undefined {
    return this.#numbering(siteId, name).numbers.get(text)
  }

  /** Removes a text that was blanked in the table. Its number is not reused; if the text comes again, it gets a new one. */
  forget(siteId: number, name: DictionaryName, text: string): void {
    this.#numberings.get(siteId)?.get(name)?.numbers.delete(text)
  }

  #add(siteId: number, name: DictionaryName, numbering: Numbering, text: string, day: string): number {
    const number = numbering.next++
    this.#uses.text(siteId, name, number)
    numbering.numbers.set(text, number)
    this.#db.query("insert into dictionary (site_id, name, id, value) values (?, ?, ?, ?)").run(siteId, name, number, text)
    this.#count(siteId, name, day, 1)
    this.#count(siteId, BYTES, day, Buffer.byteLength(text))
    return number
  }

  #count(siteId: number, name: CounterName, day: string, added: number): void {
    const key = `${siteId} ${day} ${name}`
    this.#newValues.set(key, this.#countOf(siteId, name, day) + added)
    this.#unsaved.set(key, [siteId, day, name])
  }

  /** Saves the numbers of new values, in the transaction that adds these. */
  saveCounts(): void {
    if (this.#unsaved.size === 0) return
    const save = "insert into new_values (site_id, day, name, count) values (?, ?, ?, ?) on conflict do update set count = excluded.count"
    for (const [key, counter] of this.#unsaved) this.#db.query(save).run(...counter, this.#newValues.get(key)!) // counted before
    this.#unsaved.clear()
  }

  #isWithinLimits(siteId: number, name: DictionaryName, text: string, day: string): boolean {
    if (this.#countOf(siteId, name, day) >= limitOf(name)) return false
    return this.#countOf(siteId, BYTES, day) + Buffer.byteLength(text) <= NEW_VALUES_PER_DAY.bytes
  }

  #countOf(siteId: number, name: CounterName, day: string): number {
    const key = `${siteId} ${day} ${name}`
    const known = this.#newValues.get(key)
    if (known !== undefined) return known
    const sql = "select count from new_values where site_id = ? and day = ? and name = ?"
    const count = this.#db.query<{ count: number }, [number, string, string]>(sql).get(siteId, day, name)?.count ?? 0
    // Entries of earlier days are useless, and the others can be read from the table again.
    if (this.#newValues.size >= MAX_CACHED_COUNTS) {
      this.saveCounts()
      this.#newValues.clear()
    }
    this.#newValues.set(key, count)
    return count
  }

  #numbering(siteId: number, name: DictionaryName): Numbering {
    if (this.#latest?.siteId !== siteId) this.#latest = { siteId, numberings: this.#numberingsOf(siteId) }
    const { numberings } = this.#latest
    let numbering = numberings.get(name)
    if (!numbering) {
      numbering = this.#load(siteId, name)
      numberings.set(name, numbering)
    }
    return numbering
  }

  #numberingsOf(siteId: number): Map<DictionaryName, Numbering> {
    let numberings = this.#numberings.get(siteId)
    if (!numberings) {
      numberings = new Map()
      this.#numberings.set(siteId, numberings)
    }
    return numberings
  }

  #load(siteId: number, name: DictionaryName): Numbering {
    const fixed = fixedTexts(name)
    const numbering = { numbers: new Map(fixed.map((text, number) => [text, number])), next: fixed.length }
    for (const { id, value } of rowsFrom(this.#db, siteId, name, 0)) {
      if (value !== "") numbering.numbers.set(value, id)
      numbering.next = id + 1
    }
    return numbering
  }
}

/** Cached names of the dictionaries of property values. A newly built string would have to be hashed again for each map lookup. */
const propertyNames: DictionaryName[] = []

/** Returns the name of the dictionary of a property's values, by the number of the property's key. */
export function propertyDictionary(key: number): DictionaryName {
  propertyNames[key] ??= `property:${key}`
  return propertyNames[key]
}

function limitOf(name: DictionaryName): number {
  if (name.startsWith("property:")) return NEW_VALUES_PER_DAY.propertyValue
  if (name.startsWith("utm_")) return NEW_VALUES_PER_DAY.utm
  return name in NEW_VALUES_PER_DAY ? NEW_VALUES_PER_DAY[name as keyof typeof NEW_VALUES_PER_DAY] : Number.POSITIVE_INFINITY // tested by `in`
}

function rowsFrom(db: Database, siteId: number, name: DictionaryName, from: number): { id: number; value: string }[] {
  const sql = "select id, value from dictionary where site_id = ? and name = ? and id >= ? order by id"
  return db.query<{ id: number; value: string }, [number, string, number]>(sql).all(siteId, name, from)
}

/** A dictionary of a reader, extended by reading the new rows of the table. */
export class ReadDictionary implements Dictionary {
  readonly #texts: string[]
  readonly #siteId: number
  readonly #name: DictionaryName
  #numbers: Map<string, number> | undefined

  constructor(siteId: number, name: DictionaryName) {
    this.#siteId = siteId
    this.#name = name
    this.#texts = [...fixedTexts(name)]
  }

  get size(): number {
    return this.#texts.length
  }

  text(id: number): string {
    return this.#texts[id] ?? ""
  }

  find(text: string): number | undefined {
    this.#numbers ??= new Map(this.#texts.map((known, id) => [known, id] as const).filter(([known]) => known !== ""))
    return this.#numbers.get(text)
  }

  /** Reads the texts that were added since the last call. */
  follow(db: Database): void {
    for (const { id, value } of rowsFrom(db, this.#siteId, this.#name, this.#texts.length)) {
      this.#texts[id] = value
      if (value !== "") this.#numbers?.set(value, id)
    }
  }
}
