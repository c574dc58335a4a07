import type { Database } from "bun:sqlite"
import type { IngestOutcome } from "../../domain/event.ts"

/** Events of a site with one outcome in a minute. Site 0 is the instance. */
export interface IngestMinute {
  /** Epoch minutes. */
  minute: number
  site_id: number
  outcome: IngestOutcome
  count: number
}

/** Adds to what is counted already, and forgets what lies before a minute. In the transaction of the caller. */
export function addIngestMinutes(db: Database, rows: readonly IngestMinute[], forgetBefore: number): void {
  const add = db.query(`insert into ingest_minutes (minute, site_id, outcome, count) values (?, ?, ?, ?)
    on conflict do update set count = count + excluded.count`)
  for (const { minute, site_id, outcome, count } of rows) add.run(minute, site_id, outcome, count)
  db.query("delete from ingest_minutes where minute < ?").run(forgetBefore)
}

/** By minute, both ends included; of all sites together, or of one. */
export function listIngestMinutes(
  db: Database,
  { from, to, siteId }: { from: number; to: number; siteId: number | undefined },
): Omit<IngestMinute, "site_id">[] {
  const ofSite = siteId === undefined ? "" : "and site_id = $siteId"
  const sql = `select minute, outcome, sum(count) as count from ingest_minutes
    where minute between $from and $to ${ofSite} group by minute, outcome order by minute, outcome`
  const query = db.query<Omit<IngestMinute, "site_id">, Record<string, number>>(sql)
  return query.all({ from, to, ...(siteId !== undefined && { siteId }) })
}
