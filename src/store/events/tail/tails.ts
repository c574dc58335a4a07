import type { Database } from "bun:sqlite"
import { ByteReader, ByteWriter, unseal } from "../bytes/bytes.ts"
import { StoreFault } from "../fault.ts"
import { type Replayer, replay } from "../log.ts"
import { runSteps, type Steps } from "../steps.ts"
import { SiteTail } from "./tail.ts"

interface LogRow {
  id: number
  arrived_at: number
  record: Uint8Array
  kept: Uint8Array | null
}

/** The tails of all sites, built from the log. The writer and every reader have their own. */
export class Tails {
  /** By lane. */
  readonly #tails = new Map<number, SiteTail>()
  /** The last record that was applied. */
  lastRecord = 0
  /** By lane, the last record that concerned it. */
  readonly #lastRecords = new Map<number, number>()
  /** Number of rewrites of the log at the time it was last read. */
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

  /** Returns the last record that concerned a lane; 0 without any in the log. */
  lastRecordOf(lane: number): number {
    return this.#lastRecords.get(lane) ?? 0
  }

  all(): IterableIterator<SiteTail> {
    return this.#tails.values()
  }

  /** Approximate memory of all tails. */
  get bytes(): number {
    return this.#tails.values().reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** Number of visits of all sites. */
  get visits(): number {
    return this.#tails.values().reduce((sum, { visits }) => sum + visits, 0)
  }

  /** Number of events of all sites. */
  get events(): number {
    return this.#tails.values().reduce((sum, { events }) => sum + events, 0)
  }

  /** Number of events of all sites whose visits closed before their time. */
  get closedEvents(): number {
    return this.#tails.values().reduce((sum, { closedEvents }) => sum + closedEvents, 0)
  }

  /** Returns the last arrival of the visit that has been waiting longest, in epoch milliseconds; undefined without visits. */
  oldestArrival(): number | undefined {
    let oldest: number | undefined
    for (const tail of this.#tails.values())
      for (let visit = 0; visit < tail.visits; visit++)
        oldest = Math.min(oldest ?? Number.MAX_SAFE_INTEGER, tail.visitPlace(visit).arrivedAt)
    return oldest
  }

  /**
   * Applies the records after the last one, in a read transaction of the caller. Returns false when the tails are too far behind and
   * must be rebuilt. `callbacksOf` returns further receivers of a record.
   */
  follow(db: Database, callbacksOf: (record: number) => Omit<Replayer, "tail"> = () => NO_CALLBACKS): boolean {
    const floor = readState(db, "log_floor")
    const epoch = readState(db, "log_epoch")
    if (epoch !== this.#epoch && this.lastRecord > 0) {
      if (this.lastRecord < floor) return false
      runSteps(this.dropSealed(floor, carriedVisits(db, floor, epoch)))
    }
    this.#epoch = epoch
    const apply = (id: number, arrivedAt: number, record: Uint8Array) => {
      const tail = (lane: number) => {
        this.#lastRecords.set(lane, id)
        return this.tail(lane)
      }
      replay(record, { record: id, arrivedAt }, { ...callbacksOf(id), tail })
    }
    if (this.lastRecord === 0) for (const { record } of carriedParts(db, epoch)) apply(floor, 0, record)
    const sql = "select id, arrived_at, record from log where id >= ? order by id"
    for (const { id, arrived_at, record } of db.query<LogRow, [number]>(sql).iterate(Math.max(this.lastRecord + 1, floor))) {
      apply(id, arrived_at, record)
      this.lastRecord = id
    }
    this.lastRecord = Math.max(this.lastRecord, floor)
    return true
  }

  /** Removes the visits that a seal has moved into segments: those whose last record is sealed, except for the carried ones. */
  *dropSealed(floor: number, carried: ReadonlySet<number>): Steps<void> {
    for (const [siteId, tail] of [...this.#tails]) {
      const { sealed, count } = tail.sealedVisits(floor, carried)
      yield
      if (count === tail.visits) this.#tails.delete(siteId)
      else if (count > 0) this.#tails.set(siteId, yield* tail.without(sealed))
    }
  }
}

const NO_CALLBACKS = {}

interface CarriedPart {
  record: Uint8Array
  visits: Uint8Array
}

/** Returns the parts of what the last seal left in the tail. */
const carriedParts = (db: Database, epoch: number): IterableIterator<CarriedPart> =>
  db.query<CarriedPart, [number]>("select record, visits from carried where epoch = ? order by part").iterate(epoch)

/** Returns the ids of the visits that the last seal left in the tail. */
function carriedVisits(db: Database, floor: number, epoch: number): Set<number> {
  const visitIds = new Set<number>()
  const add = (sealed: Uint8Array) => {
    const content = unseal(sealed)
    if (!content) throw new StoreFault("damaged", `The visits that were carried to record ${floor} of the event log are damaged`)
    const bytes = new ByteReader(content)
    while (!bytes.done) visitIds.add(bytes.uint())
  }
  for (const { visits } of carriedParts(db, epoch)) add(visits)
  // Earlier versions wrote them into the log.
  const row = db.query<{ kept: Uint8Array | null }, [number]>("select kept from log where id = ?").get(floor)
  if (row?.kept) add(row.kept)
  return visitIds
}

export function sealVisitIds(visitIds: Iterable<number>): Uint8Array {
  const out = new ByteWriter()
  for (const id of visitIds) out.uint(id)
  return out.seal()
}

/** Counters of the store. The visitors and event ids of all log records up to `ids_floor` are also in their tables, as are sales up to `sales_floor`. */
type Counter =
  | "ids_floor"
  | "sales_floor"
  | "generation"
  | "log_floor"
  | "log_epoch"
  | "sequence"
  | "dictionary_epoch"
  | "event_id_seed"
  | "shipped_record"
  | "node"
  | "moving"
  | "source_kept"
  | "repeated_removal"
  | "repeated_before"
  | "event_ids_shared"
/** A counter of the store, or the flag that a site needs a sweep. */
type StateKey = Counter | "joined" | `sweep ${number}`

export function readState(db: Database, key: StateKey): number {
  return db.query<{ value: number }, [string]>("select value from state where key = ?").get(key)?.value ?? 0
}

export function writeState(db: Database, key: StateKey, value: number): void {
  db.query("insert into state (key, value) values (?, ?) on conflict do update set value = excluded.value").run(key, value)
}
