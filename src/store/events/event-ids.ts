import type { Database } from "bun:sqlite"
import { HashTable } from "./dictionary/hash-table.ts"
import { PendingIds } from "./dictionary/pending-ids.ts"
import { readState, writeState } from "./tail/tails.ts"
import type { Commit } from "./upkeep/upkeep.ts"
import type { Hash64 } from "./writer.ts"

const HOUR = 3_600_000
/** Bits of the filter for one id: about one unknown id in a hundred asks the disk. */
const FILTER_BITS = 12
/** Where a 64-bit hash is taken apart: shifting it would make two more big integers an event. */
const halves = new DataView(new ArrayBuffer(8))
/** Ids that are done with before others may run: some milliseconds. */
const SLICE = 50_000

/**
 * Event ids seen within 24 hours of arrival, as keyed hashes in one table an hour. The ids of the running hour are exact
 * in memory too; a filter for each hour that is over then answers nearly every look-up without the disk.
 */
export class EventIds {
  readonly #db: Database
  readonly #seed: bigint
  readonly #hours: number
  /** By hour of arrival: what has come since the start. */
  readonly #recent = new Map<number, HashTable>()
  /** By hour: what its table holds. Absent for an hour that was running when the process last ended. */
  readonly #filters = new Map<number, BloomFilter>()
  readonly #stored = new Set<number>()
  /** Known to the log only, by hour. */
  readonly #pending = new Map<number, PendingIds>()

  constructor(db: Database, seed: bigint, hours: number) {
    this.#db = db
    this.#seed = seed
    this.#hours = hours
    for (const hour of storedHours(db)) this.#stored.add(hour)
    const filters = db.query<{ hour: number; bits: Uint8Array }, []>("select hour, bits from event_id_filters").all()
    for (const { hour, bits } of filters) this.#filters.set(hour, BloomFilter.of(bits))
  }

  /** The hash under which the id is remembered. Keyed, so that nobody can make an id that collides with another's. */
  hash(siteId: number, eventId: string): Hash64 {
    halves.setBigUint64(0, Bun.hash.xxHash64(`${siteId} ${eventId}`, this.#seed))
    return { high: halves.getUint32(0), low: halves.getUint32(4) }
  }

  has(id: Hash64, now: number): boolean {
    const oldest = Math.floor(now / HOUR) - this.#hours
    for (const [hour, ids] of this.#recent) if (hour >= oldest && ids.get(id) !== undefined) return true
    for (const hour of this.#stored) {
      // An hour with a table in memory as well is asked there, unless part of it was stored by an earlier process.
      if (hour < oldest || !(this.#filters.get(hour)?.mayHave(id) ?? true)) continue
      if (this.#isStored(hour, id)) return true
    }
    return false
  }

  add(id: Hash64, arrivedAt: number): void {
    const hour = Math.floor(arrivedAt / HOUR)
    let ids = this.#recent.get(hour)
    if (!ids) {
      ids = new HashTable()
      this.#recent.set(hour, ids)
    }
    ids.set(id, 0)
    let pending = this.#pending.get(hour)
    if (!pending) {
      pending = new PendingIds()
      this.#pending.set(hour, pending)
    }
    pending.add(id)
  }

  get pending(): number {
    return this.#pending.values().reduce((sum, { size }) => sum + size, 0)
  }

  /** What is pending now is what `flush` writes until the next call. */
  gather(): void {
    for (const pending of this.#pending.values()) pending.gather()
  }

  /**
   * Writes up to `count` of the gathered ids into their tables, in the transaction of the caller; false when there were none.
   * Doing it twice does no harm.
   */
  flush(count: number): boolean {
    for (const [hour, pending] of this.#pending) {
      const ids = pending.take(count)
      if (pending.size === 0) this.#pending.delete(hour)
      if (ids.length === 0) continue
      this.#db.run(`create table if not exists event_ids_${hour} (id integer primary key) strict`)
      const insert = this.#db.prepare(`insert or ignore into event_ids_${hour} (id) values (?)`)
      for (const id of ids) insert.run(signed(id))
      insert.finalize()
      return true
    }
    return false
  }

  /** Forgets hours that are too old, some rows at a time, each time in a transaction. One that was cut off is gone on with. */
  async dropHours(now: number, commit: Commit): Promise<void> {
    const current = Math.floor(now / HOUR)
    for (const hour of storedHours(this.#db)) {
      if (hour >= current - this.#hours) continue
      this.#stored.delete(hour)
      const table = `event_ids_${hour}`
      // What is deleted is overwritten: a whole hour at once would take its time.
      const sql = `delete from ${table} where id in (select id from ${table} order by id limit ${SLICE})`
      while (commit(() => this.#db.run(sql).changes) > 0) await Bun.sleep(0)
      commit(() => {
        this.#db.run(`drop table ${table}`)
        this.#dropFilter(hour)
      })
    }
  }

  /** Exchanges hours that are over for a filter, each in a transaction. */
  async closeHours(now: number, commit: Commit): Promise<void> {
    const current = Math.floor(now / HOUR)
    for (const [hour, ids] of this.#recent) {
      if (hour >= current || this.#pending.has(hour)) continue
      if (hour < current - this.#hours) {
        this.#recent.delete(hour)
        continue
      }
      const size = ids.size
      const filter = await filterOf(ids)
      // The clock was set back into this hour meanwhile: another time.
      if (this.#recent.get(hour) !== ids || ids.size !== size) continue
      commit(() => this.#closeHour(hour, filter, size))
      this.#recent.delete(hour)
      this.#stored.add(hour)
    }
  }

  #closeHour(hour: number, filter: BloomFilter, size: number): void {
    // Part of this hour came in an earlier process, or before the clock was set back: the table alone has all its ids.
    if (this.#countOf(hour) !== size) this.#dropFilter(hour)
    else {
      this.#db.query("insert or replace into event_id_filters (hour, bits) values (?, ?)").run(hour, filter.bytes)
      this.#filters.set(hour, filter)
    }
  }

  #dropFilter(hour: number): void {
    this.#db.query("delete from event_id_filters where hour = ?").run(hour)
    this.#filters.delete(hour)
  }

  #countOf(hour: number): number {
    return this.#db.query<{ count: number }, []>(`select count(*) as count from event_ids_${hour}`).get()!.count
  }

  #isStored(hour: number, id: Hash64): boolean {
    return this.#db.query(`select 1 from event_ids_${hour} where id = ?`).get(signed(id)) !== null
  }
}

/** Event ids are remembered under a key of this store's own, made when it is opened first. */
export function eventIdSeed(db: Database): bigint {
  if (readState(db, "event_id_seed") === 0) writeState(db, "event_id_seed", crypto.getRandomValues(new Uint32Array(1))[0]! + 1)
  return BigInt(readState(db, "event_id_seed"))
}

const storedHours = (db: Database): number[] =>
  db
    .query<{ name: string }, []>("select name from sqlite_schema where type = 'table' and name glob 'event_ids_[0-9]*'")
    .all()
    .map(({ name }) => Number(name.slice("event_ids_".length)))

/** As SQLite keeps 64 bits. */
const signed = ({ high, low }: Hash64): bigint => BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low))

/** Lets others run now and then. */
async function filterOf(ids: HashTable): Promise<BloomFilter> {
  const filter = new BloomFilter(ids.size)
  let left = SLICE
  for (const [id] of ids.entries()) {
    filter.add(id)
    if (--left > 0) continue
    left = SLICE
    await Bun.sleep(0)
  }
  return filter
}

/** Says "surely not" or "perhaps". */
class BloomFilter {
  readonly #bits: Uint32Array

  constructor(count: number, bits = new Uint32Array(Math.max(2, Math.ceil((count * FILTER_BITS) / 32)))) {
    this.#bits = bits
  }

  static of(bytes: Uint8Array): BloomFilter {
    return new BloomFilter(0, new Uint32Array(bytes.slice().buffer))
  }

  get bytes(): Uint8Array {
    return new Uint8Array(this.#bits.buffer)
  }

  add({ high, low }: Hash64): void {
    for (let round = 0; round < 6; round++) {
      const bit = this.#bit(high, low, round)
      this.#bits[bit >>> 5]! |= 1 << (bit & 31)
    }
  }

  mayHave({ high, low }: Hash64): boolean {
    for (let round = 0; round < 6; round++) {
      const bit = this.#bit(high, low, round)
      if ((this.#bits[bit >>> 5]! & (1 << (bit & 31))) === 0) return false
    }
    return true
  }

  /** Double hashing: the halves of the id are independent already. */
  #bit(high: number, low: number, round: number): number {
    return ((low + Math.imul(round, high | 1)) >>> 0) % (this.#bits.length * 32)
  }
}
