import { dayNumber, type ImportedKind, type ImportedRow } from "../../../domain/imported.ts"
import { DEFAULT_SETTINGS } from "../../../domain/site.ts"
import { firstAtLeast } from "../bytes/ascending.ts"
import { lanesOf, type SegmentKind } from "../bytes/lanes.ts"
import { ColumnCache } from "../cache.ts"
import { deletePerson } from "../dictionary/identities.ts"
import { isTransient, type SitePeriod } from "../dictionary/visitors.ts"
import { translateErrors } from "../fault.ts"
import {
  countVisitors,
  type ImportCursor,
  type ImportPlace,
  type ImportTarget,
  nameVisitors,
  numberBatch,
  readCursor,
  reserveVisitors,
  writeCursor,
} from "../import.ts"
import { type ImportedVisit, packVisits, VisitBatch } from "../import-batch.ts"
import { buildBatch, releaseSegment } from "../import-segments.ts"
import type { Journal } from "../journal.ts"
import type { Part } from "../part.ts"
import { addToDropped, type ElsewhereOf, withoutUncounted } from "../spool/dropped.ts"
import { ownSequence } from "../spool/sequences.ts"
import { dropUnneeded, shippedBefore, shippedRecord } from "../spool/spool.ts"
import { saveValues } from "../spool/visitor-values.ts"
import type { SaleRow } from "../tables/sale-rows.ts"
import { dropMostSales, dropSales, importedSale, insertSales, salesOfImport } from "../tables/sales.ts"
import { readState } from "../tail/tails.ts"
import { buildTotals, insertTotals, openTotals, withoutDaysBefore } from "../totals.ts"
import type { Hash64 } from "../writer.ts"
import { Candidates } from "./candidates.ts"
import { closeInSegments, dropExpired, settleSegments } from "./early.ts"
import { flushLogged, forgetPeriod } from "./flush.ts"
import { returnFreePages } from "./free-pages.ts"
import { closeInTail, eraseFromTail, rewriteTail, sealVisits } from "./sealing.ts"
import {
  type Choose,
  dropImport,
  dropRetiredInTurn,
  eraseVisits,
  forgetImportedVisitors,
  forgetImports,
  insertPending,
  joinRuns,
  mergeableSites,
  mergeSite,
  publishSegments,
} from "./segments.ts"
import { clearSweepDue, isSweepDue, markSweepDue, sitesDueForSweep, sweep } from "./sweep.ts"
import { type FormerVisit, unconfirmedIds, withdraw } from "./withdrawing.ts"

/** Removal of totals reads a column at most twice. */
const TOTALS_CACHE_BYTES = 8 << 20

/** How long a replaced segment is kept, in milliseconds: longer than any report runs. */
const RETIRED_MS = 20_000

/** Number of visits, their pageviews and custom events, and records, by kind. */
export type ErasedRows = Record<SegmentKind | "events", number>

/** Lookups of visitors that one transaction deletes. Deleted rows are overwritten, which takes time. */
const FORGOTTEN_AT_ONCE = 5_000

/** Maintenance of stored visits. The operations run one after another. */
export interface Upkeep {
  /**
   * Moves closed visits into segments when enough have accumulated or when they are a day old; with `all`, in any case. If the tail is
   * over its limit, it also moves open visits, which the next event takes back. Also continues sweeps that were interrupted by a stop.
   */
  seal(now: number, all?: boolean): Promise<void>
  /** Merges small adjacent segments. */
  merge(now: number): Promise<void>
  /** Removes whole visits that started before the cutoff (epoch milliseconds). Returns their number. */
  retain(siteId: number, cutoff: number, now: number): Promise<number>
  /** Removes the chosen visits (1 in the mask) with all their events. Returns their number. */
  erase(siteId: number, choose: Choose, now: number): Promise<number>
  /** Removes the visits that begin with the given events, ascending, with all their events. Returns their number. */
  eraseVisits(siteId: number, sequences: Float64Array, now: number): Promise<number>
  /** Removes all visits and records of a site. Returns their number. */
  eraseSite(siteId: number, now: number): Promise<number>
  /**
   * Removes all visits and records of a person, given by numbers, with the person keys. An event of the same person that arrives
   * meanwhile begins another history. Returns what was removed.
   */
  erasePerson(siteId: number, numbers: readonly number[], now: number): Promise<ErasedRows>
  /**
   * Stores imported visits or records in segments of their own, together with the cursor of the place. Reports include them once the
   * import is visible with their run. A batch is overwritten.
   */
  importVisits(place: ImportPlace, visits: VisitBatch | Iterable<ImportedVisit>): Promise<void>
  /** Stores imported totals in the same way. */
  importTotals(place: ImportTarget & { cursor?: () => ImportCursor }, kind: ImportedKind, rows: Iterable<ImportedRow>): Promise<void>
  /** Returns how far a run has come, or undefined before its first batch. */
  importCursor(importId: number, run: number): ImportCursor | undefined
  /** Reserves ordinals for an import whose visitors are numbered from 0. Returns the first one. */
  reserveVisitors(siteId: number, count: number): number
  /** Returns the ordinals of visitors by the hash of their name in hex. New ones are stored with the run. */
  nameVisitors(place: ImportTarget, names: readonly string[]): Promise<Map<string, number>>
  /** Returns the number of visitors that a run of an import was the first to have. */
  countVisitors(importId: number, run: number): number
  /** Deletes the stored ordinals of an import's visitors whose hash begins with a prefix in hex. */
  forgetImportedVisitors(importId: number, prefix: string): Promise<void>
  /** Makes completed runs of an import one, so that their small segments can be merged. Answers include all of them before and after. */
  joinRuns(importId: number, lastRun: number): Promise<void>
  /** Removes all rows of an import, or those of one run. */
  dropImport(siteId: number, importId: number, now: number, run?: number): Promise<void>
  /**
   * Removes all imported totals of a site, and the cursors and stored visitors of its imports. Imported visits are removed by `erase`.
   * Returns the number of rows.
   */
  dropTotals(siteId: number, now: number): Promise<number>
  /** Removes imported totals of days before a day. Returns the number of rows. */
  retainTotals(siteId: number, firstDay: string, now: number): Promise<number>
  /**
   * Destroys the lookup from rotating ids to visitors of a period: in memory immediately, in the table and the log by the time it
   * resolves. An interrupted call must be repeated, so the caller destroys the salt only afterwards.
   */
  forgetVisitors(siteId: number, period: string): Promise<void>
  /** Lists the periods of all sites that have a lookup from rotating ids to visitors. */
  visitorPeriods(): SitePeriod[]
  /** Deletes segments that were replaced long enough ago that no report reads them. */
  dropRetired(now: number): Promise<void>
  /**
   * Deletes the segments of closed visits that a second engine has had since before a moment, unless what was moved there is kept. Records
   * stay until they are in their counters.
   */
  dropShipped(before: number, now: number): Promise<void>
  /** Blanks the texts and deletes the person keys that no visit of the site refers to, after visits were removed from a second engine. */
  sweepSite(siteId: number): Promise<void>
  /** Returns the ids of the events in the log that a second engine has not confirmed. */
  unconfirmedIds(): Hash64[]
  /**
   * Takes the events with some ids out of the part of the log that a second engine has not confirmed. Returns the visits that it may know by
   * such an event.
   */
  withdraw(isChosen: (id: Hash64) => boolean): Promise<FormerVisit[]>
  /** Returns pages that sealing and merging have freed to the file system, except for a share that is soon needed again. */
  returnFreePages(): Promise<void>
}

interface UpkeepOptions {
  /** Memory for what is not sealed. */
  tailBytes: number
  /** Resolves when everything committed before is on disk. */
  sync(): Promise<void>
  /** Returns the key of a site's pseudonyms. Used only in a store with a spool. */
  siteKey(siteId: number): Promise<Uint8Array>
  /** Returns the ordinals of visitors by number. */
  ordinalsOf(siteId: number, numbers: readonly number[]): Promise<readonly number[]>
  /** Positions of the counters of records, by lane. */
  counted: ReadonlyMap<number, number>
  /** Returns the second engine, if there is one. */
  elsewhere(): ElsewhereOf | undefined
}

/**
 * Creates the operations. Their steps do not wait for the disk, which would hold up the thread that answers: what is on disk later
 * includes everything that was committed before. Those whose callers rely on the disk wait for it at their end, without holding up others.
 */
export function createUpkeep(journal: Journal, options: UpkeepOptions): Upkeep {
  const { tailBytes, sync, siteKey, ordinalsOf } = options
  const { db } = journal
  const sweepTexts = (siteId: number, removed?: Candidates) => sweep(journal, siteId, { removed, elsewhere: options.elsewhere() })
  let latest: Promise<unknown> = Promise.resolve()
  function queued<T>(work: () => Promise<T>): Promise<T> {
    const result = latest.then(work)
    latest = result.catch(() => {})
    return result
  }

  const erase = (siteId: number, choose: Choose, now: number, startsBefore = Number.POSITIVE_INFINITY, begin = () => {}): Promise<number> =>
    queued(async () => {
      begin()
      closeInSegments(db, siteId, choose, journal.append)
      const wasDue = isSweepDue(db, siteId)
      journal.append(() => markSweepDue(db, siteId))
      await flushLogged(journal, now)
      const candidates = new Candidates()
      let visits = 0
      for (const lane of lanesOf(siteId)) visits += await eraseFromTail(journal, lane, choose, candidates)
      const sealed = await eraseVisits(db, siteId, { choose, startsBefore, now, candidates }, journal.appendFree)
      visits += sealed.visits
      // What the visits of an interrupted removal referred to is not known.
      if (wasDue || visits > 0) await sweepTexts(siteId, wasDue || !sealed.hasCandidates ? undefined : candidates)
      else journal.append(() => clearSweepDue(db, siteId))
      await sync()
      return visits
    })

  /** Publishes the segments of a batch, with its sales and the cursor, in one transaction. Resolves when it is on the disk. */
  function finishBatch(
    place: ImportTarget & { cursor?: () => ImportCursor },
    added: readonly number[],
    sales: readonly SaleRow[] = [],
  ): Promise<void> {
    journal.change(() => {
      publishSegments(db, added, [], 0)
      insertSales(journal.memory, place, sales)
      if (place.cursor) writeCursor(db, place, place.cursor())
    }, true)
    return sync()
  }

  /** Removes imported totals before a day. */
  const rewriteTotals = (siteId: number, firstDay: number, now: number): Promise<number> =>
    queued(async () => {
      const [added, retired]: [number[], number[]] = [[], []]
      let removed = 0
      for (const totals of openTotals(db, siteId, new ColumnCache(TOTALS_CACHE_BYTES, false))) {
        if (totals.firstDay >= firstDay) continue
        const { importId, run, kind } = totals
        const rest = await withoutDaysBefore(totals, firstDay)
        if (rest) added.push(journal.append(() => insertTotals(db, { siteId, importId, run, kind }, rest)))
        retired.push(totals.id)
        removed += totals.rows - (rest?.rows ?? 0)
      }
      if (retired.length === 0) return 0
      journal.append(() => {
        publishSegments(db, added, retired, now)
        markSweepDue(db, siteId)
      })
      await sweepTexts(siteId)
      await sync()
      return removed
    })

  return {
    async seal(now, all = false) {
      await queued(() => sealVisits(journal, { now, all, tailBytes }))
      // Queued separately, so that a failing sweep does not prevent sealing.
      await queued(async () => {
        for (const siteId of sitesDueForSweep(db)) await sweepTexts(siteId)
      })
    },
    merge: (now) =>
      queued(async () => {
        await dropExpired(journal, now)
        await settleSegments(db, now, journal.appendFree)
        for (const siteId of mergeableSites(db)) await mergeSite(db, siteId, now, journal.appendFree)
      }),
    retain: (siteId, cutoff, now) => erase(siteId, startedBefore(cutoff), now, cutoff),
    erase: (siteId, choose, now) => erase(siteId, choose, now),
    eraseVisits(siteId, sequences, now) {
      const node = readState(db, "node")
      const own = sequences.map((sequence) => ownSequence(sequence, node) ?? 0).filter((sequence) => sequence > 0)
      return erase(siteId, visitsAt(own), now)
    },
    eraseSite: (siteId, now) => erase(siteId, (part) => new Uint8Array(part.visits).fill(1), now),
    async erasePerson(siteId, numbers, now) {
      const ordinals = await ordinalsOf(siteId, numbers)
      const erased: ErasedRows = { visits: 0, events: 0, clicks: 0, opens: 0 }
      if (ordinals.length === 0) return erased
      const chosen = visitsOf(ordinals)
      const choose: Choose = (part, kind) => {
        const mask = chosen(part)
        countChosen(erased, part, kind, mask)
        return mask
      }
      // Without a pause between the two, no event can carry an open visit over to a new ordinal.
      const begin = () => {
        journal.append(() => {
          markSweepDue(db, siteId)
          for (const ordinal of ordinals) deletePerson(db, siteId, ordinal)
        })
        for (const lane of lanesOf(siteId)) closeInTail(journal, lane, chosen)
        closeInSegments(db, siteId, chosen, journal.append)
      }
      await erase(siteId, choose, now, Number.POSITIVE_INFINITY, begin)
      return erased
    },
    importVisits: (place, visits) =>
      queued(async () => {
        const { siteId, importId, kind = "visits", run = 1, build = buildBatch, orderProperty = DEFAULT_SETTINGS.order_property } = place
        const batch = visits instanceof VisitBatch ? visits : new VisitBatch(packVisits(visits))
        const { segments, sales } = await build(await numberBatch(journal, place, batch))
        const added: number[] = []
        for (const segment of segments) {
          added.push(journal.append(() => insertPending(db, siteId, importId, segment, { kind, run })))
          releaseSegment(segment)
          await Bun.sleep(0)
        }
        await finishBatch(place, added, kind === "visits" ? sales.map((sale) => importedSale(siteId, sale, orderProperty)) : [])
      }),
    importTotals: (place, kind, rows) =>
      queued(async () => {
        const { siteId, importId, run = 1 } = place
        const added: number[] = []
        for await (const segment of buildTotals(journal, { siteId, importId, kind }, rows)) {
          added.push(journal.append(() => insertTotals(db, { siteId, importId, run, kind }, segment)))
        }
        await finishBatch(place, added)
      }),
    importCursor: (importId, run) => translateErrors(() => readCursor(db, importId, run)),
    reserveVisitors: (siteId, count) => journal.change(() => reserveVisitors(journal.memory, siteId, count)),
    nameVisitors: (place, names) => nameVisitors(journal, place, names),
    countVisitors: (importId, run) => translateErrors(() => countVisitors(db, importId, run)),
    async forgetImportedVisitors(importId, prefix) {
      while (journal.commit(() => forgetImportedVisitors(db, importId, { prefix, limit: FORGOTTEN_AT_ONCE })) === FORGOTTEN_AT_ONCE)
        await Bun.sleep(0)
    },
    joinRuns: (importId, lastRun) => queued(async () => journal.commit(() => joinRuns(db, importId, lastRun))),
    dropImport: (siteId, importId, now, run) =>
      queued(async () => {
        const sales = await dropMostSales(db, salesOfImport(db, importId, run), journal.appendFree)
        journal.append(() => {
          dropImport(db, siteId, importId, run, now)
          dropSales(db, sales)
          markSweepDue(db, siteId)
        })
        await sweepTexts(siteId)
        await sync()
      }),
    async dropTotals(siteId, now) {
      const removed = await rewriteTotals(siteId, Number.POSITIVE_INFINITY, now)
      journal.commit(() => forgetImports(db, siteId))
      return removed
    },
    retainTotals: (siteId, firstDay, now) => rewriteTotals(siteId, dayNumber(firstDay), now),
    async forgetVisitors(siteId, period) {
      const { visitors } = journal.memory
      const lastRecord = visitors.lastRecord(siteId, period)
      const forgotten = visitors.forget(siteId, period)
      // The ids of a transient period are in no file, so no transaction is needed that could fail.
      if (isTransient(period)) return
      await queued(async () => {
        if (shippedRecord(db) !== undefined) await saveValues(journal, { siteId, name: period, siteKey: await siteKey(siteId) }, forgotten)
        await forgetPeriod(journal, siteId, period)
        // This is rare: the visits of a site without traffic for a day may not be sealed yet.
        if (lastRecord > readState(db, "log_floor")) await rewriteTail(journal, () => true)
        await sync()
      })
    },
    visitorPeriods: () => journal.memory.visitors.periods(),
    dropRetired: (now) => queued(() => dropRetiredInTurn(db, now - RETIRED_MS, journal.appendFree)),
    dropShipped: (before, now) =>
      queued(async () =>
        journal.append(() => {
          if (readState(db, "source_kept") === 1) return
          const shipped = withoutUncounted(db, shippedBefore(db, before), options.counted)
          if (shipped.length > 0) {
            addToDropped(db, shipped)
            publishSegments(db, [], shipped, now)
          }
          dropUnneeded(db)
        }),
      ),
    sweepSite: (siteId) =>
      queued(async () => {
        journal.append(() => markSweepDue(db, siteId))
        await sweepTexts(siteId)
        await sync()
      }),
    unconfirmedIds: () => unconfirmedIds(db),
    withdraw: (isChosen) => queued(async () => withdraw(journal, isChosen)),
    returnFreePages: () => queued(() => returnFreePages(db, journal.appendFree)),
  }
}

/** Returns the function that marks the visits that started before a moment. */
const startedBefore = (moment: number): ((part: Part) => Uint8Array) =>
  marking(
    (part) => part.starts(),
    (start) => start < moment,
  )

/** Returns the function that marks the visits with the given sequences, ascending. */
const visitsAt = (wanted: Float64Array): ((part: Part) => Uint8Array) =>
  marking(
    (part) => part.sequences(),
    (sequence) => wanted[firstAtLeast(wanted, sequence)] === sequence,
  )

/** Returns the function that marks the visits of a part whose value in a column is chosen. A loop, because iterators are slow until they are compiled. */
function marking(column: (part: Part) => Float64Array, isChosen: (value: number) => boolean): (part: Part) => Uint8Array {
  return (part) => {
    const values = column(part)
    const mask = new Uint8Array(part.visits)
    for (let visit = 0; visit < mask.length; visit++) if (isChosen(values[visit]!)) mask[visit] = 1
    return mask
  }
}

/** Returns the function that marks the visits of visitors. */
function visitsOf(ordinals: readonly number[]): (part: Part) => Uint8Array {
  const wanted = new Set(ordinals)
  return (part) => {
    const visitors = part.visit("visitor")
    const mask = new Uint8Array(part.visits)
    for (let visit = 0; visit < mask.length; visit++) if (wanted.has(visitors[visit]!)) mask[visit] = 1
    return mask
  }
}

function countChosen(erased: ErasedRows, part: Part, kind: SegmentKind, mask: Uint8Array): void {
  if (!mask.includes(1)) return
  const events = part.visit("events")
  for (let visit = 0; visit < mask.length; visit++) {
    if (mask[visit] === 0) continue
    erased[kind]++
    if (kind === "visits") erased.events += events[visit]!
  }
}
