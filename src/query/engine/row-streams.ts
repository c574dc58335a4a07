import { AppError } from "../domain/error.ts"
import { QUERY } from "../domain/limits.ts"
import type { RowsQuery } from "../domain/query.ts"
import type { ExportQuery } from "./export-rows.ts"
import type { Answers, FromWorker, Task } from "./messages.ts"
import type { RowsPlace } from "./row-places.ts"
import type { RowsBatch, VisitRow } from "./rows.ts"
import { failureOf, startThread, type Thread, type ThreadOptions } from "./thread.ts"

/** Streams that are open on the instance at once; each holds little more than its place. */
const AT_ONCE = 32
/** Columns of the parts that a few streams read at a time: nothing is read twice. */
const CACHE_BYTES = 32 << 20

type RowTask = Extract<Task, { kind: "rows" | "export_rows" }>

interface RowStreams {
  visits(query: RowsQuery, signal: AbortSignal | undefined): AsyncIterable<RowsBatch<VisitRow[]>>
  /** Ends with the batch that has no next one. */
  exported(query: ExportQuery, signal: AbortSignal | undefined): AsyncIterable<RowsBatch<Uint8Array>>
  close(): void
}

/**
 * Streams of raw rows. One worker, apart from those of the reports, makes a batch when one is asked for, of what is stored
 * by then: a slow taker holds up nobody, keeps no removed segment alive, and costs nothing while it waits. The worker is
 * there while there are streams.
 */
export function createRowStreams(options: ThreadOptions): RowStreams {
  const open = new Set<AbortController>()
  const desk = createDesk({ ...options, cacheBytes: Math.min(options.cacheBytes, CACHE_BYTES) })

  async function* batches<T extends RowTask>(task: T, given: AbortSignal | undefined): AsyncGenerator<Answers[T["kind"]]> {
    if (open.size >= AT_ONCE) throw new AppError("unavailable", `${AT_ONCE} exports run already`, { retry_after: 10 })
    const closing = new AbortController()
    open.add(closing)
    const signal = AbortSignal.any(given ? [given, closing.signal] : [closing.signal])
    try {
      let place: RowsPlace | undefined
      do {
        const batch: Answers[T["kind"]] = await desk.ask({ ...task, place }, signal)
        place = batch.next
        yield batch
      } while (place)
    } finally {
      open.delete(closing)
      if (open.size === 0) desk.rest()
    }
  }

  return {
    visits: (query, signal) => batches({ kind: "rows", query, place: undefined }, signal),
    exported: (query, signal) => batches({ kind: "export_rows", query, place: undefined }, signal),
    close() {
      for (const closing of open) closing.abort()
    },
  }
}

interface Job {
  task: RowTask
  resolve(answer: Answers[RowTask["kind"]]): void
  reject(error: Error): void
}

/** Asks one worker one question after another. */
function createDesk(options: ThreadOptions) {
  let thread: Thread | undefined
  let running: Job | undefined
  let waiting: Job[] = []

  /** What a thread says that was let go of is no answer to anything. */
  function start(): Thread {
    const own: Thread = startThread(
      options,
      (message) => own === thread && receive(message),
      () => own === thread && lose(),
    )
    return own
  }

  function next(): void {
    running = waiting.shift()
    if (!running) return
    thread ??= start()
    thread.resume()
    thread.tell({ type: "ask", task: running.task })
  }

  function receive(message: FromWorker): void {
    if (message.type === "failure") running?.reject(failureOf(message))
    // A worker answers a task with the answer of its kind.
    if (message.type === "answer") running?.resolve(message.answer as Answers[RowTask["kind"]])
    next()
  }

  function lose(): void {
    thread = undefined
    running?.reject(new AppError("unavailable", "The query worker died", { retry_after: 1 }))
    next()
  }

  function giveUp(job: Job, error: Error): void {
    job.reject(error)
    waiting = waiting.filter((other) => other !== job)
    // Its answer, when it has one, comes too late for anybody.
    if (job === running) thread?.stop()
  }

  return {
    ask<T extends RowTask>(task: T, signal: AbortSignal): Promise<Answers[T["kind"]]> {
      const { promise, resolve, reject } = Promise.withResolvers<Answers[RowTask["kind"]]>()
      const job: Job = { task, resolve, reject }
      const abort = () => giveUp(job, new AppError("unavailable", "The export was given up", { retry_after: 1 }))
      const late = () => giveUp(job, new AppError("query_timeout", "The export took too long", { retry_after: 5 }))
      const timer = setTimeout(late, QUERY.timeoutMs)
      signal.addEventListener("abort", abort)
      waiting.push(job)
      if (signal.aborted) abort()
      if (!running) next()
      return promise.finally(() => {
        clearTimeout(timer)
        signal.removeEventListener("abort", abort)
      }) as Promise<Answers[T["kind"]]>
    },
    /** Nobody asks any more for now. */
    rest(): void {
      thread?.end()
      thread = undefined
      running = undefined
    },
  }
}
