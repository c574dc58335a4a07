/**
 * The values by which a second engine knows visitors. Unlike ordinals, every node computes the same value for the same visitor, and once
 * the salt is destroyed, nobody can compute it again.
 */
import type { Database } from "bun:sqlite"
import { createHmac } from "node:crypto"
import { hashBytes } from "../dictionary/hash-table.ts"
import type { Journal } from "../journal.ts"
import type { Hash64 } from "../writer.ts"

/** What a value is derived from: the rotating id, the person key, or, when a visitor has neither, the number of the node and the ordinal. */
type Origin = "rotating" | "person" | "ordinal"

/** Returns the value of a visitor: 53 bits of a keyed hash, because visitors have numbers below 2^53 outside the store. */
export function visitorValue(siteKey: Uint8Array, origin: Origin, id: Uint8Array): bigint {
  return createHmac("sha256", siteKey).update(`footfall/visitor/${origin}`).update(id).digest().readBigUInt64BE() >> 11n
}

/** Maximum number of values in memory per site, in each of two generations. */
const MAX_KNOWN = 50_000

interface ValueSource {
  siteId: number
  siteKey: Uint8Array
  /** Number of the node. */
  node: number
  /** Returns the rotating id of a visitor that is in the log and perhaps not in the table yet. */
  logged(ordinal: number): Hash64 | undefined
}

/** The values of the visitors of a site, by ordinal. */
export class VisitorValues {
  readonly #db: Database
  readonly #source: ValueSource
  #recent = new Map<number, bigint>()
  #earlier = new Map<number, bigint>()

  constructor(db: Database, source: ValueSource) {
    this.#db = db
    this.#source = source
  }

  of(ordinal: number): bigint {
    const known = this.#recent.get(ordinal)
    if (known !== undefined) return known
    const value = this.#earlier.get(ordinal) ?? this.#find(ordinal)
    this.#recent.set(ordinal, value)
    if (this.#recent.size >= MAX_KNOWN) {
      this.#earlier = this.#recent
      this.#recent = new Map()
    }
    return value
  }

  #find(ordinal: number): bigint {
    const { siteKey, node, logged } = this.#source
    const inLog = logged(ordinal)
    const rotating = inLog ? hashBytes(inLog) : this.#stored("select id from visitor_ids where site_id = ? and ordinal = ?", ordinal)
    if (rotating) return visitorValue(siteKey, "rotating", rotating)
    const person = this.#stored("select person_key as id from identities where site_id = ? and ordinal = ?", ordinal)
    if (person) return visitorValue(siteKey, "person", person)
    const saved = this.#stored("select value as id from visitor_values where site_id = ? and ordinal = ?", ordinal)
    if (saved) return Buffer.from(saved).readBigUInt64BE()
    return visitorValue(siteKey, "ordinal", hashBytes({ high: node, low: ordinal }))
  }

  #stored(sql: string, ordinal: number): Uint8Array | undefined {
    return this.#db.query<{ id: Uint8Array }, [number, number]>(sql).get(this.#source.siteId, ordinal)?.id
  }
}

/** Rotating ids per transaction: a few milliseconds of work. */
const SLICE = 500

interface Period {
  siteId: number
  name: string
  siteKey: Uint8Array
}

/**
 * Stores the values of the visitors of a period whose rotating ids are about to be destroyed: those in the table, and those of `inMemory`,
 * which may only be in the log.
 */
export async function saveValues(journal: Journal, { siteId, name, siteKey }: Period, inMemory: Iterable<[Hash64, number]>): Promise<void> {
  const { db } = journal
  const record = journal.memory.tails.lastRecord
  const sql = "insert or ignore into visitor_values (site_id, ordinal, value, record) values (?, ?, ?, ?)"
  const save = (ids: readonly [Uint8Array, number][]) =>
    journal.append(() => {
      for (const [id, ordinal] of ids) {
        const value = Buffer.alloc(8)
        value.writeBigUInt64BE(visitorValue(siteKey, "rotating", id))
        db.query(sql).run(siteId, ordinal, value, record)
      }
    })
  const known = Array.from(inMemory, ([id, ordinal]): [Uint8Array, number] => [hashBytes(id), ordinal])
  for (let from = 0; from < known.length; from += SLICE) {
    save(known.slice(from, from + SLICE))
    await Bun.sleep(0)
  }
  const stored = `select id, ordinal from visitor_ids where site_id = ? and period = ? and id > ? order by id limit ${SLICE}`
  const next = (after: Uint8Array) =>
    db.query<{ id: Uint8Array; ordinal: number }, [number, string, Uint8Array]>(stored).all(siteId, name, after)
  for (let rows = next(new Uint8Array()); rows.length > 0; rows = next(rows.at(-1)!.id)) {
    save(rows.map(({ id, ordinal }) => [id, ordinal]))
    await Bun.sleep(0)
  }
}
