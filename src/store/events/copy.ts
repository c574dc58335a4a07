import { Database } from "bun:sqlite"
import { existsSync } from "node:fs"
import { type Examination, examine, hasTable } from "../examination.ts"
import { StoreRefusal } from "../migrations.ts"
import { unseal } from "./bytes/bytes.ts"
import { applicationId, EVENTS_ID, type EventVersion, openForReading, pendingEventMigrations } from "./database.ts"
import { translateErrors } from "./fault.ts"

/**
 * Copies a store to a new file, even while the store is written. The copy contains everything committed before the call, and perhaps
 * some of what was committed during it. Blocks the thread, so call it in a worker.
 */
export function copyEventFile(source: string, target: string): void {
  translateErrors(() => {
    const db = openForReading(source)
    try {
      db.query("vacuum into ?").run(target)
    } finally {
      db.close()
    }
  })
}

/**
 * Rewrites the file of a store without its free pages. Call it in a worker, and only for a file that is small enough: the writer is
 * locked out meanwhile, and gives up after a time limit.
 */
export function compactEventFile(path: string): void {
  translateErrors(() => {
    const db = new Database(path, { readwrite: true, strict: true })
    try {
      db.run("pragma busy_timeout = 5000")
      db.run("pragma secure_delete = on")
      // Stores of earlier versions are converted by the vacuum.
      db.run("pragma auto_vacuum = incremental")
      db.run("vacuum")
    } finally {
      db.close()
    }
  })
}

/**
 * Deletes the lookups from rotating ids and from visitors of imports to visitors from a copy. They must not outlive the salts, which no
 * backup contains.
 */
export function forgetVisitorsOfCopy(path: string): void {
  translateErrors(() => {
    const db = new Database(path, { readwrite: true, strict: true })
    try {
      db.run("pragma journal_mode = delete")
      db.run("pragma synchronous = full")
      db.run("pragma secure_delete = on")
      db.run("delete from visitor_ids")
      // A backup before a migration may be of a store that has no imports yet.
      if (hasTable(db, "import_visitors")) db.run("delete from import_visitors")
    } finally {
      db.close()
    }
  })
}

/**
 * Examines a file, open or not: the structure of every page; with `full` also every index and every checksum of columns and log.
 * Throws `StoreRefusal` for a file of another program, and `StoreFault` for a file that cannot be read.
 */
export function examineEventFile(path: string, { full }: { full: boolean }): Examination {
  return translateErrors(() => {
    const db = new Database(path, { readonly: true, strict: true })
    try {
      if (applicationId(db) !== EVENTS_ID) throw new StoreRefusal("foreign", `${path} is not a Footfall event store`)
      return examine(db, { full, more: () => (full ? brokenChecksums(db) : []) })
    } finally {
      db.close()
    }
  })
}

/** The state of a store's file before the store is opened. Disposing of it closes the file. */
export interface EventFileInspection extends Disposable {
  /** Names of pending migrations. */
  pending: string[]
  /** Whether no migration was applied yet. */
  isNew: boolean
  /** Whether readers can open the file before the writer does, because opening it for writing changes nothing. */
  isReadable: boolean
  /** Returns the name of a row table of these plugins that has rows; undefined without any. */
  filledRowTable(plugins: readonly { id: string }[]): string | undefined
}

/**
 * Inspects the file of a store before it is opened, without changing it. Throws `StoreRefusal` for a file of another program or of a
 * newer version. The file stays open until the result is disposed of: the first connection recovers the log and blocks others
 * meanwhile, which would otherwise happen again.
 */
export function inspectEventFile(path: string, ours: EventVersion): EventFileInspection {
  const all = ours.schemas.flatMap(({ migrations }) => migrations.map(({ name }) => name))
  const nothing = { pending: all, isNew: true, isReadable: false, filledRowTable: () => undefined }
  if (!existsSync(path)) return { ...nothing, [Symbol.dispose]: () => undefined }
  return translateErrors(() => {
    const db = openForReading(path)
    try {
      const { pending, applied } = pendingEventMigrations(db, path, ours)
      // The writer switches a restored copy to WAL mode, which fails while another connection is open.
      const isWal = db.query<{ journal_mode: string }, []>("pragma journal_mode").get()!.journal_mode === "wal"
      return {
        pending,
        isNew: applied.length === 0,
        isReadable: pending.length === 0 && isWal,
        filledRowTable: (plugins) => tablesOf(db, plugins).find((name) => db.query(`select 1 from ${name} limit 1`).get() !== null),
        [Symbol.dispose]: () => db.close(),
      }
    } catch (error) {
      db.close()
      throw error
    }
  })
}

/** Lists the row tables of plugins. */
const tablesOf = (db: Database, plugins: readonly { id: string }[]): string[] =>
  db
    .query<{ name: string }, []>("select name from sqlite_schema where type = 'table'")
    .all()
    .map(({ name }) => name)
    .filter((name) => plugins.some(({ id }) => name.startsWith(`${id}_`)))

/** Lists columns and log records with wrong checksums. Only these reveal damage inside a value, which leaves its page well-formed. */
function brokenChecksums(db: Database): string[] {
  const lists = [
    ["segments", "header"],
    ["segment_columns", "data"],
    ["log", "record"],
    ["carried", "record"],
    ["early_visits", "record"],
    ["month_sums", "data"],
  ] as const
  // A backup before a migration may be of a store that lacks the later tables.
  const present = lists.filter(([table]) => hasTable(db, table))
  return present.flatMap(([table, column]) =>
    brokenIn(db, `select rowid as id, ${column} as sealed from ${table} where rowid > ? order by rowid limit 500`, table),
  )
}

/** Checks the rows in slices, because a long read transaction would keep the writer's log from shrinking. */
function brokenIn(db: Database, sql: string, table: string): string[] {
  const faults: string[] = []
  const next = db.query<{ id: number; sealed: Uint8Array }, [number]>(sql)
  for (let rows = next.all(0); rows.length > 0; rows = next.all(rows.at(-1)!.id)) {
    for (const { id, sealed } of rows) if (!unseal(sealed)) faults.push(`the checksum of row ${id} in ${table} is wrong`)
  }
  return faults
}
