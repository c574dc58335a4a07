import type { DropReason } from "../../domain/event.ts"
import { type DropRow, forgetDays, latestDropSamples, listDropSamples, listDrops } from "./drops.ts"
import { translated } from "./fault.ts"
import { addIngestMinutes, type IngestMinute, listIngestMinutes } from "./ingest-minutes.ts"
import type { Journal } from "./journal.ts"
import type { DropSample } from "./writer.ts"

/** What is counted of events beside the visits: what was dropped, by day, and what came in, by minute. */
export interface Tallies {
  drops(siteId: number, fromDay: string, toDay: string): DropRow[]
  dropSamples(siteId: number): DropSample[]
  /** The youngest over all sites, the instance's own included, with the site; at most `limit`. */
  latestDropSamples(reason: DropReason | undefined, limit: number): (DropSample & { site_id: number })[]
  /** Forgets drop counts of days before this one. */
  forgetDays(before: string): void
  /** Adds to the counts of minutes, and forgets those before an epoch minute. */
  addIngestMinutes(rows: readonly IngestMinute[], forgetBefore: number): void
  /** Epoch minutes, both ends included; of all sites together, or of one. */
  ingestMinutes(range: { from: number; to: number; siteId: number | undefined }): Omit<IngestMinute, "site_id">[]
}

export function talliesOf(journal: Journal): Tallies {
  const { db } = journal
  return {
    drops: (siteId, fromDay, toDay) => translated(() => listDrops(db, siteId, fromDay, toDay)),
    dropSamples: (siteId) => translated(() => listDropSamples(db, siteId)),
    latestDropSamples: (reason, limit) => translated(() => latestDropSamples(db, reason, limit)),
    forgetDays: (before) => journal.commit(() => forgetDays(db, before)),
    addIngestMinutes: (rows, forgetBefore) => journal.commit(() => addIngestMinutes(db, rows, forgetBefore)),
    ingestMinutes: (range) => translated(() => listIngestMinutes(db, range)),
  }
}
