import type { Database } from "bun:sqlite"

/** The result of examining the file of a store. */
export interface Examination {
  /** Problems found by the integrity check. Empty when there are none. */
  faults: string[]
  /** Names of the applied migrations. */
  schema: string[]
  /** Rows by table. */
  tables: Record<string, number>
}

/**
 * Examines the structure of every page, with `full` also every index. `more` finds further faults in a file without any. Schema and
 * tables are empty if there are faults.
 */
export function examine(db: Database, { full, more = () => [] }: { full: boolean; more?: () => string[] }): Examination {
  const check = db.query<Record<string, string>, []>(full ? "pragma integrity_check(20)" : "pragma quick_check(20)").all()
  const found = check.map((row) => Object.values(row)[0]!).filter((line) => line !== "ok")
  const faults = found.length === 0 ? more() : found
  return faults.length === 0 ? { faults, schema: schemaOf(db), tables: countsOf(db) } : { faults, schema: [], tables: {} }
}

export const hasTable = (db: Database, name: string): boolean =>
  db.query("select 1 from sqlite_schema where type = 'table' and name = ?").get(name) !== null

function schemaOf(db: Database): string[] {
  if (!hasTable(db, "migrations")) return []
  const rows = db.query<{ name: string }, []>("select name from migrations where owner = 'core' order by name").all()
  return rows.map(({ name }) => name)
}

function countsOf(db: Database): Record<string, number> {
  const tables = db
    .query<{ name: string }, []>("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name")
    .all()
  // The names come from the schema of a file that Footfall wrote, so they need no quoting.
  return Object.fromEntries(tables.map(({ name }) => [name, db.query<{ n: number }, []>(`select count(*) as n from "${name}"`).get()!.n]))
}
