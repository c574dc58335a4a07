import { availableParallelism } from "node:os"
import { AppError } from "../domain/error.ts"
import { QUERY } from "../domain/limits.ts"
import { createAdmission, type Ticket } from "./admission.ts"
import type { Answer, Answers, FromWorker, Task } from "./messages.ts"
import type { Ending } from "./slow-questions.ts"
import { failureOf, startThread, type Thread, type ThreadOptions } from "./thread.ts"

export interface PoolOptions extends ThreadOptions {
  /** Of all workers together. */
  cacheBytes: number
  /** Default: one less than there are cores, at least one. */
  workers?: number
  /** From arrival to answer; default 15 s. */
  timeoutMs?: number
  /** How long a worker may go on with a question that was given up before it is replaced; default 3 s. */
  graceMs?: number
  watch?: QuestionWatch
}

/** Told of a question that arrives. What it gives is told when a worker takes the question up, and when nobody waits any more. */
export type QuestionWatch = (task: Task) => { begun(): void; over(ending: Ending): void }

const GRACE_MS = 3_000

/** Who asks: limits are counted by organization, and an aborted signal gives a question up. */
export interface Asker {
  organizationId: number
  signal?: AbortSignal
}

/** A question on its way. Once settled nobody waits for it, though a worker may still be busy with it. */
interface Job extends Ticket {
  task: Task
  watched: ReturnType<QuestionWatch> | undefined
  resolve(answer: Answer): void
  reject(error: Error): void
}

interface Slot {
  thread: Thread
  job: Job | undefined
}

/**
 * The query workers and the questions before them. One worker starts at once, so that the first answer is quick, the
 * others when they are needed; one that died is replaced by the next question.
 */
export class Pool {
  readonly #options: PoolOptions
  readonly #size: number
  readonly #admission = createAdmission()
  readonly #slots = new Set<Slot>()
  readonly #unsettled = new Set<Job>()
  /** Admitted, not running yet. */
  #queue: Job[] = []
  #isClosed = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#size = options.workers ?? Math.max(1, availableParallelism() - 1)
    this.#start()
  }

  /** The store can be read from now on: the first worker prepares for the first question. */
  begin(): void {
    for (const { thread } of this.#slots) thread.begin()
  }

  async ask<T extends Task>(task: T, asker: Asker): Promise<Answers[T["kind"]]> {
    this.#refuseWhenFull()
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const enter = () => void this.#queue.push(job)
    const job: Job = { organizationId: asker.organizationId, task, watched: this.#options.watch?.(task), resolve, reject, enter }
    this.#admission.request(job)
    this.#unsettled.add(job)
    const settle = this.#watch(job, asker.signal)
    this.#dispatch()
    promise.then(
      () => job.watched?.over("answered"),
      (error) => job.watched?.over(endingOf(error, asker)),
    )
    // A worker answers a task with the answer of its kind.
    return promise.finally(settle) as Promise<Answers[T["kind"]]>
  }

  /** Ends what runs and what waits. */
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
    throw new AppError("unavailable", "Too many reports wait already", { retry_after: 2 })
  }

  /** Gives the job up when its time is over or its asker has gone. Returns what to do once it is settled. */
  #watch(job: Job, signal: AbortSignal | undefined): () => void {
    const late = () =>
      this.#giveUp(job, new AppError("query_timeout", "The report took too long: ask for a shorter range", { retry_after: 5 }))
    const abort = () => this.#giveUp(job, new AppError("unavailable", "The question was given up"))
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
    // Of a running one the place is free once the worker has noticed.
    if (running) this.#stop(running, job)
    else {
      this.#queue = this.#queue.filter((other) => other !== job)
      this.#admission.leave(job)
    }
  }

  /** A worker looks up between the parts of a report. One that is lost in a single part would hold its place for ever. */
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
    while (this.#queue.length > 0 && !this.#isClosed) {
      const slot = this.#slots.values().find(({ job }) => job === undefined) ?? (this.#slots.size < this.#size ? this.#start() : undefined)
      if (!slot) return
      const job = this.#queue.shift()!
      slot.job = job
      job.watched?.begun()
      slot.thread.resume()
      slot.thread.tell({ type: "ask", task: job.task })
    }
  }

  #start(): Slot {
    const options = { ...this.#options, cacheBytes: Math.floor(this.#options.cacheBytes / this.#size) }
    const thread = startThread(
      options,
      (message) => this.#receive(slot, message),
      () => this.#lose(slot),
    )
    const slot: Slot = { thread, job: undefined }
    this.#slots.add(slot)
    return slot
  }

  #receive(slot: Slot, message: FromWorker): void {
    const { job } = slot
    slot.job = undefined
    if (job && message.type === "answer") job.resolve(message.answer)
    if (job && message.type === "failure") job.reject(failureOf(message))
    if (job) this.#admission.leave(job)
    this.#dispatch()
  }

  #lose(slot: Slot): void {
    this.#slots.delete(slot)
    slot.job?.reject(new AppError("unavailable", "The query worker died", { retry_after: 1 }))
    if (slot.job) this.#admission.leave(slot.job)
    this.#dispatch()
  }
}

const endingOf = (error: unknown, { signal }: Asker): Ending =>
  signal?.aborted ? "left" : error instanceof AppError && error.code === "query_timeout" ? "late" : "failed"

const stopping = () => new AppError("unavailable", "The service is stopping", { retry_after: 5 })
