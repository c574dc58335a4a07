import type { RecordKind } from "../domain/record.ts"
import type { EventStore } from "../store/events/events.ts"
import type { ImportedVisit } from "../store/events/import.ts"

/** Imported visits, stored in separate segments per import. All filters, reports, goals and funnels include them. */
export interface ImportWriters {
  /** Adds a batch of visits. After an interruption, the caller deletes the import and restarts, or continues at a known position. */
  addVisits(place: ImportTarget, visits: Iterable<ImportedVisit>): Promise<void>
  /** Adds a batch of records, each a visit with one event. They appear in reports of records, not in metrics of the site. */
  addRecords(place: ImportTarget & { kind: RecordKind }, records: Iterable<ImportedVisit>): Promise<void>
  /** Deletes an import and all texts that nothing else references. */
  drop(siteId: number, importId: number): Promise<void>
  /** Includes an import in reports, or excludes it, from the next report on. */
  hide(siteId: number, importId: number, hidden: boolean): void
}

export interface ImportTarget {
  siteId: number
  importId: number
  /** State that the caller keeps between calls, so that visitors with the same name are one visitor in all batches. */
  visitors?: Map<string, number>
}

export const importWriters = (events: EventStore, now: () => number): ImportWriters => ({
  addVisits: ({ siteId, importId, visitors }, visits) => events.importVisits({ siteId, importId, ...(visitors && { visitors }) }, visits),
  addRecords: (place, records) => events.importVisits(place, records),
  drop: (siteId, importId) => events.dropImport(siteId, importId, now()),
  hide: (siteId, importId, hidden) => events.hideImport(siteId, importId, hidden),
})
