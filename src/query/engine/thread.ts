import { AppError } from "../../domain/error.ts"
import type { VisibleImport } from "../../domain/imported.ts"
import type { EventLocation } from "../../store/event-location.ts"
import type { NewSums } from "../../store/events/tables/month-sums.ts"
import { type FromWorker, STOP, type ToWorker, type WorkerReply } from "./messages.ts"
import type { Task } from "./queries.ts"

export interface ThreadOptions extends EventLocation {
  /** URL of `worker.ts`. Built in `main.ts`, because in the binary `import.meta.url` is that of the main file everywhere. */
  workerUrl: string
  cacheBytes: number
  /** Returns the imports of a site that answers include, for each query when it is sent to a worker. Default: none. */
  importsOf?(siteId: number): readonly VisibleImport[]
  /** Called with sums of months that the writer should store. */
  onSums?(sums: NewSums): void
  /** Called when a query finds damage in the store. */
  onDamage?(detail: string): void
}

/** A query worker as seen from the main thread. It runs one query at a time. `onEnd` is called when it dies by itself. */
export interface Thread {
  /** Opens the store, which must exist, and prepares for queries. Otherwise the first message does so. */
  begin(): void
  ask(task: Task): void
  /** Stops the running query at its next check. */
  stop(): void
  /** Clears the stop flag. Called before the next query. */
  resume(): void
  end(): void
}

export function startThread(options: ThreadOptions, onMessage: (message: WorkerReply) => void, onEnd: () => void): Thread {
  const worker = new Worker(options.workerUrl)
  const shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  const flag = new Int32Array(shared)
  let ended = false
  const end = () => {
    if (ended) return
    ended = true
    onEnd()
  }
  worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => {
    if (data.type === "sums") return options.onSums?.(data.sums)
    if (data.type === "failure" && data.code === "storage_damaged") options.onDamage?.(data.detail)
    onMessage(data)
  })
  // An uncaught error: the worker cannot be used any more.
  worker.addEventListener("error", (event) => {
    event.preventDefault()
    worker.terminate()
    end()
  })
  worker.addEventListener("close", end)
  let begun = false
  const begin = () => {
    if (begun) return
    begun = true
    const { path, remote, rows, cacheBytes } = options
    const location = { path, ...(remote && { remote }), ...(rows && { rows }) }
    worker.postMessage({ type: "open", location, cacheBytes, stop: shared } satisfies ToWorker)
  }
  return {
    begin,
    ask(task) {
      begin()
      const imports = task.kind === "rowTables" ? [] : (options.importsOf?.(task.query.site.id) ?? [])
      worker.postMessage({ type: "ask", task, imports } satisfies ToWorker)
    },
    stop: () => void Atomics.store(flag, 0, STOP),
    resume: () => void Atomics.store(flag, 0, 0),
    end() {
      ended = true
      worker.terminate()
    },
  }
}

/** Returns the error of a failed query: an AppError when the caller can act on it, otherwise a bug. */
export function failureOf({ code, detail }: { code: AppError["code"] | undefined; detail: string }): Error {
  if (code === undefined) return new Error(`A query worker failed: ${detail}`)
  return new AppError(code, detail, code === "unavailable" ? { retry_after: 1 } : {})
}
