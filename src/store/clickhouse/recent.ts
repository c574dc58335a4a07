import type { LatestEvent } from "../../domain/query.ts"
import type { Clickhouse } from "./client.ts"

/** An event of the last minutes, as live views show it. */
export interface RecentEvent extends LatestEvent {
  /** Key of its visit. */
  visit: string
}

const HOUR_MS = 3_600_000
/** A visit lasts at most a day, and a late event can have moved its start. */
const LONGEST_MS = 25 * HOUR_MS

/** Returns the newest events of a site since a moment that all nodes but one have recorded, the oldest first. */
export async function recentOfOthers(
  clickhouse: Clickhouse,
  node: number,
  { siteId, since, limit }: { siteId: number; since: number; limit: number },
): Promise<RecentEvent[]> {
  const sql = `select visit, started_at + offset as at, name, page, hostname, source, country, device, browser
    from visits final array join e.offset as offset, e.name as name, e.page as page, e.hostname as hostname, arrayEnumerate(e.offset) as place
    where site_id = {site:UInt32} and kind = 'visits' and import_id = 0 and opened_at > {opened:Int64} and visit % 256 != {node:UInt8}
      and started_at + length >= {since:Int64} and at >= {since:Int64}
    order by at desc, visit desc, place desc limit {limit:UInt32}`
  const parameters = { site: siteId, opened: since - LONGEST_MS, since, node, limit }
  const rows = await clickhouse.rows<Omit<RecentEvent, "at"> & { at: string }>(sql, { parameters })
  return rows.map((row) => ({ ...row, at: Number(row.at) })).reverse()
}
