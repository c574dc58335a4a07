import { raw, sql } from "../../../../src/store/sql.ts"
import type { World } from "../scene.ts"

/** Returns the number of rows ever written to the catalog. It does not change if nothing is written. */
export async function rowsWritten({ instance }: Pick<World, "instance">): Promise<number> {
  const { catalog, outbox, accounts } = instance.app.instance
  await outbox.deliver()
  await accounts.mail.settled()
  return (await catalog.get<{ n: number }>(sql`select total_changes() as n`))!.n
}

/** Returns whether an action leaves the state unchanged. The action may run twice. */
export async function leavesAll(world: Pick<World, "instance">, action: () => Promise<void>): Promise<boolean> {
  const written = await rowsWritten(world)
  await action()
  if (written === (await rowsWritten(world))) return true
  // Perhaps only a last-seen time was written, so the tables are compared.
  const before = await stateOf(world)
  await action()
  return Bun.deepEquals(before, await stateOf(world))
}

/** Columns that record only activity. */
const PASSING = new Set(["last_seen_at", "idle_expires_at", "last_used_at", "last_used_ip_prefix", "last_used_agent"])
/** Tables of counters, which are written some time after the response. */
const COUNTING = new Set(["sqlite_sequence", "api_key_usage"])

/** Returns a digest of each table's contents, without activity and counters. */
export async function stateOf({ instance }: Pick<World, "instance">): Promise<Record<string, string>> {
  const { catalog, outbox, accounts } = instance.app.instance
  await outbox.deliver()
  await accounts.mail.settled()
  const columns = await catalog.all<{ table: string; column: string }>(
    sql`select m.name as "table", c.name as "column" from sqlite_master m join pragma_table_info(m.name) c where m.type = 'table'`,
  )
  const kept = columns.filter(({ table, column }) => !COUNTING.has(table) && !PASSING.has(column))
  const texts = await catalog.all<{ name: string; text: string | null }>(
    raw([...Map.groupBy(kept, ({ table }) => table)].map(textOfTable).join(" union all ")),
  )
  return Object.fromEntries(texts.map(({ name, text }) => [name, Bun.hash(text ?? "").toString(36)]))
}

/** Returns a statement for the text of a table. The store joins the values, because thousands of rows are slow to read. */
const textOfTable = ([name, columns]: [name: string, columns: readonly { column: string }[]]): string =>
  `select '${name}' as name, group_concat(${columns.map(({ column }) => `quote("${column}")`).join(" || ',' || ")}, char(10)) as text from "${name}"`
