import type { SegmentKind } from "../events/bytes/lanes.ts"
import type { Clickhouse, Parameters } from "./client.ts"
import { TALLY_TABLES } from "./tallies.ts"

/** Version of a tombstone: no version of a visit is higher, so nothing that is shipped later brings the visit back. */
const LAST_VERSION = 2n ** 64n - 1n

/** The visits and records of a site to erase. Sequences are those of their first events. */
export type Erasure =
  | "all"
  | { visitors: readonly number[] }
  | { sequences: Float64Array }
  | { startedBefore: number }
  | { importId: number; run?: number }

/** Visits of a site by the events that opened them. */
export interface VisitKeys {
  keys: readonly number[]
}

/** A moment in the life of a node. */
export interface NodeMoment {
  /** Number of the node. */
  node: number
  /** Key of its next visit. */
  next: number
}

/** Hides visits of a site from every answer, or only those that a node has opened before a moment. Their texts stay on disk until `deleteHidden`. */
export async function hideVisits(clickhouse: Clickhouse, siteId: number, erasure: Erasure | VisitKeys, before?: NodeMoment): Promise<void> {
  for (const { condition, parameters } of conditionsOf(erasure)) {
    const early = before ? `and visit % 256 = ${before.node} and visit < ${before.next}` : ""
    const sql = `insert into visits (site_id, kind, opened_at, visit, version, gone)
      select site_id, kind, opened_at, visit, {version:UInt64}, 1 from visits final where site_id = {site:UInt32} and ${condition} ${early}`
    await clickhouse.run(sql, { parameters: { site: siteId, version: LAST_VERSION, ...parameters } })
  }
}

/** Numbers of visits of a kind. */
interface CountedVisits {
  kind: SegmentKind
  visits: number
  /** Pageviews and custom events. */
  events: number
}

/** Counts the visits that an erasure would hide, by kind. */
export async function countVisits(clickhouse: Clickhouse, siteId: number, erasure: Erasure): Promise<CountedVisits[]> {
  const counts: CountedVisits[] = []
  for (const { condition, parameters } of conditionsOf(erasure)) {
    const sql = `select toString(kind) as kind, count() as visits, sum(events) as events from visits final
      where site_id = {site:UInt32} and ${condition} group by kind`
    const rows = await clickhouse.rows<Record<keyof CountedVisits, string>>(sql, { parameters: { site: siteId, ...parameters } })
    for (const { kind, visits, events } of rows) counts.push({ kind: kind as SegmentKind, visits: Number(visits), events: Number(events) })
  }
  return counts
}

/** Yields the sequences of the visits with amounts that an erasure would hide, ascending within each list. */
export async function* visitsWithSales(clickhouse: Clickhouse, siteId: number, erasure: Erasure): AsyncIterable<number[]> {
  for (const { condition, parameters } of conditionsOf(erasure)) {
    const sql = `select sequence from visits final where site_id = {site:UInt32} and kind = 'visits' and notEmpty(r.event)
      and sequence > {after:UInt64} and ${condition} order by sequence limit ${SLICE}`
    for (let after = 0, isAll = false; !isAll; ) {
      const rows = await clickhouse.rows<{ sequence: string }>(sql, { parameters: { site: siteId, after, ...parameters } })
      const sequences = rows.map(({ sequence }) => Number(sequence))
      if (sequences.length > 0) yield sequences
      after = sequences.at(-1) ?? after
      isAll = rows.length < SLICE
    }
  }
}

/** Returns the conditions of an erasure, several when its sequences do not fit into one statement. */
function conditionsOf(erasure: Erasure | VisitKeys): { condition: string; parameters?: Parameters }[] {
  if (erasure === "all") return [{ condition: "1" }]
  if ("keys" in erasure) return [{ condition: `visit in (${erasure.keys.join()})` }]
  if ("visitors" in erasure) return [{ condition: "visitor in {visitors:Array(UInt64)}", parameters: { visitors: erasure.visitors } }]
  if ("startedBefore" in erasure) return [{ condition: "started_at < {before:Int64}", parameters: { before: erasure.startedBefore } }]
  if ("sequences" in erasure) {
    const slices = Math.ceil(erasure.sequences.length / SLICE)
    const slice = (at: number) => erasure.sequences.subarray(at * SLICE, (at + 1) * SLICE).join()
    return Array.from({ length: slices }, (_, at) => ({ condition: `sequence in (${slice(at)})` }))
  }
  const { importId, run } = erasure
  if (run === undefined) return [{ condition: "import_id = {import:UInt32}", parameters: { import: importId } }]
  return [{ condition: "import_id = {import:UInt32} and run = {run:UInt32}", parameters: { import: importId, run } }]
}

/** Imported totals of a site to hide: all, those of days before one, or those of an import. */
export type TotalsErasure = "all" | { before: number } | { importId: number; run?: number }

/**
 * Hides totals that other nodes than one have imported, of which that node has nothing in its store. Returns the number of totals. Of a
 * segment with some days before the first one that stays, all days stay on disk; answers leave them out.
 */
export async function hideTotalsOfOthers(clickhouse: Clickhouse, siteId: number, node: number, erasure: TotalsErasure): Promise<number> {
  const chosen = `from totals final where site_id = {site:UInt32} and node != {node:UInt8} and ${conditionOfTotals(erasure)}`
  const parameters = { site: siteId, node, ...(erasure !== "all" && { run: 0, ...erasure }) }
  const [counted] = await clickhouse.rows<{ rows: string }>(`select toString(sum(rows)) as rows ${chosen}`, { parameters })
  const hide = `insert into totals (site_id, node, segment, version, gone) select site_id, node, segment, 1, 1 ${chosen}`
  await clickhouse.run(hide, { parameters })
  return Number(counted!.rows) // a sum is always one row
}

function conditionOfTotals(erasure: TotalsErasure): string {
  if (erasure === "all") return "1"
  if ("before" in erasure) return "last_day < {before:UInt32}"
  return `import_id = {importId:UInt32}${erasure.run === undefined ? "" : " and run = {run:UInt32}"}`
}

/** Returns whether a site has visits of people with a user id or device id. */
export async function hasPeople(clickhouse: Clickhouse, siteId: number): Promise<boolean> {
  const sql = "select 1 from visits where site_id = {site:UInt32} and visitor_kind != 'rotating' limit 1"
  return (await clickhouse.rows(sql, { parameters: { site: siteId } })).length > 0
}

/** Returns whether a visitor has visits or records that were not erased. */
export async function hasVisitor(clickhouse: Clickhouse, siteId: number, visitor: number): Promise<boolean> {
  const sql = "select 1 from visits final where site_id = {site:UInt32} and visitor = {visitor:UInt64} limit 1"
  return (await clickhouse.rows(sql, { parameters: { site: siteId, visitor } })).length > 0
}

/** Time for the rewrite of the parts that contain hidden visits. */
const MUTATION_MS = 3_600_000
/** Number of visits per statement. Their keys have to fit into a statement. */
const SLICE = 10_000
/** Interval at which the server is asked whether replaced parts are gone. */
const POLL_MS = 500

/** A replaced part on disk. */
interface ReplacedPart {
  table: string
  name: string
}

/**
 * Deletes the hidden visits of all sites, all versions of them. Resolves with the replaced parts, which contain them and what was deleted
 * before. `isFinal` states that every node has erased the visits from its spool, so that the tombstones can be deleted too. Otherwise a node
 * would bring them back.
 */
export async function deleteHidden(clickhouse: Clickhouse, isFinal: boolean, signal?: AbortSignal): Promise<ReplacedPart[]> {
  const tombstones = "from visits where gone = 1"
  const deleted = isFinal ? tombstones : `from visits where gone = 0 and (site_id, visit) in (select site_id, visit ${tombstones})`
  const hidden = `select site_id, toString(visit) as visit ${deleted} group by site_id, visit limit ${SLICE}`
  const next = () => clickhouse.rows<{ site_id: number; visit: string }>(hidden)
  for (let visits = await next(); visits.length > 0; visits = await next()) {
    for (const [siteId, ofSite] of Map.groupBy(visits, ({ site_id }) => site_id)) {
      // A subquery would be evaluated for each part, and the first part that is rewritten may be the one with the tombstone.
      const keys = ofSite.map(({ visit }) => BigInt(visit)).join()
      const sql = `alter table visits delete where site_id = ${siteId} and visit in (${keys}) ${isFinal ? "" : "and gone = 0"} settings mutations_sync = 2`
      await clickhouse.run(sql, { timeoutMs: MUTATION_MS, ...(signal && { signal }) })
    }
  }
  await deleteHiddenTotals(clickhouse, isFinal, signal)
  return replacedParts(clickhouse)
}

/** Deletes the imported totals that were removed. */
async function deleteHiddenTotals(clickhouse: Clickhouse, isFinal: boolean, signal?: AbortSignal): Promise<void> {
  const tombstones = "from totals where gone = 1"
  const key = "site_id, node, segment"
  const deleted = isFinal ? tombstones : `from totals where gone = 0 and (${key}) in (select ${key} ${tombstones})`
  const hidden = `select distinct ${key} ${deleted} limit ${SLICE}`
  const keys = await clickhouse.rows<{ site_id: number; node: number; segment: number }>(hidden)
  if (keys.length === 0) return
  const list = keys.map(({ site_id, node, segment }) => `(${site_id}, ${node}, ${segment})`).join()
  const sql = `alter table totals delete where (site_id, node, segment) in (${list}) ${isFinal ? "" : "and gone = 0"} settings mutations_sync = 2`
  await clickhouse.run(sql, { timeoutMs: MUTATION_MS, ...(signal && { signal }) })
}

/** Resolves when parts are gone from the disk, which the server sees to within a minute after it has replaced them. */
export async function partsGone(clickhouse: Clickhouse, parts: readonly ReplacedPart[], signal?: AbortSignal): Promise<void> {
  const keyOf = ({ table, name }: ReplacedPart) => `${table} ${name}`
  const awaited = new Set(parts.map(keyOf))
  while (awaited.size > 0 && (await replacedParts(clickhouse)).some((part) => awaited.has(keyOf(part)))) {
    signal?.throwIfAborted()
    await Bun.sleep(POLL_MS)
  }
}

/** Lists the replaced parts of the tables that removals delete from. */
async function replacedParts(clickhouse: Clickhouse): Promise<ReplacedPart[]> {
  const tables = ["visits", "totals", ...TALLY_TABLES].map((table) => `'${table}'`)
  return clickhouse.rows(`select table, name from system.parts
    where database = currentDatabase() and table in (${tables.join()}) and not active`)
}
