import { StoreRefusal } from "../events/database.ts"
import type { Catalog, Statements } from "./catalog.ts"
import { sql } from "./sql.ts"

/** One change of a schema, as plain SQL. Forward only: a released one is never edited, moved or removed. */
export interface Migration {
  name: string
  sql: string
}

/** The migrations of one owner, in order: `core`, or the id of a plugin. */
export interface MigrationList {
  owner: string
  migrations: readonly Migration[]
}

/** A migration that a store has had, and the version of Footfall that ran it. */
export interface AppliedMigration {
  owner: string
  name: string
  version: string
}

/** What a run of migrations is recorded with. */
export interface MigrationStamp {
  version: string
  now: number
}

type Pending = Migration & { owner: string }

/**
 * The rule for every store: what the lists have and the store has not, in order. Throws `StoreRefusal` when the store has
 * had a migration that the lists do not know, because a newer version wrote it then.
 */
export function pendingOf(lists: readonly MigrationList[], applied: readonly AppliedMigration[]): Pending[] {
  const known = lists.flatMap(({ owner, migrations }) => migrations.map((migration) => ({ owner, ...migration })))
  const unknown = applied.filter((done) => !known.some((migration) => isSame(migration, done))).at(-1)
  if (unknown) {
    const { owner, name, version } = unknown
    throw new StoreRefusal("newer", `The store has the migration ${owner}/${name} of a newer version: install Footfall ${version} or later`)
  }
  return known.filter((migration) => !applied.some((done) => isSame(migration, done)))
}

/** What `migrate` would run. Changes nothing. */
export async function pendingMigrations(catalog: Statements, lists: readonly MigrationList[]): Promise<Pending[]> {
  return pendingOf(lists, await appliedMigrations(catalog))
}

/** Runs what is pending, each migration in a transaction with its record: a kill leaves the state before or after one. */
export async function migrate(catalog: Catalog, lists: readonly MigrationList[], stamp: MigrationStamp): Promise<void> {
  const pending = await pendingMigrations(catalog, lists)
  if (pending.length > 0) await catalog.run(CREATE_MIGRATIONS)
  for (const migration of pending) {
    await catalog.transaction(async (statements) => {
      await statements.script(migration.sql)
      await insertMigration(statements, migration, stamp)
    })
  }
}

const isSame = (a: { owner: string; name: string }, b: { owner: string; name: string }): boolean => a.owner === b.owner && a.name === b.name

const CREATE_MIGRATIONS = sql`
  create table if not exists migrations (
    id integer primary key autoincrement,
    owner text not null,
    name text not null,
    version text not null,
    applied_at integer not null,
    unique (owner, name)
  ) strict`

/** Oldest first; none for a store that is new. */
async function appliedMigrations(catalog: Statements): Promise<AppliedMigration[]> {
  const exists = await catalog.get(sql`select 1 from sqlite_schema where type = 'table' and name = 'migrations'`)
  return exists ? catalog.all(sql`select owner, name, version from migrations order by id`) : []
}

const insertMigration = (statements: Statements, { owner, name }: Pending, { version, now }: MigrationStamp): Promise<void> =>
  statements.run(sql`insert into migrations (owner, name, version, applied_at) values (${owner}, ${name}, ${version}, ${now})`)
