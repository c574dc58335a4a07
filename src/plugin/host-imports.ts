import type { EventStore } from "../store/events/events.ts"
import type { ImportedVisit } from "../store/events/import.ts"

/** Visits from elsewhere, in segments of their own import: every filter, report, goal and funnel works on them. */
export interface ImportWriters {
  /** One batch. Each call adds: a caller that was cut off drops the import and begins anew, or knows where it was. */
  addVisits(siteId: number, importId: number, visits: Iterable<ImportedVisit>): Promise<void>
  /** All of an import goes, with the texts that nothing else refers to. */
  drop(siteId: number, importId: number): Promise<void>
  /** Takes part in answers, or not, from the next one on. */
  hide(siteId: number, importId: number, hidden: boolean): void
}

export const importWriters = (events: EventStore, now: () => number): ImportWriters => ({
  addVisits: (siteId, importId, visits) => events.importVisits(siteId, importId, visits),
  drop: (siteId, importId) => events.dropImport(siteId, importId, now()),
  hide: (siteId, importId, hidden) => events.hideImport(siteId, importId, hidden),
})
