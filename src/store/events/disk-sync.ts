import { closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync } from "node:fs"
import { dirname } from "node:path"
import { StoreFault } from "./fault.ts"

/**
 * Flushes committed transactions to the disk without blocking the thread that commits. It opens the write-ahead log a second time,
 * which is safe because SQLite locks the database and its shared memory, but never the log.
 */
export class DiskSync {
  readonly #file: number
  /** Ends when no flush is running. */
  #running: Promise<unknown> = Promise.resolve()
  /** The flush that begins after the running one. It covers every commit before its begin. */
  #next: Promise<void> | undefined

  /** `path` is that of an open database in WAL mode. Its log exists as long as the database is open. */
  constructor(path: string) {
    // Opened for writing, because some systems do not flush a file that is open for reading only.
    this.#file = openSync(`${path}-wal`, "r+")
    // The log is new, and SQLite flushes its folder only with a commit that waits for the disk. Windows cannot open a folder.
    if (process.platform !== "win32") syncFolder(dirname(path))
  }

  /** Resolves when everything committed before the call is on disk. Rejects with a StoreFault when that is uncertain. */
  sync(): Promise<void> {
    this.#next ??= this.#running.then(() => {
      const flush = this.#flush()
      this.#next = undefined
      this.#running = flush.catch(() => {})
      return flush
    })
    return this.#next
  }

  #flush(): Promise<void> {
    return new Promise((resolve, reject) => fdatasync(this.#file, (error) => (error ? reject(lost(error)) : resolve())))
  }

  /** The same, but blocks the thread. Throws the StoreFault. */
  syncNow(): void {
    try {
      fdatasyncSync(this.#file)
    } catch (error) {
      throw lost(error)
    }
  }

  close(): void {
    closeSync(this.#file)
  }
}

/** Every error has the same meaning: the page cache may have dropped the pages that it could not write. */
const lost = (cause: unknown) => new StoreFault("fsync", "The log of the event store did not reach the disk", { cause })

function syncFolder(path: string): void {
  const folder = openSync(path, "r")
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
