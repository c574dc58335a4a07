import type { Commit, Journal } from "../journal.ts"
import { flushSales } from "../tables/sales.ts"
import { writeState } from "../tail/tails.ts"

/** Number of ids per transaction: a few milliseconds of work. */
const SLICE = 500
/** Number of rows of a period that are destroyed per transaction. */
const FORGET_SLICE = 5_000

/**
 * Writes the sales, visitors and event ids that are only in the log into their tables, in short transactions. Resolves with true when all
 * that were known at the time of the call are stored. Resolves with false when memory was reloaded meanwhile; the log is still needed then.
 */
export async function flushLogged(journal: Journal, now: number): Promise<boolean> {
  const { memory } = journal
  const { visitors, eventIds } = memory
  const { lastRecord } = memory.tails
  flushSales(journal)
  visitors.gather()
  eventIds.gather()
  for (const ids of [visitors, eventIds]) {
    while (journal.memory === memory && journal.change(() => ids.flush(SLICE), true)) await Bun.sleep(0)
  }
  // Those of many sites would make the last transaction of a seal long. New visitors may change some of them again.
  for (let left = visitors.unsavedOrdinals; left > 0 && journal.memory === memory; left -= SLICE) {
    journal.change(() => visitors.saveOrdinals(SLICE), true)
    await Bun.sleep(0)
  }
  if (journal.memory !== memory) return false
  const commit: Commit = (work) => {
    // The old memory may contain ids of a failed commit.
    if (journal.memory !== memory) throw new Error("Memory was reloaded while hours of event ids were closed")
    return journal.append(work)
  }
  // From now on, a start reads these ids from the tables.
  commit(() => writeState(journal.db, "ids_floor", lastRecord))
  await eventIds.dropHours(now, commit)
  await eventIds.closeHours(now, commit)
  return journal.memory === memory
}

/** Writes the sales and ids that are only in the log at once, in the caller's transaction, for a change that replaces the whole log. */
export function flushAll({ memory: { sales, tails, visitors, eventIds } }: Journal): void {
  sales.flush(tails.lastRecord)
  for (const ids of [visitors, eventIds]) {
    ids.gather()
    while (ids.flush(Number.POSITIVE_INFINITY)) {}
  }
}

/** Destroys the rows of a period in short transactions. Deleted rows are overwritten, which takes time. */
export async function forgetPeriod(journal: Journal, siteId: number, period: string): Promise<void> {
  while (journal.append(() => journal.memory.visitors.forgetStored(siteId, period, FORGET_SLICE))) {
    await Bun.sleep(0)
    // Also ids that arrived meanwhile or came back when memory was reloaded.
    journal.memory.visitors.forget(siteId, period)
  }
}
