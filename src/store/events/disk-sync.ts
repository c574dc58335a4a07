import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs"
import { StoreFault } from "./fault.ts"

/**
 * Brings what was committed to the disk, beside the thread that commits. SQLite locks the database and its shared memory,
 * never its log, so the log may be held open a second time.
 */
export class DiskSync {
  readonly #file: number

  /** `path` is that of an open database in WAL mode, whose log is there as long as it is open. */
  constructor(path: string) {
    // Not only for reading: some systems flush nothing then.
    this.#file = openSync(`${path}-wal`, "r+")
  }

  /** Resolves when everything committed before the call is on disk; rejects with a StoreFault when that is not known. */
  later(): Promise<void> {
    return new Promise((resolve, reject) => fdatasync(this.#file, (error) => (error ? reject(lost(error)) : resolve())))
  }

  /** The same, while the caller waits. Throws the StoreFault. */
  now(): void {
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

/** Whatever the reason: the page cache may have forgotten what it could not write. */
const lost = (cause: unknown) => new StoreFault("fsync", "The log of the event store did not reach the disk", { cause })
