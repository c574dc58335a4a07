import type { Database } from "bun:sqlite"
import { StoreFault, toFault, translateErrors } from "./fault.ts"
import { loadMemory, type Memory } from "./memory.ts"
import type { ExemptValues } from "./writer.ts"

/** Runs work in one transaction. */
export type Commit = <T>(work: () => T) => T
/** The same, perhaps after other work. */
export type LaterCommit = <T>(work: () => T) => Promise<T>

/** The setting of the connection between two transactions. */
const SYNCED = "pragma synchronous = full"

/**
 * Number of attempts and pause between them: about 100 ms together, because on a busy machine the thread with the lock waits for a core; and
 * several seconds while another thread of ours empties the log.
 */
const LOCK_TRIES = 1_000
const EMPTYING_TRIES = 50_000
const LOCK_PAUSE_MS = 0.1
const pause = new Int32Array(new SharedArrayBuffer(4))

/**
 * Retries while the store is locked for a moment. A reader that finds the log being written takes the writer's lock briefly to read
 * again. If the lock is held longer, another program has it, and the caller gets the fault.
 */
function retryWhileLocked<T>(begin: () => T, tries: number): T {
  for (let left = tries; ; left--) {
    try {
      return translateErrors(begin)
    } catch (error) {
      if (left === 0 || !(error instanceof StoreFault) || error.kind !== "locked") throw error
      Atomics.wait(pause, 0, 0, LOCK_PAUSE_MS)
    }
  }
}

/** The writing connection and the writer's memory, which it keeps consistent with the tables. */
export class Journal {
  readonly db: Database
  #isExempt: ExemptValues = () => false
  #memory: Memory
  #isStale = false
  /** Whether another thread empties the log, for which it has the lock. */
  isEmptying = false
  /** Resolves when another thread has moved the last pages of the log. Undefined while none does. */
  held: Promise<void> | undefined

  constructor(db: Database) {
    this.db = db
    this.#memory = this.#load()
  }

  /** Sets the values without a daily limit. Before, every value has one. */
  exempt(values: ExemptValues): void {
    this.#isExempt = values
  }

  get memory(): Memory {
    return this.#memory
  }

  get #tries(): number {
    return this.isEmptying ? EMPTYING_TRIES : LOCK_TRIES
  }

  /** Runs a transaction that does not change memory. */
  commit: Commit = (work) => retryWhileLocked(() => this.db.transaction(work).immediate(), this.#tries)

  /** The same, but does not wait for the disk. */
  append: Commit = (work) => this.#unsynced(() => this.commit(work))

  /**
   * The same for steps that can wait, as events do, while another thread moves the last pages of the log. Otherwise they would write as fast
   * as pages are moved, and this thread would stand still while the other one has the lock.
   */
  appendFree: LaterCommit = async (work) => {
    await this.free()
    return this.append(work)
  }

  /** Resolves when no other thread moves the last pages of the log. */
  async free(): Promise<void> {
    while (this.held) await this.held
  }

  /**
   * Runs a transaction that changes memory together with the tables. If it fails, memory is reloaded from the disk. With `unsynced`,
   * the commit does not wait for the disk.
   */
  change<T>(work: () => T, unsynced = false): T {
    if (this.#isStale) this.#reload()
    return unsynced ? this.#unsynced(() => this.#changed(work)) : this.#changed(work)
  }

  /** Runs a transaction that changes the log, and reads memory from it again. */
  rewrite(work: () => void): void {
    this.commit(work)
    this.#reload()
  }

  #unsynced<T>(work: () => T): T {
    this.db.run("pragma synchronous = normal")
    try {
      return work()
    } finally {
      // SQLite ignores the pragma inside a transaction that could not be ended. `#reload` sets it then.
      if (!this.db.inTransaction) this.db.run(SYNCED)
    }
  }

  #changed<T>(work: () => T): T {
    // `query` caches the prepared statement; `run` would parse it again for every group commit.
    retryWhileLocked(() => this.db.query("begin immediate").run(), this.#tries)
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

  /** Reloads memory if possible. On a failing disk this fails too: the next change tries again and throws. The first error matters more. */
  #recover(): void {
    try {
      this.#reload()
    } catch {}
  }

  #reload(): void {
    this.#memory = translateErrors(() => {
      if (this.db.inTransaction) this.db.run("rollback")
      this.db.run(SYNCED)
      return this.#load()
    })
    this.#isStale = false
  }

  #load(): Memory {
    return loadMemory(this.db, (...value) => this.#isExempt(...value))
  }
}
