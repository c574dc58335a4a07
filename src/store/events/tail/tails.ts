import type { Database } from "bun:sqlite"
import { ByteReader, ByteWriter, unsealed } from "../bytes/bytes.ts"
import { StoreFault } from "../fault.ts"
import { type Replayer, replay } from "../log.ts"
import { atOnce, type Steps } from "../steps.ts"
import { SiteTail } from "./tail.ts"

interface LogRow {
  id: number
  arrived_at: number
  record: Uint8Array
  kept: Uint8Array | null
}

/** The tails of all sites, as the log tells them. The writer has one of these and so has every reader. */
export class Tails {
  /** By lane. */
  readonly #tails = new Map<number, SiteTail>()
  /** The last record that went in. */
  lastRecord = 0
  /** How often the log had been rewritten when it was last read. */
  #epoch = 0

  tail(siteId: number): SiteTail {
    let tail = this.#tails.get(siteId)
    if (!tail) {
      tail = new SiteTail(siteId)
      this.#tails.set(siteId, tail)
    }
    return tail
  }

  find(siteId: number): SiteTail | undefined {
    return this.#tails.get(siteId)
  }

  all(): IterableIterator<SiteTail> {
    return this.#tails.values()
  }

  /** Epoch ms of the last arrival at the visit that waits longest; undefined without visits. */
  oldestArrival(): number | undefined {
    let oldest: number | undefined
    for (const tail of this.#tails.values())
      for (let visit = 0; visit < tail.visits; visit++)
        oldest = Math.min(oldest ?? Number.MAX_SAFE_INTEGER, tail.visitPlace(visit).arrivedAt)
    return oldest
  }

  /**
   * Reads on from the last record; in one read transaction of the caller. False when so much was missed that only a new start
   * helps. `moreOf` names who else hears of a record.
   */
  follow(db: Database, moreOf: (record: number) => Omit<Replayer, "tail"> = () => NOBODY): boolean {
    const floor = readState(db, "log_floor")
    const epoch = readState(db, "log_epoch")
    if (epoch !== this.#epoch && this.lastRecord > 0) {
      if (this.lastRecord < floor) return false
      atOnce(this.dropSealed(floor, keptVisits(db, floor)))
    }
    this.#epoch = epoch
    const sql = "select id, arrived_at, record from log where id >= ? order by id"
    const tail = (siteId: number) => this.tail(siteId)
    for (const { id, arrived_at, record } of db.query<LogRow, [number]>(sql).iterate(Math.max(this.lastRecord + 1, floor))) {
      replay(record, { record: id, arrivedAt: arrived_at }, { ...moreOf(id), tail })
      this.lastRecord = id
    }
    this.lastRecord = Math.max(this.lastRecord, floor)
    return true
  }

  /** Takes out what a seal has moved into segments: visits whose last record is sealed, but for those kept. */
  *dropSealed(floor: number, kept: ReadonlySet<number>): Steps<void> {
    for (const [siteId, tail] of [...this.#tails]) {
      const { gone, count } = tail.sealedVisits(floor, kept)
      if (count === tail.visits) this.#tails.delete(siteId)
      else if (count > 0) this.#tails.set(siteId, yield* tail.without(gone))
    }
  }
}

const NOBODY = {}

/** Ids of the visits that the last seal left in the tail. */
function keptVisits(db: Database, floor: number): Set<number> {
  const row = db.query<{ kept: Uint8Array | null }, [number]>("select kept from log where id = ?").get(floor)
  if (!row?.kept) return new Set()
  const content = unsealed(row.kept)
  if (!content) throw new StoreFault("damaged", `Record ${floor} of the event log is damaged`)
  const bytes = new ByteReader(content)
  const kept = new Set<number>()
  while (!bytes.done) kept.add(bytes.uint())
  return kept
}

export function sealKept(visitIds: Iterable<number>): Uint8Array {
  const out = new ByteWriter()
  for (const id of visitIds) out.uint(id)
  return out.seal()
}

/** `ids_floor`: up to this record of the log, its visitors and event ids are in their tables too. */
type Counter = "ids_floor" | "generation" | "log_floor" | "log_epoch" | "sequence" | "dictionary_epoch" | "event_id_seed"
/** A counter of the store, or that a site needs a sweep. */
type StateKey = Counter | `sweep ${number}`

export function readState(db: Database, key: StateKey): number {
  return db.query<{ value: number }, [string]>("select value from state where key = ?").get(key)?.value ?? 0
}

export function writeState(db: Database, key: StateKey, value: number): void {
  db.query("insert into state (key, value) values (?, ?) on conflict do update set value = excluded.value").run(key, value)
}
