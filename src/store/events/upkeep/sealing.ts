import type { Journal } from "../journal.ts"
import { type Memory, saveCounters } from "../memory.ts"
import { inTurns } from "../steps.ts"
import type { SiteTail } from "../tail/tail.ts"
import { readState } from "../tail/tails.ts"
import { flushAllIds, flushIds } from "./flush.ts"
import { buildPlan, closeVisits, planSeal, type Rest, replaceLog, restOfLog, sealableRecord, trimLog } from "./seal.ts"
import { type Choose, turnGeneration } from "./upkeep.ts"

/** Ids that only the log knows, at most, before they go into their tables also when nothing is sealed: they take memory. */
const PENDING_IDS = 50_000

/**
 * Moves closed visits into segments. Everything is prepared in steps, from what the log held up to one record, while events
 * come in behind it; one short transaction then puts it in the place of that part of the log.
 */
export async function sealClosed(journal: Journal, now: number, all: boolean): Promise<void> {
  const { db, memory } = journal
  const epoch = readState(db, "log_epoch")
  const floor = sealableRecord(db, now)
  const plans = planSeal(memory.tails, floor, now, all)
  const isDue = plans.length > 0 || memory.visitors.pending + memory.eventIds.pending > PENDING_IDS
  if (isDue && !(await flushIds(journal, now))) return
  if (plans.length === 0) return
  const added = await buildPlan(db, plans, journal.commit)
  const closed = new Map(plans.map((plan) => [plan.tail, plan.closed]))
  const rest = await inTurns(restOfLog(memory, floor, (tail, visit) => closed.get(tail)?.[visit] !== 1))
  // Meanwhile a failed commit may have rebuilt memory: then the plan speaks of what is gone, nobody sees the segments built
  // for it, and the next seal makes a new one.
  if (memory !== journal.memory || epoch !== readState(db, "log_epoch")) return
  journal.change(() => {
    turnGeneration(db, added, [], now)
    saveCounters(memory)
    replaceLog(db, floor, rest)
  })
  await leave(journal, memory, floor, rest)
}

/** Visits in the tail go by leaving them out when the log is written anew. Returns how many. */
export async function eraseFromTail(journal: Journal, lane: number, choose: Choose): Promise<number> {
  const tail = journal.memory.tails.find(lane)
  if (!tail) return 0
  const chosen = choose(tail)
  const count = chosen.reduce((sum, each) => sum + each, 0)
  if (count === 0) return 0
  closeVisits(tail, chosen)
  await rewriteTail(journal, (each, visit) => each !== tail || chosen[visit] !== 1)
  return count
}

/**
 * Writes the whole log anew, without the visits that do not stay; they must be closed. What only the log knew goes into its
 * tables with it.
 */
export async function rewriteTail(journal: Journal, stays: (tail: SiteTail, visit: number) => boolean): Promise<void> {
  const { db, memory } = journal
  const floor = memory.tails.lastRecord
  const rest = await inTurns(restOfLog(memory, floor, stays))
  if (memory !== journal.memory) throw new Error("Memory was read anew while the log was written anew")
  journal.change(() => {
    flushAllIds(journal)
    saveCounters(memory)
    replaceLog(db, floor, rest)
  })
  await leave(journal, memory, floor, rest)
}

/** The tail and the log no longer hold what the log has no need of. It is closed to events: that they still do makes no difference. */
async function leave(journal: Journal, { tails }: Memory, floor: number, { kept }: Rest): Promise<void> {
  await Bun.sleep(0)
  await inTurns(tails.dropSealed(floor, kept))
  await trim(journal)
}

async function trim({ db, commit }: Journal): Promise<void> {
  while (commit(() => trimLog(db))) await Bun.sleep(0)
}
