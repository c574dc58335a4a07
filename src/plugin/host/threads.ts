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

/** Starts a thread for several tasks. */
export type OpenThread = <Message = never>(options: ThreadOptions<Message>) => PluginThread

interface PluginThread {
  /** Runs a task after the one before has ended. Resolves with its result. The thread takes over the buffers, which are not copied. */
  run<Result>(task: unknown, buffers?: readonly ArrayBuffer[]): Promise<Result>
  close(): void
}

export interface ThreadTask {
  plugin: string
  task: unknown
}

export type ThreadReply = { message: unknown } | { result: unknown } | { fault: string }

/** Returns the functions with which a plugin runs tasks in threads. `workerUrl` is that of `plugin-worker.ts`. */
export function pluginThreads(workerUrl: string, plugin: string): { openThread: OpenThread; runInThread: RunInThread } {
  const openThread: OpenThread = <Message>({ signal, receive }: ThreadOptions<Message>) => {
    signal.throwIfAborted()
    const ended = Promise.withResolvers<never>()
    // Without a task, the end of the thread concerns no one.
    ended.promise.catch(() => {})
    let current = Promise.withResolvers<unknown>()
    const worker = new Worker(workerUrl)
    const abort = () => ended.reject(signal.reason)
    signal.addEventListener("abort", abort)
    worker.addEventListener("message", ({ data }: MessageEvent<ThreadReply>) => {
      if ("message" in data)
        receive?.(data.message as Message) // the plugin knows what its worker posts
      else if ("result" in data) current.resolve(data.result)
      else current.reject(new Error(`A thread of the plugin ${plugin} failed: ${data.fault}`))
    })
    worker.addEventListener("error", (event) => {
      event.preventDefault()
      ended.reject(new Error(`A thread of the plugin ${plugin} failed: ${event.message}`))
    })
    worker.addEventListener("close", () =>
      ended.reject(new AppError("unavailable", "The work was interrupted. Try again in a few seconds.")),
    )
    return {
      run<Result>(task: unknown, buffers: readonly ArrayBuffer[] = []) {
        current = Promise.withResolvers()
        worker.postMessage({ plugin, task } satisfies ThreadTask, [...buffers])
        return Promise.race([current.promise, ended.promise]) as Promise<Result> // the plugin knows what its worker returns
      },
      close() {
        signal.removeEventListener("abort", abort)
        worker.terminate()
      },
    }
  }
  return {
    openThread,
    runInThread<Result, Message>(task: unknown, options: ThreadOptions<Message>) {
      const thread = openThread(options)
      return thread.run<Result>(task).finally(() => thread.close())
    },
  }
}
