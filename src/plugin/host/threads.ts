import { AppError } from "../../domain/error.ts"

/**
 * Work of a plugin in a thread, listed in `plugins/workers.ts`. It gets a task, can post messages meanwhile, and returns a result. All three
 * are copied between the threads. It has neither stores nor host.
 */
// Each plugin has its own types of tasks, messages and results, and casts them where it calls `runInThread`.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type PluginWorker = (task: any, post: (message: any) => void) => unknown

export interface ThreadOptions<Message> {
  /** Ends the thread at once when it is aborted. The promise then rejects with the reason. */
  signal: AbortSignal
  receive?(message: Message): void
}

/** Runs a task of a plugin in a new thread. Resolves with its result. */
export type RunInThread = <Result, Message = never>(task: unknown, options: ThreadOptions<Message>) => Promise<Result>

export interface ThreadTask {
  plugin: string
  task: unknown
}

export type ThreadReply = { message: unknown } | { result: unknown } | { fault: string }

/** Returns the function with which a plugin runs tasks in threads. `workerUrl` is that of `plugin-worker.ts`. */
export function pluginThreads(workerUrl: string, plugin: string): RunInThread {
  return <Result, Message>(task: unknown, { signal, receive }: ThreadOptions<Message>) => {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const worker = new Worker(workerUrl)
    const abort = () => reject(signal.reason)
    signal.addEventListener("abort", abort)
    worker.addEventListener("message", ({ data }: MessageEvent<ThreadReply>) => {
      if ("message" in data)
        receive?.(data.message as Message) // the plugin knows what its worker posts
      else if ("result" in data)
        resolve(data.result as Result) // and what it returns
      else reject(new Error(`A thread of the plugin ${plugin} failed: ${data.fault}`))
    })
    worker.addEventListener("error", (event) => {
      event.preventDefault()
      reject(new Error(`A thread of the plugin ${plugin} failed: ${event.message}`))
    })
    worker.addEventListener("close", () => reject(new AppError("unavailable", "The work was interrupted. Try again in a few seconds.")))
    worker.postMessage({ plugin, task } satisfies ThreadTask)
    return promise.finally(() => {
      signal.removeEventListener("abort", abort)
      worker.terminate()
    })
  }
}
