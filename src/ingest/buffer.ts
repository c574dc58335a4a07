import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import type { DropReason } from "../domain/event.ts"
import { COLLECT } from "../domain/limits.ts"
import type { EventStore } from "../store/events/events.ts"
import { type FaultKind, StoreFault } from "../store/events/fault.ts"
import type { Candidate } from "./candidate.ts"
import { createDropTally, type DropNote } from "./drop-tally.ts"
import type { IngestCounts } from "./ingest-counts.ts"
import { recordEvent } from "./visits.ts"
import type { IngestWatch } from "./watch.ts"

/** Why an event that was taken was not stored; undefined when it was. */
export type Outcome = DropReason | undefined

/** What keeps events from being stored. */
export type Hindrance = FaultKind | "queue_full"

export interface BufferOptions {
  store: Pick<EventStore, "write" | "probe">
  clock: Clock
  /** Counts what becomes of events. */
  counts?: IngestCounts
  /** Told of what comes in for sites that somebody looks at. */
  watch?: IngestWatch
  /** Told when storing begins to fail, and when it works again. */
  onHindrance?(kind: Hindrance, hinders: boolean): void
  /** Told of a fault in our own code: the request that met it is answered, the others of its group are stored. */
  onError?(error: unknown): void
}

/** The events of one request: stored together or not at all. */
interface Job {
  candidates: readonly Candidate[]
  bytes: number
  resolve(outcomes: Outcome[]): void
  reject(reason: unknown): void
}

const LOCK_RETRY_MS = 50
const LOCK_PATIENCE_MS = 5_000
const PROBE_MS = 2_000
/** Drops alone are in no hurry: nobody waits for them. */
const DROPS_MS = 100

const full = () => new AppError("storage_full", "The disk is full.", { retry_after: 10 })
const unavailable = (seconds: number) => new AppError("unavailable", "Events cannot be stored for now.", { retry_after: seconds })

/**
 * Gathers events into one transaction: 2 ms or 200 events. Nothing is acknowledged before its commit. A group is stored
 * whole or not at all; a request whose event fails on its own is taken out and the rest written again.
 */
export class EventBuffer {
  readonly #store: BufferOptions["store"]
  readonly #clock: Clock
  readonly #onHindrance: NonNullable<BufferOptions["onHindrance"]>
  readonly #onError: NonNullable<BufferOptions["onError"]>
  readonly #counts: IngestCounts | undefined
  readonly #watch: IngestWatch | undefined
  readonly #tally = createDropTally()
  readonly #hindrances = new Set<Hindrance>()
  #jobs: Job[] = []
  #depth = 0
  #bytes = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  /** What the timer was set to, in ms. */
  #delay = 0
  #lockedSince: number | undefined
  #probing: ReturnType<typeof setInterval> | undefined
  #isStopped = false

  constructor({ store, clock, counts, watch, onHindrance = () => {}, onError = () => {} }: BufferOptions) {
    this.#store = store
    this.#clock = clock
    this.#counts = counts
    this.#watch = watch
    this.#onHindrance = onHindrance
    this.#onError = onError
  }

  /** Events waiting. */
  get depth(): number {
    return this.#depth
  }

  /**
   * Stores the events of one request, all in one transaction. Resolves once they are on disk; rejects with an AppError when
   * nothing of them was stored. `bytes` is about what they take in memory.
   */
  store(candidates: readonly Candidate[], bytes: number): Promise<Outcome[]> {
    const refusal = this.#refusal(candidates.length, bytes)
    if (refusal) {
      this.#countRefused(candidates)
      return Promise.reject(refusal)
    }
    return new Promise((resolve, reject) => {
      this.#jobs.push({ candidates, bytes, resolve, reject })
      this.#depth += candidates.length
      this.#bytes += bytes
      if (this.#lockedSince !== undefined) this.#schedule(LOCK_RETRY_MS)
      else if (this.#depth >= COLLECT.groupEvents) this.#turn()
      else this.#schedule(COLLECT.groupMs)
    })
  }

  /** Counts a drop; it travels with the next commit. */
  drop(note: DropNote): void {
    this.#tally.add(note)
    this.#counts?.add(note.siteId, note.reason)
    if (this.#watch?.isWatched(note.siteId)) this.#watch.dropped(note)
    if (!this.#isStopped) this.#schedule(DROPS_MS)
  }

  /** Writes everything that waits, now. */
  flush(): void {
    while (this.#isDue && this.#writeGroup());
  }

  /** Writes what waits, answers what cannot be written, takes nothing more. */
  stop(): void {
    this.flush()
    this.#isStopped = true
    clearTimeout(this.#timer)
    clearInterval(this.#probing)
    this.#rejectAll(unavailable(1))
  }

  get #isDue(): boolean {
    return this.#jobs.length > 0 || (!this.#tally.isEmpty && !this.#isClosed)
  }

  /** Nothing can be written until somebody acts. */
  get #isClosed(): boolean {
    return this.#hindrances.has("full") || this.#hindrances.has("damaged") || this.#hindrances.has("fsync")
  }

  #refusal(events: number, bytes: number): AppError | undefined {
    if (this.#hindrances.has("full")) return full()
    if (this.#isStopped || this.#isClosed) return unavailable(10)
    // An empty queue takes whatever a single request may hold.
    const isFull = this.#depth > 0 && (this.#depth + events > COLLECT.queueEvents || this.#bytes + bytes > COLLECT.queueBytes)
    if (!isFull) return undefined
    this.#enter("queue_full")
    return unavailable(1)
  }

  /** Leaves a timer alone that was set for no longer: it is due before. */
  #schedule(ms: number): void {
    if (this.#timer !== undefined && this.#delay <= ms) return
    clearTimeout(this.#timer)
    this.#delay = ms
    this.#timer = setTimeout(() => this.#turn(), ms)
  }

  /** One group, then the loop gets its turn: a long queue must not hold up reports and answers. */
  #turn(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (!this.#isDue) this.#lookForLock()
    else if (this.#writeGroup() && this.#isDue) this.#schedule(0)
  }

  /** With nothing to write, whether the file is free again is found out by a write that changes nothing. */
  #lookForLock(): void {
    if (this.#lockedSince === undefined) return
    if (this.#probe()) {
      this.#lockedSince = undefined
      this.#leave("locked")
    } else this.#schedule(LOCK_RETRY_MS)
  }

  /** Whether to go on with the next group. */
  #writeGroup(): boolean {
    const group = firstGroup(this.#jobs)
    const begun = this.#clock.monotonic()
    let current: Job | undefined
    try {
      const outcomes = this.#store.write(this.#clock.now(), (writer) => {
        this.#tally.writeTo(writer)
        const recorded = group.map((job) => {
          current = job
          return job.candidates.map((candidate) => recordEvent(writer, candidate))
        })
        current = undefined
        return recorded
      })
      this.#settle(group, outcomes)
      if (group.length > 0) this.#counts?.took(this.#clock.monotonic() - begun)
      return true
    } catch (error) {
      if (error instanceof StoreFault) return this.#meetFault(error.kind, group)
      this.#onError(error)
      if (current) this.#reject([current], error)
      else this.#abandon(group, error)
      return true
    }
  }

  #settle(group: readonly Job[], outcomes: readonly Outcome[][]): void {
    this.#tally.clear()
    this.#remove(group)
    this.#lockedSince = undefined
    for (const kind of [...this.#hindrances]) this.#leave(kind)
    group.forEach((job, index) => {
      const own = outcomes[index]!
      for (const [at, reason] of own.entries()) this.#counts?.add(job.candidates[at]!.siteId, reason ?? "accepted")
      job.resolve(own)
      this.#tellWatch(job, own)
    })
  }

  #tellWatch({ candidates }: Job, outcomes: readonly Outcome[]): void {
    for (const [at, candidate] of candidates.entries())
      if (outcomes[at] === undefined && this.#watch?.isWatched(candidate.siteId)) this.#watch.stored(candidate)
  }

  /** What the store cannot do now: reliability.md section 4. Whether to go on with the next group. */
  #meetFault(kind: FaultKind, group: readonly Job[]): boolean {
    if (kind === "locked") return this.#waitForLock()
    this.#enter(kind)
    if (kind === "io") this.#reject(group, unavailable(1))
    else this.#rejectAll(kind === "full" ? full() : unavailable(10))
    if (kind === "full") this.#probing ??= setInterval(() => this.#lookForRoom(), PROBE_MS)
    return false
  }

  /** A foreign program holds the file: tried again by a timer, so that the loop never blocks. */
  #waitForLock(): boolean {
    const now = this.#clock.monotonic()
    this.#lockedSince ??= now
    if (now - this.#lockedSince >= LOCK_PATIENCE_MS) {
      this.#enter("locked")
      this.#rejectAll(unavailable(5))
    }
    this.#schedule(LOCK_RETRY_MS)
    return false
  }

  /** While the disk is full one small write every 2 s finds out when it no longer is. */
  #lookForRoom(): void {
    if (!this.#probe()) return
    clearInterval(this.#probing)
    this.#probing = undefined
    this.#leave("full")
  }

  #probe(): boolean {
    try {
      this.#store.probe()
      return true
    } catch {
      return false
    }
  }

  /** A fault that no single event caused: the drops may be it, so they go too. */
  #abandon(group: readonly Job[], error: unknown): void {
    this.#tally.clear()
    this.#reject(group, error)
  }

  #rejectAll(reason: unknown): void {
    this.#reject(this.#jobs, reason)
  }

  #reject(jobs: readonly Job[], reason: unknown): void {
    this.#remove(jobs)
    for (const { candidates, reject } of jobs) {
      this.#countRefused(candidates)
      reject(reason)
    }
  }

  /** Those that the queue has no room for, and those that the store does not take. */
  #countRefused(candidates: readonly Candidate[]): void {
    const isQueue = !this.#isClosed && this.#hindrances.has("queue_full")
    for (const { siteId } of candidates) this.#counts?.add(siteId, isQueue ? "refused_queue" : "refused_storage")
  }

  #remove(jobs: readonly Job[]): void {
    for (const { candidates, bytes } of jobs) {
      this.#depth -= candidates.length
      this.#bytes -= bytes
    }
    const gone = new Set(jobs)
    this.#jobs = jobs.length === this.#jobs.length ? [] : this.#jobs.filter((job) => !gone.has(job))
  }

  /** Single I/O errors are each told: three of them in a minute mean more than one. */
  #enter(kind: Hindrance): void {
    if (this.#hindrances.has(kind) && kind !== "io") return
    this.#hindrances.add(kind)
    this.#onHindrance(kind, true)
  }

  #leave(kind: Hindrance): void {
    if (this.#hindrances.delete(kind)) this.#onHindrance(kind, false)
  }
}

/** Whole requests, from the oldest, up to the size of a group. */
function firstGroup(jobs: readonly Job[]): Job[] {
  let events = 0
  const end = jobs.findIndex((job) => {
    const isEnough = events >= COLLECT.groupEvents
    events += job.candidates.length
    return isEnough
  })
  return end < 0 ? [...jobs] : jobs.slice(0, end)
}
