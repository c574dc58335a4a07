import type { Client } from "@libsql/client"
import { sql } from "../sql.ts"
import { catalogUrl, type Statements } from "./catalog.ts"
import { createClient, translateErrors } from "./libsql.ts"

/** The result of examining a closed catalog file with SQLite. */
export interface CatalogExamination {
  /** Problems found by the integrity check. Empty when there are none. */
  faults: string[]
  /** Whether the file is a Footfall catalog and not one of another program. */
  ours: boolean
  /** Names of the applied migrations. */
  schema: string[]
  /** Rows by table. */
  tables: Record<string, number>
}

const APPLICATION_ID = 0x46464341

/** Lists the ids of all sites of a catalog of any version, even before its migrations. Returns none when it has no table of sites yet. */
export async function listSiteIds(catalog: Statements): Promise<number[]> {
  const exists = await catalog.get(sql`select 1 from sqlite_schema where type = 'table' and name = 'sites'`)
  if (!exists) return []
  const ids: number[] = []
  for (;;) {
    const slice = await catalog.all<{ id: number }>(sql`select id from sites where id > ${ids.at(-1) ?? 0} order by id limit 1000`)
    ids.push(...slice.map(({ id }) => id))
    if (slice.length < 1_000) return ids
  }
}

/** Deletes from a copy what no backup may contain: the salts, those of areas included, and the dashboard sessions. */
export async function removeSecretsOfCopy(path: string): Promise<void> {
  await withFile(path, async (client) => {
    for (const setting of ["journal_mode = delete", "synchronous = full", "secure_delete = on"]) await client.execute(`pragma ${setting}`)
    const tables = await tablesOf(client)
    for (const name of ["salts", "sessions"]) if (tables.includes(name)) await client.execute(`delete from ${name}`)
    if (tables.includes("secrets")) await client.execute("delete from secrets where purpose = 'salts'")
  })
}

/** Examines a closed file; `full` also checks every index. Throws `StoreFault` when it cannot be read as a database at all. */
export async function examineCatalogFile(path: string, { full }: { full: boolean }): Promise<CatalogExamination> {
  return withFile(path, async (client) => {
    const ours = Number((await client.execute("pragma application_id")).rows[0]?.application_id) === APPLICATION_ID
    const check = await client.execute(full ? "pragma integrity_check(20)" : "pragma quick_check(20)")
    const faults = check.rows.map((row) => String(row[0])).filter((line) => line !== "ok")
    const readable = ours && faults.length === 0
    return { ours, faults, schema: readable ? await schemaOf(client) : [], tables: readable ? await countsOf(client) : {} }
  })
}

async function withFile<T>(path: string, work: (client: Client) => Promise<T>): Promise<T> {
  return translateErrors(async () => {
    const client = await createClient({ url: catalogUrl(path) })
    try {
      return await work(client)
    } finally {
      client.close()
    }
  })
}

async function tablesOf(client: Client): Promise<string[]> {
  const found = await client.execute("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name")
  return found.rows.map((row) => String(row.name))
}

async function schemaOf(client: Client): Promise<string[]> {
  if (!(await tablesOf(client)).includes("migrations")) return []
  const found = await client.execute("select name from migrations where owner = 'core' order by name")
  return found.rows.map((row) => String(row.name))
}

async function countsOf(client: Client): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  // The names come from the schema of a file that Footfall wrote, so they need no quoting.
  for (const name of await tablesOf(client)) counts[name] = Number((await client.execute(`select count(*) as n from "${name}"`)).rows[0]?.n)
  return counts
}
