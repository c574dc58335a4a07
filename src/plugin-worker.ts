import { WORKERS } from "../plugins/workers.ts"
import type { ThreadReply, ThreadTask } from "./plugin/host/threads.ts"

/** Entry of all threads of plugins. A thread runs one task and is then ended by the main thread. */

// The compiler assumes the globals of a window.
declare const self: Worker

self.onmessage = async ({ data: { plugin, task } }: MessageEvent<ThreadTask>) => {
  const reply = (message: ThreadReply) => self.postMessage(message)
  try {
    const load = WORKERS[plugin]
    if (!load) throw new Error(`The plugin ${plugin} has no worker`)
    const { default: work } = await load()
    reply({ result: await work(task, (message) => reply({ message })) })
  } catch (error) {
    reply({ fault: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}
