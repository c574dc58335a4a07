import { AppError } from "../../domain/error.ts"
import type { Log } from "../../domain/log.ts"
import type { StorageProblem } from "../../ingest/commit/storage-problems.ts"
import { type FaultKind, StoreFault } from "../../store/events/fault.ts"
import { StoreRefusal } from "../../store/migrations.ts"
import { ExitFault } from "./exit.ts"
import type { Health, HealthCode } from "./health.ts"

/** What follows from faults of the stores (reliability.md section 4): states of health, and the end where nothing can be trusted. */
export interface StoreStates {
  /** Told when something begins to keep events from being stored, and when it no longer does. */
  hinder(kind: StorageProblem, hinders: boolean): void
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

const CODES: { readonly [kind in StorageProblem]?: HealthCode } = {
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

  function set(store: "catalog" | "events", kind: StorageProblem, isPresent: boolean, cause: string): void {
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

/** What a store threw while nobody served yet, as the line and exit code of a failed start. Anything else passes as it is. */
export function toExitFault(error: unknown, dataDir: string): unknown {
  if (error instanceof StoreRefusal) return error.reason === "foreign" ? foreign(error) : misfit(error)
  if (!(error instanceof StoreFault)) return error
  if (error.kind === "damaged") {
    const remedy = `footfall backup list --data-dir ${dataDir}, then footfall backup restore <id> --data-dir ${dataDir}`
    return new ExitFault("damaged", `A store in ${dataDir} is damaged (${causeOf(error)}). Restore a backup: ${remedy}`, { cause: error })
  }
  if (error.kind === "locked") return new ExitFault("inUse", `Another program holds a store in ${dataDir}`, { cause: error })
  if (error.kind === "unreachable") return new ExitFault("unavailable", "The catalog server does not answer any more", { cause: error })
  return new ExitFault("storage", `A store in ${dataDir} cannot be used (${causeOf(error)})`, { cause: error })
}

const misfit = (error: StoreRefusal) => new ExitFault("configuration", error.message, { cause: error })
const foreign = (error: StoreRefusal) =>
  new ExitFault("damaged", `${error.message}. Move it away, or footfall backup restore <id>`, { cause: error })

/** SQLite's own code says more than our kind of fault. */
const causeOf = (fault: StoreFault): string =>
  fault.cause instanceof Error && "code" in fault.cause ? String(fault.cause.code) : fault.message

/** What a store's fault means to whoever asked while the instance serves (reliability.md section 4). Anything else passes as it is. */
export const storeRefusal = (error: unknown): unknown => (error instanceof StoreFault ? REFUSALS[error.kind]() : error)

const HELD = "A store is held by another program. What is recorded is safe. If it stays so, whoever runs Footfall has to end that program."

const REFUSALS: Record<FaultKind, () => AppError> = {
  full: () => new AppError("storage_full", "The disk is full.", { retry_after: 10 }),
  locked: () => new AppError("unavailable", HELD, { retry_after: 5 }),
  damaged: () => new AppError("storage_damaged", "A part of what is stored cannot be read."),
  fsync: () => new AppError("unavailable", "The disk fails; the service ends.", { retry_after: 10 }),
  unreachable: () => new AppError("unavailable", "The catalog server cannot be reached for now.", { retry_after: 5 }),
  io: () => new AppError("unavailable", "A store cannot be read or written for now.", { retry_after: 5 }),
}
