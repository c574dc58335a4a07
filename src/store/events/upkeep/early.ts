import type { Database } from "bun:sqlite"
import { VISIT_IDLE_MS } from "../../../domain/visit.ts"
import { lanesOf } from "../bytes/lanes.ts"
import { hideInSegments } from "../early-visits.ts"
import type { Commit, Journal, LaterCommit } from "../journal.ts"
import { LogRecord } from "../log.ts"
import { runStepsYielding } from "../steps.ts"
import { orderOfChosen } from "../tail/order.ts"
import type { SiteTail } from "../tail/tail.ts"
import type { BuiltSegment } from "./build.ts"
import { OPEN, type SitePlan } from "./plan.ts"
import { type Choose, openSegments, rewrite } from "./segments.ts"

/** Number of visits that are written or deleted per transaction: a few milliseconds of work. */
const SLICE = 100
/** How long a batch is remembered. Its visits are closed after half an hour. */
const BATCH_MS = 24 * 3_600_000

/** The open visits that one seal moves into segments. */
interface OpenVisits {
  tail: SiteTail
  /** 1 for each open visit to seal. */
  isOpen: Uint8Array
  /** Sequence by which the segment knows each of them. */
  sequences: Float64Array
  openUntil: number
}

/**
 * The open visits that one seal moves into segments. They stay open meanwhile, and one that an event changes before the end of the seal
 * remains in the log and is hidden in its segment.
 */
export class EarlyBatch {
  readonly #journal: Journal
  readonly #floor: number
  readonly #visits = new Map<SiteTail, OpenVisits>()
  #batch = 0

  constructor(journal: Journal, floor: number, sites: readonly SitePlan[]) {
    this.#journal = journal
    this.#floor = floor
    for (const { tail, chosen } of sites) {
      if (!chosen.includes(OPEN)) continue
      const isOpen = chosen.map((mark) => (mark === OPEN ? 1 : 0))
      let latest = 0
      for (let row = 0; row < isOpen.length; row++) if (isOpen[row] === 1) latest = Math.max(latest, tail.visitPlace(row).arrivedAt)
      this.#visits.set(tail, { tail, isOpen, sequences: new Float64Array(isOpen.length), openUntil: latest + VISIT_IDLE_MS })
    }
  }

  /** Returns until when visits can be taken out of the segments of a tail. */
  openUntil(tail: SiteTail): number | undefined {
    return this.#visits.get(tail)?.openUntil
  }

  /** Takes note of a segment of a tail. */
  built(tail: SiteTail, { rows, sequences }: BuiltSegment): void {
    const visits = this.#visits.get(tail)
    for (let at = 0; visits && at < rows.length; at++) visits.sequences[rows[at]!] = sequences[at]!
  }

  /** Returns whether an open visit of the batch has changed since the seal began. */
  hasChanged(tail: SiteTail, visit: number): boolean {
    return this.#visits.get(tail)?.isOpen[visit] === 1 && tail.lastRecord(visit) > this.#floor
  }

  /** Writes the visits in the form of the log, for `EarlyVisits`, which does not find them before `publish`. */
  async write(): Promise<void> {
    if (this.#visits.size === 0) return
    const { db, append } = this.#journal
    this.#batch = append(() => db.query<{ batch: number }, []>("insert into early_batches default values returning batch").get()!.batch)
    for (const visits of this.#visits.values()) await this.#writeOf(visits)
  }

  async #writeOf({ tail, isOpen, sequences }: OpenVisits): Promise<void> {
    const { db, append } = this.#journal
    const { order, ends } = await runStepsYielding(orderOfChosen(tail, isOpen))
    const record = new LogRecord()
    const write = (row: number) => {
      const { id, ...visit } = tail.visitAt(row)
      const { startedAt, activeAt, arrivedAt, size } = tail.openVisitAt(row)
      record.reset().carriedVisit(tail.siteId, { id, ...visit }, arrivedAt)
      // In order of arrival, in which the figures of the visit were computed.
      for (const event of order.slice(ends[row], ends[row + 1]).sort()) record.event(tail.siteId, id, tail.eventAt(event))
      const { rotating, visitor, kind } = visit
      db.query(INSERT).run(
        sequences[row]!,
        this.#batch,
        tail.siteId,
        rotating,
        visitor,
        kind,
        startedAt,
        activeAt,
        arrivedAt,
        size,
        record.seal(),
      )
    }
    for (let from = 0; from < isOpen.length; from += SLICE) {
      append(() => {
        for (let row = from; row < Math.min(from + SLICE, isOpen.length); row++)
          if (isOpen[row] === 1 && !this.hasChanged(tail, row)) write(row)
      })
      await Bun.sleep(0)
    }
  }

  /** Makes the visits findable, in the transaction that publishes the segments. Returns those that have changed, marked with 1. */
  publish(now: number): Map<SiteTail, Uint8Array> {
    const { db } = this.#journal
    const changed = new Map<SiteTail, Uint8Array>()
    if (this.#batch === 0) return changed
    const forget = db.query("delete from early_visits where sequence = ?")
    for (const { tail, isOpen, sequences } of this.#visits.values()) {
      const ofTail = new Uint8Array(isOpen.length)
      changed.set(tail, ofTail)
      for (let visit = 0; visit < ofTail.length; visit++) {
        if (isOpen[visit] === 0 || tail.lastRecord(visit) <= this.#floor) continue
        ofTail[visit] = 1
        forget.run(sequences[visit]!)
        hideInSegments(db, tail.siteId, sequences[visit]!)
      }
    }
    db.query("update early_batches set sealed_at = ? where batch = ?").run(now, this.#batch)
    return changed
  }

  /** Closes the sealed visits in the tail, after `publish`: they are found in the table from now on. */
  close(): void {
    if (this.#batch === 0) return
    this.#journal.memory.early.published()
    for (const { tail, isOpen } of this.#visits.values())
      for (let visit = 0; visit < isOpen.length; visit++)
        if (isOpen[visit] === 1 && tail.lastRecord(visit) <= this.#floor) tail.close(visit)
  }
}

const INSERT = `insert or replace into early_visits
  (sequence, batch, lane, rotating, visitor, kind, started_at, active_at, arrived_at, size, record)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

/** Deletes the rows of visits that are closed by now. */
export async function dropExpired({ db, append, memory }: Journal, now: number): Promise<void> {
  const expired = `delete from early_visits where sequence in (select sequence from early_visits where arrived_at < ? limit ${SLICE})`
  const before = now - VISIT_IDLE_MS
  if (db.query("select 1 from early_visits where arrived_at < ? limit 1").get(before) === null) return
  while (append(() => db.query(expired).run(before).changes) === SLICE) await Bun.sleep(0)
  append(() => db.query("delete from early_batches where sealed_at < ?").run(now - BATCH_MS))
  memory.early.expired()
}

/** Closes the chosen open visits in the segments of a site at once, so that no event takes them back before they are removed. */
export function closeInSegments(db: Database, siteId: number, choose: Choose, commit: Commit): void {
  const chosen: number[] = []
  for (const { part, kind } of openSegments(db, siteId, { isOpen: true })) {
    const marks = choose(part, kind)
    const sequences = part.sequences()
    for (let visit = 0; visit < marks.length; visit++) if (marks[visit] === 1) chosen.push(sequences[visit]!)
  }
  if (chosen.length === 0) return
  commit(() => db.query("delete from early_visits where sequence in (select value from json_each(?))").run(JSON.stringify(chosen)))
}

/** Turns segments whose visits are all closed by now into ordinary ones: without the visits that were taken back. */
export async function settleSegments(db: Database, now: number, commit: LaterCommit): Promise<void> {
  const due = "select distinct site_id as siteId from segments where open_until < ? and retired_at is null"
  for (const { siteId } of db.query<{ siteId: number }, [number]>(due).all(now)) {
    for (const { segment, part, id, run, kind, openUntil = now } of openSegments(db, siteId, { isOpen: true })) {
      if (openUntil >= now) continue
      if (part === segment) await commit(() => db.query("update segments set open_until = null where id = ?").run(id))
      else await commit(await rewrite(db, [id], [{ part }], { run, kind }, now, commit))
      await Bun.sleep(0)
    }
    for (const lane of lanesOf(siteId)) await commit(() => forgetTaken(db, siteId, lane))
  }
}

/** Deletes the rows of visits that no segment of the lane contains any more, in the transaction of the caller. */
function forgetTaken(db: Database, siteId: number, lane: number): void {
  const first = "select min(id) from segments where site_id = ?2 and open_until is not null and retired_at is null"
  db.query(`delete from taken_visits where lane = ?1 and segment_limit < coalesce((${first}), 9e15)`).run(lane, siteId)
}
