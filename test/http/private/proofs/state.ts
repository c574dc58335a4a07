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
  const tables = await catalog.all<{ name: string }>(sql`select name from sqlite_master where type = 'table' order by name`)
  const digests = tables
    .filter(({ name }) => !COUNTING.has(name))
    .map(async ({ name }) => {
      const rows = await catalog.all<object>(sql`select * from ${raw(name)}`)
      const kept = rows.map((row) => Object.entries(row).filter(([column]) => !PASSING.has(column)))
      return [name, Bun.hash(JSON.stringify(kept)).toString(36)] as const
    })
  return Object.fromEntries(await Promise.all(digests))
}
