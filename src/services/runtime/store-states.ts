import { AppError } from "../../domain/error.ts"
import type { Log } from "../../domain/log.ts"
import type { StorageProblem } from "../../ingest/commit/storage-problems.ts"
import { type FaultKind, StoreFault } from "../../store/events/fault.ts"
import { StoreRefusal } from "../../store/migrations.ts"
import { ExitFault, ForeignFile } from "./exit.ts"
import type { Health, HealthCode } from "./health.ts"

/** Converts faults of the stores to health states, or to the end of the process when the disk cannot be trusted (reliability.md section 4). */
export interface StoreStates {
  /** Records that a problem starts or stops keeping events from being stored. */
  hinder(kind: StorageProblem, isActive: boolean): void
  /** Records a fault of the catalog that retries did not resolve. */
  note(fault: StoreFault): void
  /** Records damage in a store. The state lasts until the process ends, because nothing is repaired automatically. */
  damaged(cause: string): void
  /** Registers a function that stops a writer when damage is found. */
  onDamage(stop: () => void): void
  /** Ends the states of catalog faults once `canWrite` returns true. Otherwise they would last until the next write, which can take hours. */
  probe(canWrite: () => boolean): void
  /** Ends the process in an orderly way with this fault. */
  end(fault: ExitFault): void
  /** Resolves when the process has to end. After a failed fsync the page cache can differ from the disk. */
  readonly lost: Promise<ExitFault>
}

/** Number of other I/O errors within a minute that are treated like a failed fsync. */
const MAX_IO_ERRORS = 3

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
  /** Current faults, as store and kind. A state ends when neither store has the fault. */
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
    if (errors.length >= MAX_IO_ERRORS) loseWrites()
  }

  function loseWrites(): void {
    log.error("the disk has lost writes: the process ends, so that the next start reads what is really stored")
    lose(new ExitFault("fsync", "The disk has lost writes. Check the disk, then start Footfall again"))
  }

  return {
    lost,
    end: lose,
    hinder(kind, isActive) {
      set("events", kind, isActive, `events cannot be stored: ${kind}`)
      if (isActive) weigh(kind)
    },
    note(fault) {
      log.warn("the catalog reported a fault", { kind: fault.kind, cause: fault.message })
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

/** Converts an error of a store during the start to an exit code with its message. Other errors are returned unchanged. */
export function toExitFault(error: unknown, dataDir: string): unknown {
  if (error instanceof StoreRefusal) return error.reason === "foreign" ? foreign(error) : misfit(error)
  if (!(error instanceof StoreFault)) return error
  if (error.kind === "damaged") {
    const remedy = `footfall backup list --data-dir ${dataDir}, then footfall backup restore <id> --data-dir ${dataDir}`
    return new ExitFault("damaged", `A store in ${dataDir} is damaged (${causeOf(error)}). Restore a backup: ${remedy}`, { cause: error })
  }
  if (error.kind === "full") return new ExitFault("storage", `${dataDir} is on a full disk. Free space`, { cause: error })
  if (error.kind === "locked") return new ExitFault("inUse", `Another program has locked a store in ${dataDir}`, { cause: error })
  if (error.kind === "unreachable") return new ExitFault("unavailable", "A server of the instance no longer answers", { cause: error })
  return new ExitFault("storage", `A store in ${dataDir} cannot be used (${causeOf(error)})`, { cause: error })
}

const misfit = (error: StoreRefusal) => new ExitFault("configuration", error.message, { cause: error })
const foreign = (error: StoreRefusal) =>
  new ForeignFile(`${error.message}. Move it to another folder, or run footfall backup restore <id>`, { cause: error })

/** Returns SQLite's error code, which is more specific than the kind of the fault. */
const causeOf = (fault: StoreFault): string =>
  fault.cause instanceof Error && "code" in fault.cause ? String(fault.cause.code) : fault.message

/** Converts a fault of a store to the error that callers get (reliability.md section 4). Other errors are returned unchanged. */
export const storeRefusal = (error: unknown): unknown => (error instanceof StoreFault ? REFUSALS[error.kind]() : error)

const LOCKED =
  "Another program has locked a store. Recorded data is safe. If this persists, the operator of Footfall has to end that program."

const REFUSALS: Record<FaultKind, () => AppError> = {
  full: () => new AppError("storage_full", "The disk is full.", { retry_after: 10 }),
  locked: () => new AppError("unavailable", LOCKED, { retry_after: 5 }),
  damaged: () => new AppError("storage_damaged", "A part of the stored data cannot be read."),
  fsync: () => new AppError("unavailable", "The disk failed. The service is stopping.", { retry_after: 10 }),
  unreachable: () => new AppError("unavailable", "A server of this instance cannot be reached at the moment.", { retry_after: 5 }),
  io: () => new AppError("unavailable", "A store cannot be read or written at the moment.", { retry_after: 5 }),
}
