import type { Database } from "bun:sqlite"
import { HashTable } from "./dictionary/hash-table.ts"
import { PendingIds } from "./dictionary/pending-ids.ts"
import type { Commit } from "./journal.ts"
import { readState, writeState } from "./tail/tails.ts"
import type { Hash64 } from "./writer.ts"

const HOUR = 3_600_000
/** Bits per id in a Bloom filter. About one unknown id in a hundred then needs a lookup in the table. */
const FILTER_BITS = 12
/** Buffer for splitting a 64-bit hash. Shifting would allocate two more bigints per event. */
const halves = new DataView(new ArrayBuffer(8))
/** Number of ids to process before yielding to the event loop: a few milliseconds of work. */
const SLICE = 50_000

/**
 * The event ids of the last 24 hours, by arrival, as keyed hashes in one table per hour. The ids of the current hour are also kept in
 * memory. Past hours have a Bloom filter, which answers nearly every lookup without reading the table.
 */
export class EventIds {
  readonly #db: Database
  #seed: bigint
  /** Whether other nodes compute the same hashes, by which they look for the events of this one. */
  isShared: boolean
  readonly #hours: number
  /** Ids that arrived since the start of the process, by hour of arrival. */
  readonly #recent = new Map<number, HashTable>()
  /** Filters over the tables, by hour. The hour in which the process last ended has none. */
  readonly #filters = new Map<number, BloomFilter>()
  /** Hours that have a table. */
  readonly #stored = new Set<number>()
  /** Ids that are only in the log so far, by hour. */
  readonly #pending = new Map<number, PendingIds>()

  constructor(db: Database, hours: number) {
    this.#db = db
    this.#seed = eventIdSeed(db)
    this.isShared = readState(db, "event_ids_shared") === 1
    this.#hours = hours
    for (const hour of storedHours(db)) this.#stored.add(hour)
    const filters = db.query<{ hour: number; bits: Uint8Array }, []>("select hour, bits from event_id_filters").all()
    for (const { hour, bits } of filters) this.#filters.set(hour, BloomFilter.of(bits))
  }

  /** Makes the hashes those of all nodes, in the transaction of the caller. Another key than before forgets the ids so far. */
  share(seed: number): void {
    writeState(this.#db, "event_id_seed", seed)
    writeState(this.#db, "event_ids_shared", 1)
    this.#seed = BigInt(seed)
    this.isShared = true
  }

  /** Returns the hash under which an id is stored. It is keyed, so that an id cannot be crafted to collide with another one. */
  hash(siteId: number, eventId: string): Hash64 {
    halves.setBigUint64(0, Bun.hash.xxHash64(`${siteId} ${eventId}`, this.#seed))
    return { high: halves.getUint32(0), low: halves.getUint32(4) }
  }

  has(id: Hash64, now: number): boolean {
    const oldest = Math.floor(now / HOUR) - this.#hours
    for (const [hour, ids] of this.#recent) if (hour >= oldest && ids.get(id) !== undefined) return true
    for (const hour of this.#stored) {
      // Without a filter the hour began in an earlier process, and only its table has all ids.
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

  /** Selects the ids that `flush` writes: those that are pending now. */
  gather(): void {
    for (const pending of this.#pending.values()) pending.gather()
  }

  /**
   * Writes up to `count` of the gathered ids into their tables, in the caller's transaction. Returns false when there were none.
   * Writing an id twice is harmless.
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

  /** Deletes the tables of hours that are too old, in short transactions. An interrupted deletion is continued by the next call. */
  async dropHours(now: number, commit: Commit): Promise<void> {
    const current = Math.floor(now / HOUR)
    for (const hour of storedHours(this.#db)) {
      if (hour >= current - this.#hours) continue
      this.#stored.delete(hour)
      const table = `event_ids_${hour}`
      // Deleted rows are overwritten, so deleting a whole hour at once would take too long.
      const sql = `delete from ${table} where id in (select id from ${table} order by id limit ${SLICE})`
      while (commit(() => this.#db.run(sql).changes) > 0) await Bun.sleep(0)
      commit(() => {
        this.#db.run(`drop table ${table}`)
        this.#dropFilter(hour)
      })
    }
  }

  /** Replaces the ids in memory of past hours with a filter, each in one transaction. */
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
      // The clock was set back into this hour meanwhile. A later call closes it.
      if (this.#recent.get(hour) !== ids || ids.size !== size) continue
      commit(() => this.#closeHour(hour, filter, size))
      this.#recent.delete(hour)
      this.#stored.add(hour)
    }
  }

  #closeHour(hour: number, filter: BloomFilter, size: number): void {
    // Part of this hour was stored by an earlier process or before the clock was set back, so only the table has all ids.
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

/** Returns the key under which this store hashes event ids. It is created when the store is first opened. */
function eventIdSeed(db: Database): bigint {
  if (readState(db, "event_id_seed") === 0) writeState(db, "event_id_seed", crypto.getRandomValues(new Uint32Array(1))[0]! + 1)
  return BigInt(readState(db, "event_id_seed"))
}

const storedHours = (db: Database): number[] =>
  db
    .query<{ name: string }, []>("select name from sqlite_schema where type = 'table' and name glob 'event_ids_[0-9]*'")
    .all()
    .map(({ name }) => Number(name.slice("event_ids_".length)))

/** Converts a hash to a signed integer, because SQLite has no unsigned ones. */
const signed = ({ high, low }: Hash64): bigint => BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low))

/** Builds the filter of an hour, yielding to the event loop at intervals. */
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

/** A set that can report an id as present by mistake, but never as absent. */
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

  /** Returns the bit of a round by double hashing, which works because the halves of the hash are independent. */
  #bit(high: number, low: number, round: number): number {
    return ((low + Math.imul(round, high | 1)) >>> 0) % (this.#bits.length * 32)
  }
}
