import { AppError } from "../domain/error.ts"
import type { RowsQuery } from "../domain/query.ts"
import type { FromWorker } from "./messages.ts"
import type { VisitRow } from "./rows.ts"
import { failureOf, startThread, type ThreadOptions } from "./thread.ts"

const AT_ONCE = 2

interface RowStreams {
  rows(query: RowsQuery, signal: AbortSignal | undefined): AsyncIterable<VisitRow[]>
  close(): void
}

/**
 * Streams of raw rows. Each has a worker of its own for as long as it lasts: a slow taker must not hold up the reports,
 * and a batch is made only when it is asked for.
 */
export function createRowStreams(options: ThreadOptions): RowStreams {
  const running = new Set<AbortController>()
  return {
    async *rows(query, signal) {
      if (running.size >= AT_ONCE) throw new AppError("rate_limited", `${AT_ONCE} exports run already`, { retry_after: 10 })
      const closing = new AbortController()
      running.add(closing)
      try {
        yield* stream(options, query, AbortSignal.any(signal ? [signal, closing.signal] : [closing.signal]))
      } finally {
        running.delete(closing)
      }
    },
    close() {
      for (const closing of running) closing.abort()
    },
  }
}

async function* stream(options: ThreadOptions, query: RowsQuery, signal: AbortSignal): AsyncGenerator<VisitRow[]> {
  let reply = Promise.withResolvers<FromWorker>()
  const givenUp: FromWorker = { type: "failure", code: "unavailable", detail: "The export was given up" }
  const thread = startThread(
    options,
    (message) => reply.resolve(message),
    () => reply.resolve({ type: "failure", code: "unavailable", detail: "The query worker died" }),
  )
  const giveUp = () => reply.resolve(givenUp)
  signal.addEventListener("abort", giveUp)
  try {
    thread.tell({ type: "rows", query })
    while (!signal.aborted) {
      thread.tell({ type: "next" })
      const message = await reply.promise
      if (message.type === "failure") throw failureOf(message)
      if (message.type !== "batch" || message.rows === undefined) return
      reply = Promise.withResolvers<FromWorker>()
      yield message.rows
    }
    throw failureOf(givenUp)
  } finally {
    signal.removeEventListener("abort", giveUp)
    thread.end()
  }
}
