import type { Database } from "bun:sqlite"
import { toFault, translated } from "./fault.ts"
import { loadMemory, type Memory } from "./memory.ts"
import type { Commit } from "./upkeep.ts"
import type { KeptValues } from "./writer.ts"

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
  commit: Commit = (work) => translated(() => this.db.transaction(work).immediate())

  /** A transaction that changes memory with the tables: when it fails, memory is read anew from what is on disk. */
  change<T>(work: () => T): T {
    if (this.#isStale) this.#reload()
    // Prepared once: `run` would read these words anew for every group of events.
    translated(() => this.db.query("begin immediate").run())
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
      return loadMemory(this.db, this.#keptValues)
    })
    this.#isStale = false
  }
}
