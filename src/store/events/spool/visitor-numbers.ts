import { hashBytes } from "../dictionary/hash-table.ts"
import type { Journal } from "../journal.ts"
import type { Hash64 } from "../writer.ts"
import { VisitorValues, visitorValue } from "./visitor-values.ts"

/** Number of visitors between two turns of other work: a few milliseconds. */
const SLICE = 500

/** A person of a site with the key from which the number is derived. */
interface StoredKey {
  ordinal: number
  key: Uint8Array
}

/** The numbers of the visitors of a site. */
export interface SharedNumbering {
  /** Ordinals are below it. */
  limit: number
  /** Returns the number of a visitor, given by ordinal. */
  number(ordinal: number): number
}

interface KnownPeople {
  /** Ordinals by number. */
  ordinals: Map<number, number>
  /** Ordinal of the last person. */
  last: number
}

/**
 * The visitors of a node by the numbers that they have outside of its store, where all nodes know the same visitor by the same number. The
 * numbers are values of the second engine, and cannot be calculated back to ordinals.
 */
export class VisitorNumbers {
  readonly #journal: Journal
  readonly #node: number
  readonly #siteKey: (siteId: number) => Promise<Uint8Array>
  /** By site. */
  readonly #people = new Map<number, KnownPeople>()

  constructor(journal: Journal, node: number, siteKey: (siteId: number) => Promise<Uint8Array>) {
    this.#journal = journal
    this.#node = node
    this.#siteKey = siteKey
  }

  /** Returns the numbers of visitors. */
  async of(siteId: number, ordinals: readonly number[]): Promise<number[]> {
    if (ordinals.length === 0) return []
    const values = await this.#values(siteId)
    return ordinals.map((ordinal) => Number(values.of(ordinal)))
  }

  /** Returns the ordinals of people by number, as far as the numbers are those of people that this node has identified. */
  async people(siteId: number, numbers: readonly number[]): Promise<Map<number, number>> {
    const { ordinals } = await this.#peopleOf(siteId)
    return new Map(numbers.flatMap((number) => (ordinals.has(number) ? [[number, ordinals.get(number)!] as const] : [])))
  }

  /** Returns the numbers of the people with some keys, whether or not this node has identified them. */
  async ofPeople(siteId: number, keys: readonly Hash64[]): Promise<number[]> {
    const siteKey = await this.#siteKey(siteId)
    return keys.map((key) => Number(visitorValue(siteKey, "person", hashBytes(key))))
  }

  /** Returns the ordinals of visitors. Compares the numbers of all visitors of the site. */
  async ordinals(siteId: number, numbers: readonly number[]): Promise<number[]> {
    const wanted = new Set(numbers.map(BigInt))
    const values = await this.#values(siteId)
    const found: number[] = []
    const end = this.#journal.memory.visitors.nextOrdinal(siteId)
    for (let ordinal = 0; ordinal < end && found.length < wanted.size; ordinal++) {
      if (wanted.has(values.of(ordinal))) found.push(ordinal)
      if (ordinal % SLICE === SLICE - 1) await Bun.sleep(0)
    }
    return found
  }

  /** Returns the numbers of the visitors that the site has now. */
  async numbering(siteId: number): Promise<SharedNumbering> {
    const values = await this.#values(siteId)
    return { limit: this.#journal.memory.visitors.nextOrdinal(siteId), number: (ordinal) => Number(values.of(ordinal)) }
  }

  async #values(siteId: number): Promise<VisitorValues> {
    const siteKey = await this.#siteKey(siteId)
    const { db, memory } = this.#journal
    const logged = new Map<number, Hash64>()
    for (const [id, ordinal] of memory.visitors.idsInMemory(siteId)) logged.set(ordinal, id)
    return new VisitorValues(db, { siteId, siteKey, node: this.#node, logged: (ordinal) => logged.get(ordinal) })
  }

  /** Returns the people of a site. Those that were added since the last call are read. */
  async #peopleOf(siteId: number): Promise<KnownPeople> {
    const siteKey = await this.#siteKey(siteId)
    const known = this.#people.get(siteId) ?? { ordinals: new Map(), last: -1 }
    this.#people.set(siteId, known)
    const sql = `select ordinal, person_key as key from identities where site_id = ? and ordinal > ? order by ordinal limit ${SLICE}`
    const next = () => this.#journal.db.query<StoredKey, [number, number]>(sql).all(siteId, known.last)
    for (let rows = next(); rows.length > 0; rows = next()) {
      for (const { ordinal, key } of rows) known.ordinals.set(Number(visitorValue(siteKey, "person", key)), ordinal)
      known.last = rows.at(-1)!.ordinal
      await Bun.sleep(0)
    }
    return known
  }
}
