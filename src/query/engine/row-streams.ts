import { AppError } from "../../domain/error.ts"
import { QUERY } from "../../domain/limits.ts"
import type { RowsQuery } from "../../domain/query.ts"
import type { ImportedRowsBatch, ImportedRowsQuery } from "../imported/imported-rows.ts"
import type { EncodedRows } from "../rows/export-file.ts"
import type { ExportQuery } from "../rows/export-rows.ts"
import type { RowsBatch, VisitRow } from "../rows/rows.ts"
import type { WorkerReply } from "./messages.ts"
import type { Answers, StreamCursor, StreamTask } from "./queries.ts"
import { failureOf, startThread, type Thread, type ThreadOptions } from "./thread.ts"

/** Maximum number of open streams of the instance. Each needs little more memory than its position. */
const MAX_STREAMS = 32
/** Cache for the columns of the parts that a few streams read at a time. */
const CACHE_BYTES = 32 << 20

interface RowStreams {
  visits(query: RowsQuery, signal: AbortSignal | undefined): AsyncIterable<RowsBatch<VisitRow[]>>
  /** Ends with the batch that has no next one. */
  exported(query: ExportQuery, signal: AbortSignal | undefined): AsyncIterable<RowsBatch<Uint8Array> & EncodedRows>
  imported(query: ImportedRowsQuery, signal: AbortSignal | undefined): AsyncIterable<ImportedRowsBatch>
  close(): void
}

/**
 * Streams raw rows. One worker, separate from those of the reports, computes each batch on demand from the current data: a slow
 * consumer delays no one, keeps no removed segment alive, and costs nothing while it waits. The worker runs only while streams are
 * open.
 */
export function createRowStreams(options: ThreadOptions): RowStreams {
  const open = new Set<AbortController>()
  const desk = createDesk({ ...options, cacheBytes: Math.min(options.cacheBytes, CACHE_BYTES) })

  async function* batches<T extends StreamTask>(task: T, given: AbortSignal | undefined): AsyncGenerator<Answers[T["kind"]]> {
    if (open.size >= MAX_STREAMS) throw new AppError("unavailable", `${MAX_STREAMS} exports are already running.`, { retry_after: 10 })
    const closing = new AbortController()
    open.add(closing)
    const signal = AbortSignal.any(given ? [given, closing.signal] : [closing.signal])
    try {
      let cursor: StreamCursor | undefined
      do {
        const batch: Answers[T["kind"]] = await desk.ask({ ...task, cursor }, signal)
        cursor = batch.next
        yield batch
      } while (cursor)
    } finally {
      open.delete(closing)
      if (open.size === 0) desk.rest()
    }
  }

  return {
    visits: (query, signal) => batches({ kind: "rows", query, cursor: undefined }, signal),
    exported: (query, signal) => batches({ kind: "exportRows", query, cursor: undefined }, signal),
    imported: (query, signal) => batches({ kind: "importedRows", query, cursor: undefined }, signal),
    close() {
      for (const closing of open) closing.abort()
    },
  }
}

interface Job {
  task: StreamTask
  resolve(answer: Answers[StreamTask["kind"]]): void
  reject(error: Error): void
}

/** Runs the batches of all streams one after another in one worker. */
function createDesk(options: ThreadOptions) {
  let thread: Thread | undefined
  let running: Job | undefined
  let waiting: Job[] = []

  /** Starts the worker. Messages of an earlier worker are ignored. */
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
    thread.ask(running.task)
  }

  function receive(message: WorkerReply): void {
    if (message.type === "failure") running?.reject(failureOf(message))
    // A worker replies to a task with the result of its kind.
    if (message.type === "answer") running?.resolve(message.answer as Answers[StreamTask["kind"]])
    next()
  }

  function lose(): void {
    thread = undefined
    running?.reject(new AppError("unavailable", "The query worker ended unexpectedly.", { retry_after: 1 }))
    next()
  }

  function giveUp(job: Job, error: Error): void {
    job.reject(error)
    waiting = waiting.filter((other) => other !== job)
    // A result that still arrives is ignored.
    if (job === running) thread?.stop()
  }

  return {
    ask<T extends StreamTask>(task: T, signal: AbortSignal): Promise<Answers[T["kind"]]> {
      const { promise, resolve, reject } = Promise.withResolvers<Answers[StreamTask["kind"]]>()
      const job: Job = { task, resolve, reject }
      const abort = () => giveUp(job, new AppError("unavailable", "The export was cancelled.", { retry_after: 1 }))
      const late = () => giveUp(job, new AppError("query_timeout", "The export took too long.", { retry_after: 5 }))
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
    /** Ends the worker until the next stream is opened. */
    rest(): void {
      thread?.end()
      thread = undefined
      running = undefined
    },
  }
}
