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
  /** The counter that was used last. */
  counter: Counter | undefined
}

/** The number of new values of a dictionary on a day, or of their bytes. */
interface Counter {
  readonly siteId: number
  readonly day: string
  readonly name: CounterName
  readonly limit: number
  count: number
  /** Whether it is still the counter of its day. One that was dropped is read from the table again. */
  isCurrent: boolean
}

/** The numberings of a site, with the counter of bytes that was used last. */
interface SiteNumberings {
  siteId: number
  numberings: Map<DictionaryName, Numbering>
  bytes: Counter | undefined
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
  #latest: SiteNumberings | undefined
  /** Memory of the recent generation. */
  #bytes = 0
  readonly #counters = new Map<string, Counter>()
  /** The counters that have changed since they were saved. */
  readonly #unsaved = new Set<Counter>()

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
    // Counters of earlier days are useless, and the others can be read from the table again.
    if (this.#counters.size >= MAX_CACHED_COUNTS) this.#dropCounters()
    const [counter, bytes] = [this.#counter(numbering, siteId, name, day), this.#bytesCounter(siteId, day)]
    const isWithinLimits = counter.count < counter.limit && bytes.count + Buffer.byteLength(text) <= bytes.limit
    if (isWithinLimits || text === OTHER || this.#isExempt(siteId, name, text, property)) {
      this.#count(counter, 1)
      this.#count(bytes, Buffer.byteLength(text))
      return this.#add(siteId, name, numbering, text)
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

  #add(siteId: number, name: DictionaryName, numbering: Numbering, text: string): number {
    const number = numbering.next ?? nextNumber(this.#db, siteId, name)
    numbering.next = number + 1
    this.#uses.text(siteId, name, number)
    this.#remember(numbering, text, number)
    this.#db.query("insert into dictionary (site_id, name, id, value) values (?, ?, ?, ?)").run(siteId, name, number, text)
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

  #count(counter: Counter, added: number): void {
    counter.count += added
    this.#unsaved.add(counter)
  }

  /** Saves the numbers of new values, in the transaction that adds these. */
  saveCounts(): void {
    if (this.#unsaved.size === 0) return
    const save = "insert into new_values (site_id, day, name, count) values (?, ?, ?, ?) on conflict do update set count = excluded.count"
    for (const { siteId, day, name, count } of this.#unsaved) this.#db.query(save).run(siteId, day, name, count)
    this.#unsaved.clear()
  }

  /** Returns the counter of a dictionary. Usually it is the one of the text before, so that no key is composed. */
  #counter(numbering: Numbering, siteId: number, name: DictionaryName, day: string): Counter {
    const { counter } = numbering
    if (counter?.day === day && counter.isCurrent) return counter
    numbering.counter = this.#counterOf(siteId, name, day)
    return numbering.counter
  }

  #bytesCounter(siteId: number, day: string): Counter {
    const latest = this.#latestOf(siteId)
    if (latest.bytes?.day === day && latest.bytes.isCurrent) return latest.bytes
    latest.bytes = this.#counterOf(siteId, BYTES, day)
    return latest.bytes
  }

  #counterOf(siteId: number, name: CounterName, day: string): Counter {
    const key = `${siteId} ${day} ${name}`
    const known = this.#counters.get(key)
    if (known) return known
    const sql = "select count from new_values where site_id = ? and day = ? and name = ?"
    const count = this.#db.query<{ count: number }, [number, string, string]>(sql).get(siteId, day, name)?.count ?? 0
    const counter = { siteId, day, name, limit: limitOf(name), count, isCurrent: true }
    this.#counters.set(key, counter)
    return counter
  }

  #dropCounters(): void {
    this.saveCounts()
    for (const counter of this.#counters.values()) counter.isCurrent = false
    this.#counters.clear()
  }

  #numbering(siteId: number, name: DictionaryName): Numbering {
    const { numberings } = this.#latestOf(siteId)
    let numbering = numberings.get(name)
    if (!numbering) {
      const fixed = fixedTexts(name).map((text, number) => [text, number] as const)
      numbering = { recent: new Map(fixed), earlier: undefined, next: undefined, counter: undefined }
      numberings.set(name, numbering)
      this.#bytes += ENTRY_BYTES
    }
    return numbering
  }

  #latestOf(siteId: number): SiteNumberings {
    if (this.#latest?.siteId !== siteId) this.#latest = { siteId, numberings: this.#numberingsOf(siteId), bytes: undefined }
    return this.#latest
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

function limitOf(name: CounterName): number {
  if (name.startsWith("property:")) return NEW_VALUES_PER_DAY.propertyValue
  if (name.startsWith("utm_")) return NEW_VALUES_PER_DAY.utm
  return name in NEW_VALUES_PER_DAY ? NEW_VALUES_PER_DAY[name as keyof typeof NEW_VALUES_PER_DAY] : Number.POSITIVE_INFINITY // tested by `in`
}
