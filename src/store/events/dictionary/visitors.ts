import type { Database } from "bun:sqlite"
import type { Hash64 } from "../writer.ts"
import { HashTable, hashBytes } from "./hash-table.ts"
import { type Identification, insertPerson, isNews, personByKey, type StoredPerson, updatePerson } from "./identities.ts"
import { PendingIds } from "./pending-ids.ts"
import type { Uses } from "./uses.ts"

/**
 * Assigns ordinals to visitors: per site, in order of first appearance, never reused. The lookup from a rotating id to its ordinal is
 * destroyed with the salt of its period; the lookup from a person key stays.
 */
export class Visitors {
  readonly #db: Database
  readonly #uses: Uses
  /** By site, then by period. Nested maps need no composed keys, which would have to be built for every event. */
  readonly #periods = new Map<number, Map<string, Period>>()
  readonly #next = new Map<number, number>()
  /** The sites whose next ordinal has changed since it was saved. */
  readonly #unsaved = new Set<number>()

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

  /** Creates a visitor of a period. The caller writes it to the log, in the given record. */
  create(siteId: number, period: string, id: Hash64, record: number): number {
    const ordinal = this.nextOrdinal(siteId)
    if (isTransient(period)) {
      this.#period(siteId, period).ordinals.set(id, ordinal)
      this.reserve(siteId, ordinal)
    } else this.remember(siteId, period, id, ordinal, record)
    return ordinal
  }

  /** Returns the last log record that contains visitors of a period; 0 when there is none. */
  lastRecord(siteId: number, period: string): number {
    return this.#periods.get(siteId)?.get(period)?.lastRecord ?? 0
  }

  /** Restores a visitor that is only in the log, at replay. */
  remember(siteId: number, period: string, id: Hash64, ordinal: number, record: number): void {
    const known = this.#period(siteId, period)
    known.ordinals.set(id, ordinal)
    known.pending.add(id)
    known.lastRecord = record
    this.reserve(siteId, ordinal)
  }

  /** Restores a visitor that is also in the table, at replay. */
  rememberStored(siteId: number, period: string, ordinal: number, record: number): void {
    this.#period(siteId, period).lastRecord = record
    this.reserve(siteId, ordinal)
  }

  person(siteId: number, key: Hash64): StoredPerson | undefined {
    const found = personByKey(this.#db, siteId, key)
    if (found) this.#uses.person(siteId, found.ordinal)
    return found
  }

  createPerson(siteId: number, identification: Identification): number {
    const ordinal = this.nextOrdinal(siteId)
    this.reserve(siteId, ordinal)
    this.#uses.person(siteId, ordinal)
    insertPerson(this.#db, siteId, ordinal, identification)
    return ordinal
  }

  /** Stores that a known person was identified, at most once a day. */
  identified(siteId: number, person: StoredPerson, identification: Identification): void {
    if (isNews(person, identification)) updatePerson(this.#db, siteId, identification)
  }

  /** Marks an ordinal as used, so that the next one is higher. */
  reserve(siteId: number, ordinal: number): void {
    if (ordinal < this.nextOrdinal(siteId)) return
    this.#next.set(siteId, ordinal + 1)
    this.#unsaved.add(siteId)
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

  /** Selects the ids that `flush` writes: those that are pending now. */
  gather(): void {
    for (const { pending } of this.#all()) pending.gather()
  }

  /**
   * Writes up to `count` of the gathered ids into the table, in the caller's transaction. Returns false when there were none. Writing
   * an id twice is harmless.
   */
  flush(count: number): boolean {
    const insert = this.#db.query("insert or ignore into visitor_ids (site_id, period, id, ordinal) values (?, ?, ?, ?)")
    let written = 0
    for (const { siteId, name, ordinals, pending } of this.#all()) {
      const ids = pending.take(count - written)
      for (const id of ids) insert.run(siteId, name, hashBytes(id), ordinals.get(id)!)
      written += ids.length
      if (written >= count) break
    }
    return written > 0
  }

  /** Number of sites whose next ordinal is not saved. */
  get unsavedOrdinals(): number {
    return this.#unsaved.size
  }

  /** Writes up to `count` next ordinals that are not saved, in the caller's transaction. */
  saveOrdinals(count = Number.POSITIVE_INFINITY): void {
    const save = this.#db.query("insert into ordinals (site_id, next) values (?, ?) on conflict do update set next = excluded.next")
    for (const siteId of this.#unsaved.values().take(count)) {
      save.run(siteId, this.nextOrdinal(siteId))
      this.#unsaved.delete(siteId)
    }
  }

  /** Lists the periods of all sites that have rotating ids, except transient ones. */
  periods(): SitePeriod[] {
    const held = this.#all()
      .filter(({ name }) => !isTransient(name))
      .map(({ siteId, name }): SitePeriod => ({ siteId, period: name }))
    return [...new Map([...held, ...this.#storedPeriods()].map((period) => [`${period.siteId} ${period.period}`, period])).values()]
  }

  /** Steps from period to period in the index, because each has up to millions of ids. */
  *#storedPeriods(): Generator<SitePeriod> {
    const query = this.#db.query<SitePeriod, [number, string]>(`
      select site_id as siteId, period from visitor_ids where (site_id, period) > (?, ?) order by site_id, period limit 1`)
    for (let next = query.get(0, ""); next; next = query.get(next.siteId, next.period)) yield next
  }

  /** Yields the rotating ids of a site that are in memory, with their ordinals. Those that are only in the log are among them. */
  *idsInMemory(siteId: number): Generator<[Hash64, number]> {
    for (const { ordinals } of this.#periods.get(siteId)?.values() ?? []) yield* ordinals.entries()
  }

  /** Removes the lookup of a period from memory. Returns the rotating ids that were there, with their ordinals. */
  forget(siteId: number, period: string): Iterable<[Hash64, number]> {
    const known = this.#periods.get(siteId)?.get(period)
    this.#periods.get(siteId)?.delete(period)
    return known?.ordinals.entries() ?? []
  }

  /** Destroys up to `count` rows of a period in the caller's transaction. Returns false when none are left. */
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

/** A salt period of one site. */
export interface SitePeriod {
  siteId: number
  period: string
}

/** The rotating ids of a site in one period. */
interface Period {
  siteId: number
  name: string
  ordinals: HashTable
  /** Whether `ordinals` is complete. Otherwise an earlier process stored some ids, which are read from the table on demand. */
  isWhole: boolean
  /** Ids that are only in the log so far; `flush` writes them into the table. */
  pending: PendingIds
  /** The last log record that contains visitors of the period. */
  lastRecord: number
}

/** Returns whether a period is only kept in memory: its salt was created for a single request. */
export const isTransient = (period: string): boolean => period.startsWith("~")
