import { Database } from "bun:sqlite"
import { existsSync } from "node:fs"
import {
  type AppliedMigration,
  foreignFile,
  type Migration,
  type MigrationList,
  type MigrationStamp,
  pendingOf,
  toMigrationFault,
} from "../migrations.ts"
import { StoreFault, toFault, translateErrors } from "./fault.ts"
import firstMigration from "./migrations/0001_events.sql" with { type: "text" }
import ingestMinutes from "./migrations/0002_ingest_minutes.sql" with { type: "text" }
import imports from "./migrations/0003_imports.sql" with { type: "text" }
import identities from "./migrations/0004_identities.sql" with { type: "text" }
import importRuns from "./migrations/0005_import_runs.sql" with { type: "text" }
import sales from "./migrations/0006_sales.sql" with { type: "text" }
import saleVisits from "./migrations/0007_sale_visits.sql" with { type: "text" }
import earlyVisits from "./migrations/0008_early_visits.sql" with { type: "text" }
import dictionaryValues from "./migrations/0009_dictionary_values.sql" with { type: "text" }
import columnGroups from "./migrations/0010_column_groups.sql" with { type: "text" }
import spool from "./migrations/0011_spool.sql" with { type: "text" }
import monthSums from "./migrations/0012_month_sums.sql" with { type: "text" }
import dropped from "./migrations/0013_dropped.sql" with { type: "text" }
import loggedSales from "./migrations/0014_logged_sales.sql" with { type: "text" }

/** `application_id` of every event store. */
export const EVENTS_ID = 0x46464556

export const EVENT_SCHEMA: MigrationList = {
  owner: "core",
  migrations: [
    { name: "0001_events", sql: firstMigration },
    { name: "0002_ingest_minutes", sql: ingestMinutes },
    { name: "0003_imports", sql: imports },
    { name: "0004_identities", sql: identities },
    { name: "0005_import_runs", sql: importRuns },
    { name: "0006_sales", sql: sales },
    { name: "0007_sale_visits", sql: saleVisits },
    { name: "0008_early_visits", sql: earlyVisits },
    { name: "0009_dictionary_values", sql: dictionaryValues },
    { name: "0010_column_groups", sql: columnGroups },
    { name: "0011_spool", sql: spool },
    { name: "0012_month_sums", sql: monthSums },
    { name: "0013_dropped", sql: dropped },
    { name: "0014_logged_sales", sql: loggedSales },
  ],
}

/** Returns the migration lists of all owners, the core's first. Those of a plugin concern its own row tables. */
export const eventSchemas = (plugins: readonly { id: string; rowMigrations: readonly Migration[] }[]): MigrationList[] => [
  EVENT_SCHEMA,
  ...pluginRowSchemas(plugins),
]

/** Returns the migration lists of the row tables of plugins. */
export const pluginRowSchemas = (plugins: readonly { id: string; rowMigrations: readonly Migration[] }[]): MigrationList[] =>
  plugins.map(({ id, rowMigrations }) => ({ owner: id, migrations: rowMigrations }))

/** The pragmas that are set at open and read back. A value that was not accepted stops the start. */
const SETTINGS: readonly (readonly [name: string, value: number | string, readBack: number | string])[] = [
  ["journal_mode", "wal", "wal"],
  ["synchronous", "full", 2],
  ["foreign_keys", "on", 1],
  ["busy_timeout", 0, 0],
  ["wal_autocheckpoint", 0, 0],
  ["trusted_schema", "off", 0],
  ["cell_size_check", "on", 1],
  ["temp_store", "memory", 2],
  ["secure_delete", "on", 1],
]

/** Number of prepared statements that a connection keeps. Bun keeps 20 by default, of which the steps of areas alone use more in turn. */
Database.MAX_QUERY_CACHE_SIZE = 128

/** Opens the only writing connection and runs pending migrations. */
export function openDatabase(path: string, stamp: MigrationStamp, schemas: readonly MigrationList[] = [EVENT_SCHEMA]): Database {
  return translateErrors(() => {
    const db = new Database(path, { create: true, strict: true })
    try {
      claim(db, path)
      for (const setting of SETTINGS) apply(db, setting)
      migrate(db, stamp, schemas)
    } catch (error) {
      db.close()
      throw error
    }
    return db
  })
}

/** Opens a read-only connection, for another thread. */
export function openForReading(path: string): Database {
  return translateErrors(() => {
    rollBackJournal(path)
    const db = new Database(path, { readonly: true, strict: true })
    db.run("pragma busy_timeout = 5000")
    db.run("pragma cache_size = -4096")
    return db
  })
}

/**
 * Rolls back a write that was interrupted by a kill before the file was in WAL mode, in the first moments of a new store. A read-only
 * connection cannot do that and fails with SQLITE_READONLY_ROLLBACK.
 */
function rollBackJournal(path: string): void {
  if (!existsSync(`${path}-journal`)) return
  const db = new Database(path, { readwrite: true, strict: true })
  try {
    db.run("pragma busy_timeout = 5000")
    db.query("select 1 from sqlite_schema").get()
  } finally {
    db.close()
  }
}

/** The program's version and the migrations it knows. */
export interface EventVersion {
  schemas: readonly MigrationList[]
  version: string
}

/**
 * Returns the names of the migrations that opening the file would run, and of those already applied. Changes nothing. Throws
 * `StoreRefusal` for a file of another program or of a newer version.
 */
export function pendingEventMigrations(
  db: Database,
  path: string,
  { schemas, version }: EventVersion,
): { pending: string[]; applied: string[] } {
  if (!isEmpty(db) && applicationId(db) !== EVENTS_ID) throw foreignFile(path)
  const applied = appliedMigrations(db)
  return { pending: pendingOf(schemas, applied, version).map(({ name }) => name), applied: applied.map(({ name }) => name) }
}

/** Returns the number that identifies the program that created the file. */
export const applicationId = (db: Database): number =>
  db.query<{ application_id: number }, []>("pragma application_id").get()!.application_id

const isEmpty = (db: Database): boolean => db.query("select 1 from sqlite_schema").get() === null

function claim(db: Database, path: string): void {
  const found = applicationId(db)
  const isNew = found === 0 && isEmpty(db)
  if (found !== EVENTS_ID && !isNew) throw foreignFile(path)
  if (!isNew) return
  // Only a file without pages accepts it. See `upkeep/free-pages.ts`.
  db.run("pragma auto_vacuum = incremental")
  db.run(`pragma application_id = ${EVENTS_ID}`)
}

function apply(db: Database, [name, value, readBack]: (typeof SETTINGS)[number]): void {
  db.run(`pragma ${name} = ${value}`)
  const found = Object.values(db.query<Record<string, number | string>, []>(`pragma ${name}`).get() ?? {})[0]
  if (found !== readBack) throw new StoreFault("io", `The event store did not accept ${name} = ${value}`)
}

export function appliedMigrations(db: Database): AppliedMigration[] {
  const exists = db.query("select 1 from sqlite_schema where name = 'migrations'").get()
  return exists ? db.query<AppliedMigration, []>("select owner, name, version from migrations order by name").all() : []
}

function migrate(db: Database, { now, version }: MigrationStamp, schemas: readonly MigrationList[]): void {
  const pending = pendingOf(schemas, appliedMigrations(db), version)
  if (pending.length === 0) return
  db.run(`create table if not exists migrations (
    owner text not null, name text not null, version text not null, applied_at integer not null, primary key (owner, name)
  ) strict, without rowid`)
  for (const migration of pending) {
    const { owner, name, sql } = migration
    const run = db.transaction(() => {
      db.run(sql)
      db.query("insert into migrations (owner, name, version, applied_at) values (?, ?, ?, ?)").run(owner, name, version, now)
    })
    try {
      run.immediate()
    } catch (error) {
      throw toMigrationFault(toFault(error), migration)
    }
  }
}
