/** The counters and stored user ids of all nodes. Each node stores its own, as they are at the moment: a repetition changes nothing. */
import type { DropReason } from "../../domain/event.ts"
import { dayNumber } from "../../domain/imported.ts"
import { ByteWriter } from "../events/bytes/bytes.ts"
import type { DropRow } from "../events/tables/drops.ts"
import type { IngestMinute, MinuteRange } from "../events/tables/tallies.ts"
import type { TallyChanges } from "../events/tables/tally-changes.ts"
import type { DropSample } from "../events/writer.ts"
import type { Clickhouse, Parameters } from "./client.ts"

/** The tables, whose rows are deleted with those of a copy that is given up. */
export const TALLY_TABLES = ["drops", "ingest_minutes", "drop_samples", "user_ids"] as const

/** What a node has changed, with people by the numbers that all nodes know. */
export interface SharedTallyChanges extends Omit<TallyChanges, "userIds" | "last"> {
  userIds: readonly { site_id: number; visitor: number; userId: string | null }[]
}

/** Number of visitors per statement, which has to contain them. */
const SLICE = 10_000
const SAMPLE_TEXTS = ["reason", "hostname", "page", "browser", "country"] as const

/** Stores what a node has changed. */
export async function storeTallies(clickhouse: Clickhouse, node: number, changes: SharedTallyChanges): Promise<void> {
  const { drops, minutes, samples, userIds } = changes
  const insert = async <Row>(
    table: string,
    columns: readonly string[],
    rows: readonly Row[],
    write: (out: ByteWriter, row: Row) => void,
  ) => {
    const out = new ByteWriter()
    for (const row of rows) write(out, row)
    if (rows.length > 0) await clickhouse.insert(table, columns, out.content())
  }
  await insert("drops", ["site_id", "day", "reason", "entry", "node", "version", "count"], drops, (out, row) => {
    out.uint32(row.site_id)
    out.uint16(dayNumber(row.day))
    for (const text of [row.reason, row.entry]) out.text(text)
    out.byte(node)
    for (const number of [row.version, row.count]) out.uint64(number)
  })
  await insert("ingest_minutes", ["minute", "site_id", "outcome", "node", "version", "count"], minutes, (out, row) => {
    for (const number of [row.minute, row.site_id]) out.uint32(number)
    out.text(row.outcome)
    out.byte(node)
    for (const number of [row.version, row.count]) out.uint64(number)
  })
  const ofSample = ["at", ...SAMPLE_TEXTS].map((name) => `s.${name}`)
  await insert("drop_samples", ["site_id", "node", "version", ...ofSample], samples, (out, row) => {
    out.uint32(row.site_id)
    out.byte(node)
    out.uint64(row.version)
    out.uint(row.samples.length)
    for (const { at } of row.samples) out.uint64(at)
    for (const name of SAMPLE_TEXTS) {
      out.uint(row.samples.length)
      for (const sample of row.samples) out.text(sample[name])
    }
  })
  const stored = userIds.flatMap(({ userId, ...row }) => (userId === null ? [] : [{ ...row, userId }]))
  await insert("user_ids", ["site_id", "visitor", "node", "user_id"], stored, (out, row) => {
    out.uint32(row.site_id)
    out.uint64(row.visitor)
    out.byte(node)
    out.text(row.userId)
  })
  const deleted = Map.groupBy(
    userIds.filter(({ userId }) => userId === null),
    ({ site_id }) => site_id,
  )
  for (const [siteId, rows] of deleted)
    await deleteUserIds(
      clickhouse,
      siteId,
      rows.map(({ visitor }) => visitor),
      node,
    )
}

/** Sums the drop counts of a site between two local days, both inclusive, of all nodes but one. */
export async function dropsOfOthers(clickhouse: Clickhouse, node: number, siteId: number, from: string, to: string): Promise<DropRow[]> {
  const sql = `select toString(day) as local_day, reason, entry, sum(count) as total from drops final
    where site_id = {site:UInt32} and day between toDate({from:String}) and toDate({to:String}) and node != {node:UInt8}
    group by day, reason, entry`
  const parameters = { site: siteId, from, to, node }
  const rows = await clickhouse.rows<Omit<DropRow, "day" | "count"> & { local_day: string; total: string }>(sql, { parameters })
  return rows.map(({ local_day, reason, entry, total }) => ({ day: local_day, reason, entry, count: Number(total) }))
}

interface WantedSamples {
  /** Default: those of all sites. */
  siteId?: number
  reason?: DropReason | undefined
  /** Epoch ms. Default: the oldest that are kept. */
  since?: number
  limit: number
}

/** Returns the newest dropped events of all nodes but one. */
export async function samplesOfOthers(
  clickhouse: Clickhouse,
  node: number,
  { siteId, reason, since, limit }: WantedSamples,
): Promise<(DropSample & { site_id: number })[]> {
  const texts = SAMPLE_TEXTS.map((name) => `\`s.${name}\` as ${name}`)
  const conditions = [
    "node != {node:UInt8}",
    ...(siteId === undefined ? [] : ["site_id = {site:UInt32}"]),
    ...(reason === undefined ? [] : ["reason = {reason:String}"]),
    ...(since === undefined ? [] : ["at >= {since:Int64}"]),
  ]
  const sql = `select site_id, at, ${SAMPLE_TEXTS.join(", ")} from drop_samples final array join \`s.at\` as at, ${texts.join(", ")}
    where ${conditions.join(" and ")} order by at desc limit {limit:UInt32}`
  const parameters: Parameters = {
    ...{ node, limit },
    ...(siteId !== undefined && { site: siteId }),
    ...(reason !== undefined && { reason }),
    ...(since !== undefined && { since }),
  }
  const rows = await clickhouse.rows<Omit<DropSample, "at"> & { site_id: number; at: string }>(sql, { parameters })
  return rows.map((row) => ({ ...row, at: Number(row.at) }))
}

/** Sums the counts per minute of all nodes but one. */
export async function minutesOfOthers(
  clickhouse: Clickhouse,
  node: number,
  { from, to, siteId }: MinuteRange,
): Promise<Omit<IngestMinute, "site_id">[]> {
  const ofSite = siteId === undefined ? "(outcome != 'host_disputed' or site_id = 0)" : "site_id = {site:UInt32}"
  const sql = `select minute, outcome, sum(count) as total from ingest_minutes final
    where minute between {from:UInt32} and {to:UInt32} and node != {node:UInt8} and ${ofSite} group by minute, outcome`
  const parameters = { from, to, node, ...(siteId !== undefined && { site: siteId }) }
  const rows = await clickhouse.rows<Omit<IngestMinute, "site_id" | "count"> & { total: string }>(sql, { parameters })
  return rows.map(({ minute, outcome, total }) => ({ minute, outcome, count: Number(total) }))
}

/** Returns the user ids of visitors, by number. */
export async function userIdsOf(clickhouse: Clickhouse, siteId: number, visitors: readonly number[]): Promise<Map<number, string>> {
  const found = new Map<number, string>()
  for (let from = 0; from < visitors.length; from += SLICE) {
    const sql = `select visitor, user_id from user_ids
      where site_id = {site:UInt32} and visitor in (${visitors.slice(from, from + SLICE).join()})`
    const rows = await clickhouse.rows<{ visitor: string; user_id: string }>(sql, { parameters: { site: siteId } })
    for (const { visitor, user_id } of rows) found.set(Number(visitor), user_id)
  }
  return found
}

/** Returns the visitors with a user id, by number. */
export async function visitorsOfUser(clickhouse: Clickhouse, siteId: number, userId: string): Promise<number[]> {
  const sql = "select distinct visitor from user_ids where site_id = {site:UInt32} and user_id = {user:String} order by visitor"
  const rows = await clickhouse.rows<{ visitor: string }>(sql, { parameters: { site: siteId, user: userId } })
  return rows.map(({ visitor }) => Number(visitor))
}

/** Returns the sites with stored user ids. */
export async function sitesWithUserIds(clickhouse: Clickhouse): Promise<number[]> {
  const rows = await clickhouse.rows<{ site_id: number }>("select distinct site_id from user_ids")
  return rows.map(({ site_id }) => site_id)
}

/** Deletes user ids from the disks of the server: those of some visitors, or all of a site. Default: those that all nodes have stored. */
export async function deleteUserIds(
  clickhouse: Clickhouse,
  siteId: number,
  visitors: readonly number[] | "all",
  node?: number,
): Promise<void> {
  const remove = (condition: string) => deleteRows(clickhouse, "user_ids", `site_id = ${siteId} ${condition} ${ofNode(node)}`)
  if (visitors === "all") return remove("")
  for (let from = 0; from < visitors.length; from += SLICE) await remove(`and visitor in (${visitors.slice(from, from + SLICE).join()})`)
}

/** Deletes the user ids of visitors who have no visit any more. */
export async function deleteUnusedUserIds(clickhouse: Clickhouse, siteId: number): Promise<void> {
  if (!(await sitesWithUserIds(clickhouse)).includes(siteId)) return
  const known = "select visitor from visits final where site_id = {site:UInt32}"
  const sql = `select distinct visitor from user_ids where site_id = {site:UInt32} and visitor not in (${known})`
  const rows = await clickhouse.rows<{ visitor: string }>(sql, { parameters: { site: siteId } })
  await deleteUserIds(
    clickhouse,
    siteId,
    rows.map(({ visitor }) => Number(visitor)),
  )
}

/** Deletes the counters and the user ids of a site from the disks of the server. Default: those that all nodes have stored. */
export async function deleteTallies(clickhouse: Clickhouse, siteId: number, node?: number): Promise<void> {
  for (const table of TALLY_TABLES) await deleteRows(clickhouse, table, `site_id = ${siteId} ${ofNode(node)}`)
}

/** Deletes drop counts of days before one, and counts of minutes before one. */
export async function deleteOldTallies(clickhouse: Clickhouse, { day, minute }: { day: string; minute: number }): Promise<void> {
  await deleteRows(clickhouse, "drops", `day < toDate('${day}')`)
  await deleteRows(clickhouse, "ingest_minutes", `minute < ${minute}`)
}

const ofNode = (node: number | undefined): string => (node === undefined ? "" : `and node = ${node}`)

const deleteRows = (clickhouse: Clickhouse, table: string, condition: string): Promise<void> =>
  clickhouse.run(`alter table ${table} delete where ${condition} settings mutations_sync = 2`)
