import { AppError } from "../domain/error.ts"
import type { Beginning, Hashed, HashReply, HashTask } from "./hash-worker.ts"

/** Threads for slow hashes: started when they are wanted, ended when nobody has wanted one for a while. */
export interface HashThreads {
  /** One task a thread at a time: the caller bounds how many there are. */
  run<Kind extends HashTask["do"]>(task: Extract<HashTask, { do: Kind }>): Promise<Hashed[Kind]>
  /** Whoever waits, or comes later, is told to try again. */
  close(): void
}

const KEPT_MS = 60_000
/**
 * Then a thread has done enough. One whose code grows hot makes the engine start compilers from it, which would take its priority
 * over and keep it, for the whole process.
 */
const TASKS_OF_A_THREAD = 200

export interface HashThreadSettings {
  /** Of `hash-worker.ts`. Made in `program.ts`: in the binary `import.meta.url` is that of the main file everywhere. */
  workerUrl: string
  /** How far the threads give way to all others, from 0 to 19; on Linux alone. */
  niceness: number
  keptMs?: number
}

/** What a thread computes, for whoever waits for it. */
interface Waiting {
  resolve(outcome: Hashed[HashTask["do"]]): void
  reject(fault: Error): void
}

export function createHashThreads({ workerUrl, niceness, keptMs = KEPT_MS }: HashThreadSettings): HashThreads {
  const idle = new Set<Worker>()
  const busy = new Map<Worker, Waiting>()
  let ending: NodeJS.Timeout | undefined
  let isClosed = false

  function start(): Worker {
    const worker = new Worker(workerUrl)
    let tasks = 0
    worker.addEventListener("message", ({ data }: MessageEvent<HashReply>) => answer(worker, data, ++tasks === TASKS_OF_A_THREAD))
    worker.addEventListener("error", (event) => {
      event.preventDefault()
      worker.terminate()
      lose(worker, event.message)
    })
    worker.addEventListener("close", () => lose(worker, "its thread ended"))
    worker.postMessage({ do: "begin", niceness } satisfies Beginning)
    return worker
  }
  function answer(worker: Worker, reply: HashReply, isDone: boolean): void {
    const waiting = busy.get(worker)
    if (!waiting) return // closed meanwhile
    busy.delete(worker)
    if (isDone) worker.terminate()
    else idle.add(worker)
    clearTimeout(ending)
    ending = setTimeout(endIdle, keptMs)
    ending.unref()
    if ("outcome" in reply) waiting.resolve(reply.outcome)
    else waiting.reject(new Error(reply.fault))
  }
  /** It ended, whatever it was doing. */
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
      return promise as Promise<Hashed[Kind]> // each kind of task is answered with its own kind of outcome
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

const stopping = () => new AppError("unavailable", "The server is stopping.", { retry_after: 5 })
