import type { Database } from "bun:sqlite"
import { HashTable, hashBytes, hashOf } from "./hash-table.ts"
import type { Hash64 } from "./writer.ts"

/**
 * Gives visitors their ordinals: per site, in order of first sight, never again. The way from a rotating id to its
 * ordinal lives as long as the salt of its period; that from a person key stays.
 */
export class Visitors {
  readonly #db: Database
  /** By site, then by period: asked for every event. */
  readonly #periods = new Map<number, Map<string, HashTable>>()
  readonly #next = new Map<number, number>()
  /** The last record of the log that holds visitors of a period. */
  readonly #records = new Map<string, number>()
  /** Known to the log only; `flush` brings them into the table. */
  #pending: { siteId: number; period: string; id: Hash64; ordinal: number }[] = []

  constructor(db: Database) {
    this.#db = db
  }

  find(siteId: number, period: string, id: Hash64): number | undefined {
    return this.#period(siteId, period).get(id)
  }

  /** A new visitor of the period; its place in the log is the caller's business. */
  create(siteId: number, period: string, id: Hash64, record: number): number {
    const ordinal = this.nextOrdinal(siteId)
    if (isTransient(period)) {
      this.#period(siteId, period).set(id, ordinal)
      this.passed(siteId, ordinal)
    } else this.remember(siteId, period, id, ordinal, record)
    return ordinal
  }

  /** The last record of the log in which visitors of the period stand; 0 when there is none. */
  lastRecord(siteId: number, period: string): number {
    return this.#records.get(`${siteId} ${period}`) ?? 0
  }

  /** What the log tells at replay. */
  remember(siteId: number, period: string, id: Hash64, ordinal: number, record: number): void {
    this.#period(siteId, period).set(id, ordinal)
    this.#pending.push({ siteId, period, id, ordinal })
    this.#records.set(`${siteId} ${period}`, record)
    this.passed(siteId, ordinal)
  }

  person(siteId: number, key: Hash64): number | undefined {
    const sql = "select ordinal from identities where site_id = ? and person_key = ?"
    return this.#db.query<{ ordinal: number }, [number, Uint8Array]>(sql).get(siteId, hashBytes(key))?.ordinal
  }

  createPerson(siteId: number, key: Hash64): number {
    const ordinal = this.nextOrdinal(siteId)
    this.passed(siteId, ordinal)
    this.#db.query("insert into identities (site_id, person_key, ordinal) values (?, ?, ?)").run(siteId, hashBytes(key), ordinal)
    return ordinal
  }

  /** An ordinal that is in use: the next one is higher. */
  passed(siteId: number, ordinal: number): void {
    if (ordinal >= this.nextOrdinal(siteId)) this.#next.set(siteId, ordinal + 1)
  }

  nextOrdinal(siteId: number): number {
    const known = this.#next.get(siteId)
    if (known !== undefined) return known
    const row = this.#db.query<{ next: number }, [number]>("select next from ordinals where site_id = ?").get(siteId)
    const next = row?.next ?? 0
    this.#next.set(siteId, next)
    return next
  }

  get pending(): number {
    return this.#pending.length
  }

  /** Writes up to `count` pending ids into the table, in the transaction of the caller. Doing it twice does no harm. */
  flush(count: number): void {
    const insert = this.#db.query("insert or ignore into visitor_ids (site_id, period, id, ordinal) values (?, ?, ?, ?)")
    for (const { siteId, period, id, ordinal } of this.#pending.splice(0, count)) insert.run(siteId, period, hashBytes(id), ordinal)
  }

  /** Writes the next ordinals, in the transaction of the caller. */
  saveOrdinals(): void {
    const save = this.#db.query("insert into ordinals (site_id, next) values (?, ?) on conflict do update set next = excluded.next")
    for (const [siteId, next] of this.#next) save.run(siteId, next)
  }

  /** Destroys the lookup of a period, with its salt. */
  forget(siteId: number, period: string): void {
    this.#periods.get(siteId)?.delete(period)
    this.#records.delete(`${siteId} ${period}`)
    if (isTransient(period)) return
    this.#pending = this.#pending.filter((entry) => entry.siteId !== siteId || entry.period !== period)
    this.#db.query("delete from visitor_ids where site_id = ? and period = ?").run(siteId, period)
  }

  #period(siteId: number, period: string): HashTable {
    let ofSite = this.#periods.get(siteId)
    const known = ofSite?.get(period)
    if (known) return known
    if (!ofSite) {
      ofSite = new Map()
      this.#periods.set(siteId, ofSite)
    }
    const table = new HashTable()
    ofSite.set(period, table)
    if (isTransient(period)) return table
    const sql = "select id, ordinal from visitor_ids where site_id = ? and period = ?"
    const rows = this.#db.query<{ id: Uint8Array; ordinal: number }, [number, string]>(sql).iterate(siteId, period)
    for (const { id, ordinal } of rows) table.set(hashOf(id), ordinal)
    return table
  }
}

/** A period that is remembered in memory alone, and for as long as its request: its salt was made for it. */
export const isTransient = (period: string): boolean => period.startsWith("~")
