import type { Clock } from "../../domain/clock.ts"
import type { EventStore } from "../../store/events/events.ts"
import type { FaultKind } from "../../store/events/fault.ts"

/** A reason why events cannot be stored. */
export type StorageProblem = FaultKind | "queue_full"

/** Called when a problem starts and when it ends. */
export type OnStorageProblem = (kind: StorageProblem, isActive: boolean) => void

/** The current storage problems. */
export class StorageProblems {
  readonly #active = new Set<StorageProblem>()
  readonly #onChange: OnStorageProblem

  constructor(onChange: OnStorageProblem) {
    this.#onChange = onChange
  }

  /** Whether nothing can be written until the operator intervenes. */
  get isClosed(): boolean {
    return this.has("full") || this.has("damaged") || this.has("fsync")
  }

  has(kind: StorageProblem): boolean {
    return this.#active.has(kind)
  }

  /** Starts a problem. I/O errors are reported one by one, because three of them within a minute have a meaning of their own. */
  enter(kind: StorageProblem): void {
    if (this.#active.has(kind) && kind !== "io") return
    this.#active.add(kind)
    this.#onChange(kind, true)
  }

  leave(kind: StorageProblem): void {
    if (this.#active.delete(kind)) this.#onChange(kind, false)
  }

  /** Ends all problems except damage, after events have reached the disk. Damage remains even if other data can still be written. */
  leaveAll(): void {
    for (const kind of [...this.#active]) if (kind !== "damaged") this.leave(kind)
  }
}

/** Interval at which a store that another program has locked is tried again. */
export const LOCK_RETRY_MS = 50
const LOCK_PATIENCE_MS = 5_000
const PROBE_MS = 2_000

interface StoreWaitOptions {
  store: Pick<EventStore, "probe">
  clock: Pick<Clock, "monotonic">
  problems: StorageProblems
}

/**
 * Detects when a store can be written again after another program locked the file or the disk was full. It never blocks: it
 * tries a write that changes nothing.
 */
export class StoreWait {
  readonly #store: StoreWaitOptions["store"]
  readonly #clock: StoreWaitOptions["clock"]
  readonly #problems: StorageProblems
  #lockedSince: number | undefined
  #probing: ReturnType<typeof setInterval> | undefined

  constructor({ store, clock, problems }: StoreWaitOptions) {
    this.#store = store
    this.#clock = clock
    this.#problems = problems
  }

  get isLocked(): boolean {
    return this.#lockedSince !== undefined
  }

  /** Records that a write met the lock. Returns whether it has lasted too long for waiting requests. */
  meetLock(): boolean {
    const now = this.#clock.monotonic()
    this.#lockedSince ??= now
    if (now - this.#lockedSince < LOCK_PATIENCE_MS) return false
    this.#problems.enter("locked")
    return true
  }

  /** Records that a write succeeded. */
  wrote(): void {
    this.#lockedSince = undefined
  }

  /** Checks the lock while there is nothing to write. Returns whether the file is still locked. */
  lookForLock(): boolean {
    if (!this.isLocked) return false
    if (!this.#probe()) return true
    this.#lockedSince = undefined
    this.#problems.leave("locked")
    return false
  }

  /** Starts a small write every 2 s that detects when the disk has room again. */
  meetFullDisk(): void {
    this.#probing ??= setInterval(() => this.#lookForRoom(), PROBE_MS)
  }

  stop(): void {
    clearInterval(this.#probing)
  }

  #lookForRoom(): void {
    if (!this.#probe()) return
    clearInterval(this.#probing)
    this.#probing = undefined
    this.#problems.leave("full")
  }

  #probe(): boolean {
    try {
      this.#store.probe()
      return true
    } catch {
      return false
    }
  }
}
