import type { ImportedKind, ImportedRow } from "../../domain/imported.ts"
import type { RecordKind } from "../../domain/record.ts"
import type { SiteDirectory } from "../../domain/site.ts"
import type { IdentityKeys } from "../../ingest/identity/salt-period.ts"
import { personKey } from "../../ingest/identity/visitor.ts"
import { dayStart } from "../../query/parse/period.ts"
import type { EffectiveImport, VisibleImports } from "../../services/imports/visible-imports.ts"
import type { Statements } from "../../store/catalog/catalog.ts"
import type { EventStore } from "../../store/events/events.ts"
import type { ImportCursor, ImportPlace, ImportTarget } from "../../store/events/import.ts"
import type { ImportedVisit, VisitBatch } from "../../store/events/import-batch.ts"
import { type OwnStatements, statementsBehind } from "./own-tables.ts"

/**
 * Writers of imports. Rows are stored in segments of their import and run, which answers leave out until `show` names the run as
 * completed. A batch and its cursor are written in one transaction, so after an interruption the caller continues from the cursor.
 */
export interface ImportWriters {
  /**
   * Adds visits, as a list or packed by a `VisitPacker`. A batch is overwritten. `firstOrdinal` is the result of `reserveVisitors` if
   * visitors are numbers, `visitors` that of `nameVisitors` if they are names, and `personOf` that of `personKeys`.
   * `build` builds the segments in a thread.
   */
  addVisits(place: VisitsPlace, visits: VisitBatch | Iterable<ImportedVisit>): Promise<void>
  /** Adds records, each a visit with one event. They appear in reports of records, not in metrics of the site. */
  addRecords(place: VisitsPlace & { kind: RecordKind }, records: Iterable<ImportedVisit>): Promise<void>
  /** Adds totals of one kind. */
  addTotals(place: ImportTarget & { cursor?: () => ImportCursor }, kind: ImportedKind, rows: Iterable<ImportedRow>): Promise<void>
  /** Resolves when reports can include what was added: with events on a server, once they are there. */
  shipped(signal: AbortSignal): Promise<void>
  /** Resolves when other nodes have removed what `drop` has. Call it outside of `exclusively`, in which another node may wait for this one. */
  removedElsewhere(signal?: AbortSignal): Promise<void>
  /** Returns how far a run has come, or undefined before its first batch. */
  cursor(importId: number, run: number): ImportCursor | undefined
  reserveVisitors(siteId: number, count: number): number
  /** Returns the ordinals of visitors that are named by hashes in hex: those of earlier batches and runs, or new ones, which are stored. */
  nameVisitors(place: ImportTarget, names: readonly string[]): Promise<Map<string, number>>
  /** Returns the number of visitors that a run was the first to have. */
  countVisitors(importId: number, run: number): number
  /** Forgets the stored visitors whose name begins with a prefix in hex. */
  forgetVisitors(importId: number, prefix: string): Promise<void>
  /** Joins the runs of an import up to the last completed one, so that their segments can be merged. Idempotent. */
  joinRuns(importId: number, lastRun: number): Promise<void>
  /** Deletes an import, or one of its runs, and all texts that nothing else references. */
  drop(siteId: number, importId: number, run?: number): Promise<void>
  /**
   * Replaces the imports of a site that answers include, in the transaction of the given statements. Returns a function that makes the
   * change effective for the next query: call it in `committed` of the transaction.
   */
  show(statements: OwnStatements | Statements, siteId: number, imports: readonly EffectiveImport[]): Promise<() => void>
  /** Returns the start of the first native visit of a site in epoch milliseconds, or undefined without any. */
  nativeStart(siteId: number): number | undefined
  /** Returns the local days with native visits, or with visits of an import. Reads the start of every visit, in slices. */
  visitDays(siteId: number, timezone: string, signal: AbortSignal, importId?: number): Promise<ReadonlySet<string>>
  /** Returns the function that finds the person of `identify()` by user id, for visits that are to belong to the same visitor. */
  personKeys(siteId: number): Promise<NonNullable<ImportPlace["personOf"]>>
}

export interface VisitsPlace extends ImportTarget {
  visitors?: Map<string, number>
  firstOrdinal?: number
  personOf?: NonNullable<ImportPlace["personOf"]>
  build?: NonNullable<ImportPlace["build"]>
  /** Called when all rows were read. */
  cursor?: () => ImportCursor
}

interface ImportWriterOptions {
  events: EventStore
  visible: Pick<VisibleImports, "replace">
  /** Announces new sale events of a site. */
  sales: { announce(siteId: number): void }
  sites: { directory: Pick<SiteDirectory, "byId"> }
  siteKeys: Pick<IdentityKeys, "identityKey">
  now(): number
}

export const importWriters = ({ events, visible, sales, sites, siteKeys, now }: ImportWriterOptions): ImportWriters => ({
  addVisits(place, visits) {
    const orderProperty = sites.directory.byId(place.siteId)?.settings.order_property
    return events.importVisits({ ...place, ...(orderProperty !== undefined && { orderProperty }) }, visits)
  },
  addRecords: (place, records) => events.importVisits(place, records),
  addTotals: (place, kind, rows) => events.importTotals(place, kind, rows),
  shipped: events.shipped,
  removedElsewhere: events.removedElsewhere,
  cursor: events.importCursor,
  reserveVisitors: events.reserveVisitors,
  nameVisitors: events.nameVisitors,
  countVisitors: events.countVisitors,
  forgetVisitors: events.forgetImportedVisitors,
  joinRuns: events.joinRuns,
  drop: (siteId, importId, run) => events.dropImport(siteId, importId, now(), run),
  async show(statements, siteId, imports) {
    const show = await visible.replace(statementsBehind(statements), siteId, imports)
    return () => {
      show()
      sales.announce(siteId)
    }
  },
  nativeStart: (siteId) => events.firstAt(siteId),
  visitDays: (siteId, timezone, signal, importId = 0) => daysOf(events.visitStarts(siteId, importId), timezone, signal),
  async personKeys(siteId) {
    const key = await siteKeys.identityKey(siteId)
    return (userId) => personKey(key, "user", userId)
  },
})

/** Number of visits after which other work gets a turn. */
const SLICE = 10_000

async function daysOf(starts: ReturnType<EventStore["visitStarts"]>, timezone: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const days = new Set<string>()
  // Visits of a segment are ordered by start, so the day is computed only when it changes.
  let [from, to] = [0, 0]
  let visits = 0
  for await (const part of starts) {
    for (const start of part) {
      if (++visits % SLICE === 0) {
        await Bun.sleep(0)
        signal.throwIfAborted()
      }
      if (start >= from && start < to) continue
      const day = Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO(timezone).toPlainDate()
      days.add(day.toString())
      from = dayStart(day, timezone)
      to = dayStart(day.add({ days: 1 }), timezone)
    }
  }
  return days
}
