import { edenGC } from "bun:jsc"
import type { Database } from "bun:sqlite"
import { kindOfLane, siteOfLane } from "../bytes/lanes.ts"
import { releaseSegment } from "../import-segments.ts"
import type { Commit, Journal } from "../journal.ts"
import { type Memory, saveCounters } from "../memory.ts"
import { openingsIn, saveOpenings, shippedRecord } from "../spool/spool.ts"
import { runStepsYielding } from "../steps.ts"
import { dropMostSales, dropSales, flushSales, salesOfVisits } from "../tables/sales.ts"
import type { SiteTail } from "../tail/tail.ts"
import { readState } from "../tail/tails.ts"
import { buildSegments } from "./build.ts"
import type { Candidates } from "./candidates.ts"
import { type Carryover, carryOver, replaceLog, trimLog } from "./carry-over.ts"
import { dropExpired, EarlyBatch } from "./early.ts"
import { flushAll, flushLogged } from "./flush.ts"
import { CLOSED, planSeal, type SealOptions, type SitePlan } from "./plan.ts"
import { type Choose, insertPending, publishSegments } from "./segments.ts"

/**
 * Number of sealed events after which young objects are collected, for about 2 ms. What a segment was built from is ten megabytes, of which
 * the collector would let several pile up, because it underestimates the memory behind arrays.
 */
const EVENTS_PER_COLLECTION = 30_000

/**
 * Number of events from which on the memory of a replaced tail is freed at once. A tail has about a hundred arrays, and freeing those of a
 * thousand small tails would take 30 ms in one turn of the event loop.
 */
const FREED_EVENTS = 5_000

/** Number of ids that are only in the log and in memory above which they are written to their tables even if nothing is sealed. */
const MAX_PENDING_IDS = 50_000

/**
 * Moves visits into segments: closed ones, and if the tail is over its limit, also open ones that have been idle for longest. It prepares
 * them in steps from the log up to one record, while events arrive behind that record. One short transaction then replaces that part of
 * the log with the segments. Nothing waits for the disk: what is synced later includes everything that was committed before.
 */
export async function sealVisits(journal: Journal, options: SealOptions): Promise<void> {
  const { db, memory } = journal
  const { now } = options
  await dropExpired(journal, now)
  const epoch = readState(db, "log_epoch")
  const { floor, sites } = planSeal(journal, options)
  const isDue = sites.length > 0 || memory.visitors.pending + memory.eventIds.pending > MAX_PENDING_IDS
  if (isDue && !(await flushLogged(journal, now))) return
  if (sites.length === 0) return
  const batch = new EarlyBatch(journal, floor, sites)
  const added = await buildPlannedSegments(db, sites, batch, { commit: journal.append, floor })
  await batch.write()
  const marks = new Map(sites.map(({ tail, chosen }) => [tail, chosen]))
  const isSealed = (tail: SiteTail, visit: number) => (marks.get(tail)?.[visit] ?? 0) > 0 && !batch.hasChanged(tail, visit)
  const carried = await carryOver(journal, floor, (tail, visit) => !isSealed(tail, visit))
  // If a failed commit has reloaded memory meanwhile, the plan refers to tails that are gone. Its segments stay invisible, and the
  // next seal makes a new plan.
  if (memory !== journal.memory || epoch !== readState(db, "log_epoch")) return
  journal.change(() => {
    publishSegments(db, added, [], now, floor)
    const changed = batch.publish(now)
    saveCounters(memory)
    replaceLog(db, carried, changed)
  }, true)
  batch.close()
  await dropReplaced(journal, memory, carried, journal.append)
  // For what many small segments were built from, and small tails. It runs beside the program.
  Bun.gc(false)
}

/** Closes the closed visits of the plans and writes all their segments, which readers do not see yet. Returns the ids of the segments. */
async function buildPlannedSegments(
  db: Database,
  plans: readonly SitePlan[],
  batch: EarlyBatch,
  { commit, floor }: { commit: Commit; floor: number },
): Promise<number[]> {
  for (const { tail, chosen } of plans) closeVisits(tail, chosen)
  const ids: number[] = []
  let uncollected = 0
  for (const { tail, chosen } of plans) {
    const openings = shippedRecord(db) === undefined ? undefined : openingsIn(tail)
    const lane = { run: 0, kind: kindOfLane(tail.siteId), openUntil: batch.openUntil(tail) }
    for await (const segment of buildSegments([{ part: tail, keep: chosen.map((mark) => Math.min(1, mark)) }])) {
      const insert = () => {
        if (openings) saveOpenings(db, tail, segment, openings, floor)
        return insertPending(db, siteOfLane(tail.siteId), 0, segment, lane)
      }
      ids.push(commit(insert))
      releaseSegment(segment)
      batch.built(tail, segment)
      uncollected += segment.events
      if (uncollected < EVENTS_PER_COLLECTION) continue
      uncollected = 0
      edenGC()
    }
  }
  return ids
}

/**
 * Removes the chosen visits from the tail of a lane by rewriting the log without them. Returns their number, and adds what they referred to
 * to the candidates.
 */
export async function eraseFromTail(journal: Journal, lane: number, choose: Choose, candidates: Candidates): Promise<number> {
  const tail = journal.memory.tails.find(lane)
  if (!tail) return 0
  const chosen = choose(tail, kindOfLane(lane))
  const count = chosen.reduce((sum, each) => sum + each, 0)
  if (count === 0) return 0
  closeVisits(tail, chosen)
  flushSales(journal)
  await runStepsYielding(candidates.add(tail, chosen))
  const found = kindOfLane(lane) === "visits" ? await salesOfVisits(journal.db, tail, chosen) : []
  const sales = await dropMostSales(journal.db, found, journal.appendFree)
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

/** Closes the visits marked with CLOSED to further events. */
function closeVisits(tail: SiteTail, marks: Uint8Array): void {
  for (let row = 0; row < marks.length; row++) if (marks[row] === CLOSED) tail.close(row)
}

/**
 * Rewrites the whole log without the visits for which `stays` returns false, which must be closed. Writes the ids that are only in the
 * log into their tables. `also` runs in the same transaction. The caller waits for the disk.
 */
export async function rewriteTail(
  journal: Journal,
  stays: (tail: SiteTail, visit: number) => boolean,
  also: () => void = () => {},
): Promise<void> {
  const { db, memory } = journal
  const carried = await carryOver(journal, memory.tails.lastRecord, stays)
  if (memory !== journal.memory) throw new Error("Memory was reloaded while the log was rewritten")
  journal.change(() => {
    flushAll(journal)
    saveCounters(memory)
    replaceLog(db, carried)
    also()
  }, true)
  await dropReplaced(journal, memory, carried, journal.append)
}

/** Removes what was replaced from the tails and the log. It takes several steps, which is safe because the visits are closed. */
async function dropReplaced({ db }: Journal, { tails }: Memory, { floor, visitIds }: Carryover, commit: Commit): Promise<void> {
  await Bun.sleep(0)
  const large = [...tails.all()].filter(({ events }) => events >= FREED_EVENTS)
  await runStepsYielding(tails.dropSealed(floor, visitIds))
  for (const tail of large) if (tails.find(tail.siteId) !== tail) tail.release()
  await Bun.sleep(0)
  while (commit(() => trimLog(db))) await Bun.sleep(0)
}
