import type { Database } from "bun:sqlite"
import { VISIT_IDLE_MS } from "../../../domain/visit.ts"
import { kindOfLane, siteOfLane } from "../bytes/lanes.ts"
import { LogRecord } from "../log.ts"
import type { Memory } from "../memory.ts"
import type { Steps } from "../steps.ts"
import type { SiteTail } from "../tail/tail.ts"
import { readState, sealKept, type Tails, writeState } from "../tail/tails.ts"
import { buildSegments } from "./build.ts"
import { type Commit, insertPending } from "./upkeep.ts"

/** Closed events that all sites together may keep in the tail: bounds the replay at start and what each seal carries on. */
const CLOSED_EVENTS = 65_536
/** A site that is quiet seals when its tail is this old. */
const TAIL_AGE_MS = 24 * 3_600_000

/** Overwriting what is deleted takes its time, so the log is trimmed in steps. */
const TRIMMED_RECORDS = 50

/** Rows that are looked at, or told, before others may run. */
const SLICE = 4_000

/** A site's visits that go into segments now. */
interface SitePlan {
  tail: SiteTail
  /** 1 for each visit that is closed. */
  closed: Uint8Array
  events: number
}

/**
 * The last record of the log's beginning in which nothing can be joined any more; 0 when there is none. An arrival far in
 * the future is that of a clock that was wrong then: it must not hold up all that came after it.
 */
export function sealableRecord(db: Database, now: number): number {
  const open = "select id from log where arrived_at between ? and ? order by id limit 1"
  const first = db.query<{ id: number }, [number, number]>(open).get(now - VISIT_IDLE_MS, now + VISIT_IDLE_MS)
  const sql = "select coalesce(max(id), 0) as id from log where id between ? and ?"
  const range = [readState(db, "log_floor"), (first?.id ?? Number.MAX_SAFE_INTEGER) - 1] as const
  return db.query<{ id: number }, [number, number]>(sql).get(...range)!.id
}

/** Which sites to seal: the fullest until the rest is small, and those whose tail is a day old; with `all`, every one. */
export function planSeal(tails: Tails, floor: number, now: number, all: boolean): SitePlan[] {
  const plans = [...tails.all()].map((tail) => ({ tail, ...tail.closedVisits(floor, now) })).filter(({ events }) => events > 0)
  if (all) return plans
  plans.sort((a, b) => b.events - a.events)
  let rest = plans.reduce((sum, { events }) => sum + events, 0)
  if (rest < CLOSED_EVENTS) return plans.filter(({ oldest }) => now - oldest > TAIL_AGE_MS)
  return plans.filter(({ events, oldest }) => {
    if (rest <= CLOSED_EVENTS / 4 && now - oldest <= TAIL_AGE_MS) return false
    rest -= events
    return true
  })
}

/** Writes the segments of a plan, seen by nobody yet; from here on no event joins its visits. Returns their ids. */
export async function buildPlan(db: Database, plans: readonly SitePlan[], commit: Commit): Promise<number[]> {
  for (const { tail, closed } of plans) closeVisits(tail, closed)
  const ids: number[] = []
  for (const { tail, closed } of plans) {
    for await (const segment of buildSegments([{ part: tail, keep: closed }])) {
      ids.push(commit(() => insertPending(db, siteOfLane(tail.siteId), 0, segment, { run: 0, kind: kindOfLane(tail.siteId) })))
    }
  }
  return ids
}

/** What stays of the log's beginning when it is replaced. */
export interface Rest {
  /** Undefined when nothing stays. */
  record: Uint8Array | undefined
  /** The visits that it is about. */
  kept: ReadonlySet<number>
}

/** From here on no event joins the visits marked 1. */
export function closeVisits(tail: SiteTail, closed: Uint8Array): void {
  for (let row = 0; row < closed.length; row++) if (closed[row] === 1) tail.close(row)
}

/**
 * What stays of the log up to `floor`: visits for which `stays` holds, with those of their events that are no younger than
 * `floor`. Events may come between two steps: what they change of a visit is told once more by the records that stay, to
 * which it makes no difference.
 */
export function* restOfLog(
  { db, tails, sequence }: Pick<Memory, "db" | "tails" | "sequence">,
  floor: number,
  stays: (tail: SiteTail, visit: number) => boolean,
): Steps<Rest> {
  const next = db.query<{ s: number }, [number]>("select first_sequence as s from log where id > ? order by id limit 1").get(floor)
  const boundary = next?.s ?? sequence
  const record = new LogRecord()
  const kept = new Set<number>()
  let rows = 0
  const isSlice = () => ++rows % SLICE === 0
  for (const tail of [...tails.all()]) yield* keepVisits({ record, kept, isSlice }, tail, boundary, (visit) => stays(tail, visit))
  return { record: record.isEmpty ? undefined : record.seal(), kept }
}

/** Puts the rest in the place of the log up to `floor`. In the transaction of the caller. */
export function replaceLog(db: Database, floor: number, { record, kept }: Rest): void {
  // The others are of no more account; `trimLog` removes them bit by bit.
  db.query("delete from log where id = ?").run(floor)
  if (record) {
    const sql = "insert into log (id, arrived_at, first_sequence, record, kept) values (?, 0, 0, ?, ?)"
    db.query(sql).run(floor, record, sealKept(kept))
  }
  writeState(db, "log_floor", floor)
  writeState(db, "log_epoch", readState(db, "log_epoch") + 1)
}

/** Removes some records that a rewrite has replaced; false when none are left. In the transaction of the caller. */
export function trimLog(db: Database): boolean {
  const sql = "delete from log where id in (select id from log where id < ? order by id limit ?)"
  return db.query(sql).run(readState(db, "log_floor"), TRIMMED_RECORDS).changes > 0
}

interface Keeping {
  record: LogRecord
  kept: Set<number>
  /** Says with each row whether others may run now. */
  isSlice(): boolean
}

function* keepVisits({ record, kept, isSlice }: Keeping, tail: SiteTail, boundary: number, stays: (visit: number) => boolean): Steps<void> {
  const chosen = new Uint8Array(tail.visits)
  for (let visit = 0; visit < chosen.length; visit++) {
    if (isSlice()) yield
    const { id, arrivedAt } = tail.visitPlace(visit)
    // This visit and those that began later are whole in the records that stay.
    if (id >= boundary) break
    if (!stays(visit)) continue
    chosen[visit] = 1
    kept.add(id)
    record.kept(tail.siteId, tail.visitAt(visit), arrivedAt)
  }
  for (const { visit, event } of tail.eventsOf(chosen, boundary)) {
    record.event(tail.siteId, tail.visitPlace(visit).id, event)
    if (isSlice()) yield
  }
}
