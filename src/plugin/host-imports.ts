import type { RecordKind } from "../domain/record.ts"
import type { EventStore } from "../store/events/events.ts"
import type { ImportedVisit } from "../store/events/import.ts"

/** Visits from elsewhere, in segments of their own import: every filter, report, goal and funnel works on them. */
export interface ImportWriters {
  /** One batch. Each call adds: a caller that was cut off drops the import and begins anew, or knows where it was. */
  addVisits(place: ImportTarget, visits: Iterable<ImportedVisit>): Promise<void>
  /** The same of records, each a visit of one event: they count where records do, and in no metric of the site. */
  addRecords(place: ImportTarget & { kind: RecordKind }, records: Iterable<ImportedVisit>): Promise<void>
  /** All of an import goes, with the texts that nothing else refers to. */
  drop(siteId: number, importId: number): Promise<void>
  /** Takes part in answers, or not, from the next one on. */
  hide(siteId: number, importId: number, hidden: boolean): void
}

export interface ImportTarget {
  siteId: number
  importId: number
  /** Kept by the caller between calls: a visitor of the same name is then one visitor in all of them. */
  visitors?: Map<string, number>
}

export const importWriters = (events: EventStore, now: () => number): ImportWriters => ({
  addVisits: ({ siteId, importId, visitors }, visits) => events.importVisits({ siteId, importId, ...(visitors && { visitors }) }, visits),
  addRecords: (place, records) => events.importVisits(place, records),
  drop: (siteId, importId) => events.dropImport(siteId, importId, now()),
  hide: (siteId, importId, hidden) => events.hideImport(siteId, importId, hidden),
})
