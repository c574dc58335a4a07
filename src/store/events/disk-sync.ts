import { closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync } from "node:fs"
import { dirname } from "node:path"
import { StoreFault } from "./fault.ts"

/** Returns the path of the write-ahead log of a database, which exists as long as the database is open. */
export const logOf = (path: string): string => `${path}-wal`

/**
 * Flushes a file of an open database to the disk without blocking the thread that writes it: the write-ahead log, with the committed
 * transactions, or the database itself. The log can be opened a second time, because SQLite never locks it. The database is locked, and
 * loses the locks when a second one is closed, so close it only after the database.
 */
export class DiskSync {
  readonly #file: number
  /** Ends when no flush is running. */
  #running: Promise<unknown> = Promise.resolve()
  /** The flush that begins after the running one. It covers everything that was written before its begin. */
  #next: Promise<void> | undefined

  constructor(path: string) {
    // Opened for writing, because some systems do not flush a file that is open for reading only.
    this.#file = openSync(path, "r+")
    // A log is new, and SQLite flushes its folder only with a commit that waits for the disk. Windows cannot open a folder.
    if (process.platform !== "win32") syncFolder(dirname(path))
  }

  /** Resolves when everything written before the call is on disk. Rejects with a StoreFault when that is uncertain. */
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
const lost = (cause: unknown) => new StoreFault("fsync", "A file of a store did not reach the disk", { cause })

function syncFolder(path: string): void {
  const folder = openSync(path, "r")
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
