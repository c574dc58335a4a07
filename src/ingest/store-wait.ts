import type { Clock } from "../domain/clock.ts"
import type { EventStore } from "../store/events/events.ts"
import type { Hindrances } from "./hindrances.ts"

/** After so long a store that is held by somebody else is tried again. */
export const LOCK_RETRY_MS = 50
const LOCK_PATIENCE_MS = 5_000
const PROBE_MS = 2_000

interface StoreWaitOptions {
  store: Pick<EventStore, "probe">
  clock: Pick<Clock, "monotonic">
  hindrances: Hindrances
}

/**
 * Finds out when a store can be written again: a file that a foreign program holds, or a disk that is full. It never blocks;
 * whether it is free is found out by a write that changes nothing.
 */
export class StoreWait {
  readonly #store: StoreWaitOptions["store"]
  readonly #clock: StoreWaitOptions["clock"]
  readonly #hindrances: Hindrances
  #lockedSince: number | undefined
  #probing: ReturnType<typeof setInterval> | undefined

  constructor({ store, clock, hindrances }: StoreWaitOptions) {
    this.#store = store
    this.#clock = clock
    this.#hindrances = hindrances
  }

  get isLocked(): boolean {
    return this.#lockedSince !== undefined
  }

  /** A write met the lock. Whether it has lasted too long for those who wait. */
  meetLock(): boolean {
    const now = this.#clock.monotonic()
    this.#lockedSince ??= now
    if (now - this.#lockedSince < LOCK_PATIENCE_MS) return false
    this.#hindrances.enter("locked")
    return true
  }

  /** A write came through. */
  wrote(): void {
    this.#lockedSince = undefined
  }

  /** With nothing to write. Whether the file is still held. */
  lookForLock(): boolean {
    if (!this.isLocked) return false
    if (!this.#probe()) return true
    this.#lockedSince = undefined
    this.#hindrances.leave("locked")
    return false
  }

  /** While the disk is full one small write every 2 s finds out when it no longer is. */
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
    this.#hindrances.leave("full")
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
