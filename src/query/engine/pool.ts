import { availableParallelism } from "node:os"
import { AppError } from "../../domain/error.ts"
import { QUERY } from "../../domain/limits.ts"
import type { WorkerReply } from "./messages.ts"
import type { Answer, Answers, Task } from "./queries.ts"
import type { Ending } from "./slow-queries.ts"
import { failureOf, startThread, type Thread, type ThreadOptions } from "./thread.ts"

export interface PoolOptions extends ThreadOptions {
  /** Cache of all workers in total. */
  cacheBytes: number
  /** Default: one less than there are cores, at least one. */
  workers?: number
  /** Whether the first worker starts before the first query, so that its result comes sooner. Default: true. */
  hasWarmWorker?: boolean
  /** From arrival to answer; default 15 s. */
  timeoutMs?: number
  /** Time after which a worker that still runs a cancelled query is replaced. Default: 3 s. */
  graceMs?: number
  watch?: QueryWatch
}

/** Called for every query that arrives. The returned functions are called when a worker starts it and when it ends. */
export type QueryWatch = (task: Task) => { begun(): void; over(ending: Ending): void }

const GRACE_MS = 3_000

/** How often a query of the background gives way. Then it runs to its end, so that it ends even while people ask all the time. */
const MAX_DEFERRALS = 10

/** The caller of a query. Limits apply per organization, and an aborted signal cancels the query. */
export interface Caller {
  organizationId: number
  signal?: AbortSignal
  /** Whether no one waits for the answer. One such query runs at a time, and starts again later when a person's query needs its worker. */
  isBackground?: boolean
}

/** A pending query. After it is settled, a worker may still be busy with it. */
interface Job extends Ticket {
  task: Task
  isBackground: boolean
  /** How often it has given way to other queries. */
  deferrals: number
  watched: ReturnType<QueryWatch> | undefined
  resolve(answer: Answer): void
  reject(error: Error): void
}

interface Slot {
  thread: Thread
  job: Job | undefined
  /** Whether its job was stopped to give way. */
  isDeferring: boolean
}

/**
 * The query workers and their queue. One worker starts at once, so that the first result is quick; the others start when needed. A
 * worker that died is replaced when the next query arrives.
 */
export class Pool {
  readonly #options: PoolOptions
  readonly #size: number
  readonly #admission = createAdmission()
  readonly #slots = new Set<Slot>()
  readonly #unsettled = new Set<Job>()
  /** Admitted queries that are not running yet. */
  #queue: Job[] = []
  #isClosed = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#size = options.workers ?? Math.max(1, availableParallelism() - 1)
    if (options.hasWarmWorker !== false) this.#start()
  }

  /** Lets the first worker prepare for the first query. Called once the store can be read. */
  begin(): void {
    for (const { thread } of this.#slots) thread.begin()
  }

  async ask<T extends Task>(task: T, caller: Caller): Promise<Answers[T["kind"]]> {
    this.#refuseWhenFull()
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const enter = () => void this.#queue.push(job)
    const job: Job = {
      organizationId: caller.organizationId,
      isBackground: caller.isBackground === true,
      deferrals: 0,
      ...{ task, watched: this.#options.watch?.(task), resolve, reject, enter },
    }
    this.#admission.request(job)
    this.#unsettled.add(job)
    const settle = this.#watch(job, caller.signal)
    this.#dispatch()
    promise.then(
      () => job.watched?.over("answered"),
      (error) => job.watched?.over(endingOf(error, caller)),
    )
    // A worker replies to a task with the result of its kind.
    return promise.finally(settle) as Promise<Answers[T["kind"]]>
  }

  /** Cancels all running and waiting queries. */
  close(): void {
    this.#isClosed = true
    for (const job of this.#unsettled) job.reject(stopping())
    for (const { thread } of this.#slots) thread.end()
    this.#slots.clear()
  }

  #refuseWhenFull(): void {
    if (this.#isClosed) throw stopping()
    const running = [...this.#slots].filter(({ job }) => job && this.#unsettled.has(job)).length
    if (this.#unsettled.size - running < QUERY.waitingInstance) return
    throw new AppError("unavailable", "Too many reports are waiting.", { retry_after: 2 })
  }

  /** Cancels the job at the time limit or when its caller aborts. Returns the clean-up for when it is settled. */
  #watch(job: Job, signal: AbortSignal | undefined): () => void {
    const late = () =>
      this.#giveUp(job, new AppError("query_timeout", "The report took too long. Choose a shorter range.", { retry_after: 5 }))
    const abort = () => this.#giveUp(job, new AppError("unavailable", "The query was cancelled."))
    const timer = setTimeout(late, this.#options.timeoutMs ?? QUERY.timeoutMs)
    signal?.addEventListener("abort", abort)
    if (signal?.aborted) abort()
    return () => {
      this.#unsettled.delete(job)
      clearTimeout(timer)
      signal?.removeEventListener("abort", abort)
    }
  }

  #giveUp(job: Job, error: Error): void {
    job.reject(error)
    const running = this.#slots.values().find((slot) => slot.job === job)
    // The slot of a running job becomes free when the worker notices.
    if (running) this.#stop(running, job)
    else {
      this.#queue = this.#queue.filter((other) => other !== job)
      this.#admission.leave(job)
    }
  }

  /** Stops a running job. A worker checks for it between parts; one that is stuck in a single part is replaced after a delay. */
  #stop(slot: Slot, job: Job): void {
    slot.thread.stop()
    const replace = () => {
      if (slot.job !== job || !this.#slots.has(slot)) return
      slot.thread.end()
      this.#lose(slot)
    }
    setTimeout(replace, this.#options.graceMs ?? GRACE_MS).unref()
  }

  #dispatch(): void {
    for (let job = this.#next(); job && !this.#isClosed; job = this.#next()) {
      const slot = this.#slots.values().find(({ job }) => job === undefined) ?? (this.#slots.size < this.#size ? this.#start() : undefined)
      if (!slot) {
        this.#deferFor(job)
        return
      }
      this.#queue.splice(this.#queue.indexOf(job), 1)
      slot.job = job
      job.watched?.begun()
      slot.thread.resume()
      slot.thread.ask(job.task)
    }
  }

  /** Returns the job to run next. Those of people come first, and one of the background runs at a time. */
  #next(): Job | undefined {
    return this.#queue.find(({ isBackground }) => !isBackground) ?? (this.#background() ? undefined : this.#queue[0])
  }

  /** Returns the place in which a query of the background runs. */
  #background(): Slot | undefined {
    return this.#slots.values().find(({ job }) => job?.isBackground)
  }

  /** Stops the running query of the background for a person's one. It starts again later. */
  #deferFor({ isBackground }: Job): void {
    const slot = this.#background()
    if (isBackground || !slot?.job || slot.job.deferrals >= MAX_DEFERRALS) return
    slot.isDeferring = true
    slot.thread.stop()
  }

  #start(): Slot {
    const options = { ...this.#options, cacheBytes: Math.floor(this.#options.cacheBytes / this.#size) }
    const thread = startThread(
      options,
      (message) => this.#receive(slot, message),
      () => this.#lose(slot),
    )
    const slot: Slot = { thread, job: undefined, isDeferring: false }
    this.#slots.add(slot)
    return slot
  }

  #receive(slot: Slot, message: WorkerReply): void {
    const { job, isDeferring } = slot
    slot.job = undefined
    slot.isDeferring = false
    if (job && isDeferring && message.type === "failure" && message.code === "unavailable" && this.#unsettled.has(job)) {
      job.deferrals++
      this.#queue.push(job)
      this.#dispatch()
      return
    }
    if (job && message.type === "answer") job.resolve(message.answer)
    if (job && message.type === "failure") job.reject(failureOf(message))
    if (job) this.#admission.leave(job)
    this.#dispatch()
  }

  #lose(slot: Slot): void {
    this.#slots.delete(slot)
    slot.job?.reject(new AppError("unavailable", "The query worker ended unexpectedly.", { retry_after: 1 }))
    if (slot.job) this.#admission.leave(slot.job)
    this.#dispatch()
  }
}

const endingOf = (error: unknown, { signal }: Caller): Ending =>
  signal?.aborted ? "left" : error instanceof AppError && error.code === "query_timeout" ? "late" : "failed"

const stopping = () => new AppError("unavailable", "The service is stopping.", { retry_after: 5 })

/** A request for admission. `enter` is called on admission, at once or later. */
export interface Ticket {
  organizationId: number
  enter(): void
}

/**
 * Admission to the query workers. Each organization has a few queries admitted at a time, so that one with many queries does not
 * delay the others. A few more may wait; the rest are refused.
 */
interface Admission {
  /** Throws `rate_limited` when too many of the organization wait already. */
  request(ticket: Ticket): void
  /** Ends the query of a ticket and admits the next one of the organization. */
  leave(ticket: Ticket): void
}

interface Organization {
  admitted: Set<Ticket>
  waiting: Ticket[]
}

export function createAdmission(): Admission {
  const organizations = new Map<number, Organization>()
  return {
    request(ticket) {
      const organization = organizations.get(ticket.organizationId) ?? { admitted: new Set(), waiting: [] }
      organizations.set(ticket.organizationId, organization)
      if (organization.admitted.size < QUERY.admittedPerOrganization) return admit(organization, ticket)
      if (organization.waiting.length >= QUERY.waitingPerOrganization) {
        throw new AppError("rate_limited", "Too many reports of this organization are waiting.", { retry_after: 1 })
      }
      organization.waiting.push(ticket)
    },
    leave(ticket) {
      const organization = organizations.get(ticket.organizationId)
      if (!organization) return
      organization.waiting = organization.waiting.filter((other) => other !== ticket)
      if (!organization.admitted.delete(ticket)) return
      const next = organization.waiting.shift()
      if (next) admit(organization, next)
      if (organization.admitted.size === 0) organizations.delete(ticket.organizationId)
    },
  }
}

function admit(organization: Organization, ticket: Ticket): void {
  organization.admitted.add(ticket)
  ticket.enter()
}
