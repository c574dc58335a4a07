/** What an operator should know about the server and about what the nodes have stored there. */
import { type Clickhouse, ClickhouseFault } from "./client.ts"

/** Privileges on the database that the program uses all the time. */
const PRIVILEGES = ["select", "insert", "create table", "alter table"] as const
/** Number of the exception for a statement that the version does not know. */
const SYNTAX_ERROR = 62

/** Returns the privileges that the user lacks. Undefined when the version cannot tell. */
export async function missingPrivileges(clickhouse: Clickhouse): Promise<string[] | undefined> {
  const missing: string[] = []
  try {
    for (const privilege of PRIVILEGES) {
      const [row] = await clickhouse.rows<{ result: number }>(`check grant ${privilege} on *`)
      if (row?.result !== 1) missing.push(privilege)
    }
  } catch (error) {
    if (error instanceof ClickhouseFault && error.code === SYNTAX_ERROR) return undefined
    throw error
  }
  return missing
}

/** Returns the largest number of unmerged parts of visits in a month. Each of them makes reports slower. */
export async function unmergedParts(clickhouse: Clickhouse): Promise<number> {
  const sql = `select max(parts) as parts from (select count() as parts from system.parts
    where active and database = currentDatabase() and table = 'visits' group by partition)`
  const [row] = await clickhouse.rows<{ parts: string }>(sql)
  return Number(row!.parts) // an aggregate without groups has one row
}

/** Visitors since a moment, and those of them whose requests have reached two nodes. */
export interface Routing {
  visitors: number
  split: number
}

const VISIT_MS = 1_800_000

/**
 * Counts the visitors with visits that opened since a moment, and those with visits on two nodes within 30 minutes. A visitor without user id
 * and device id has one address, so the load balancer should have sent all their requests to one node.
 */
export async function routingSince(clickhouse: Clickhouse, since: number): Promise<Routing> {
  const sql = `select count() as visitors, countIf(arrayExists(
      (a, b) -> a.3 != b.3 and b.1 - a.2 < ${VISIT_MS}, arrayPopBack(visits), arrayPopFront(visits))) as split
    from (
      select arraySort(groupArray((started_at, started_at + length, visit % 256))) as visits from visits final
      where kind = 'visits' and import_id = 0 and visitor_kind = 'rotating' and opened_at >= {since:Int64} group by site_id, visitor
    )`
  const [row] = await clickhouse.rows<Record<keyof Routing, string>>(sql, { parameters: { since } })
  return { visitors: Number(row!.visitors), split: Number(row!.split) } // an aggregate without groups has one row
}
