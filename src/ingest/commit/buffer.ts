import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import type { DropReason } from "../../domain/event.ts"
import { COLLECT } from "../../domain/limits.ts"
import type { EventStore } from "../../store/events/events.ts"
import { type FaultKind, StoreFault } from "../../store/events/fault.ts"
import type { Writer } from "../../store/events/writer.ts"
import type { Candidate } from "../draft.ts"
import { createDropTally, type DropNote, type IngestCounts, type IngestWatch, Outcomes, type StoreResult } from "./outcomes.ts"
import { EventQueue, type Waiting } from "./queue.ts"
import { LOCK_RETRY_MS, type OnStorageProblem, StorageProblems, StoreWait } from "./storage-problems.ts"

export interface BufferOptions {
  /** Stores an event with its visit, inside a group commit. Returns why it was dropped, if it was. */
  record(writer: Writer, candidate: Candidate): DropReason | undefined
  store: Pick<EventStore, "append" | "sync" | "syncNow" | "probe" | "held">
  clock: Clock
  /** Counts of outcomes per minute. */
  counts?: IngestCounts
  /** Live views of sites. */
  watch?: IngestWatch
  onStorageProblem?: OnStorageProblem
  /** A second engine that gets the events before they are acknowledged. */
  shipping?: Shipping
  /** Called for a fault in our own code. The request that caused it is rejected; the others of its group are stored. */
  onError?(error: unknown): void
}

/** A second engine, as the buffer sees it. */
export interface Shipping {
  /** Returns why no events are accepted now. */
  refusal(): AppError | undefined
  /**
   * Takes note that everything committed is on disk. Resolves once it may be acknowledged, and rejects when it must not be; undefined
   * when it may be at once.
   */
  acknowledge(): Promise<void> | undefined
  /**
   * Returns the places of the events that other nodes have stored, because their sender has repeated them. Undefined when there are none
   * to ask for.
   */
  elsewhere?(candidates: readonly Candidate[]): Promise<ReadonlySet<number>> | undefined
}

interface Job extends Waiting {
  /** Whether its request was answered before. */
  isAnswered: boolean
  resolve(outcomes: StoreResult[]): void
  reject(reason: unknown): void
}

/** A group that is committed but not yet synced to disk. Its requests are answered once it is. */
interface Committed {
  group: readonly Job[]
  outcomes: readonly StoreResult[][]
  /** Start of the commit in real time: the clock of a demo stands still and jumps. */
  begun: number
}

/** Returns a group with those of its requests that were answered before, or with the others. */
function partOf({ group, outcomes, begun }: Committed, isAnswered: boolean): Committed {
  const isPart = (at: number) => group[at]!.isAnswered === isAnswered
  return { group: group.filter((_, at) => isPart(at)), outcomes: outcomes.filter((_, at) => isPart(at)), begun }
}

/** Maximum delay of the counts of dropped events, in ms. No request waits for them. */
const DROPS_MS = 100

const full = () => new AppError("storage_full", "The disk is full.", { retry_after: 10 })
const unavailable = (seconds: number) => new AppError("unavailable", "Events cannot be stored for now.", { retry_after: seconds })

/**
 * Collects events into one transaction per 2 ms or 200 events. Nothing is acknowledged before its commit is on disk. Events that
 * arrive meanwhile form the next group. A group is stored whole or not at all; a request whose event fails on its own is removed
 * and the rest is written again.
 */
export class EventBuffer {
  readonly #store: BufferOptions["store"]
  readonly #clock: Clock
  readonly #record: BufferOptions["record"]
  readonly #onError: NonNullable<BufferOptions["onError"]>
  readonly #outcomes: Outcomes
  readonly #tally = createDropTally()
  readonly #problems: StorageProblems
  readonly #wait: StoreWait
  readonly #shipping: Shipping | undefined
  readonly #queue = new EventQueue<Job>()
  /** Groups that are committed but not yet synced, the oldest first. */
  #committed: readonly Committed[] = []
  /** Resolves when none of them is left. */
  #settling: Promise<void> | undefined
  /** Whether a group became due while the previous one was being synced. */
  #isOverdue = false
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Delay of the timer in ms. */
  #delay = 0
  #isStopped = false
  /** Whether the next group waits for the store. */
  #isHeld = false

  constructor({ record, store, clock, counts, watch, onStorageProblem = () => {}, shipping, onError = () => {} }: BufferOptions) {
    this.#store = store
    this.#clock = clock
    this.#record = record
    this.#outcomes = new Outcomes(counts, watch)
    this.#problems = new StorageProblems(onStorageProblem)
    this.#wait = new StoreWait({ store, clock, problems: this.#problems })
    this.#shipping = shipping
    this.#onError = onError
  }

  /** Number of events that are not yet answered. */
  get depth(): number {
    return this.#queue.depth
  }

  /**
   * Stores the events of one request, all in one transaction. Resolves once they are on disk; rejects with an AppError when
   * none was stored. `bytes` is their approximate memory. With `isAnswered`, the request was answered before and does not wait for the
   * acknowledgement of a second engine.
   */
  store(candidates: readonly Candidate[], bytes: number, isAnswered = false): Promise<StoreResult[]> {
    const asked = this.#shipping?.elsewhere?.(candidates)
    if (!asked) return this.#add(candidates, bytes, isAnswered)
    const marked = (known: ReadonlySet<number>) => candidates.map((one, at) => (known.has(at) ? { ...one, isStoredElsewhere: true } : one))
    return asked.then((known) => this.#add(marked(known), bytes, isAnswered))
  }

  #add(candidates: readonly Candidate[], bytes: number, isAnswered: boolean): Promise<StoreResult[]> {
    const refusal = this.#refusal(candidates.length, bytes)
    if (refusal) {
      this.#countRefused(candidates)
      return Promise.reject(refusal)
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ candidates, bytes, isAnswered, resolve, reject })
      if (this.#wait.isLocked) this.#schedule(LOCK_RETRY_MS)
      else if (this.depth >= COLLECT.groupEvents) this.#turn()
      else this.#schedule(COLLECT.groupMs)
    })
  }

  /** Counts a dropped event. The count is stored with the next commit. */
  drop(note: DropNote): void {
    this.#tally.add(note)
    this.#outcomes.drop(note)
    if (!this.#isStopped) this.#schedule(DROPS_MS)
  }

  /** Handles damage that was found while reading: nothing more is written to the store. */
  meetDamage(): void {
    this.#problems.enter("damaged")
    this.#rejectAll(unavailable(10))
  }

  /**
   * Commits all waiting events without waiting for the disk. A committed event survives the end of the process; it is answered once
   * it also survives a power cut. Returns a promise that resolves when this is so for all committed events, and undefined if it is already.
   */
  commit(): Promise<void> | undefined {
    if (this.#wait.isLocked || this.#store.held()) return undefined
    const isSyncing = this.#committed.length > 0
    while (this.#queue.waiting.length > 0 && this.#writeGroup());
    if (this.#committed.length === 0) return undefined
    if (!isSyncing) this.#settling = this.#settleLater()
    return this.#settling
  }

  /** Writes all waiting events at once. */
  flush(): void {
    while (this.#settleNow() && this.#isDue && this.#writeGroup());
  }

  /** Writes all waiting events, rejects those that cannot be written, and refuses new ones. */
  stop(): void {
    this.flush()
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#wait.stop()
    this.#rejectAll(unavailable(1))
  }

  get #isDue(): boolean {
    return this.#queue.waiting.length > 0 || (!this.#tally.isEmpty && !this.#problems.isClosed)
  }

  #refusal(events: number, bytes: number): AppError | undefined {
    if (this.#problems.has("full")) return full()
    if (this.#isStopped || this.#problems.isClosed) return unavailable(10)
    const refusal = this.#shipping?.refusal()
    if (refusal) return refusal
    if (this.#queue.hasRoom(events, bytes)) return undefined
    this.#problems.enter("queue_full")
    return unavailable(1)
  }

  /** Schedules the next group. A timer that is due earlier stays as it is. */
  #schedule(ms: number): void {
    if (this.#timer !== undefined && this.#delay <= ms) return
    clearTimeout(this.#timer)
    this.#delay = ms
    this.#timer = setTimeout(() => this.#turn(), ms)
  }

  /** Writes one group and then yields to the event loop, because a long queue must not delay reports and responses. */
  #turn(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isOverdue = this.#committed.length > 0
    if (this.#isOverdue || this.#waitsForStore()) return
    if (!this.#isDue) this.#lookForLock()
    else if (!this.#writeGroup()) return
    else if (this.#committed.length > 0) this.#settling = this.#settleLater()
    else if (this.#isDue) this.#schedule(0)
  }

  /** Lets the next group wait while the store would make this thread wait. */
  #waitsForStore(): boolean {
    const held = this.#store.held()
    if (!held) return false
    if (!this.#isHeld) {
      void held.then(() => {
        this.#isHeld = false
        this.#turn()
      })
    }
    this.#isHeld = true
    return true
  }

  /** Checks with a probe whether the file is unlocked, when there is nothing to write. */
  #lookForLock(): void {
    if (this.#wait.lookForLock()) this.#schedule(LOCK_RETRY_MS)
  }

  /** Commits the first waiting group. Returns whether to continue. */
  #writeGroup(): boolean {
    const group = this.#queue.group()
    const begun = performance.now()
    let current: Job | undefined
    try {
      const outcomes = this.#store.append(this.#clock.now(), (writer) => {
        this.#tally.writeTo(writer)
        const recorded = group.map((job) => {
          current = job
          return job.candidates.map((candidate) => this.#record(writer, candidate))
        })
        current = undefined
        return recorded
      })
      this.#tally.clear()
      this.#wait.wrote()
      this.#queue.committed(group)
      this.#committed = [...this.#committed, { group, outcomes, begun }]
      return true
    } catch (error) {
      if (error instanceof StoreFault) return this.#meetFault(error.kind, group)
      this.#onError(error)
      if (current) this.#reject([current], error)
      else this.#abandon(group, error)
      return true
    }
  }

  /** Answers the committed groups once they are on disk, until none is left, then continues. */
  async #settleLater(): Promise<void> {
    while (this.#committed.length > 0) {
      const [oldest] = this.#committed
      const synced = this.#committed.length
      const fault = await this.#store.sync().then(
        () => undefined,
        (error: unknown) => error,
      )
      // `flush` settled the groups meanwhile.
      if (oldest !== this.#committed[0]) return
      if (!this.#settle(fault, synced)) return
    }
    // Requests that the last group had no room for have no timer.
    if (this.#isDue && (this.#isOverdue || this.#timer === undefined)) this.#turn()
  }

  /** Syncs and answers the committed groups while the caller waits. Returns whether that succeeded. */
  #settleNow(): boolean {
    if (this.#committed.length === 0) return true
    try {
      this.#store.syncNow()
    } catch (error) {
      return this.#settle(error, this.#committed.length)
    }
    return this.#settle(undefined, this.#committed.length)
  }

  /** Answers the requests of the first committed groups. A fault rejects all groups, because it is unknown what is on disk. Returns whether there was no fault. */
  #settle(fault: unknown, synced: number): boolean {
    const settled = fault === undefined ? this.#committed.slice(0, synced) : this.#committed
    this.#committed = this.#committed.slice(settled.length)
    if (settled.length === 0) return true
    if (fault !== undefined) {
      for (const { group } of settled) this.#reject(group, unavailable(10))
      return this.#meetFault(fault instanceof StoreFault ? fault.kind : "fsync", [])
    }
    this.#problems.leaveAll()
    for (const { group } of settled) this.#queue.answered(group)
    const acknowledged = this.#shipping?.acknowledge()
    if (!acknowledged) {
      this.#answerAll(settled)
      return true
    }
    this.#answerAll(settled.map((each) => partOf(each, true)))
    const left = settled.map((each) => partOf(each, false))
    const jobs = left.flatMap(({ group }) => group)
    void acknowledged.then(
      () => this.#answerAll(left),
      (reason: unknown) => this.#refuse(jobs, reason),
    )
    return true
  }

  #answerAll(settled: readonly Committed[]): void {
    for (const { group, outcomes, begun } of settled) {
      for (let at = 0; at < group.length; at++) this.#answer(group[at]!, outcomes[at]!)
      if (group.length > 0) this.#outcomes.took(performance.now() - begun)
    }
  }

  #answer({ candidates, resolve }: Job, outcomes: StoreResult[]): void {
    this.#outcomes.count(candidates, outcomes)
    resolve(outcomes)
    this.#outcomes.show(candidates, outcomes)
  }

  /** Handles a fault of the store (reliability.md section 4). Returns whether to continue with the next group. */
  #meetFault(kind: FaultKind, group: readonly Job[]): boolean {
    if (kind === "locked") return this.#waitForLock()
    this.#problems.enter(kind)
    if (kind === "io") this.#reject(group, unavailable(1))
    else this.#rejectAll(kind === "full" ? full() : unavailable(10))
    if (kind === "full") this.#wait.meetFullDisk()
    return false
  }

  /** Retries by a timer while another program has locked the file, so that the event loop never blocks. */
  #waitForLock(): boolean {
    if (this.#wait.meetLock()) this.#rejectAll(unavailable(5))
    this.#schedule(LOCK_RETRY_MS)
    return false
  }

  /** Rejects a group after a fault that no single event caused. The drops may have caused it, so they are discarded too. */
  #abandon(group: readonly Job[], error: unknown): void {
    this.#tally.clear()
    this.#reject(group, error)
  }

  #rejectAll(reason: unknown): void {
    this.#reject(this.#queue.waiting, reason)
  }

  #reject(jobs: readonly Job[], reason: unknown): void {
    this.#queue.remove(jobs)
    this.#refuse(jobs, reason)
  }

  #refuse(jobs: readonly Job[], reason: unknown): void {
    for (const { candidates, reject } of jobs) {
      this.#countRefused(candidates)
      reject(reason)
    }
  }

  /** Counts events that were refused because the queue was full or the store failed. */
  #countRefused(candidates: readonly Candidate[]): void {
    const isQueue = !this.#problems.isClosed && this.#problems.has("queue_full")
    this.#outcomes.refuse(candidates, isQueue ? "queue" : "storage")
  }
}
