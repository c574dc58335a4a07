import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
  writeSync,
} from "node:fs"
import { basename, dirname, join } from "node:path"
import { ExitFault } from "./exit.ts"
import { syncPath } from "./files.ts"

/** Where things lie in a data folder. */
export const placesIn = (dataDir: string) => ({
  catalog: join(dataDir, "catalog.db"),
  events: join(dataDir, "events.db"),
  key: join(dataDir, "secret.key"),
  node: join(dataDir, "node.id"),
  lock: join(dataDir, ".lock"),
  run: join(dataDir, "run.json"),
  /** Written before restored stores are exchanged for the present ones, removed afterwards. */
  swap: join(dataDir, ".swap.json"),
  control: join(dataDir, "control.sock"),
  backups: join(dataDir, "backups"),
  staging: join(dataDir, "staging"),
})

/**
 * Throws if no instance was ever started on the folder. Commands call it before they open the stores, which would otherwise be
 * created: a second instance with its own keys, beside the one that was meant.
 */
export function requireStores(dataDir: string): void {
  if (hasStores(dataDir)) return
  const remedy = "Name the data folder of your instance with --data-dir, or start a new instance with footfall serve"
  throw new ExitFault("storage", `There is no Footfall instance in ${dataDir}. ${remedy}`)
}

/** Returns true also for a folder that cannot be read: `prepareDataFolder` then says what is wrong with it. */
export function hasStores(dataDir: string): boolean {
  const { catalog, events, run, swap } = placesIn(dataDir)
  try {
    const names = new Set(readdirSync(dataDir))
    // While the first start is still creating the stores, or a restore exchanges them, only the last two are there.
    return [catalog, events, run, swap].some((path) => names.has(basename(path)))
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ENOENT")
  }
}

/**
 * Makes sure of the folder before anything in it is touched: it exists or is created, belongs to this user alone, can be
 * written. Returns warnings: it was empty and open to others until now; it lies on a network file system, where locks and
 * fsync cannot be trusted.
 */
export function prepareDataFolder(dataDir: string): string[] {
  const found = statOf(dataDir)
  if (!found) create(dataDir)
  else if (!found.isDirectory()) throw new ExitFault("storage", `${dataDir} is not a folder`)
  const isClosed = found !== undefined && closeEmpty(found, dataDir)
  refuseOthers(statOf(dataDir) as Stats, dataDir, "0700")
  probe(dataDir)
  return [
    ...(isClosed ? [`${dataDir} was empty and could be reached by other users: its mode is 0700 now`] : []),
    ...(isRemote(dataDir)
      ? [`${dataDir} is on a network file system, which is not supported: locks and fsync are not reliable there`]
      : []),
  ]
}

/**
 * Closes a folder of this user's to others, as `mkdir` leaves it to them. Nothing of ours can have been read there while it
 * was open, as long as it is empty; one that holds something stays as it is, and is refused. Says whether it did.
 */
function closeEmpty({ uid, mode }: Stats, dataDir: string): boolean {
  if (process.platform === "win32" || uid !== process.getuid?.() || (mode & OF_OTHERS) === 0) return false
  try {
    if (!isEmpty(dataDir)) return false
    chmodSync(dataDir, 0o700)
    if (isEmpty(dataDir)) return true
    // Who could write there has done so in between: it is as found again, and refused.
    chmodSync(dataDir, mode & 0o7777)
    return false
  } catch (error) {
    throw unusable(dataDir, error)
  }
}

const isEmpty = (folder: string): boolean => readdirSync(folder).length === 0

/** Permission bits of group and world. */
const OF_OTHERS = 0o077

/** Who may read a file or folder of ours: its owner, who must be the running user. Windows has other means. */
export function refuseOthers(found: Stats, path: string, mode: "0700" | "0600"): void {
  if (process.platform === "win32") return
  const user = process.getuid?.()
  if (found.uid !== user)
    throw new ExitFault("ownership", `${path} belongs to user ${found.uid}, not to the running user ${user}: chown it, or run as its owner`)
  if ((found.mode & OF_OTHERS) !== 0) throw new ExitFault("ownership", `${path} can be reached by other users: chmod ${mode} ${path}`)
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

/** Beginning of the name of the file that a start writes to see whether the folder can be written. */
export const PROBE = ".probe-"

/** Writes and syncs a few bytes: permission bits say nothing about a read-only mount or a full disk. */
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
      // Whoever holds the lock removes such files, as a crash leaves them behind.
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
    ENOTDIR: "lies below a file",
  }
  return new ExitFault("storage", `The data folder ${path} ${words[code] ?? `cannot be used (${code})`}`, { cause: error })
}

/** Magic numbers of Linux: NFS, SMB, SMB2, CIFS, 9P, AFS, Ceph. */
const REMOTE = new Set([0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x01021997, 0x5346414f, 0x00c36400])

function isRemote(dataDir: string): boolean {
  return process.platform === "linux" && REMOTE.has(Number(statfsSync(dataDir).type) >>> 0)
}
