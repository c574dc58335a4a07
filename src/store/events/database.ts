import { Database } from "bun:sqlite"
import { StoreFault, translated } from "./fault.ts"
import firstMigration from "./migrations/0001_events.sql" with { type: "text" }

const APPLICATION_ID = 0x46464556

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

/** Opens the one writing connection, migrated to this version. `now` is recorded with each migration. */
export function openDatabase(path: string, now: number): Database {
  return translated(() => {
    const db = new Database(path, { create: true, strict: true })
    try {
      claim(db, path)
      for (const setting of SETTINGS) apply(db, setting)
      migrate(db, path, now)
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

/** Names of migrations that opening the file would run; all of them for a file that does not exist yet. */
export function pendingEventMigrations(db: Database): string[] {
  const known = appliedMigrations(db)
  return EVENT_MIGRATIONS.map(({ name }) => name).filter((name) => !known.includes(name))
}

function claim(db: Database, path: string): void {
  const { application_id: found } = db.query<{ application_id: number }, []>("pragma application_id").get()!
  const isNew = found === 0 && db.query<{ n: number }, []>("select count(*) as n from sqlite_schema").get()!.n === 0
  if (found !== APPLICATION_ID && !isNew) throw new StoreRefusal("foreign", `${path} belongs to another program`)
  if (isNew) db.run(`pragma application_id = ${APPLICATION_ID}`)
}

function apply(db: Database, [name, value, readBack]: (typeof SETTINGS)[number]): void {
  db.run(`pragma ${name} = ${value}`)
  const found = Object.values(db.query<Record<string, number | string>, []>(`pragma ${name}`).get() ?? {})[0]
  if (found !== readBack) throw new StoreFault("io", `The event store did not take ${name} = ${value}`)
}

function appliedMigrations(db: Database): string[] {
  const exists = db.query("select 1 from sqlite_schema where name = 'migrations'").get()
  if (!exists) return []
  return db
    .query<{ name: string }, []>("select name from migrations where owner = 'core'")
    .all()
    .map(({ name }) => name)
}

function migrate(db: Database, path: string, now: number): void {
  const unknown = appliedMigrations(db).find((name) => !EVENT_MIGRATIONS.some((migration) => migration.name === name))
  if (unknown) throw new StoreRefusal("newer", `${path} was written by a newer version (it has ${unknown})`)
  db.run(`create table if not exists migrations (
    owner text not null, name text not null, applied_at integer not null, primary key (owner, name)
  ) strict, without rowid`)
  const pending = pendingEventMigrations(db)
  for (const { name, sql } of EVENT_MIGRATIONS.filter((migration) => pending.includes(migration.name))) {
    db.transaction(() => {
      db.run(sql)
      db.query("insert into migrations (owner, name, applied_at) values ('core', ?, ?)").run(name, now)
    }).immediate()
  }
}
