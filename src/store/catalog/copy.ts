import { Database } from "bun:sqlite"
import { applicationId } from "../events/database.ts"
import { translateErrors } from "../events/fault.ts"
import { type Examination, examine, hasTable } from "../examination.ts"
import { sql } from "../sql.ts"
import { APPLICATION_ID, type Statements } from "./catalog.ts"

/** The result of examining a closed catalog file. */
export interface CatalogExamination extends Examination {
  /** Whether the file is a Footfall catalog and not one of another program. */
  ours: boolean
}

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

/**
 * Deletes from a copy what no backup may contain: the salts, those of areas included, the dashboard sessions, and free pages. Blocks the
 * thread, so call it in a worker. It does not use libSQL, which each worker would have to load again.
 */
export function removeSecretsOfCopy(path: string): void {
  translateErrors(() => {
    using db = new Database(path, { readwrite: true, create: false })
    for (const setting of ["journal_mode = delete", "synchronous = full", "secure_delete = on"]) db.run(`pragma ${setting}`)
    for (const name of ["salts", "sessions"]) if (hasTable(db, name)) db.run(`delete from ${name}`)
    if (hasTable(db, "secrets")) db.run("delete from secrets where purpose = 'salts'")
    db.run("vacuum")
  })
}

/**
 * Examines a closed file; `full` also checks every index. Throws `StoreFault` when it cannot be read as a database at all. Blocks the
 * thread.
 */
export function examineCatalogFile(path: string, { full }: { full: boolean }): CatalogExamination {
  return translateErrors(() => {
    using db = new Database(path, { readonly: true })
    const ours = applicationId(db) === APPLICATION_ID
    const { faults, schema, tables } = examine(db, { full })
    return ours ? { ours, faults, schema, tables } : { ours, faults, schema: [], tables: {} }
  })
}
