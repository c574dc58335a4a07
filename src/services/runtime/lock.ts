import { Database } from "bun:sqlite"
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { placesIn } from "./data-folder.ts"
import { ExitFault } from "./exit.ts"

/** What `run.json` tells others about the holder of a data folder. */
export interface Run {
  pid: number
  started_at: string
  version: string
  /** The control socket; absent while the holder is a command that does not serve. */
  control?: string
}

/** Held until released or until the process is gone, whatever ends it. */
export interface Lock {
  /** The holder before this one did not release: its stores deserve a check. */
  readonly afterCrash: boolean
  announce(run: Run): void
  /** The last thing an orderly stop does. */
  release(): void
}

/**
 * Takes the data folder for this process alone. An open exclusive transaction of SQLite is a lock of the file system that
 * dies with the process and is seen by other containers on the same volume; a file with a pid in it is neither.
 */
export function takeLock(dataDir: string, run: Run): Lock {
  const { lock, run: runFile } = placesIn(dataDir)
  const db = begin(dataDir, lock)
  held.add(db)
  const afterCrash = readRun(dataDir) !== undefined
  const announce = (told: Run) => replaceFile(runFile, `${JSON.stringify(told)}\n`)
  announce(run)
  return {
    afterCrash,
    announce,
    release() {
      rmSync(runFile, { force: true })
      db.close()
      held.delete(db)
    },
  }
}

/** A handle that nobody refers to is closed by the garbage collector, and its lock with it: a caller may drop ours. */
const held = new Set<Database>()

/** What the present or the last holder told; undefined when there is none. */
export function readRun(dataDir: string): Run | undefined {
  try {
    // Written by `announce` alone, and whole: it is renamed into place.
    return JSON.parse(readFileSync(placesIn(dataDir).run, "utf8")) as Run
  } catch {
    return undefined
  }
}

function begin(dataDir: string, path: string): Database {
  let db: Database | undefined
  try {
    db = new Database(path, { create: true, strict: true })
    db.run("pragma busy_timeout = 0")
    db.run("pragma locking_mode = exclusive")
    db.run("begin exclusive")
    return db
  } catch (error) {
    db?.close()
    throw refusal(dataDir, error)
  }
}

function refusal(dataDir: string, error: unknown): ExitFault {
  const code = error instanceof Error && "code" in error ? String(error.code) : ""
  if (!code.startsWith("SQLITE_BUSY"))
    return new ExitFault("storage", `The lock in ${dataDir} cannot be taken (${code || error})`, { cause: error })
  const run = readRun(dataDir)
  const holder = run ? `pid ${run.pid}, started ${run.started_at}` : "which has just begun"
  return new ExitFault("inUse", `Another Footfall holds ${dataDir}: ${holder}. Stop it, or use another --data-dir`)
}

function replaceFile(path: string, content: string): void {
  writeFileSync(`${path}.new`, content, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}
