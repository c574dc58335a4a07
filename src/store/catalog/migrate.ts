import { type AppliedMigration, type MigrationList, type MigrationStamp, type Pending, pendingOf, toMigrationFault } from "../migrations.ts"
import { sql } from "../sql.ts"
import type { Catalog, Statements } from "./catalog.ts"

/** Returns the migrations that `migrate` would run. Changes nothing. */
export async function pendingMigrations(catalog: Statements, lists: readonly MigrationList[], ours: string): Promise<Pending[]> {
  return pendingOf(lists, await appliedMigrations(catalog), ours)
}

/** Runs the pending migrations, each in one transaction with its record, so that a kill never leaves a migration half done. */
export async function migrate(catalog: Catalog, lists: readonly MigrationList[], stamp: MigrationStamp): Promise<void> {
  const pending = await pendingMigrations(catalog, lists, stamp.version)
  if (pending.length > 0) await catalog.run(CREATE_MIGRATIONS)
  for (const migration of pending) {
    const run = catalog.transaction(async (statements) => {
      await statements.script(migration.sql)
      await insertMigration(statements, migration, stamp)
    })
    await run.catch((error) => {
      throw toMigrationFault(error, migration)
    })
  }
}

const CREATE_MIGRATIONS = sql`
  create table if not exists migrations (
    id integer primary key autoincrement,
    owner text not null,
    name text not null,
    version text not null,
    applied_at integer not null,
    unique (owner, name)
  ) strict`

/** Lists the applied migrations, oldest first. Returns none for a new store. */
export async function appliedMigrations(catalog: Statements): Promise<AppliedMigration[]> {
  const exists = await catalog.get(sql`select 1 from sqlite_schema where type = 'table' and name = 'migrations'`)
  return exists ? catalog.all(sql`select owner, name, version from migrations order by id`) : []
}

const insertMigration = (statements: Statements, { owner, name }: Pending, { version, now }: MigrationStamp): Promise<void> =>
  statements.run(sql`insert into migrations (owner, name, version, applied_at) values (${owner}, ${name}, ${version}, ${now})`)
