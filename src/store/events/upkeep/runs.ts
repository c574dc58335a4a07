import { lanesOf } from "../bytes/lanes.ts"
import { isTransient } from "../dictionary/visitors.ts"
import { type ImportedVisit, type ImportPlace, importTail } from "../import.ts"
import type { Journal } from "../journal.ts"
import { readState } from "../tail/tails.ts"
import { buildSegments } from "./build.ts"
import { flushIds, forgetPeriod } from "./flush.ts"
import { eraseFromTail, rewriteTail, sealClosed } from "./sealing.ts"
import { forgiveSweep, owedSweeps, oweSweep, owesSweep, sweep } from "./sweep.ts"
import {
  type Choose,
  dropImport,
  dropRetiredInTurn,
  eraseVisits,
  hideImport,
  insertPending,
  mergeableSites,
  mergeSite,
  turnGeneration,
} from "./upkeep.ts"

/** A replaced segment stays this long: longer than any report runs. */
const RETIRED_MS = 20_000

/** What is done with visits that are stored. It runs one after another: each reads what the one before has written. */
export interface Upkeep {
  /**
   * Moves closed visits into segments where enough has gathered, or where it is a day old; with `all`, wherever there are any.
   * Goes on with what a stop has cut off of an erasure.
   */
  seal(now: number, all?: boolean): Promise<void>
  /** Joins small neighbouring segments. */
  merge(now: number): Promise<void>
  /** Removes whole visits that started before the cutoff (epoch ms). Returns how many. */
  retain(siteId: number, cutoff: number, now: number): Promise<number>
  /** Removes the chosen visits (1 in the mask) with all their events. Returns how many. */
  erase(siteId: number, choose: Choose, now: number): Promise<number>
  /** Stores visits from elsewhere, or records, apart under their import. */
  importVisits(place: ImportPlace, visits: Iterable<ImportedVisit>): Promise<void>
  dropImport(siteId: number, importId: number, now: number): Promise<void>
  hideImport(siteId: number, importId: number, hidden: boolean): void
  /**
   * Destroys the lookup from rotating ids to visitors, with the salt of the period: in memory at once, in the table and in the
   * log when it resolves. Cut off it has to be called again, so the salt has to outlive it.
   */
  forgetVisitors(siteId: number, period: string): Promise<void>
  /** Removes segments that were replaced so long ago that no report reads them. */
  dropRetired(now: number): Promise<void>
}

export function upkeepRuns(journal: Journal): Upkeep {
  const { db } = journal
  let latest: Promise<unknown> = Promise.resolve()
  function queued<T>(work: () => Promise<T>): Promise<T> {
    const result = latest.then(work)
    latest = result.catch(() => {})
    return result
  }

  const erase = (siteId: number, choose: Choose, now: number, startsBefore = Number.POSITIVE_INFINITY): Promise<number> =>
    queued(async () => {
      const wasOwed = owesSweep(db, siteId)
      journal.commit(() => oweSweep(db, siteId))
      await flushIds(journal, now)
      let fromTail = 0
      for (const lane of lanesOf(siteId)) fromTail += await eraseFromTail(journal, lane, choose)
      const fromSegments = await eraseVisits(db, siteId, choose, startsBefore, now, journal.commit)
      if (wasOwed || fromTail + fromSegments > 0) await sweep(journal, siteId)
      else journal.commit(() => forgiveSweep(db, siteId))
      return fromTail + fromSegments
    })

  return {
    async seal(now, all = false) {
      await queued(() => sealClosed(journal, now, all))
      // Apart: a sweep that cannot be done must not hold up sealing.
      await queued(async () => {
        for (const siteId of owedSweeps(db)) await sweep(journal, siteId)
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
        journal.commit(() => turnGeneration(db, added, [], 0))
      }),
    dropImport: (siteId, importId, now) =>
      queued(async () => {
        journal.commit(() => {
          dropImport(db, siteId, importId, now)
          oweSweep(db, siteId)
        })
        await sweep(journal, siteId)
      }),
    hideImport: (siteId, importId, hidden) => journal.commit(() => hideImport(db, siteId, importId, hidden)),
    async forgetVisitors(siteId, period) {
      const { visitors } = journal.memory
      const lastRecord = visitors.lastRecord(siteId, period)
      visitors.forget(siteId, period)
      // What no file knows is forgotten without a transaction, which might fail.
      if (isTransient(period)) return
      await queued(async () => {
        await forgetPeriod(journal, siteId, period)
        // Rare: a site that was quiet for a day, so that its visitors were never sealed.
        if (lastRecord > readState(db, "log_floor")) await rewriteTail(journal, () => true)
      })
    },
    dropRetired: (now) => queued(() => dropRetiredInTurn(db, now - RETIRED_MS, journal.commit)),
  }
}
