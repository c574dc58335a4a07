import { AppError } from "../domain/error.ts"
import { type FromWorker, STOP, type ToWorker } from "./messages.ts"

export interface ThreadOptions {
  /** Of `worker.ts`. Made in `main.ts`: in the binary `import.meta.url` is that of the main file everywhere. */
  workerUrl: string
  /** Of the event store's file. */
  path: string
  cacheBytes: number
  /** Told of damage in the store that a question has met. */
  onDamage?(detail: string): void
}

/** A query worker seen from the main thread. One question at a time; `onEnd` is told when it died by itself. */
export interface Thread {
  /** It opens the store, which must be there, and prepares for questions. Else the first message makes it do so. */
  begin(): void
  tell(message: ToWorker): void
  /** The running question ends at its next check. */
  stop(): void
  /** Before the next question. */
  resume(): void
  end(): void
}

export function startThread(options: ThreadOptions, onMessage: (message: FromWorker) => void, onEnd: () => void): Thread {
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
    if (data.type === "failure" && data.code === "storage_damaged") options.onDamage?.(data.detail)
    onMessage(data)
  })
  // An error nobody caught; the worker is of no use any more.
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
    worker.postMessage({ type: "open", path: options.path, cacheBytes: options.cacheBytes, stop: shared } satisfies ToWorker)
  }
  return {
    begin,
    tell(message) {
      begin()
      worker.postMessage(message)
    },
    stop: () => void Atomics.store(flag, 0, STOP),
    resume: () => void Atomics.store(flag, 0, 0),
    end() {
      ended = true
      worker.terminate()
    },
  }
}

/** A failure as the worker told it: an AppError when the caller can act on it, else a bug. */
export function failureOf({ code, detail }: { code: AppError["code"] | undefined; detail: string }): Error {
  if (code === undefined) return new Error(`A query worker failed: ${detail}`)
  return new AppError(code, detail, code === "unavailable" ? { retry_after: 1 } : {})
}
