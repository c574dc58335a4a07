import { Database } from "bun:sqlite"
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
  writeSync,
} from "node:fs"
import { basename, dirname, join } from "node:path"
import { ExitFault } from "./exit.ts"
import { replaceFile, syncPath } from "./files.ts"

/** Returns the paths of the files in a data folder. */
export const placesIn = (dataDir: string) => ({
  catalog: join(dataDir, "catalog.db"),
  events: join(dataDir, "events.db"),
  key: join(dataDir, "secret.key"),
  node: join(dataDir, "node.id"),
  lock: join(dataDir, ".lock"),
  run: join(dataDir, "run.json"),
  /** Exists while a restore replaces the stores. */
  swap: join(dataDir, ".swap.json"),
  control: join(dataDir, "control.sock"),
  backups: join(dataDir, "backups"),
  staging: join(dataDir, "staging"),
})

/**
 * Throws if no instance was ever started on the folder. Commands call it before they open the stores, because opening would create a
 * second instance with its own keys.
 */
export function requireStores(dataDir: string): void {
  if (hasStores(dataDir)) return
  const remedy = "Set the data folder of your instance with --data-dir, or start a new instance with footfall serve"
  throw new ExitFault("storage", `There is no Footfall instance in ${dataDir}. ${remedy}`)
}

/** Returns whether a folder contains stores. Also true for a folder that cannot be read, because `prepareDataFolder` reports the reason. */
export function hasStores(dataDir: string): boolean {
  const { catalog, events, run, swap } = placesIn(dataDir)
  try {
    const names = new Set(readdirSync(dataDir))
    // Only the last two exist while the first start creates the stores or a restore replaces them.
    return [catalog, events, run, swap].some((path) => names.has(basename(path)))
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ENOENT")
  }
}

/**
 * Checks the folder before any of its files is opened: creates it if needed, and ensures that only this user has access and that it is
 * writable. Returns warnings about an empty folder that other users could access until now, and about network file systems, whose
 * locks and fsync are not reliable.
 */
export function prepareDataFolder(dataDir: string): string[] {
  const found = statOf(dataDir)
  if (!found) create(dataDir)
  else if (!found.isDirectory()) throw new ExitFault("storage", `${dataDir} is not a folder`)
  const isClosed = found !== undefined && closeEmpty(found, dataDir)
  refuseOthers(statOf(dataDir) as Stats, dataDir, "0700")
  probe(dataDir)
  return [
    ...(isClosed ? [`${dataDir} was empty and accessible to other users: its mode is now 0700`] : []),
    ...(isRemote(dataDir)
      ? [`${dataDir} is on a network file system, which is not supported: locks and fsync are not reliable there`]
      : []),
  ]
}

/**
 * Removes other users' access to an empty folder, which `mkdir` grants by default. A folder with files keeps its mode and is refused
 * later, because its files may already have been read. Returns whether the mode was changed.
 */
function closeEmpty({ uid, mode }: Stats, dataDir: string): boolean {
  if (process.platform === "win32" || uid !== process.getuid?.() || (mode & OF_OTHERS) === 0) return false
  try {
    if (!isEmpty(dataDir)) return false
    chmodSync(dataDir, 0o700)
    if (isEmpty(dataDir)) return true
    // Another user wrote a file in between: the mode is restored, and the folder is refused.
    chmodSync(dataDir, mode & 0o7777)
    return false
  } catch (error) {
    throw unusable(dataDir, error)
  }
}

const isEmpty = (folder: string): boolean => readdirSync(folder).length === 0

/** Permission bits of group and world. */
const OF_OTHERS = 0o077

/** Throws unless only the running user has access to a file or folder, and owns it. Not checked on Windows, which has no such modes. */
export function refuseOthers(found: Stats, path: string, mode: "0700" | "0600"): void {
  if (process.platform === "win32") return
  const user = process.getuid?.()
  if (found.uid !== user)
    throw new ExitFault(
      "ownership",
      `${path} belongs to user ${found.uid}, not to the running user ${user}. Change its owner with chown, or run Footfall as its owner`,
    )
  if ((found.mode & OF_OTHERS) !== 0) throw new ExitFault("ownership", `Other users can access ${path}. Run chmod ${mode} ${path}`)
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw unusable(path, error)
  }
}

function create(dataDir: string): void {
  try {
    mkdirSync(dirname(dataDir), { recursive: true })
    mkdirSync(dataDir, { mode: 0o700 })
    syncPath(dirname(dataDir))
  } catch (error) {
    throw unusable(dataDir, error)
  }
}

/** Prefix of the file that a start creates to test whether the folder is writable. */
export const PROBE = ".probe-"

/** Writes and syncs a few bytes, because permission bits do not reveal a read-only mount or a full disk. */
function probe(dataDir: string): void {
  const path = join(dataDir, `${PROBE}${process.pid}`)
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
    const file = openSync(path, "w", 0o600)
    try {
      writeSync(file, Buffer.alloc(4_096, 1))
      fsyncSync(file)
    } finally {
      closeSync(file)
      // After a crash the file is left behind, and the next holder of the lock removes it.
      rmSync(path, { force: true })
    }
  } catch (error) {
    throw unusable(dataDir, error)
  }
}

function unusable(path: string, error: unknown): ExitFault {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown"
  const words: Record<string, string> = {
    EROFS: "is read-only",
    ENOSPC: "is on a full disk",
    EDQUOT: "is over its quota",
    EACCES: "cannot be written",
    ENOTDIR: "has a parent that is not a folder",
  }
  return new ExitFault("storage", `The data folder ${path} ${words[code] ?? `cannot be used (${code})`}`, { cause: error })
}

/** Linux magic numbers of network file systems: NFS, SMB, SMB2, CIFS, 9P, AFS, Ceph. */
const REMOTE = new Set([0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x01021997, 0x5346414f, 0x00c36400])

function isRemote(dataDir: string): boolean {
  return process.platform === "linux" && REMOTE.has(Number(statfsSync(dataDir).type) >>> 0)
}

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
