import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs"
import { open } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { OwnStatements } from "#plugin"
import type { ImportsHost } from "../area.ts"
import { daySpan } from "../days.ts"
import { importError } from "../errors.ts"
import { type Coverage, NO_COVERAGE } from "../sources/server-log/coverage.ts"
import { deleteStream, insertStream, type StreamRow, streamOfImport, streamsWithExpiredSalts, updateStream } from "./rows.ts"
import { type StreamResult, type StreamTask, visitorPrefix, WAITING_FILE } from "./stream-task.ts"

/**
 * Streams: imports that grow with a log. A stream keeps what its next run must know: the covered intervals, a sealed key by which lines are
 * recognized, sealed salts of the last days, and the rows of visits that may go on, in a file of the staging folder.
 */
export interface Streams {
  /** Stores a new stream with its key, in the transaction of its import. */
  begin(statements: OwnStatements, siteId: number, stream: string, importId: number): Promise<void>
  /** Returns what a run knows of the runs before it. For a stream that does not exist yet, with a key of its own. */
  task(row: StreamRow | undefined): Promise<StreamTask>
  /**
   * Prepares the completion of a run: makes its waiting rows durable, and forgets the visitors of days without a salt. Repeatable. Returns
   * the function that completes the run in the transaction of its import.
   */
  settle(row: StreamRow, result: StreamResult, folder: string, timezone: string): Promise<(statements: OwnStatements) => Promise<void>>
  /** Deletes the waiting rows of all runs but the last completed one. */
  tidy(importId: number, run: number): void
  /** Forgets a stream with its keys, in the transaction that ends its import. */
  forget(statements: OwnStatements, importId: number): Promise<void>
  /** Deletes the files of a stream. Idempotent. */
  removeFiles(importId: number): void
  /** Returns the ids of imports with files of a stream. */
  importsWithFiles(): number[]
  /** Destroys the salts of past days together with the lookups that name their visitors. */
  destroySalts(): Promise<void>
  /** Returns whether `destroySalts` has something to destroy. */
  hasExpiredSalts(): Promise<boolean>
}

/** A salt is destroyed this long after the start of its local day. */
const SALT_MS = 48 * 3_600_000
const KEY_BYTES = 32
const TABLE = "imports_streams"
const FOLDER = /^stream-(\d+)$/

/** Salts by local day, as they are sealed. */
type Salts = Record<string, { salt: string; expires_at: number }>

type StreamsHost = Pick<ImportsHost, "db" | "imports" | "secrets" | "random" | "now" | "stagingFolder">

export function createStreams({ db, imports, secrets, random, now, stagingFolder }: StreamsHost): Streams {
  const folderOf = (importId: number) => join(stagingFolder(), `stream-${importId}`)
  const waitingPath = (importId: number, run: number) => join(folderOf(importId), `waiting-${run}`)
  const newKey = () => Buffer.from(random(KEY_BYTES)).toString("hex")
  const expiryOf = (day: string, timezone: string) => daySpan(day, timezone).from + SALT_MS

  /** Returns the salts that are not destroyed. A lost key of the instance or a restored backup leaves none. */
  async function saltsOf({ salts_secret_id: id }: StreamRow): Promise<Salts> {
    const text = id === null ? undefined : await secrets.open(id)
    return text === undefined ? {} : (JSON.parse(text) as Salts) // written by `putSalts`
  }

  /** Seals the salts that are not due to be destroyed, in the transaction of the caller. */
  async function putSalts(statements: OwnStatements, { import_id, salts_secret_id }: StreamRow, salts: Salts): Promise<void> {
    const live = Object.entries(salts).filter(([, { expires_at }]) => expires_at > now())
    if (salts_secret_id !== null) await secrets.remove(statements, salts_secret_id)
    const place = { table: TABLE, row: import_id, purpose: "salts" }
    await updateStream(statements, import_id, {
      salts_secret_id: live.length === 0 ? null : await secrets.put(statements, place, JSON.stringify(Object.fromEntries(live))),
      salts_expire_at: live.length === 0 ? null : Math.min(...live.map(([, { expires_at }]) => expires_at)),
    })
  }

  async function forgetVisitors(importId: number, days: Iterable<string>): Promise<void> {
    for (const day of days) await imports.forgetVisitors(importId, visitorPrefix(day))
  }

  return {
    async begin(statements, siteId, stream, importId) {
      const key_secret_id = await secrets.put(statements, { table: TABLE, row: importId, purpose: "key of lines" }, newKey())
      const covered_json = JSON.stringify(NO_COVERAGE)
      await insertStream(statements, { site_id: siteId, stream, import_id: importId, covered_json, key_secret_id })
    },

    async task(row) {
      if (!row) return { coverage: NO_COVERAGE, key: newKey(), salts: {}, now: now() }
      const key = row.key_secret_id === null ? undefined : await secrets.open(row.key_secret_id)
      if (key === undefined) throw keyLost(row)
      const salts = Object.entries(await saltsOf(row)).filter(([, { expires_at }]) => expires_at > now())
      const waiting = waitingPath(row.import_id, row.run)
      return {
        coverage: JSON.parse(row.covered_json) as Coverage, // written at the end of a run
        key,
        salts: Object.fromEntries(salts.map(([day, { salt }]) => [day, salt])),
        ...(existsSync(waiting) && { waiting }),
        now: now(),
      }
    },

    async settle(row, { coverage, salts, days, waiting }, folder, timezone) {
      const { import_id, run } = row
      const past = new Set([...days, ...Object.keys(salts)].filter((day) => expiryOf(day, timezone) <= now()))
      await forgetVisitors(import_id, past)
      if (waiting.rows > 0) await keepWaiting(join(folder, WAITING_FILE), waitingPath(import_id, run + 1))
      const found = Object.entries(salts).map(([day, salt]) => [day, { salt, expires_at: expiryOf(day, timezone) }] as const)
      const all = { ...Object.fromEntries(found), ...(await saltsOf(row)) }
      return async (statements) => {
        // Salts may have been destroyed meanwhile.
        const current = await streamOfImport(statements, import_id)
        if (current?.run !== run) throw new Error(`The stream of import ${import_id} is not at run ${run} any more`)
        await putSalts(statements, current, all)
        const change = { covered_json: JSON.stringify(coverage), run: run + 1, pending_json: null, waiting_since: waiting.since }
        await updateStream(statements, import_id, change)
      }
    },

    tidy(importId, run) {
      const folder = folderOf(importId)
      if (!existsSync(folder)) return
      for (const name of readdirSync(folder)) if (name !== `waiting-${run}`) rmSync(join(folder, name), { force: true })
      if (readdirSync(folder).length === 0) rmSync(folder, { recursive: true, force: true })
    },

    async forget(statements, importId) {
      const row = await streamOfImport(statements, importId)
      if (!row) return
      for (const id of [row.key_secret_id, row.salts_secret_id]) if (id !== null) await secrets.remove(statements, id)
      await deleteStream(statements, importId)
    },

    removeFiles: (importId) => rmSync(folderOf(importId), { recursive: true, force: true }),
    importsWithFiles: () =>
      readdirSync(stagingFolder())
        .flatMap((name) => FOLDER.exec(name)?.[1] ?? [])
        .map(Number),

    hasExpiredSalts: async () => (await streamsWithExpiredSalts(db, now())).length > 0,
    async destroySalts() {
      for (const expired of await streamsWithExpiredSalts(db, now())) {
        const salts = await saltsOf(expired)
        const past = Object.entries(salts).filter(([, { expires_at }]) => expires_at <= now())
        // The salts go last, so that an interrupted call is repeated.
        await forgetVisitors(
          expired.import_id,
          past.map(([day]) => day),
        )
        await db.transaction(async (statements) => {
          const row = await streamOfImport(statements, expired.import_id)
          // A run that has added salts meanwhile has left out the expired ones.
          if (row && row.salts_secret_id === expired.salts_secret_id) await putSalts(statements, row, salts)
        })
      }
    },
  }
}

/** Copies the waiting rows of a run to their place, and waits until they are on disk. */
async function keepWaiting(from: string, target: string): Promise<void> {
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
  copyFileSync(from, target)
  const file = await open(target, "r+")
  await file.sync()
  await file.close()
}

const keyLost = ({ stream }: StreamRow) =>
  importError(
    "stream_key_lost",
    `The key by which the stream ${stream} recognizes lines cannot be decrypted. Undo its import and import the logs again.`,
  )
