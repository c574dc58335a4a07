import { lanesOf } from "../bytes/lanes.ts"
import { isTransient } from "../dictionary/visitors.ts"
import { type ImportedVisit, type ImportPlace, importTail } from "../import.ts"
import type { Journal } from "../journal.ts"
import { readState } from "../tail/tails.ts"
import { buildSegments } from "./build.ts"
import { flushIds, forgetPeriod } from "./flush.ts"
import { eraseFromTail, rewriteTail, sealClosed } from "./sealing.ts"
import {
  type Choose,
  dropImport,
  dropRetiredInTurn,
  eraseVisits,
  hideImport,
  insertPending,
  mergeableSites,
  mergeSite,
  publishSegments,
} from "./segments.ts"
import { clearSweepDue, isSweepDue, markSweepDue, sitesDueForSweep, sweep } from "./sweep.ts"

/** How long a replaced segment is kept, in milliseconds: longer than any report runs. */
const RETIRED_MS = 20_000

/** Maintenance of stored visits. The operations run one after another. */
export interface Upkeep {
  /**
   * Moves closed visits into segments when enough have accumulated or when they are a day old; with `all`, in any case. Also continues
   * sweeps that were interrupted by a stop.
   */
  seal(now: number, all?: boolean): Promise<void>
  /** Merges small adjacent segments. */
  merge(now: number): Promise<void>
  /** Removes whole visits that started before the cutoff (epoch milliseconds). Returns their number. */
  retain(siteId: number, cutoff: number, now: number): Promise<number>
  /** Removes the chosen visits (1 in the mask) with all their events. Returns their number. */
  erase(siteId: number, choose: Choose, now: number): Promise<number>
  /** Stores imported visits or records in segments of their own. */
  importVisits(place: ImportPlace, visits: Iterable<ImportedVisit>): Promise<void>
  dropImport(siteId: number, importId: number, now: number): Promise<void>
  hideImport(siteId: number, importId: number, hidden: boolean): void
  /**
   * Destroys the lookup from rotating ids to visitors of a period: in memory immediately, in the table and the log by the time it
   * resolves. An interrupted call must be repeated, so the caller destroys the salt only afterwards.
   */
  forgetVisitors(siteId: number, period: string): Promise<void>
  /** Deletes segments that were replaced long enough ago that no report reads them. */
  dropRetired(now: number): Promise<void>
}

export function createUpkeep(journal: Journal): Upkeep {
  const { db } = journal
  let latest: Promise<unknown> = Promise.resolve()
  function queued<T>(work: () => Promise<T>): Promise<T> {
    const result = latest.then(work)
    latest = result.catch(() => {})
    return result
  }

  const erase = (siteId: number, choose: Choose, now: number, startsBefore = Number.POSITIVE_INFINITY): Promise<number> =>
    queued(async () => {
      const wasDue = isSweepDue(db, siteId)
      journal.commit(() => markSweepDue(db, siteId))
      await flushIds(journal, now)
      let fromTail = 0
      for (const lane of lanesOf(siteId)) fromTail += await eraseFromTail(journal, lane, choose)
      const fromSegments = await eraseVisits(db, siteId, choose, startsBefore, now, journal.commit)
      if (wasDue || fromTail + fromSegments > 0) await sweep(journal, siteId)
      else journal.commit(() => clearSweepDue(db, siteId))
      return fromTail + fromSegments
    })

  return {
    async seal(now, all = false) {
      await queued(() => sealClosed(journal, now, all))
      // Queued separately, so that a failing sweep does not prevent sealing.
      await queued(async () => {
        for (const siteId of sitesDueForSweep(db)) await sweep(journal, siteId)
      })
    },
    merge: (now) =>
      queued(async () => {
        for (const siteId of mergeableSites(db)) await mergeSite(db, siteId, now, journal.commit)
      }),
    retain: (siteId, cutoff, now) =>
      erase(siteId, (part) => Uint8Array.from(part.starts(), (start) => (start < cutoff ? 1 : 0)), now, cutoff),
    erase: (siteId, choose, now) => erase(siteId, choose, now),
    importVisits: (place, visits) =>
      queued(async () => {
        const { siteId, importId, kind = "visits" } = place
        const tail = await importTail(journal, place, visits)
        const added: number[] = []
        for await (const segment of buildSegments([{ part: tail }])) {
          added.push(journal.commit(() => insertPending(db, siteId, importId, segment, { hidden: 0, kind })))
        }
        journal.commit(() => publishSegments(db, added, [], 0))
      }),
    dropImport: (siteId, importId, now) =>
      queued(async () => {
        journal.commit(() => {
          dropImport(db, siteId, importId, now)
          markSweepDue(db, siteId)
        })
        await sweep(journal, siteId)
      }),
    hideImport: (siteId, importId, hidden) => journal.commit(() => hideImport(db, siteId, importId, hidden)),
    async forgetVisitors(siteId, period) {
      const { visitors } = journal.memory
      const lastRecord = visitors.lastRecord(siteId, period)
      visitors.forget(siteId, period)
      // The ids of a transient period are in no file, so no transaction is needed that could fail.
      if (isTransient(period)) return
      await queued(async () => {
        await forgetPeriod(journal, siteId, period)
        // This is rare: the visits of a site without traffic for a day may not be sealed yet.
        if (lastRecord > readState(db, "log_floor")) await rewriteTail(journal, () => true)
      })
    },
    dropRetired: (now) => queued(() => dropRetiredInTurn(db, now - RETIRED_MS, journal.commit)),
  }
}
