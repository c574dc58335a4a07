import type { Database } from "bun:sqlite"
import { VISIT_IDLE_MS } from "../../domain/visit.ts"
import { buildSegments } from "./build.ts"
import { LogRecord } from "./log.ts"
import type { SiteTail } from "./tail.ts"
import { readState, sealKept, type Tails, writeState } from "./tails.ts"
import { type Commit, insertPending } from "./upkeep.ts"

/** Closed events that all sites together may keep in the tail: bounds the replay at start and what each seal carries on. */
const CLOSED_EVENTS = 65_536
/** A site that is quiet seals when its tail is this old. */
const TAIL_AGE_MS = 24 * 3_600_000

/** Overwriting what is deleted takes its time, so the log is trimmed in steps. */
const TRIMMED_RECORDS = 50

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
  const plans = [...tails.all()].map((tail) => closedVisits(tail, floor, now)).filter(({ events }) => events > 0)
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

function closedVisits(tail: SiteTail, floor: number, now: number): SitePlan & { oldest: number } {
  const closed = new Uint8Array(tail.visits)
  let events = 0
  let oldest = Number.POSITIVE_INFINITY
  for (let row = 0; row < tail.visits; row++) {
    const { record, arrivedAt, size } = tail.visitPlace(row)
    if (record > floor || Math.abs(now - arrivedAt) <= VISIT_IDLE_MS) continue
    closed[row] = 1
    events += size
    if (arrivedAt < oldest) oldest = arrivedAt
  }
  return { tail, closed, events, oldest }
}

/** Writes the segments of a plan, seen by nobody yet; from here on no event joins its visits. Returns their ids. */
export async function buildPlan(db: Database, plans: readonly SitePlan[], commit: Commit): Promise<number[]> {
  for (const { tail, closed } of plans) for (const row of closed.keys()) if (closed[row] === 1) tail.close(row)
  const ids: number[] = []
  for (const { tail, closed } of plans) {
    for await (const segment of buildSegments([{ part: tail, keep: closed }])) {
      ids.push(commit(() => insertPending(db, tail.siteId, 0, segment)))
    }
  }
  return ids
}

/**
 * Replaces the log up to `floor` by one record of what stays: visits for which `stays` holds, with those of their events
 * that are no younger than `floor`. In the transaction of the caller. Returns the ids of the visits that stay.
 */
export function rewriteLog(db: Database, tails: Tails, floor: number, stays: (tail: SiteTail, visit: number) => boolean): Set<number> {
  const next = db.query<{ s: number }, [number]>("select first_sequence as s from log where id > ? order by id limit 1").get(floor)
  const boundary = next?.s ?? Number.POSITIVE_INFINITY
  const record = new LogRecord()
  const kept = new Set<number>()
  for (const tail of tails.all()) keepVisits(record, kept, tail, boundary, (visit) => stays(tail, visit))
  // The others are of no more account; `trimLog` removes them bit by bit.
  db.query("delete from log where id = ?").run(floor)
  if (!record.isEmpty) {
    const sql = "insert into log (id, arrived_at, first_sequence, record, kept) values (?, 0, 0, ?, ?)"
    db.query(sql).run(floor, record.seal(), sealKept(kept))
  }
  writeState(db, "log_floor", floor)
  writeState(db, "log_epoch", readState(db, "log_epoch") + 1)
  return kept
}

/** Removes some records that a rewrite has replaced; false when none are left. In the transaction of the caller. */
export function trimLog(db: Database): boolean {
  const sql = "delete from log where id in (select id from log where id < ? order by id limit ?)"
  return db.query(sql).run(readState(db, "log_floor"), TRIMMED_RECORDS).changes > 0
}

function keepVisits(record: LogRecord, kept: Set<number>, tail: SiteTail, boundary: number, stays: (visit: number) => boolean): void {
  const chosen = new Uint8Array(tail.visits)
  for (let visit = 0; visit < tail.visits; visit++) {
    const { id, arrivedAt } = tail.visitPlace(visit)
    // A visit that began later is whole in the records that stay.
    if (id >= boundary || !stays(visit)) continue
    chosen[visit] = 1
    kept.add(id)
    record.kept(tail.siteId, tail.visitAt(visit), arrivedAt)
  }
  for (const { visit, event } of tail.eventsOf((visit) => chosen[visit] === 1)) {
    if (event.sequence < boundary) record.event(tail.siteId, tail.visitPlace(visit).id, event)
  }
}
