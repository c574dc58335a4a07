import { Database } from "bun:sqlite"
import { existsSync } from "node:fs"
import { StoreRefusal } from "../migrations.ts"
import { unsealed } from "./bytes/bytes.ts"
import { applicationId, EVENTS_ID, type EventVersion, openForReading, pendingEventMigrations } from "./database.ts"
import { translated } from "./fault.ts"

/** The result of examining an event store file. */
export interface Examination {
  /** Problems found by the integrity check. Empty when there are none. */
  faults: string[]
  /** Names of the applied migrations. */
  schema: string[]
  /** Rows by table. */
  tables: Record<string, number>
}

/**
 * Copies a store to a new file while it may be written: the copy holds what was committed before, and maybe a part of
 * what came during. It blocks the thread for as long as it takes: call it in a worker. The file is closed afterwards and
 * may then be read by anyone.
 */
export function copyEventFile(source: string, target: string): void {
  translated(() => {
    const db = openForReading(source)
    try {
      db.query("vacuum into ?").run(target)
    } finally {
      db.close()
    }
  })
}

/**
 * Writes a store's file anew without what is free in it. Its writer waits meanwhile, as for any other that holds the file: call
 * it in a worker, and for a file that takes less than writers are ready to wait.
 */
export function compactEventFile(path: string): void {
  translated(() => {
    const db = new Database(path, { readwrite: true, strict: true })
    try {
      db.run("pragma busy_timeout = 5000")
      db.run("pragma secure_delete = on")
      db.run("vacuum")
    } finally {
      db.close()
    }
  })
}

/** Takes the way from rotating ids to visitors out of a copy: it must not outlive the salts, which no backup holds. */
export function forgetVisitorsOfCopy(path: string): void {
  translated(() => {
    const db = new Database(path, { readwrite: true, strict: true })
    try {
      db.run("pragma journal_mode = delete")
      db.run("pragma synchronous = full")
      db.run("pragma secure_delete = on")
      db.run("delete from visitor_ids")
    } finally {
      db.close()
    }
  })
}

/**
 * Examines a file beside or without its writer: the shape of every page, with `full` also every index and every checksum of
 * columns and log. Throws `StoreRefusal` for one of another program, `StoreFault` for one that cannot be
 * read.
 */
export function examineEventFile(path: string, { full }: { full: boolean }): Examination {
  return translated(() => {
    const db = new Database(path, { readonly: true, strict: true })
    try {
      if (applicationId(db) !== EVENTS_ID) throw new StoreRefusal("foreign", `${path} is not a Footfall event store`)
      const check = db.query<Record<string, string>, []>(full ? "pragma integrity_check(20)" : "pragma quick_check(20)").all()
      const found = check.map((row) => Object.values(row)[0]!).filter((line) => line !== "ok")
      if (full && found.length === 0) found.push(...brokenChecksums(db))
      return { faults: found, schema: found.length === 0 ? schemaOf(db) : [], tables: found.length === 0 ? countsOf(db) : {} }
    } finally {
      db.close()
    }
  })
}

export interface EventFileInspection extends Disposable {
  /** Names of pending migrations. */
  pending: string[]
  /** It has had none. */
  isNew: boolean
  /** Readers may open it at once: nothing that opening does would get in their way, nor they in its way. */
  isReadable: boolean
}

/**
 * Looks into the file of a store before it is opened. Changes nothing; throws `StoreRefusal` for a file of another program or
 * of a newer version. Keeps the file open until disposed of: the first to open it recovers its log, and holds up others.
 */
export function inspectEventFile(path: string, ours: EventVersion): EventFileInspection {
  const all = ours.schemas.flatMap(({ migrations }) => migrations.map(({ name }) => name))
  const nothing = { pending: all, isNew: true, isReadable: false }
  if (!existsSync(path)) return { ...nothing, [Symbol.dispose]: () => undefined }
  return translated(() => {
    const db = openForReading(path)
    try {
      const { pending, applied } = pendingEventMigrations(db, path, ours)
      // A restored copy changes into WAL mode when it is opened, for which nobody else may read.
      const isWal = db.query<{ journal_mode: string }, []>("pragma journal_mode").get()!.journal_mode === "wal"
      return { pending, isNew: applied.length === 0, isReadable: pending.length === 0 && isWal, [Symbol.dispose]: () => db.close() }
    } catch (error) {
      db.close()
      throw error
    }
  })
}

/** Damage inside a column or a record leaves its page well formed: only the checksums tell. */
function brokenChecksums(db: Database): string[] {
  const lists = [
    ["segment_columns", "data"],
    ["log", "record"],
  ] as const
  return lists.flatMap(([table, column]) =>
    brokenIn(db, `select id, ${column} as sealed from ${table} where id > ? order by id limit 500`, table),
  )
}

/** In slices: a read transaction of a store that is being written must not last. */
function brokenIn(db: Database, sql: string, table: string): string[] {
  const faults: string[] = []
  const next = db.query<{ id: number; sealed: Uint8Array }, [number]>(sql)
  for (let rows = next.all(0); rows.length > 0; rows = next.all(rows.at(-1)!.id)) {
    for (const { id, sealed } of rows) if (!unsealed(sealed)) faults.push(`the checksum of row ${id} in ${table} is wrong`)
  }
  return faults
}

const schemaOf = (db: Database): string[] =>
  db
    .query<{ name: string }, []>("select name from migrations where owner = 'core' order by name")
    .all()
    .map(({ name }) => name)

function countsOf(db: Database): Record<string, number> {
  const tables = db
    .query<{ name: string }, []>("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name")
    .all()
  // The names come from the schema of a file of ours.
  return Object.fromEntries(tables.map(({ name }) => [name, db.query<{ n: number }, []>(`select count(*) as n from "${name}"`).get()!.n]))
}
