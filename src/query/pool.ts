import { availableParallelism } from "node:os"
import { AppError } from "../domain/error.ts"
import { QUERY } from "../domain/limits.ts"
import { createAdmission, type Ticket } from "./admission.ts"
import type { Answer, Answers, FromWorker, Task } from "./messages.ts"
import { failureOf, startThread, type Thread, type ThreadOptions } from "./thread.ts"

export interface PoolOptions extends ThreadOptions {
  /** Of all workers together. */
  cacheBytes: number
  /** Default: one less than there are cores, at least one. */
  workers?: number
  /** From arrival to answer; default 15 s. */
  timeoutMs?: number
}

/** Who asks: limits are counted by organization, and an aborted signal gives a question up. */
export interface Asker {
  organizationId: number
  signal?: AbortSignal
}

export interface Pool {
  ask<T extends Task>(task: T, asker: Asker): Promise<Answers[T["kind"]]>
  close(): Promise<void>
}

interface Job extends Ticket {
  task: Task
  resolve(answer: Answer): void
  /** Settled jobs stay in their worker until it notices. */
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
export function createPool(options: PoolOptions): Pool {
  const size = options.workers ?? Math.max(1, availableParallelism() - 1)
  const admission = createAdmission()
  const slots = new Set<Slot>()
  /** Admitted, not running yet. */
  let queue: Job[] = []
  const unsettled = new Set<Job>()
  let closed = false

  function start(): Slot {
    const slot: Slot = {
      job: undefined,
      thread: startThread(
        { ...options, cacheBytes: Math.floor(options.cacheBytes / size) },
        (message) => receive(slot, message),
        () => lose(slot),
      ),
    }
    slots.add(slot)
    return slot
  }

  function receive(slot: Slot, message: FromWorker): void {
    const { job } = slot
    slot.job = undefined
    if (job && message.type === "answer") job.resolve(message.answer)
    if (job && message.type === "failure") job.reject(failureOf(message))
    if (job) admission.leave(job)
    dispatch()
  }

  function lose(slot: Slot): void {
    slots.delete(slot)
    slot.job?.reject(new AppError("unavailable", "The query worker died", { retry_after: 1 }))
    if (slot.job) admission.leave(slot.job)
    dispatch()
  }

  function dispatch(): void {
    while (queue.length > 0 && !closed) {
      const slot = slots.values().find(({ job }) => job === undefined) ?? (slots.size < size ? start() : undefined)
      if (!slot) return
      slot.job = queue.shift()
      slot.thread.resume()
      if (slot.job) slot.thread.tell({ type: "ask", task: slot.job.task })
    }
  }

  /** Ends a question that nobody waits for any more, or not longer. */
  function giveUp(job: Job, error: Error): void {
    job.reject(error)
    const running = slots.values().find((slot) => slot.job === job)
    // Of a running one the place is free once the worker has noticed.
    if (running) running.thread.stop()
    else {
      queue = queue.filter((other) => other !== job)
      admission.leave(job)
    }
  }

  function refuseWhenFull(): void {
    if (closed) throw new AppError("unavailable", "The service is stopping", { retry_after: 5 })
    const running = slots.values().reduce((count, { job }) => (job && unsettled.has(job) ? count + 1 : count), 0)
    if (unsettled.size - running < QUERY.waitingInstance) return
    throw new AppError("unavailable", "Too many reports wait already", { retry_after: 2 })
  }

  function ask(task: Task, { organizationId, signal }: Asker): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const job: Job = { organizationId, task, resolve, reject, enter: () => void queue.push(job) }
    refuseWhenFull()
    admission.request(job)
    unsettled.add(job)
    const late = () => giveUp(job, new AppError("query_timeout", "The report took too long: ask for a shorter range", { retry_after: 5 }))
    const timer = setTimeout(late, options.timeoutMs ?? QUERY.timeoutMs)
    const abort = () => giveUp(job, new AppError("unavailable", "The question was given up"))
    signal?.addEventListener("abort", abort)
    dispatch()
    if (signal?.aborted) abort()
    return promise.finally(() => {
      unsettled.delete(job)
      clearTimeout(timer)
      signal?.removeEventListener("abort", abort)
    })
  }

  start()
  return {
    // A worker answers a task with the answer of its kind.
    ask: async <T extends Task>(task: T, asker: Asker) => (await ask(task, asker)) as Answers[T["kind"]],
    async close() {
      closed = true
      for (const job of unsettled) job.reject(new AppError("unavailable", "The service is stopping", { retry_after: 5 }))
      for (const { thread } of slots) thread.end()
      slots.clear()
    },
  }
}
