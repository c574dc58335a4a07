import type { Database } from "bun:sqlite"
import { translateErrors } from "../fault.ts"

/** The size of a site's columnar segments of one kind. */
export interface SegmentUsage {
  site_id: number
  kind: string
  segments: number
  visits: number
  events: number
  bytes: number
  /** Time of the latest event, in epoch milliseconds. */
  last_at: number
}

/** The size of a table. `bytes` includes its indexes. */
export interface TableUsage {
  table: string
  rows: number
  bytes: number
}

/** Lists the sizes of segments by site and kind, including hidden ones, without replaced ones. */
export const listSegmentUsage = (db: Database): SegmentUsage[] =>
  translateErrors(() =>
    db
      .query<SegmentUsage, []>(
        `select site_id, kind, count(*) as segments, sum(visits) as visits, sum(events) as events, sum(bytes) as bytes,
          max(max_at) as last_at
        from segments where retired_at is null group by site_id, kind order by site_id, kind`,
      )
      .all(),
  )

/** Lists the sizes of all tables. Reads every page, so call it in a worker. The hourly tables of event ids are added up. */
export function listTableUsage(db: Database): TableUsage[] {
  return translateErrors(() => {
    const tables = db
      .query<{ name: string; bytes: number }, []>(
        `select coalesce(s.tbl_name, d.name) as name, sum(d.pgsize) as bytes
        from dbstat d left join sqlite_schema s on s.name = d.name group by 1 order by 1`,
      )
      .all()
    const rowsOf = (name: string): number =>
      name === "sqlite_schema" ? 0 : db.query<{ n: number }, []>(`select count(*) as n from "${name}"`).get()!.n // a name of the schema
    const found = tables.map(({ name, bytes }) => ({ table: name.replace(/^event_ids_\d+$/, "event_ids"), rows: rowsOf(name), bytes }))
    return [...Map.groupBy(found, ({ table }) => table)].map(([table, parts]) => ({
      table,
      rows: parts.reduce((sum, part) => sum + part.rows, 0),
      bytes: parts.reduce((sum, part) => sum + part.bytes, 0),
    }))
  })
}
