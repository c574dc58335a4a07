import { lanesOf } from "../bytes/lanes.ts"
import { ColumnCache } from "../cache.ts"
import { isTransient } from "../dictionary/visitors.ts"
import { dayNumber, type ImportedKind, type ImportedRow } from "../../../domain/imported.ts"
import {
  type ImportCursor,
  type ImportedVisit,
  type ImportPlace,
  type ImportTarget,
  importTail,
  readCursor,
  readVisitors,
  reserveVisitors,
  saveVisitors,
  writeCursor,
} from "../import.ts"
import { translated } from "../fault.ts"
import type { Journal } from "../journal.ts"
import { buildTotals, insertTotals, openTotals, withoutDaysBefore } from "../totals.ts"
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
  forgetImportedVisitors,
  insertPending,
  mergeableSites,
  mergeSite,
  turnGeneration,
} from "./upkeep.ts"

/** Removal reads a column at most twice. */
const TOTALS_CACHE_BYTES = 8 << 20

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
  /**
   * Stores visits, or records, of an import in segments of their own, together with the cursor of the place. Answers include them once
   * the import is visible with their run.
   */
  importVisits(place: ImportPlace, visits: Iterable<ImportedVisit>): Promise<void>
  /** Stores imported totals in the same way. */
  importTotals(place: ImportTarget & { cursor?: ImportCursor }, kind: ImportedKind, rows: readonly ImportedRow[]): Promise<void>
  /** Returns how far a run has come, or undefined before its first batch. */
  importCursor(importId: number, run: number): ImportCursor | undefined
  /** Reserves ordinals for an import whose visitors are numbered. Returns the first one. */
  reserveVisitors(siteId: number, count: number): number
  /** Returns the stored ordinals of an import's visitors, by the hash of their name in hex. */
  importedVisitors(importId: number): Map<string, number>
  /** Stores such ordinals, until `dropImport` or `forgetImportedVisitors`. */
  saveImportedVisitors(importId: number, visitors: ReadonlyMap<string, number>): void
  forgetImportedVisitors(importId: number): void
  /** Removes all rows of an import, or those of one run. */
  dropImport(siteId: number, importId: number, now: number, run?: number): Promise<void>
  /** Removes all imported totals of a site; imported visits are removed by `erase`. Returns the number of rows. */
  dropTotals(siteId: number, now: number): Promise<number>
  /** Removes imported totals of days before a day. Returns the number of rows. */
  retainTotals(siteId: number, firstDay: string, now: number): Promise<number>
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

  /** Makes the segments of a batch part of the store, with the cursor, in one transaction. */
  const finishBatch = (place: ImportTarget & { cursor?: ImportCursor }, added: readonly number[]): void =>
    journal.commit(() => {
      turnGeneration(db, added, [], 0)
      if (place.cursor) writeCursor(db, place, place.cursor)
    })

  /** Removes imported totals before a day, in one generation. */
  const rewriteTotals = (siteId: number, firstDay: number, now: number): Promise<number> =>
    queued(async () => {
      const [added, retired]: [number[], number[]] = [[], []]
      let removed = 0
      for (const totals of openTotals(db, siteId, new ColumnCache(TOTALS_CACHE_BYTES))) {
        if (totals.firstDay >= firstDay) continue
        const { importId, run, kind } = totals
        const rest = await withoutDaysBefore(totals, firstDay)
        if (rest) added.push(journal.commit(() => insertTotals(db, { siteId, importId, run, kind }, rest)))
        retired.push(totals.id)
        removed += totals.rows - (rest?.rows ?? 0)
      }
      if (retired.length === 0) return 0
      journal.commit(() => {
        turnGeneration(db, added, retired, now)
        oweSweep(db, siteId)
      })
      await sweep(journal, siteId)
      return removed
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
        const { siteId, importId, kind = "visits", run = 1 } = place
        const tail = await importTail(journal, place, visits)
        const added: number[] = []
        for await (const segment of buildSegments([{ part: tail }])) {
          added.push(journal.commit(() => insertPending(db, siteId, importId, segment, { kind, run })))
        }
        finishBatch(place, added)
      }),
    importTotals: (place, kind, rows) =>
      queued(async () => {
        const { siteId, importId, run = 1 } = place
        const added: number[] = []
        for await (const segment of buildTotals(journal, { siteId, importId, kind }, rows)) {
          added.push(journal.commit(() => insertTotals(db, { siteId, importId, run, kind }, segment)))
        }
        finishBatch(place, added)
      }),
    importCursor: (importId, run) => translated(() => readCursor(db, importId, run)),
    reserveVisitors: (siteId, count) => journal.change(() => reserveVisitors(journal.memory, siteId, count)),
    importedVisitors: (importId) => translated(() => readVisitors(db, importId)),
    saveImportedVisitors: (importId, visitors) => journal.commit(() => saveVisitors(db, importId, visitors)),
    forgetImportedVisitors: (importId) => journal.commit(() => forgetImportedVisitors(db, importId)),
    dropImport: (siteId, importId, now, run) =>
      queued(async () => {
        journal.commit(() => {
          dropImport(db, siteId, importId, run, now)
          oweSweep(db, siteId)
        })
        await sweep(journal, siteId)
      }),
    dropTotals: (siteId, now) => rewriteTotals(siteId, Number.POSITIVE_INFINITY, now),
    retainTotals: (siteId, firstDay, now) => rewriteTotals(siteId, dayNumber(firstDay), now),
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
