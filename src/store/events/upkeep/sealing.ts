import type { Database } from "bun:sqlite"
import { VISIT_IDLE_MS } from "../../../domain/visit.ts"
import { kindOfLane, siteOfLane } from "../bytes/lanes.ts"
import type { Journal } from "../journal.ts"
import { LogRecord } from "../log.ts"
import { type Memory, saveCounters } from "../memory.ts"
import { runStepsYielding, type Steps } from "../steps.ts"
import { dropMostSales, dropSales, salesOfVisits } from "../tables/sales.ts"
import type { SiteTail } from "../tail/tail.ts"
import { readState, sealVisitIds, type Tails, writeState } from "../tail/tails.ts"
import { buildSegments, SEGMENT_EVENTS } from "./build.ts"
import { flushAllIds, flushIds } from "./flush.ts"
import { type Choose, type Commit, insertPending, publishSegments } from "./segments.ts"

/** Number of closed events in the tails of all sites that triggers a seal. It limits the replay at start. */
export const MAX_CLOSED_EVENTS = SEGMENT_EVENTS
/** Number of events that fill a segment: it has room for one more visit of ordinary size. */
const FULL_EVENTS = SEGMENT_EVENTS - 256
/** Age of the oldest closed visit at which a site with little traffic is sealed. */
const TAIL_AGE_MS = 24 * 3_600_000

/** Number of log records that are deleted per transaction. Deleted rows are overwritten, which takes time. */
const TRIM_SLICE = 50

/** Number of rows that are processed before yielding to the event loop. */
const SLICE = 4_000

/** Number of ids that are only in the log and in memory above which they are written to their tables even if nothing is sealed. */
const MAX_PENDING_IDS = 50_000

/**
 * Moves closed visits into segments. It prepares them in steps from the log up to one record, while events arrive behind that record.
 * One short transaction then replaces that part of the log with the segments. Nothing waits for the disk: what is synced later
 * includes everything that was committed before.
 */
export async function sealClosed(journal: Journal, now: number, all: boolean): Promise<void> {
  const { db, memory } = journal
  const epoch = readState(db, "log_epoch")
  const { floor, sites } = planSeal(journal, now, all)
  const isDue = sites.length > 0 || memory.visitors.pending + memory.eventIds.pending > MAX_PENDING_IDS
  if (isDue && !(await flushIds(journal, now))) return
  if (sites.length === 0) return
  const added = await buildPlannedSegments(db, sites, journal.append)
  const closed = new Map(sites.map((plan) => [plan.tail, plan.closed]))
  const carried = await runStepsYielding(carryOver(memory, floor, (tail, visit) => closed.get(tail)?.[visit] !== 1))
  // If a failed commit has reloaded memory meanwhile, the plan refers to tails that are gone. Its segments stay invisible, and the
  // next seal makes a new plan.
  if (memory !== journal.memory || epoch !== readState(db, "log_epoch")) return
  journal.change(() => {
    publishSegments(db, added, [], now)
    saveCounters(memory)
    replaceLog(db, floor, carried)
  }, true)
  await dropReplaced(journal, memory, floor, carried, journal.append)
}

/** Removes the chosen visits from the tail of a lane by rewriting the log without them. Returns their number. */
export async function eraseFromTail(journal: Journal, lane: number, choose: Choose): Promise<number> {
  const tail = journal.memory.tails.find(lane)
  if (!tail) return 0
  const chosen = choose(tail, kindOfLane(lane))
  const count = chosen.reduce((sum, each) => sum + each, 0)
  if (count === 0) return 0
  closeVisits(tail, chosen)
  const found = kindOfLane(lane) === "visits" ? await salesOfVisits(journal.db, tail, chosen) : []
  const sales = await dropMostSales(journal.db, found, journal.commit)
  await rewriteTail(
    journal,
    (each, visit) => each !== tail || chosen[visit] !== 1,
    () => dropSales(journal.db, sales),
  )
  return count
}

/** Closes the chosen visits in the tail of a lane at once, so that no event joins them until they are removed. */
export function closeInTail(journal: Journal, lane: number, choose: Choose): void {
  const tail = journal.memory.tails.find(lane)
  if (tail) closeVisits(tail, choose(tail, kindOfLane(lane)))
}

/**
 * Rewrites the whole log without the visits for which `stays` returns false, which must be closed. Writes the ids that are only in the
 * log into their tables. `also` runs in the same transaction.
 */
export async function rewriteTail(
  journal: Journal,
  stays: (tail: SiteTail, visit: number) => boolean,
  also: () => void = () => {},
): Promise<void> {
  const { db, memory } = journal
  const floor = memory.tails.lastRecord
  const carried = await runStepsYielding(carryOver(memory, floor, stays))
  if (memory !== journal.memory) throw new Error("Memory was reloaded while the log was rewritten")
  journal.change(() => {
    flushAllIds(journal)
    saveCounters(memory)
    replaceLog(db, floor, carried)
    also()
  })
  await dropReplaced(journal, memory, floor, carried, journal.commit)
}

/** Removes what was replaced from the tails and the log. It takes several steps, which is safe because the visits are closed. */
async function dropReplaced({ db }: Journal, { tails }: Memory, floor: number, { visitIds }: Carryover, commit: Commit): Promise<void> {
  await Bun.sleep(0)
  await runStepsYielding(tails.dropSealed(floor, visitIds))
  while (commit(() => trimLog(db))) await Bun.sleep(0)
}

/** What a seal moves out of the log, up to a record. */
interface SealPlan {
  floor: number
  sites: SitePlan[]
}

/** The visits of a site to seal now. */
interface SitePlan {
  tail: SiteTail
  /** 1 for each closed visit. */
  closed: Uint8Array
  events: number
}

/**
 * Plans a seal up to the last record whose visits are all older than 30 minutes, which leaves the fewest visits to carry over. If visits
 * closed before their time, as those of a back-fill, it goes up to the latest record instead, provided that more is moved than carried.
 */
function planSeal({ db, memory: { tails } }: Journal, now: number, all: boolean): SealPlan {
  const floor = sealableRecord(db, now)
  const latest = tails.lastRecord
  if (tails.closedEvents > 0 && latest > floor) {
    const sites = chooseSites(tails, latest, now, all)
    const moved = sites.reduce((sum, { events }) => sum + events, 0)
    if (moved > tails.events - moved) return { floor: latest, sites }
  }
  return { floor, sites: chooseSites(tails, floor, now, all) }
}

/**
 * Returns the last record before the first one with an arrival of the last 30 minutes, whose visits may still be open; 0 when there is
 * none. An arrival far in the future comes from a clock that was wrong then, and must not prevent later records from being sealed.
 */
function sealableRecord(db: Database, now: number): number {
  const open = "select id from log where arrived_at between ? and ? order by id limit 1"
  const first = db.query<{ id: number }, [number, number]>(open).get(now - VISIT_IDLE_MS, now + VISIT_IDLE_MS)
  const sql = "select coalesce(max(id), 0) as id from log where id between ? and ?"
  const range = [readState(db, "log_floor"), (first?.id ?? Number.MAX_SAFE_INTEGER) - 1] as const
  return db.query<{ id: number }, [number, number]>(sql).get(...range)!.id
}

/** Chooses the sites to seal: the largest tails until the rest is small, and those a day old; with `all`, every site. */
function chooseSites(tails: Tails, floor: number, now: number, all: boolean): SitePlan[] {
  const plans = [...tails.all()].map((tail) => ({ tail, ...tail.closedVisits(floor, now) })).filter(({ events }) => events > 0)
  if (all) return plans
  plans.sort((a, b) => b.events - a.events)
  let rest = plans.reduce((sum, { events }) => sum + events, 0)
  if (rest < MAX_CLOSED_EVENTS) return plans.filter(({ oldest }) => now - oldest > TAIL_AGE_MS)
  const chosen = plans.filter(({ events, oldest }) => {
    if (rest <= MAX_CLOSED_EVENTS / 4 && now - oldest <= TAIL_AGE_MS) return false
    rest -= events
    return true
  })
  return chosen.map(fillingSegments)
}

/** Leaves out the latest visits of a large tail, so that its segments are full. They would otherwise have to be merged later. */
function fillingSegments<Plan extends SitePlan>(plan: Plan): Plan {
  if (plan.events < FULL_EVENTS) return plan
  const limit = plan.events - (plan.events % FULL_EVENTS)
  const closed = plan.closed.slice()
  let events = 0
  for (let visit = 0; visit < closed.length; visit++) {
    if (closed[visit] !== 1) continue
    const size = plan.tail.visitPlace(visit).size
    if (events + size > limit) closed.fill(0, visit)
    else events += size
  }
  return { ...plan, closed, events }
}

/** Closes the visits of the plans and writes their segments, which readers do not see yet. Returns the ids of the segments. */
async function buildPlannedSegments(db: Database, plans: readonly SitePlan[], commit: Commit): Promise<number[]> {
  for (const { tail, closed } of plans) closeVisits(tail, closed)
  const ids: number[] = []
  for (const { tail, closed } of plans) {
    for await (const segment of buildSegments([{ part: tail, keep: closed }])) {
      ids.push(commit(() => insertPending(db, siteOfLane(tail.siteId), 0, segment, { run: 0, kind: kindOfLane(tail.siteId) })))
    }
  }
  return ids
}

/** The visits that remain in the log when its beginning is replaced. */
interface Carryover {
  /** The log record that contains them; undefined when there are none. */
  record: Uint8Array | undefined
  visitIds: ReadonlySet<number>
}

/** Closes the visits marked with 1 to further events. */
function closeVisits(tail: SiteTail, closed: Uint8Array): void {
  for (let row = 0; row < closed.length; row++) if (closed[row] === 1) tail.close(row)
}

/**
 * Collects the visits of the log up to `floor` for which `stays` returns true, with their events up to `floor`. Events can arrive
 * between two steps. Their changes to a visit are then contained twice, here and in the later records, which is harmless at replay.
 */
function* carryOver(
  { db, tails, sequence }: Pick<Memory, "db" | "tails" | "sequence">,
  floor: number,
  stays: (tail: SiteTail, visit: number) => boolean,
): Steps<Carryover> {
  const next = db.query<{ s: number }, [number]>("select first_sequence as s from log where id > ? order by id limit 1").get(floor)
  const boundary = next?.s ?? sequence
  const record = new LogRecord()
  const visitIds = new Set<number>()
  let rows = 0
  const isSliceDone = () => ++rows % SLICE === 0
  for (const tail of [...tails.all()])
    yield* carryOverTail({ record, visitIds, isSliceDone }, tail, boundary, (visit) => stays(tail, visit))
  return { record: record.isEmpty ? undefined : record.seal(), visitIds }
}

/** Replaces the log up to `floor` with the carried visits, in the caller's transaction. */
function replaceLog(db: Database, floor: number, { record, visitIds }: Carryover): void {
  // Earlier records are ignored from now on, and `trimLog` deletes them step by step.
  db.query("delete from log where id = ?").run(floor)
  if (record) {
    const sql = "insert into log (id, arrived_at, first_sequence, record, kept) values (?, 0, 0, ?, ?)"
    db.query(sql).run(floor, record, sealVisitIds(visitIds))
  }
  writeState(db, "log_floor", floor)
  writeState(db, "log_epoch", readState(db, "log_epoch") + 1)
}

/** Deletes some records that were replaced, in the caller's transaction. Returns false when none are left. */
function trimLog(db: Database): boolean {
  const sql = "delete from log where id in (select id from log where id < ? order by id limit ?)"
  return db.query(sql).run(readState(db, "log_floor"), TRIM_SLICE).changes > 0
}

interface CarryoverDraft {
  record: LogRecord
  visitIds: Set<number>
  /** Counts a row. Returns true when it is time to yield. */
  isSliceDone(): boolean
}

function* carryOverTail(
  { record, visitIds, isSliceDone }: CarryoverDraft,
  tail: SiteTail,
  boundary: number,
  stays: (visit: number) => boolean,
): Steps<void> {
  const chosen = new Uint8Array(tail.visits)
  for (let visit = 0; visit < chosen.length; visit++) {
    if (isSliceDone()) yield
    const { id, arrivedAt } = tail.visitPlace(visit)
    // This visit and all later ones began after `floor`, so the later records contain them completely.
    if (id >= boundary) break
    if (!stays(visit)) continue
    chosen[visit] = 1
    visitIds.add(id)
    record.carriedVisit(tail.siteId, tail.visitAt(visit), arrivedAt)
  }
  for (const { visit, event } of tail.eventsOf(chosen, boundary)) {
    record.event(tail.siteId, tail.visitPlace(visit).id, event)
    if (isSliceDone()) yield
  }
}
