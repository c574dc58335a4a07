import { Database } from "bun:sqlite"
import { StoreFault, translated } from "./fault.ts"
import firstMigration from "./migrations/0001_events.sql" with { type: "text" }

/** `application_id` of every event store. */
export const EVENTS_ID = 0x46464556

/** In order; forward only. */
export const EVENT_MIGRATIONS = [{ name: "0001_events", sql: firstMigration }] as const

/** Set at open and read back: a value that did not take stops the start. */
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

/** The file belongs to another program, or a later version of this one wrote it. */
export class StoreRefusal extends Error {
  constructor(
    readonly reason: "foreign" | "newer",
    message: string,
  ) {
    super(message)
    this.name = "StoreRefusal"
  }
}

/** What each migration is recorded with: when it ran, and the version of Footfall that ran it. */
export interface Stamp {
  now: number
  version: string
}

/** Opens the one writing connection, migrated to this version. */
export function openDatabase(path: string, stamp: Stamp): Database {
  return translated(() => {
    const db = new Database(path, { create: true, strict: true })
    try {
      claim(db, path)
      for (const setting of SETTINGS) apply(db, setting)
      migrate(db, path, stamp)
    } catch (error) {
      db.close()
      throw error
    }
    return db
  })
}

/** A connection that only reads, for another thread. */
export function openForReading(path: string): Database {
  return translated(() => {
    const db = new Database(path, { readonly: true, strict: true })
    db.run("pragma busy_timeout = 5000")
    db.run("pragma cache_size = -4096")
    return db
  })
}

/**
 * Names of migrations that opening the file would run, and of those it has had. Changes nothing. Throws `StoreRefusal` for
 * a file of another program or of a newer version.
 */
export function pendingEventMigrations(db: Database, path: string): { pending: string[]; applied: string[] } {
  if (!isEmpty(db) && applicationId(db) !== EVENTS_ID) throw foreign(path)
  const applied = appliedMigrations(db)
  const newer = applied.find(({ name }) => !EVENT_MIGRATIONS.some((migration) => migration.name === name))
  if (newer) {
    const { name, version } = newer
    throw new StoreRefusal("newer", `${path} has the migration ${name} of a newer version: install Footfall ${version} or later`)
  }
  const names = applied.map(({ name }) => name)
  return { pending: EVENT_MIGRATIONS.map(({ name }) => name).filter((name) => !names.includes(name)), applied: names }
}

/** The number that tells our files from those of other programs. */
export const applicationId = (db: Database): number =>
  db.query<{ application_id: number }, []>("pragma application_id").get()!.application_id

const isEmpty = (db: Database): boolean => db.query("select 1 from sqlite_schema").get() === null
const foreign = (path: string) => new StoreRefusal("foreign", `${path} belongs to another program`)

function claim(db: Database, path: string): void {
  const found = applicationId(db)
  const isNew = found === 0 && isEmpty(db)
  if (found !== EVENTS_ID && !isNew) throw foreign(path)
  if (isNew) db.run(`pragma application_id = ${EVENTS_ID}`)
}

function apply(db: Database, [name, value, readBack]: (typeof SETTINGS)[number]): void {
  db.run(`pragma ${name} = ${value}`)
  const found = Object.values(db.query<Record<string, number | string>, []>(`pragma ${name}`).get() ?? {})[0]
  if (found !== readBack) throw new StoreFault("io", `The event store did not take ${name} = ${value}`)
}

function appliedMigrations(db: Database): { name: string; version: string }[] {
  const exists = db.query("select 1 from sqlite_schema where name = 'migrations'").get()
  if (!exists) return []
  return db.query<{ name: string; version: string }, []>("select name, version from migrations where owner = 'core' order by name").all()
}

function migrate(db: Database, path: string, { now, version }: Stamp): void {
  const { pending } = pendingEventMigrations(db, path)
  if (pending.length === 0) return
  db.run(`create table if not exists migrations (
    owner text not null, name text not null, version text not null default '', applied_at integer not null, primary key (owner, name)
  ) strict, without rowid`)
  for (const { name, sql } of EVENT_MIGRATIONS.filter((migration) => pending.includes(migration.name))) {
    db.transaction(() => {
      db.run(sql)
      db.query("insert into migrations (owner, name, version, applied_at) values ('core', ?, ?, ?)").run(name, version, now)
    }).immediate()
  }
}
