import type { Database } from "bun:sqlite"
import type { DictionaryName } from "../../../domain/dimension.ts"
import { NEW_VALUES_PER_DAY } from "../../../domain/limits.ts"
import type { ExemptValues } from "../writer.ts"
import { fixedTexts, nextNumber, numberOf, OTHER } from "./texts.ts"
import type { Uses } from "./uses.ts"

/** The number of a property key over the limit. Such properties are discarded. */
export const DISCARDED = -1

/** The counter of the bytes of a day's new values, next to the counters of their numbers. */
const BYTES = "bytes"
type CounterName = DictionaryName | typeof BYTES

/** Maximum number of counters in memory, of all sites and days. */
const MAX_CACHED_COUNTS = 50_000

/** Memory for texts in use, of all sites, and that of an entry of a map in addition to its text. */
const CACHED_BYTES = 16 << 20
const ENTRY_BYTES = 64

/** The numbers of the texts that events have used lately, in two generations. */
interface Numbering {
  recent: Map<string, number>
  earlier: ReadonlyMap<string, number> | undefined
  /** The number of the next new text. Undefined until there is one, because most dictionaries of a site have no new texts for long. */
  next: number | undefined
}

/** Assigns numbers to texts, for the writer. A new text is stored by the commit that first uses it. */
export class Interner {
  readonly #db: Database
  readonly #isExempt: ExemptValues
  readonly #uses: Uses
  readonly #limit: number
  /** By site, then by dictionary. Nested maps need no composed keys, which matters for about twenty lookups per event. */
  readonly #numberings = new Map<number, Map<DictionaryName, Numbering>>()
  /** The numberings of the last site. All values of an event belong to one site, and often the next event does too. */
  #latest: { siteId: number; numberings: Map<DictionaryName, Numbering> } | undefined
  /** Memory of the recent generation. */
  #bytes = 0
  readonly #newValues = new Map<string, number>()
  /** The counters that have changed since they were saved. */
  readonly #unsaved = new Map<string, [siteId: number, day: string, name: CounterName]>()

  constructor(db: Database, isExempt: ExemptValues, uses: Uses, limit = CACHED_BYTES) {
    this.#db = db
    this.#isExempt = isExempt
    this.#uses = uses
    this.#limit = limit
  }

  /**
   * Returns the number of a text, and assigns one to a new text. If the daily limit of new values is reached, it calls `onLimit` and
   * returns the number of `(other)`, or DISCARDED for a property key. `property` is the key of a property value.
   */
  number(siteId: number, name: DictionaryName, text: string, day: string, onLimit: () => void, property?: string): number {
    if (text === "") return 0
    const numbering = this.#numbering(siteId, name)
    const known = numbering.recent.get(text) ?? this.#known(siteId, name, numbering, text)
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

  /** Removes a text that was blanked in the table. Its number is not reused; if the text comes again, it gets a new one. */
  forget(siteId: number, name: DictionaryName, text: string): void {
    const numbering = this.#numberings.get(siteId)?.get(name)
    numbering?.recent.delete(text)
    if (numbering) numbering.earlier = undefined
  }

  /** Returns the number of a text that was not used lately. */
  #known(siteId: number, name: DictionaryName, numbering: Numbering, text: string): number | undefined {
    const number = numbering.earlier?.get(text) ?? numberOf(this.#db, siteId, name, text)
    if (number !== undefined) this.#remember(numbering, text, number)
    return number
  }

  #add(siteId: number, name: DictionaryName, numbering: Numbering, text: string, day: string): number {
    const number = numbering.next ?? nextNumber(this.#db, siteId, name)
    numbering.next = number + 1
    this.#uses.text(siteId, name, number)
    this.#remember(numbering, text, number)
    this.#db.query("insert into dictionary (site_id, name, id, value) values (?, ?, ?, ?)").run(siteId, name, number, text)
    this.#count(siteId, name, day, 1)
    this.#count(siteId, BYTES, day, Buffer.byteLength(text))
    return number
  }

  /** Adds a text to the recent ones. When these take half of the memory, the earlier ones are dropped. */
  #remember({ recent }: Numbering, text: string, number: number): void {
    recent.set(text, number)
    this.#bytes += text.length + ENTRY_BYTES
    if (this.#bytes > this.#limit / 2) this.#age()
  }

  #age(): void {
    for (const [siteId, numberings] of this.#numberings) {
      for (const [name, numbering] of numberings) {
        numbering.earlier = numbering.recent
        numbering.recent = new Map()
        if (numbering.earlier.size === 0) numberings.delete(name)
      }
      if (numberings.size === 0) this.#numberings.delete(siteId)
    }
    this.#latest = undefined
    this.#bytes = 0
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
      const fixed = fixedTexts(name).map((text, number) => [text, number] as const)
      numbering = { recent: new Map(fixed), earlier: undefined, next: undefined }
      numberings.set(name, numbering)
      this.#bytes += ENTRY_BYTES
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
}

function limitOf(name: DictionaryName): number {
  if (name.startsWith("property:")) return NEW_VALUES_PER_DAY.propertyValue
  if (name.startsWith("utm_")) return NEW_VALUES_PER_DAY.utm
  return name in NEW_VALUES_PER_DAY ? NEW_VALUES_PER_DAY[name as keyof typeof NEW_VALUES_PER_DAY] : Number.POSITIVE_INFINITY // tested by `in`
}
