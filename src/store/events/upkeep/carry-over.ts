import type { Database } from "bun:sqlite"
import type { Journal } from "../journal.ts"
import { LogRecord } from "../log.ts"
import type { Memory } from "../memory.ts"
import { runStepsYielding, type Steps } from "../steps.ts"
import type { SiteTail } from "../tail/tail.ts"
import { readState, sealVisitIds, writeState } from "../tail/tails.ts"

/** Number of rows that are processed before yielding to the event loop. */
const SLICE = 4_000
/** Size of a part: about a millisecond of writing. */
const PART_BYTES = 256 << 10

/** The visits that remain in the log when its beginning is replaced. They are on disk, in parts that do not count yet. */
export interface Carryover {
  floor: number
  /** The epoch of the log once its beginning is replaced. */
  epoch: number
  /** Sequence of the first event after the floor. */
  boundary: number
  visitIds: Set<number>
  parts: number
}

/** Returns whether a visit of the log remains in it. */
type Stays = (tail: SiteTail, visit: number) => boolean

/**
 * Writes the visits of the log up to `floor` for which `stays` returns true, with their events up to `floor`. Events can arrive between
 * two steps. Their changes to a visit are then contained twice, here and in the later records, which is harmless at replay.
 */
export async function carryOver(journal: Journal, floor: number, stays: Stays): Promise<Carryover> {
  const { db, memory } = journal
  const epoch = readState(db, "log_epoch") + 1
  while (journal.append(() => dropPart(db, epoch - 1))) await Bun.sleep(0)
  const next = db.query<{ s: number }, [number]>("select first_sequence as s from log where id > ? order by id limit 1").get(floor)
  const carried: Carryover = { floor, epoch, boundary: next?.s ?? memory.sequence, visitIds: new Set(), parts: 0 }
  const parts = new Parts(db, carried)
  await runStepsYielding(writeParts(journal, memory, parts, stays))
  return carried
}

function* writeParts(journal: Journal, memory: Memory, parts: Parts, stays: Stays): Steps<void> {
  for (const tail of [...memory.tails.all()]) {
    for (const _ of partsOf(parts, tail, (visit) => stays(tail, visit))) {
      if (parts.isFull) journal.append(() => parts.write())
      yield
    }
  }
  journal.append(() => parts.write())
}

/**
 * Replaces the log up to the floor with the carried visits, in the caller's transaction. `late` are visits that were not to be carried,
 * but have changed since then.
 */
export function replaceLog(db: Database, carried: Carryover, late: ReadonlyMap<SiteTail, Uint8Array> = new Map()): void {
  if (readState(db, "log_epoch") + 1 !== carried.epoch) throw new Error("The log was replaced while another seal was prepared")
  const parts = new Parts(db, carried)
  for (const [tail, visits] of late) {
    if (!visits.includes(1)) continue
    for (const _ of partsOf(parts, tail, (visit) => visits[visit] === 1));
  }
  parts.write()
  // Earlier records are ignored from now on, and `trimLog` deletes them step by step. An earlier version carried visits in this one.
  db.query("delete from log where id = ?").run(carried.floor)
  writeState(db, "log_floor", carried.floor)
  writeState(db, "log_epoch", carried.epoch)
}

/** Number and bytes of log records that are deleted per transaction. Deleted rows are overwritten, which takes time. */
const TRIM_RECORDS = 100
const TRIM_BYTES = 256 << 10

/** Deletes some records that were replaced, in the caller's transaction. Returns false when none are left. */
export function trimLog(db: Database): boolean {
  if (dropPart(db, readState(db, "log_epoch"))) return true
  const first = `select id, length(record) as bytes from log where id < ?1 order by id limit ${TRIM_RECORDS}`
  const sums = `select id, sum(bytes) over (order by id) - bytes as before from (${first})`
  const sql = `delete from log where id in (select id from (${sums}) where before < ${TRIM_BYTES})`
  return db.query(sql).run(readState(db, "log_floor")).changes > 0
}

/** Deletes a part of another epoch, in the caller's transaction. Returns false when none are left. */
function dropPart(db: Database, epoch: number): boolean {
  return db.query("delete from carried where rowid = (select rowid from carried where epoch <> ? limit 1)").run(epoch).changes > 0
}

/** Collects carried visits and writes them, part by part. */
class Parts {
  readonly record = new LogRecord()
  readonly #db: Database
  readonly #carried: Carryover
  /** Ids of the visits of the part. */
  #visitIds: number[] = []

  constructor(db: Database, carried: Carryover) {
    this.#db = db
    this.#carried = carried
  }

  get boundary(): number {
    return this.#carried.boundary
  }

  get isFull(): boolean {
    return this.record.length >= PART_BYTES
  }

  has(id: number): boolean {
    return this.#carried.visitIds.has(id)
  }

  add(id: number): void {
    this.#visitIds.push(id)
    this.#carried.visitIds.add(id)
  }

  /** Writes what was collected, in the caller's transaction. */
  write(): void {
    if (this.record.isEmpty) return
    const { epoch } = this.#carried
    const sql = "insert into carried (epoch, part, record, visits) values (?, ?, ?, ?)"
    this.#db.query(sql).run(epoch, this.#carried.parts++, this.record.seal(), sealVisitIds(this.#visitIds))
    this.record.reset()
    this.#visitIds = []
  }
}

/** Adds visits of a tail, then their events. Yields when other work should run or the part is full. */
function* partsOf(parts: Parts, tail: SiteTail, stays: (visit: number) => boolean): Steps<void> {
  const chosen = new Uint8Array(tail.visits)
  let rows = 0
  const isDue = () => ++rows % SLICE === 0 || parts.isFull
  for (let visit = 0; visit < chosen.length; visit++) {
    if (isDue()) yield
    if (!stays(visit)) continue
    const { id, arrivedAt } = tail.visitPlace(visit)
    // This visit and all later ones began after the floor, so the later records contain them completely.
    if (id >= parts.boundary) break
    if (parts.has(id)) continue
    chosen[visit] = 1
    parts.add(id)
    parts.record.carriedVisit(tail.siteId, tail.visitAt(visit), arrivedAt)
  }
  for (const { visit, event } of tail.eventsOf(chosen, parts.boundary)) {
    parts.record.event(tail.siteId, tail.visitPlace(visit).id, event)
    if (isDue()) yield
  }
}
