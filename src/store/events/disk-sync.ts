import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs"
import { StoreFault } from "./fault.ts"

/**
 * Flushes committed transactions to the disk without blocking the thread that commits. It opens the write-ahead log a second time,
 * which is safe because SQLite locks the database and its shared memory, but never the log.
 */
export class DiskSync {
  readonly #file: number

  /** `path` is that of an open database in WAL mode. Its log exists as long as the database is open. */
  constructor(path: string) {
    // Opened for writing, because some systems do not flush a file that is open for reading only.
    this.#file = openSync(`${path}-wal`, "r+")
  }

  /** Resolves when everything committed before the call is on disk. Rejects with a StoreFault when that is uncertain. */
  sync(): Promise<void> {
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
