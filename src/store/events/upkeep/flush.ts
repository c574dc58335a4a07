import type { Journal } from "../journal.ts"
import { writeState } from "../tail/tails.ts"
import type { Commit } from "./upkeep.ts"

/** Ids that one transaction writes: a pause of some milliseconds. */
const SLICE = 2_000
/** Rows of a forgotten period that one transaction destroys: they are overwritten. */
const FORGOTTEN = 5_000

/**
 * What only the log knew of visitors and event ids goes into their tables, in short transactions. All that was known at the
 * call is there when it resolves with true; with false memory was read anew meanwhile, and the log still has to be kept.
 */
export async function flushIds(journal: Journal, now: number): Promise<boolean> {
  const { memory } = journal
  const { visitors, eventIds } = memory
  const { lastRecord } = memory.tails
  visitors.gather()
  eventIds.gather()
  for (const ids of [visitors, eventIds]) {
    while (journal.memory === memory && journal.change(() => ids.flush(SLICE))) await Bun.sleep(0)
  }
  if (journal.memory !== memory) return false
  const commit: Commit = (work) => {
    // Memory may know ids of a commit that failed.
    if (journal.memory !== memory) throw new Error("Memory was read anew while hours of event ids were closed")
    return journal.commit(work)
  }
  // From here on a start asks the tables for them.
  commit(() => writeState(journal.db, "ids_floor", lastRecord))
  await eventIds.dropHours(now, commit)
  await eventIds.closeHours(now, commit)
  return journal.memory === memory
}

/** All at once, in the transaction of the caller: for a change that replaces the whole log. */
export function flushAllIds({ memory: { visitors, eventIds } }: Journal): void {
  for (const ids of [visitors, eventIds]) {
    ids.gather()
    while (ids.flush(Number.POSITIVE_INFINITY)) {}
  }
}

/** Destroys the rows of a period, some in each transaction. */
export async function forgetPeriod(journal: Journal, siteId: number, period: string): Promise<void> {
  while (journal.commit(() => journal.memory.visitors.forgetStored(siteId, period, FORGOTTEN))) {
    await Bun.sleep(0)
    // Also what has come meanwhile, or was read anew.
    journal.memory.visitors.forget(siteId, period)
  }
}
