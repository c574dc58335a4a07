import { raw, sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

/** What nodes keep in memory or wait for, as named by the triggers of the catalog. */
export type Topic =
  | "sites"
  | "site_keys"
  | "goals"
  | "funnels"
  | "segments"
  | "visible_imports"
  | "instance_shields"
  | "settings"
  | "plugins"
  | "schedules"
  | "hosts"
  | "mails"

interface ChangeRow {
  /** A `Topic`, or the name of a table that a plugin keeps in memory. */
  topic: string
  /** Id of the site, or key of the setting. Empty for topics that are read as a whole. */
  key: string
  version: number
}

/** Counts the changes of a table from now on, under its name and by the ids of its rows. Idempotent. */
export async function countChanges(catalog: Statements, table: string): Promise<void> {
  for (const [event, row] of [
    ["insert", "new"],
    ["update", "new"],
    ["delete", "old"],
  ] as const)
    await catalog.run(
      raw(`create trigger if not exists ${table}_changed_by_${event} after ${event} on ${table} begin
        insert into changing values ('${table}', ${row}.id);
      end`),
    )
}

/** Returns the version of the latest change. */
export async function latestVersion(catalog: Statements): Promise<number> {
  const row = await catalog.get<{ version: number | null }>(sql`select max(version) as version from changes`)
  return row?.version ?? 0
}

/** Lists the latest change of each thing after a version, by version ascending. */
export const listChanges = (catalog: Statements, { after, limit }: { after: number; limit: number }): Promise<ChangeRow[]> =>
  catalog.all(sql`select topic, key, version from changes where version > ${after} order by version limit ${limit}`)
