import type { Database } from "bun:sqlite"
import type { Hash64 } from "../writer.ts"
import { HashTable, hashBytes } from "./hash-table.ts"
import { PendingIds } from "./pending-ids.ts"
import type { Uses } from "./uses.ts"

/**
 * Gives visitors their ordinals: per site, in order of first sight, never again. The way from a rotating id to its
 * ordinal lives as long as the salt of its period; that from a person key stays.
 */
export class Visitors {
  readonly #db: Database
  readonly #uses: Uses
  /** By site, then by period: asked for every event. */
  readonly #periods = new Map<number, Map<string, Period>>()
  readonly #next = new Map<number, number>()

  constructor(db: Database, uses: Uses) {
    this.#db = db
    this.#uses = uses
  }

  find(siteId: number, period: string, id: Hash64): number | undefined {
    const known = this.#period(siteId, period)
    const ordinal = known.ordinals.get(id)
    if (ordinal !== undefined || known.isWhole) return ordinal
    const sql = "select ordinal from visitor_ids where site_id = ? and period = ? and id = ?"
    const stored = this.#db.query<{ ordinal: number }, [number, string, Uint8Array]>(sql).get(siteId, period, hashBytes(id))?.ordinal
    if (stored !== undefined) known.ordinals.set(id, stored)
    return stored
  }

  /** A new visitor of the period; its place in the log is the caller's business. */
  create(siteId: number, period: string, id: Hash64, record: number): number {
    const ordinal = this.nextOrdinal(siteId)
    if (isTransient(period)) {
      this.#period(siteId, period).ordinals.set(id, ordinal)
      this.passed(siteId, ordinal)
    } else this.remember(siteId, period, id, ordinal, record)
    return ordinal
  }

  /** The last record of the log in which visitors of the period stand; 0 when there is none. */
  lastRecord(siteId: number, period: string): number {
    return this.#periods.get(siteId)?.get(period)?.lastRecord ?? 0
  }

  /** What the log tells at replay. */
  remember(siteId: number, period: string, id: Hash64, ordinal: number, record: number): void {
    const known = this.#period(siteId, period)
    known.ordinals.set(id, ordinal)
    known.pending.add(id)
    known.lastRecord = record
    this.passed(siteId, ordinal)
  }

  /** What the log tells at replay of a visitor who is in the table too. */
  stored(siteId: number, period: string, ordinal: number, record: number): void {
    this.#period(siteId, period).lastRecord = record
    this.passed(siteId, ordinal)
  }

  person(siteId: number, key: Hash64): number | undefined {
    const sql = "select ordinal from identities where site_id = ? and person_key = ?"
    const ordinal = this.#db.query<{ ordinal: number }, [number, Uint8Array]>(sql).get(siteId, hashBytes(key))?.ordinal
    if (ordinal !== undefined) this.#uses.person(siteId, ordinal)
    return ordinal
  }

  createPerson(siteId: number, key: Hash64): number {
    const ordinal = this.nextOrdinal(siteId)
    this.passed(siteId, ordinal)
    this.#uses.person(siteId, ordinal)
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
    return this.#all().reduce((sum, { pending }) => sum + pending.size, 0)
  }

  /** What is pending now is what `flush` writes until the next call. */
  gather(): void {
    for (const { pending } of this.#all()) pending.gather()
  }

  /**
   * Writes up to `count` of the gathered ids into the table, in the transaction of the caller; false when there were none.
   * Doing it twice does no harm.
   */
  flush(count: number): boolean {
    const insert = this.#db.query("insert or ignore into visitor_ids (site_id, period, id, ordinal) values (?, ?, ?, ?)")
    for (const { siteId, name, ordinals, pending } of this.#all()) {
      const ids = pending.take(count)
      for (const id of ids) insert.run(siteId, name, hashBytes(id), ordinals.get(id)!)
      if (ids.length > 0) return true
    }
    return false
  }

  /** Writes the next ordinals, in the transaction of the caller. */
  saveOrdinals(): void {
    const save = this.#db.query("insert into ordinals (site_id, next) values (?, ?) on conflict do update set next = excluded.next")
    for (const [siteId, next] of this.#next) save.run(siteId, next)
  }

  /** Destroys the lookup of a period, with its salt, in memory. */
  forget(siteId: number, period: string): void {
    this.#periods.get(siteId)?.delete(period)
  }

  /** Destroys up to `count` rows of a period, in the transaction of the caller; false when none are left. */
  forgetStored(siteId: number, period: string, count: number): boolean {
    const chosen = "select id from visitor_ids where site_id = ? and period = ? order by id limit ?"
    const sql = `delete from visitor_ids where site_id = ? and period = ? and id in (${chosen})`
    return this.#db.query(sql).run(siteId, period, siteId, period, count).changes > 0
  }

  #period(siteId: number, name: string): Period {
    let ofSite = this.#periods.get(siteId)
    const known = ofSite?.get(name)
    if (known) return known
    if (!ofSite) {
      ofSite = new Map()
      this.#periods.set(siteId, ofSite)
    }
    const isWhole = isTransient(name) || !this.#isStored(siteId, name)
    const period = { siteId, name, ordinals: new HashTable(), isWhole, pending: new PendingIds(), lastRecord: 0 }
    ofSite.set(name, period)
    return period
  }

  #all(): IteratorObject<Period> {
    return this.#periods.values().flatMap((ofSite) => ofSite.values())
  }

  #isStored(siteId: number, period: string): boolean {
    return this.#db.query("select 1 from visitor_ids where site_id = ? and period = ? limit 1").get(siteId, period) !== null
  }
}

/** What is known of the rotating ids of a site in one period. */
interface Period {
  siteId: number
  name: string
  ordinals: HashTable
  /** `ordinals` has them all; else an earlier process stored some, and each is read when it is asked for. */
  isWhole: boolean
  /** Known to the log only; `flush` brings them into the table. */
  pending: PendingIds
  /** The last record of the log that holds visitors of the period. */
  lastRecord: number
}

/** A period that is remembered in memory alone, and for as long as its request: its salt was made for it. */
export const isTransient = (period: string): boolean => period.startsWith("~")
