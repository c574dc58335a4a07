import { Database } from "bun:sqlite"
import { existsSync, readFileSync, rmSync } from "node:fs"
import { placesIn } from "./data-folder.ts"
import { ExitFault } from "./exit.ts"
import { replaceFile } from "./files.ts"

/** Content of `run.json`: information about the holder of a data folder. */
export interface Run {
  pid: number
  started_at: string
  version: string
  /** The control socket; absent while the holder is a command that does not serve. */
  control?: string
}

/** Lock on a data folder, held until it is released or the process ends. */
export interface Lock {
  /** Whether the previous holder did not release the lock, so that its stores need a check. */
  readonly afterCrash: boolean
  announce(run: Run): void
  /** Releases the lock, as the last step of an orderly stop. */
  release(): void
}

/**
 * Locks the data folder for this process. SQLite's open exclusive transaction is a file system lock that ends with the process
 * and is visible to other containers on the same volume; a file with a process id has neither property.
 */
export function takeLock(dataDir: string, run: Run): Lock {
  const { lock, run: runFile } = placesIn(dataDir)
  const db = begin(dataDir, lock)
  openLocks.add(db)
  // An orderly stop removes the file, so a file that cannot be read is an unclean end as well.
  const afterCrash = existsSync(runFile)
  const announce = (content: Run) => replaceFile(runFile, `${JSON.stringify(content)}\n`)
  announce(run)
  return {
    afterCrash,
    announce,
    release() {
      rmSync(runFile, { force: true })
      db.close()
      openLocks.delete(db)
    },
  }
}

/** Open locks. An unreferenced handle would be closed by the garbage collector, which would release its lock. */
const openLocks = new Set<Database>()

/** Returns the information of the current or the last holder. Undefined if there is none, or if a power cut damaged the file. */
export function readRun(dataDir: string): Run | undefined {
  try {
    // Only `announce` writes this file.
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
  if (!code.startsWith("SQLITE_BUSY")) return new ExitFault("storage", `Cannot lock ${dataDir} (${code || error})`, { cause: error })
  const run = readRun(dataDir)
  const holder = run ? `pid ${run.pid}, started ${run.started_at}` : "it has just started"
  return new ExitFault("inUse", `Another Footfall process uses ${dataDir} (${holder}). Stop it, or use another --data-dir`)
}
