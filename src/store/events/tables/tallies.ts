import type { Database } from "bun:sqlite"
import type { DropReason, IngestOutcome } from "../../../domain/event.ts"
import { translateErrors } from "../fault.ts"
import type { Journal } from "../journal.ts"
import type { DropSample } from "../writer.ts"
import { type DropRow, forgetDays, latestDropSamples, listDropSamples, listDrops } from "./drops.ts"
import { forgetTallies } from "./tally-changes.ts"

/** The counters of events: dropped events by day, and received events by minute. */
export interface Tallies {
  drops(siteId: number, fromDay: string, toDay: string): DropRow[]
  dropSamples(siteId: number): DropSample[]
  /** Returns the newest dropped events of all sites and of the instance, at most `limit`. */
  latestDropSamples(reason: DropReason | undefined, limit: number): (DropSample & { site_id: number })[]
  /** Deletes drop counts of earlier days. */
  forgetDays(before: string): void
  /**
   * Deletes the counters of a site. A second engine deletes what it has of them and of the user ids of the site; those that are stored now are
   * among the next changes.
   */
  forgetTallies(siteId: number): Promise<void>
  /** Adds to the counts per minute and deletes those before an epoch minute. */
  addIngestMinutes(rows: readonly IngestMinute[], forgetBefore: number): void
  /** Returns the counts per minute. */
  ingestMinutes(range: MinuteRange): Omit<IngestMinute, "site_id">[]
}

/** Epoch minutes, inclusive, of one site or of all together. */
export interface MinuteRange {
  from: number
  to: number
  siteId: number | undefined
}

export function talliesOf(journal: Journal): Tallies {
  const { db } = journal
  return {
    drops: (siteId, fromDay, toDay) => translateErrors(() => listDrops(db, siteId, fromDay, toDay)),
    dropSamples: (siteId) => translateErrors(() => listDropSamples(db, siteId)),
    latestDropSamples: (reason, limit) => translateErrors(() => latestDropSamples(db, reason, limit)),
    forgetDays: (before) => journal.commit(() => forgetDays(db, before)),
    forgetTallies: (siteId) => forgetTallies(journal, siteId),
    addIngestMinutes: (rows, forgetBefore) => journal.commit(() => addIngestMinutes(db, rows, forgetBefore)),
    ingestMinutes: (range) => translateErrors(() => listIngestMinutes(db, range)),
  }
}

/** Events of a site with one outcome in a minute. Site 0 is the instance. */
export interface IngestMinute {
  /** Epoch minutes. */
  minute: number
  site_id: number
  outcome: IngestOutcome
  count: number
}

/** Adds to the counts and deletes those before a minute, in the transaction of the caller. */
export function addIngestMinutes(db: Database, rows: readonly IngestMinute[], forgetBefore: number): void {
  const add = db.query(`insert into ingest_minutes (minute, site_id, outcome, count) values (?, ?, ?, ?)
    on conflict do update set count = count + excluded.count`)
  for (const { minute, site_id, outcome, count } of rows) add.run(minute, site_id, outcome, count)
  db.query("delete from ingest_minutes where minute < ?").run(forgetBefore)
}

/**
 * Returns whether a row counts towards the total of all sites. An event from a disputed host is counted for each claimant and once for
 * the instance; only the latter counts towards the total.
 */
export const countsForAll = ({ site_id, outcome }: Pick<IngestMinute, "site_id" | "outcome">): boolean =>
  outcome !== "host_disputed" || site_id === 0

/** Lists the counts by minute (inclusive) of one site or of all sites together. */
export function listIngestMinutes(db: Database, { from, to, siteId }: MinuteRange): Omit<IngestMinute, "site_id">[] {
  const ofSite = siteId === undefined ? "and (outcome <> 'host_disputed' or site_id = 0)" : "and site_id = $siteId"
  const sql = `select minute, outcome, sum(count) as count from ingest_minutes
    where minute between $from and $to ${ofSite} group by minute, outcome order by minute, outcome`
  const query = db.query<Omit<IngestMinute, "site_id">, Record<string, number>>(sql)
  return query.all({ from, to, ...(siteId !== undefined && { siteId }) })
}
