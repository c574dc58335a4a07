import { AppError } from "../../domain/error.ts"
import type { Hashed, HashReply, HashTask, StartMessage } from "./hash-worker.ts"

/** Worker threads for slow hashes. They start on demand and end after a minute without work. */
export interface HashThreads {
  /** Runs a task on an idle thread or starts one. The caller limits the number of concurrent tasks. */
  run<Kind extends HashTask["do"]>(task: Extract<HashTask, { do: Kind }>): Promise<Hashed[Kind]>
  /** Ends all threads. Running and later tasks reject with `unavailable`. */
  close(): void
}

const IDLE_MS = 60_000
/**
 * Number of tasks after which a thread is replaced. In a long-running thread the engine starts compiler threads, which inherit its low
 * priority and would then compile slowly for the whole process.
 */
const MAX_TASKS_PER_THREAD = 200

export interface HashThreadSettings {
  /** URL of `hash-worker.ts`. Built in `program.ts`, because in the binary `import.meta.url` always names the main file. */
  workerUrl: string
  /** Niceness of the threads, from 0 (normal) to 19 (lowest priority). Linux only. */
  niceness: number
  keptMs?: number
}

/** The promise of a running task. */
interface Waiting {
  resolve(outcome: Hashed[HashTask["do"]]): void
  reject(fault: Error): void
}

export function createHashThreads({ workerUrl, niceness, keptMs = IDLE_MS }: HashThreadSettings): HashThreads {
  const idle = new Set<Worker>()
  const busy = new Map<Worker, Waiting>()
  let ending: NodeJS.Timeout | undefined
  let isClosed = false

  function start(): Worker {
    const worker = new Worker(workerUrl)
    let tasks = 0
    worker.addEventListener("message", ({ data }: MessageEvent<HashReply>) => answer(worker, data, ++tasks === MAX_TASKS_PER_THREAD))
    worker.addEventListener("error", (event) => {
      event.preventDefault()
      worker.terminate()
      lose(worker, event.message)
    })
    worker.addEventListener("close", () => lose(worker, "its thread ended"))
    worker.postMessage({ do: "begin", niceness } satisfies StartMessage)
    return worker
  }
  function answer(worker: Worker, reply: HashReply, isDone: boolean): void {
    const waiting = busy.get(worker)
    if (!waiting) return // closed in the meantime
    busy.delete(worker)
    if (isDone) worker.terminate()
    else idle.add(worker)
    clearTimeout(ending)
    ending = setTimeout(endIdle, keptMs)
    ending.unref()
    if ("outcome" in reply) waiting.resolve(reply.outcome)
    else waiting.reject(new Error(reply.fault))
  }
  /** Rejects the task of a thread that ended unexpectedly. */
  function lose(worker: Worker, message: string): void {
    idle.delete(worker)
    busy.get(worker)?.reject(new Error(`A hash failed: ${message}`))
    busy.delete(worker)
  }
  function endIdle(): void {
    for (const worker of idle) worker.terminate()
    idle.clear()
  }
  return {
    run<Kind extends HashTask["do"]>(task: Extract<HashTask, { do: Kind }>): Promise<Hashed[Kind]> {
      if (isClosed) return Promise.reject(stopping())
      const { promise, resolve, reject } = Promise.withResolvers<Hashed[HashTask["do"]]>()
      const [worker = start()] = idle
      idle.delete(worker)
      busy.set(worker, { resolve, reject })
      worker.postMessage(task)
      return promise as Promise<Hashed[Kind]> // each kind of task has its own kind of result
    },
    close() {
      isClosed = true
      clearTimeout(ending)
      endIdle()
      for (const [worker, { reject }] of busy) {
        worker.terminate()
        reject(stopping())
      }
      busy.clear()
    },
  }
}

const stopping = () => new AppError("unavailable", "The server is shutting down. Try again in a few seconds.", { retry_after: 5 })
