/** What ClickHouse has of a site, for the parts of the program that do not ask through a query worker. Hidden visits do not count. */
import type { DictionaryName } from "../../domain/dimension.ts"
import { firstAtLeast } from "../events/bytes/ascending.ts"
import type { SegmentKind } from "../events/bytes/lanes.ts"
import type { Elsewhere, TimeSpan } from "../events/spool/dropped.ts"
import type { OldVisits, SiteLimit } from "../events/upkeep/old-visits.ts"
import type { Clickhouse, Parameters } from "./client.ts"
import { TEXT_COLUMNS } from "./read/columns.ts"
import { readBlocks, type Wide, wideNumbers } from "./read/native.ts"

const OF_SITE = "from visits final where site_id = {site:UInt32}"
const RECORDED = `${OF_SITE} and kind = {kind:String} and import_id = 0`
const DAY_MS = 86_400_000
/** A late event moves the start of a visit by less, because a visit lasts at most a day. */
const MOVED_MS = 2 * DAY_MS
/** Days of all time zones begin at a multiple of it. */
const QUARTER_MS = 900_000
/** Number of visitors or sites per statement, which has to contain them. */
const SLICE = 10_000

/** Returns the time span of the recorded visits of a site, or of its records of a kind. Undefined without any. */
export async function spanOf(clickhouse: Clickhouse, siteId: number, kind: SegmentKind): Promise<TimeSpan | undefined> {
  // Visits are stored in the order in which they were opened, so only the first and the last ones are read.
  const edge = (order: string) => `(select opened_at ${RECORDED} order by opened_at ${order} limit 1)`
  const sql = `select min(started_at) as first, max(started_at + length) as last, count() as visits ${RECORDED}
    and (opened_at <= assumeNotNull(${edge("asc")}) + ${MOVED_MS} or opened_at >= assumeNotNull(${edge("desc")}) - ${MOVED_MS})`
  const [row] = await clickhouse.rows<Record<"first" | "last" | "visits", string>>(sql, { parameters: { site: siteId, kind } })
  return Number(row!.visits) === 0 ? undefined : { firstAt: Number(row!.first), lastAt: Number(row!.last) } // the query has one row
}

/** Returns of which kinds sites have recorded visits or records. */
export async function kindsOf(clickhouse: Clickhouse, siteIds: readonly number[]): Promise<{ siteId: number; kind: SegmentKind }[]> {
  const found: { siteId: number; kind: SegmentKind }[] = []
  for (let from = 0; from < siteIds.length; from += SLICE) {
    const sql = `select distinct site_id as siteId, toString(kind) as name from visits
      where site_id in (${siteIds.slice(from, from + SLICE).join()}) and import_id = 0 and gone = 0`
    const rows = await clickhouse.rows<{ siteId: number; name: string }>(sql)
    for (const { siteId, name } of rows) found.push({ siteId, kind: name as SegmentKind }) // a kind of the schema
  }
  return found
}

/** Returns whether a site has events from a host, or from any subdomain if it is written as `*.shop.example`. */
export async function hasEventsFrom(clickhouse: Clickhouse, siteId: number, host: string): Promise<boolean> {
  const isBelow = host.startsWith("*.")
  const test = isBelow ? "endsWith(name, {host:String})" : "name = {host:String}"
  const sql = `select 1 from visits where site_id = {site:UInt32} and import_id = 0 and gone = 0
    and arrayExists(name -> ${test}, e.hostname) limit 1`
  return (await clickhouse.rows(sql, { parameters: { site: siteId, host: isBelow ? host.slice(1) : host } })).length > 0
}

/** Yields the different starts of visits, rounded down to 15 minutes: those of an import, or the recorded ones (0). */
export async function* quartersOf(clickhouse: Clickhouse, siteId: number, importId: number): AsyncGenerator<Float64Array> {
  const sql = `select distinct intDiv(started_at, ${QUARTER_MS}) * ${QUARTER_MS} as start
    ${OF_SITE} and kind = 'visits' and import_id = {import:UInt32} order by start`
  const bytes = await clickhouse.read(sql, { parameters: { site: siteId, import: importId } })
  for (const block of readBlocks(bytes)) yield wideNumbers(block.columns.get("start")!.values as Wide) // of 64 bits
}

/** Counts the visits and records that retention would remove, by site and kind. Their size is not known. */
export async function countOldVisits(clickhouse: Clickhouse, sites: readonly SiteLimit[]): Promise<OldVisits[][]> {
  const sql = `select toString(kind) as kind, count() as visits, sum(length(e.offset)) as events, min(started_at) as first
    ${OF_SITE} and started_at < {before:Int64} group by kind`
  const counted: OldVisits[][] = []
  for (const { id, before } of sites) {
    const rows = await clickhouse.rows<Record<"kind" | "visits" | "events" | "first", string>>(sql, { parameters: { site: id, before } })
    const ofKinds = rows.map(({ kind, visits, events, first }) => ({
      ...{ kind: kind as SegmentKind, visits: Number(visits), events: Number(events), bytes: 0 }, // a kind of the schema
      days: Math.ceil((before - Number(first)) / DAY_MS),
    }))
    counted.push(ofKinds)
  }
  return counted
}

/** Returns the mean size of an event on the disks of the server, in bytes. */
export async function bytesPerEvent(clickhouse: Clickhouse): Promise<number> {
  const size = "select sum(bytes_on_disk) from system.parts where active and database = currentDatabase() and table = 'visits'"
  const [row] = await clickhouse.rows<{ size: string; events: string }>(
    `select assumeNotNull((${size})) as size, sum(length(e.offset)) as events from visits`,
  )
  return Number(row!.events) === 0 ? 0 : Number(row!.size) / Number(row!.events) // the query has one row
}

/** Returns what visits on ClickHouse refer to. */
export const contentsOf = (clickhouse: Clickhouse): Elsewhere => ({
  async texts(siteId, name, key) {
    const hashes = await hashesOf(clickhouse, selectionsOf(name, key), { site: siteId, ...(key !== undefined && { key }) })
    return (text) => has(hashes, Bun.hash.xxHash64(text))
  },
  async visitors(siteId, numbers) {
    const found = new Set<number>()
    for (let from = 0; from < numbers.length; from += SLICE) {
      const sql = `select distinct visitor ${OF_SITE} and visitor in (${numbers.slice(from, from + SLICE).join()})`
      for (const { visitor } of await clickhouse.rows<{ visitor: string }>(sql, { parameters: { site: siteId } }))
        found.add(Number(visitor))
    }
    return found
  },
})

/** Returns the expressions whose values are the texts of a dictionary. Some dictionaries are those of imported totals only. */
function selectionsOf(name: DictionaryName, key: string | undefined): string[] {
  if (key !== undefined) return ["arrayJoin(arrayFilter((value, key) -> key = {key:String}, `p.value`, `p.key`))"]
  const columns = Object.keys(TEXT_COLUMNS).filter((column) => TEXT_COLUMNS[column] === name)
  return columns.map((column) => (column.includes(".") ? `arrayJoin(\`${column}\`)` : `\`${column}\``))
}

/** Returns hashes of the different values of expressions, ascending. There can be millions, of which the texts would take too much memory. */
async function hashesOf(clickhouse: Clickhouse, selections: readonly string[], parameters: Parameters): Promise<BigUint64Array> {
  const hashes: BigUint64Array[] = []
  for (const selection of selections) {
    const sql = `select distinct cast(xxHash64(toString(${selection})), 'UInt64') as hash ${OF_SITE}`
    for (const block of readBlocks(await clickhouse.read(sql, { parameters }))) {
      const { halves } = block.columns.get("hash")!.values as Wide // of 64 bits
      hashes.push(new BigUint64Array(halves.slice().buffer))
    }
  }
  const all = new BigUint64Array(hashes.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const one of hashes) {
    all.set(one, at)
    at += one.length
  }
  return all.sort()
}

const has = (sorted: BigUint64Array, wanted: bigint): boolean => sorted[firstAtLeast(sorted, wanted)] === wanted
