import type { Clickhouse, Parameters } from "./client.ts"

/** Version of a tombstone: no version of a visit is higher, so nothing that is shipped later brings the visit back. */
const LAST_VERSION = 2n ** 64n - 1n

/** The visits and records of a site to erase. */
export type Erasure = { visitors: readonly bigint[] } | { startedBefore: number } | { importId: number; run?: number }

/** Hides visits of a site from every answer. Their texts stay on disk until `deleteHidden`. */
export async function hideVisits(clickhouse: Clickhouse, siteId: number, erasure: Erasure): Promise<void> {
  const { condition, parameters } = conditionOf(erasure)
  const sql = `insert into visits (site_id, kind, opened_at, visit, version, gone)
    select site_id, kind, opened_at, visit, {version:UInt64}, 1 from visits final where site_id = {site:UInt32} and ${condition}`
  await clickhouse.run(sql, { parameters: { site: siteId, version: LAST_VERSION, ...parameters } })
}

function conditionOf(erasure: Erasure): { condition: string; parameters: Parameters } {
  if ("visitors" in erasure) return { condition: "visitor in {visitors:Array(UInt64)}", parameters: { visitors: erasure.visitors } }
  if ("startedBefore" in erasure) return { condition: "started_at < {before:Int64}", parameters: { before: erasure.startedBefore } }
  const { importId, run } = erasure
  if (run === undefined) return { condition: "import_id = {import:UInt32}", parameters: { import: importId } }
  return { condition: "import_id = {import:UInt32} and run = {run:UInt32}", parameters: { import: importId, run } }
}

/** Time for the rewrite of the parts that contain hidden visits. */
const MUTATION_MS = 3_600_000
/** Number of visits per rewrite. Their keys have to fit into a statement. */
const SLICE = 10_000
/** Interval at which the server is asked whether replaced parts are gone. */
const POLL_MS = 500

/**
 * Deletes the hidden visits of a site, all versions of them, and resolves when the parts that contained them are deleted too. Every node must have
 * erased the visits from its spool before: the tombstones are deleted with the visits.
 */
export async function deleteHidden(clickhouse: Clickhouse, siteId: number): Promise<void> {
  const parameters = { site: siteId }
  const hidden = `select distinct toString(visit) as visit from visits where site_id = {site:UInt32} and gone = 1 limit ${SLICE}`
  const next = async () => (await clickhouse.rows<{ visit: string }>(hidden, { parameters })).map(({ visit }) => BigInt(visit))
  for (let visits = await next(); visits.length > 0; visits = await next()) {
    // A subquery would be evaluated for each part, and the first part that is rewritten may be the one with the tombstone.
    const sql = `alter table visits delete where site_id = {site:UInt32} and visit in (${visits.join()}) settings mutations_sync = 2`
    await clickhouse.run(sql, { parameters, timeoutMs: MUTATION_MS })
  }
  const replaced = "select name from system.parts where database = currentDatabase() and table = 'visits' and not active"
  const former = (await clickhouse.rows<{ name: string }>(replaced)).map(({ name }) => name)
  const areGone = async () => !(await clickhouse.rows<{ name: string }>(replaced)).some(({ name }) => former.includes(name))
  while (!(await areGone())) await Bun.sleep(POLL_MS)
}
