import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { COLLECT } from "../domain/limits.ts"
import type { EventStore } from "../store/events/events.ts"
import { type FaultKind, StoreFault } from "../store/events/fault.ts"
import type { Candidate } from "./candidate.ts"
import { createDropTally, type DropNote } from "./drop-tally.ts"
import { Hindrances, type OnHindrance } from "./hindrances.ts"
import type { IngestCounts } from "./ingest-counts.ts"
import { type Outcome, Outcomes } from "./outcomes.ts"
import { EventQueue, type Waiting } from "./queue.ts"
import { LOCK_RETRY_MS, StoreWait } from "./store-wait.ts"
import { recordEvent } from "./visits.ts"
import type { IngestWatch } from "./watch.ts"

export interface BufferOptions {
  store: Pick<EventStore, "append" | "sync" | "syncNow" | "probe">
  clock: Clock
  /** Counts what becomes of events. */
  counts?: IngestCounts
  /** Told of what comes in for sites that somebody looks at. */
  watch?: IngestWatch
  onHindrance?: OnHindrance
  /** Told of a fault in our own code: the request that met it is answered, the others of its group are stored. */
  onError?(error: unknown): void
}

interface Job extends Waiting {
  resolve(outcomes: Outcome[]): void
  reject(reason: unknown): void
}

/** What was committed and is on its way to the disk: answered when it is there. */
interface Committed {
  group: readonly Job[]
  outcomes: readonly Outcome[][]
  /** When the commit began, by the monotonic clock. */
  begun: number
}

/** Drops alone are in no hurry: nobody waits for them. */
const DROPS_MS = 100

const full = () => new AppError("storage_full", "The disk is full.", { retry_after: 10 })
const unavailable = (seconds: number) => new AppError("unavailable", "Events cannot be stored for now.", { retry_after: seconds })

/**
 * Gathers events into one transaction: 2 ms or 200 events. Nothing is acknowledged before its commit is on disk; the loop
 * runs on meanwhile, and what comes then is the next group. A group is stored whole or not at all; a request whose event
 * fails on its own is taken out and the rest written again.
 */
export class EventBuffer {
  readonly #store: BufferOptions["store"]
  readonly #clock: Clock
  readonly #onError: NonNullable<BufferOptions["onError"]>
  readonly #outcomes: Outcomes
  readonly #tally = createDropTally()
  readonly #hindrances: Hindrances
  readonly #wait: StoreWait
  readonly #queue = new EventQueue<Job>()
  #committed: Committed | undefined
  /** A group was due while the one before was on its way to the disk. */
  #isOverdue = false
  #timer: ReturnType<typeof setTimeout> | undefined
  /** What the timer was set to, in ms. */
  #delay = 0
  #isStopped = false

  constructor({ store, clock, counts, watch, onHindrance = () => {}, onError = () => {} }: BufferOptions) {
    this.#store = store
    this.#clock = clock
    this.#outcomes = new Outcomes(counts, watch)
    this.#hindrances = new Hindrances(onHindrance)
    this.#wait = new StoreWait({ store, clock, hindrances: this.#hindrances })
    this.#onError = onError
  }

  /** Events that are not yet answered. */
  get depth(): number {
    return this.#queue.depth
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
      this.#queue.push({ candidates, bytes, resolve, reject })
      if (this.#wait.isLocked) this.#schedule(LOCK_RETRY_MS)
      else if (this.depth >= COLLECT.groupEvents) this.#turn()
      else this.#schedule(COLLECT.groupMs)
    })
  }

  /** Counts a drop; it travels with the next commit. */
  drop(note: DropNote): void {
    this.#tally.add(note)
    this.#outcomes.drop(note)
    if (!this.#isStopped) this.#schedule(DROPS_MS)
  }

  /** Something stored is damaged, as reading it has shown: nothing more is written beside it. */
  meetDamage(): void {
    this.#hindrances.enter("damaged")
    this.#rejectAll(unavailable(10))
  }

  /** Writes everything that waits, now. */
  flush(): void {
    while (this.#settleNow() && this.#isDue && this.#writeGroup());
  }

  /** Writes what waits, answers what cannot be written, takes nothing more. */
  stop(): void {
    this.flush()
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#wait.stop()
    this.#rejectAll(unavailable(1))
  }

  get #isDue(): boolean {
    return this.#queue.waiting.length > 0 || (!this.#tally.isEmpty && !this.#hindrances.isClosed)
  }

  #refusal(events: number, bytes: number): AppError | undefined {
    if (this.#hindrances.has("full")) return full()
    if (this.#isStopped || this.#hindrances.isClosed) return unavailable(10)
    if (this.#queue.hasRoom(events, bytes)) return undefined
    this.#hindrances.enter("queue_full")
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
    this.#isOverdue = this.#committed !== undefined
    if (this.#isOverdue) return
    if (!this.#isDue) this.#lookForLock()
    else if (!this.#writeGroup()) return
    else if (this.#committed) void this.#settleLater()
    else if (this.#isDue) this.#schedule(0)
  }

  /** With nothing to write a probe finds out when the file is free again. */
  #lookForLock(): void {
    if (this.#wait.lookForLock()) this.#schedule(LOCK_RETRY_MS)
  }

  /** Commits the first group of those that wait. Whether to go on. */
  #writeGroup(): boolean {
    const group = this.#queue.group()
    const begun = this.#clock.monotonic()
    let current: Job | undefined
    try {
      const outcomes = this.#store.append(this.#clock.now(), (writer) => {
        this.#tally.writeTo(writer)
        const recorded = group.map((job) => {
          current = job
          return job.candidates.map((candidate) => recordEvent(writer, candidate))
        })
        current = undefined
        return recorded
      })
      this.#tally.clear()
      this.#wait.wrote()
      this.#queue.committed(group)
      this.#committed = { group, outcomes, begun }
      return true
    } catch (error) {
      if (error instanceof StoreFault) return this.#meetFault(error.kind, group)
      this.#onError(error)
      if (current) this.#reject([current], error)
      else this.#abandon(group, error)
      return true
    }
  }

  /** Answers what was committed once it is on disk, then goes on. */
  async #settleLater(): Promise<void> {
    const committed = this.#committed
    const fault = await this.#store.sync().then(
      () => undefined,
      (error: unknown) => error,
    )
    // `flush` did not wait.
    if (committed !== this.#committed) return
    // Without a timer are those that the last group had no room for.
    if (this.#settle(fault) && this.#isDue && (this.#isOverdue || this.#timer === undefined)) this.#turn()
  }

  /** The same without going on, while the caller waits. Whether all is well. */
  #settleNow(): boolean {
    if (!this.#committed) return true
    try {
      this.#store.syncNow()
    } catch (error) {
      return this.#settle(error)
    }
    return this.#settle(undefined)
  }

  /** Answers the requests of the committed group; with a fault nobody knows what is on disk. Whether all is well. */
  #settle(fault: unknown): boolean {
    const committed = this.#committed
    this.#committed = undefined
    if (!committed) return true
    const { group, outcomes, begun } = committed
    if (fault !== undefined) {
      this.#reject(group, unavailable(10))
      return this.#meetFault(fault instanceof StoreFault ? fault.kind : "fsync", [])
    }
    this.#hindrances.leaveAll()
    this.#queue.answered(group)
    for (const [at, job] of group.entries()) this.#answer(job, outcomes[at]!)
    if (group.length > 0) this.#outcomes.took(this.#clock.monotonic() - begun)
    return true
  }

  #answer({ candidates, resolve }: Job, outcomes: Outcome[]): void {
    this.#outcomes.count(candidates, outcomes)
    resolve(outcomes)
    this.#outcomes.show(candidates, outcomes)
  }

  /** What the store cannot do now: reliability.md section 4. Whether to go on with the next group. */
  #meetFault(kind: FaultKind, group: readonly Job[]): boolean {
    if (kind === "locked") return this.#waitForLock()
    this.#hindrances.enter(kind)
    if (kind === "io") this.#reject(group, unavailable(1))
    else this.#rejectAll(kind === "full" ? full() : unavailable(10))
    if (kind === "full") this.#wait.meetFullDisk()
    return false
  }

  /** A foreign program holds the file: tried again by a timer, so that the loop never blocks. */
  #waitForLock(): boolean {
    if (this.#wait.meetLock()) this.#rejectAll(unavailable(5))
    this.#schedule(LOCK_RETRY_MS)
    return false
  }

  /** A fault that no single event caused: the drops may be it, so they go too. */
  #abandon(group: readonly Job[], error: unknown): void {
    this.#tally.clear()
    this.#reject(group, error)
  }

  #rejectAll(reason: unknown): void {
    this.#reject(this.#queue.waiting, reason)
  }

  #reject(jobs: readonly Job[], reason: unknown): void {
    this.#queue.remove(jobs)
    for (const { candidates, reject } of jobs) {
      this.#countRefused(candidates)
      reject(reason)
    }
  }

  /** Those that the queue has no room for, and those that the store does not take. */
  #countRefused(candidates: readonly Candidate[]): void {
    const isQueue = !this.#hindrances.isClosed && this.#hindrances.has("queue_full")
    this.#outcomes.refuse(candidates, isQueue ? "queue" : "storage")
  }
}
