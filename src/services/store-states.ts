import type { Log } from "../domain/log.ts"
import type { EventStore } from "../store/events/events.ts"
import { StoreFault } from "../store/events/fault.ts"
import { ExitFault } from "./exit.ts"
import type { Health } from "./health.ts"

/** What follows from a store's faults (reliability.md section 4): states of health, and the end where nothing can be trusted. */
export interface StoreStates {
  /** Told of every fault of either store. */
  note(fault: StoreFault): void
  /** The write of the event store, watched: while the disk is full it fails at once and does not try. */
  watch(events: EventStore): Pick<EventStore, "write">
  /** Tries to write; ends the state `storage_full` when that works. */
  probe(canWrite: () => boolean): void
  /** Resolves when the process has to end: after a failed fsync the page cache lies. */
  readonly lost: Promise<ExitFault>
}

/** A lock of another process is a state only after this time; shorter ones are waited for. */
const LOCKED_MS = 5_000
/** So many other I/O errors within a minute are as bad as a failed fsync. */
const IO_ERRORS = 3

export function createStoreStates({ health, log, monotonic }: { health: Health; log: Log; monotonic(): number }): StoreStates {
  const { promise: lost, resolve: lose } = Promise.withResolvers<ExitFault>()
  let errors: number[] = []
  let lockedSince: number | undefined
  let store: EventStore | undefined

  function note(fault: StoreFault): void {
    if (fault.kind === "full") health.enter("storage_full", fault.message)
    if (fault.kind === "damaged") health.enter("storage_damaged", fault.message)
    if (fault.kind === "locked") noteLock(fault)
    if (fault.kind === "fsync") end(fault)
    if (fault.kind === "io") noteError(fault)
  }

  function noteLock(fault: StoreFault): void {
    lockedSince ??= monotonic()
    if (monotonic() - lockedSince >= LOCKED_MS) health.enter("storage_locked", fault.message)
  }

  function noteError(fault: StoreFault): void {
    log.error("a store met an I/O error", { error: fault })
    errors = [...errors.filter((at) => monotonic() - at < 60_000), monotonic()]
    if (errors.length >= IO_ERRORS) end(fault)
  }

  function end(fault: StoreFault): void {
    log.error("the disk has lost writes: ending, so that the next start re-reads what is on it", { error: fault })
    lose(new ExitFault("fsync", "The disk has lost writes; look at it, and start again", { cause: fault }))
  }

  function succeed(): void {
    lockedSince = undefined
    health.leave("storage_locked")
  }

  /** Runs a write of the event store and draws the consequences. */
  function watched<T>(work: () => T): T {
    if (health.has("storage_full")) throw new StoreFault("full", "The disk is full")
    try {
      const result = work()
      succeed()
      return result
    } catch (error) {
      if (error instanceof StoreFault) note(error)
      throw error
    }
  }

  return {
    note,
    lost,
    watch(events) {
      store = events
      return { write: (arrivedAt, work) => watched(() => events.write(arrivedAt, work)) }
    },
    probe(canWrite) {
      if (!health.has("storage_full") || !canWrite()) return
      store?.probe()
      health.leave("storage_full")
    },
  }
}
