import { raw, sql } from "../../../../src/store/sql.ts"
import type { World } from "../scene.ts"

/** How many rows of the catalog were ever written: the same as before when nothing was. */
export async function rowsWritten({ instance }: Pick<World, "instance">): Promise<number> {
  return (await instance.app.instance.catalog.get<{ n: number }>(sql`select total_changes() as n`))!.n
}

/** Whether doing it leaves all as it was; doing it again must do no harm. */
export async function leavesAll(world: Pick<World, "instance">, deed: () => Promise<void>): Promise<boolean> {
  const written = await rowsWritten(world)
  await deed()
  if (written === (await rowsWritten(world))) return true
  // Perhaps only that somebody was seen; the tables tell.
  const before = await stateOf(world)
  await deed()
  return Bun.deepEquals(before, await stateOf(world))
}

/** What says only that somebody was there. */
const PASSING = new Set(["last_seen_at", "idle_expires_at", "last_used_at", "last_used_ip_prefix", "last_used_agent"])
/** What counts requests, and is written when a request is long answered. */
const COUNTING = new Set(["sqlite_sequence", "api_key_usage"])

/** All that people have made, table by table: a digest each. */
export async function stateOf({ instance }: Pick<World, "instance">): Promise<Record<string, string>> {
  const { catalog } = instance.app.instance
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
