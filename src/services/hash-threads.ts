import { AppError } from "../domain/error.ts"
import type { Beginning, Hashed, HashReply, HashTask } from "./hash-worker.ts"

/** Threads for slow hashes: started when they are wanted, ended when nobody has wanted one for a while. */
export interface HashThreads {
  /** One task a thread at a time: the caller bounds how many there are. */
  run<Kind extends HashTask["do"]>(task: Extract<HashTask, { do: Kind }>): Promise<Hashed[Kind]>
  /** Whoever waits is told to try again later. */
  close(): void
}

const KEPT_MS = 60_000

export interface HashThreadSettings {
  /** Of `hash-worker.ts`. Made in `main.ts`: in the binary `import.meta.url` is that of the main file everywhere. */
  workerUrl: string
  /** How far the threads give way to all others, from 0 to 19; on Linux alone. */
  niceness: number
  keptMs?: number
}

export function createHashThreads({ workerUrl, niceness, keptMs = KEPT_MS }: HashThreadSettings): HashThreads {
  const idle: Worker[] = []
  /** With what ends the wait for them. */
  const busy = new Map<Worker, (fault: Error) => void>()
  let ending: NodeJS.Timeout | undefined

  function start(): Worker {
    const worker = new Worker(workerUrl)
    worker.postMessage({ do: "begin", niceness } satisfies Beginning)
    return worker
  }
  function rest(worker: Worker): void {
    if (!busy.delete(worker)) return // closed meanwhile
    worker.onmessage = worker.onerror = null
    idle.push(worker)
    clearTimeout(ending)
    ending = setTimeout(endIdle, keptMs)
    ending.unref()
  }
  function endIdle(): void {
    for (const worker of idle.splice(0)) worker.terminate()
  }
  return {
    run<Kind extends HashTask["do"]>(task: Extract<HashTask, { do: Kind }>): Promise<Hashed[Kind]> {
      const { promise, resolve, reject } = Promise.withResolvers<Hashed[Kind]>()
      const worker = idle.pop() ?? start()
      busy.set(worker, reject)
      worker.onmessage = ({ data }: MessageEvent<HashReply>) => {
        rest(worker)
        // The worker answers each kind of task with its own kind of outcome.
        if ("outcome" in data) resolve(data.outcome as Hashed[Kind])
        else reject(new Error(data.fault))
      }
      worker.onerror = (event) => {
        event.preventDefault()
        busy.delete(worker)
        worker.terminate()
        reject(new Error(`A hash failed: ${event.message}`))
      }
      worker.postMessage(task)
      return promise
    },
    close() {
      clearTimeout(ending)
      endIdle()
      for (const [worker, reject] of busy) {
        worker.terminate()
        reject(new AppError("unavailable", "The server is stopping.", { retry_after: 5 }))
      }
      busy.clear()
    },
  }
}
