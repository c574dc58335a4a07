import { heapSize } from "bun:jsc"
import { AppError } from "../../domain/error.ts"
import type { VisibleImport } from "../../domain/imported.ts"
import { openEvents } from "../../store/event-location.ts"
import { StoreFault } from "../../store/events/fault.ts"
import type { EventReader } from "../../store/events/part.ts"
import type { NewSums } from "../../store/events/tables/month-sums.ts"
import { type FromWorker, STOP, type ToWorker, type WorkerReply } from "./messages.ts"
import { type Answer, answerTask, IN_PASSING, OF_EVERY_IMPORT, OF_THIS_NODE, repeatOutdated, type Task } from "./queries.ts"
import { warmUp } from "./warm-up.ts"

/**
 * A query worker: opens the events for reading and runs one query after another. It shares only the stop flag with the main
 * thread, and reads no clock: the pool enforces the time limit.
 */
let open: (() => EventReader) | undefined
let reader: EventReader | undefined
let stop = new Int32Array(new SharedArrayBuffer(4))
/** Whether a query has arrived since the warm-up last looked. */
let isAsked = false

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.type === "ask") isAsked = true
  const reply = attempt(data)
  if (reply) self.postMessage(reply)
  collectGarbage()
}

/** Growth of the heap after which garbage is collected once a query is answered. Funnels and sums over years leave large arrays. */
const GROWTH_BYTES = 16 << 20
let collectedSize = 0

function collectGarbage(): void {
  if (heapSize() - collectedSize < GROWTH_BYTES) return
  Bun.gc(true)
  collectedSize = heapSize()
}

function attempt(message: ToWorker): WorkerReply | undefined {
  try {
    return obey(message)
  } catch (error) {
    return toFailure(error)
  }
}

function obey(message: ToWorker): WorkerReply | undefined {
  switch (message.type) {
    case "open":
      stop = new Int32Array(message.stop)
      open = () => openEvents(message.location, { cacheBytes: message.cacheBytes, check, storeSums })
      void prepare(message.cacheBytes)
      return undefined
    case "ask":
      return { type: "answer", answer: repeatOutdated(() => answerOf(message.task, message.imports)) }
  }
}

const storeSums = (sums: NewSums): void => self.postMessage({ type: "sums", sums } satisfies FromWorker)

function answerOf(task: Task, visible: readonly VisibleImport[]): Answer {
  if (task.kind === "rowTables") return store().rows(task.statement, task.maxRows, check)
  const records = "records" in task.query ? task.query.records : undefined
  const alongside = "alongside" in task.query ? task.query.alongside : undefined
  const imports = OF_EVERY_IMPORT.includes(task.kind) ? "all" : visible
  const reader = OF_THIS_NODE.includes(task.kind) ? store().own() : store()
  const isPassing = IN_PASSING.includes(task.kind)
  return answerTask(reader.snapshot(task.query.site.id, records, imports, { alongside, isPassing }), task, check)
}

/** Returns the store. Opened at the first query, and again after a failure, because the store may be readable later. */
function store(): EventReader {
  if (!open) throw new Error("A query arrived before the place of the events")
  reader ??= open()
  return reader
}

/** How long no query must have arrived for the warm-up to continue. */
const PAUSE_MS = 200

/** Warms up while there is no query. A failure is ignored here; the next query retries and reports it. */
async function prepare(cacheBytes: number): Promise<void> {
  try {
    for (const _ of warmUp(store(), cacheBytes)) {
      await Bun.sleep(0)
      while (isAsked) {
        isAsked = false
        await Bun.sleep(PAUSE_MS)
      }
    }
  } catch {
    reader?.close()
    reader = undefined
  }
}

function check(): void {
  if (Atomics.load(stop, 0) === STOP) throw new AppError("unavailable", "The query was cancelled.")
}

function toFailure(error: unknown): WorkerReply {
  if (error instanceof AppError) return { type: "failure", code: error.code, detail: error.message }
  if (error instanceof StoreFault) {
    const code = error.kind === "damaged" ? "storage_damaged" : "unavailable"
    return {
      type: "failure",
      code,
      detail: code === "unavailable" ? "The store cannot be read now" : "A part of the stored data is damaged",
    }
  }
  return { type: "failure", code: undefined, detail: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}
