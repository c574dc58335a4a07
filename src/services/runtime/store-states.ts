import type { Log } from "../domain/log.ts"
import type { Hindrance } from "../ingest/hindrances.ts"
import type { FaultKind, StoreFault } from "../store/events/fault.ts"
import { ExitFault } from "./exit.ts"
import type { Health, HealthCode } from "./health.ts"

/** What follows from faults of the stores (reliability.md section 4): states of health, and the end where nothing can be trusted. */
export interface StoreStates {
  /** Told when something begins to keep events from being stored, and when it no longer does. */
  hinder(kind: Hindrance, hinders: boolean): void
  /** Told of a fault of the catalog, which has been waited for as long as waiting helps. */
  note(fault: StoreFault): void
  /** Told that something stored is damaged, wherever that showed. It ends with the process: nothing is repaired by itself. */
  damaged(cause: string): void
  /** Whoever writes stops when something stored turns out to be damaged. */
  onDamage(stop: () => void): void
  /** Ends what the catalog's faults began, once `canWrite` says so: nobody may write there for hours. */
  probe(canWrite: () => boolean): void
  /** Ends the process, in order, with this fault. */
  end(fault: ExitFault): void
  /** Resolves when the process has to end: after a failed fsync the page cache lies. */
  readonly lost: Promise<ExitFault>
}

/** So many other I/O errors within a minute are as bad as a failed fsync. */
const IO_ERRORS = 3

const CODES: { readonly [kind in Hindrance]?: HealthCode } = {
  full: "storage_full",
  locked: "storage_locked",
  damaged: "storage_damaged",
  queue_full: "queue_full",
}

export function createStoreStates({ health, log, monotonic }: { health: Health; log: Log; monotonic(): number }): StoreStates {
  const { promise: lost, resolve: lose } = Promise.withResolvers<ExitFault>()
  let errors: number[] = []
  const writers: (() => void)[] = []
  /** Kinds of fault by store; a state ends when no store has it any more. */
  const present = new Set<string>()

  function set(store: "catalog" | "events", kind: Hindrance, isPresent: boolean, cause: string): void {
    if (isPresent) present.add(`${store} ${kind}`)
    else present.delete(`${store} ${kind}`)
    const code = CODES[kind]
    if (code === undefined) return
    if (isPresent) health.enter(code, cause)
    else if (!["catalog", "events"].some((other) => present.has(`${other} ${kind}`))) health.leave(code)
  }

  function weigh(kind: FaultKind | "queue_full"): void {
    if (kind === "fsync") loseWrites()
    if (kind !== "io") return
    errors = [...errors.filter((at) => monotonic() - at < 60_000), monotonic()]
    if (errors.length >= IO_ERRORS) loseWrites()
  }

  function loseWrites(): void {
    log.error("the disk has lost writes: ending, so that the next start reads again what is on it")
    lose(new ExitFault("fsync", "The disk has lost writes; look at it, and start again"))
  }

  return {
    lost,
    end: lose,
    hinder(kind, hinders) {
      set("events", kind, hinders, `events cannot be stored: ${kind}`)
      if (hinders) weigh(kind)
    },
    note(fault) {
      log.warn("the catalog met a fault", { kind: fault.kind, cause: fault.message })
      set("catalog", fault.kind, true, fault.message)
      weigh(fault.kind)
    },
    damaged(cause) {
      set("events", "damaged", true, cause)
      for (const stop of writers) stop()
    },
    onDamage: (stop) => void writers.push(stop),
    probe(canWrite) {
      for (const kind of ["full", "locked", "io"] as const)
        if (present.has(`catalog ${kind}`) && canWrite()) set("catalog", kind, false, "")
    },
  }
}
