import type { Database } from "bun:sqlite"
import { StoreFault, toFault, translated } from "./fault.ts"
import { loadMemory, type Memory } from "./memory.ts"
import type { Commit } from "./upkeep/upkeep.ts"
import type { KeptValues } from "./writer.ts"

/** How the connection is opened, and how it stands between two transactions. */
const SYNCED = "pragma synchronous = full"

/** Together some 10 ms. */
const BRIEF_TRIES = 100
const BRIEF_PAUSE_MS = 0.1
const pause = new Int32Array(new SharedArrayBuffer(4))

/**
 * A reader that meets the log while it is being written takes the writer's lock for a moment, to look again. That is waited for
 * here; who holds it longer is another program, and what then is for the caller to say.
 */
function unlessBriefly<T>(begin: () => T): T {
  for (let left = BRIEF_TRIES; ; left--) {
    try {
      return translated(begin)
    } catch (error) {
      if (left === 0 || !(error instanceof StoreFault) || error.kind !== "locked") throw error
      Atomics.wait(pause, 0, 0, BRIEF_PAUSE_MS)
    }
  }
}

/** The writing connection, and what the writer knows without asking it: the two never differ. */
export class Journal {
  readonly db: Database
  readonly #keptValues: KeptValues
  #memory: Memory
  #isStale = false

  constructor(db: Database, keptValues: KeptValues) {
    this.db = db
    this.#keptValues = keptValues
    this.#memory = loadMemory(db, keptValues)
  }

  get memory(): Memory {
    return this.#memory
  }

  /** A transaction that leaves memory alone. */
  commit: Commit = (work) => unlessBriefly(() => this.db.transaction(work).immediate())

  /**
   * A transaction that changes memory with the tables: when it fails, memory is read anew from what is on disk. With
   * `unsynced` its end does not wait for the disk.
   */
  change<T>(work: () => T, unsynced = false): T {
    if (this.#isStale) this.#reload()
    if (!unsynced) return this.#changed(work)
    this.db.run("pragma synchronous = normal")
    try {
      return this.#changed(work)
    } finally {
      // Inside of a transaction that cannot end it is refused; `reload` makes up for it.
      if (!this.db.inTransaction) this.db.run(SYNCED)
    }
  }

  #changed<T>(work: () => T): T {
    // Prepared once: `run` would read these words anew for every group of events.
    unlessBriefly(() => this.db.query("begin immediate").run())
    try {
      const result = work()
      this.db.query("commit").run()
      return result
    } catch (error) {
      this.#isStale = true
      this.#recover()
      throw toFault(error)
    }
  }

  /** On a disk that fails this may fail too; the next change tries it again, and tells. The first error says more. */
  #recover(): void {
    try {
      this.#reload()
    } catch {}
  }

  #reload(): void {
    this.#memory = translated(() => {
      if (this.db.inTransaction) this.db.run("rollback")
      this.db.run(SYNCED)
      return loadMemory(this.db, this.#keptValues)
    })
    this.#isStale = false
  }
}
