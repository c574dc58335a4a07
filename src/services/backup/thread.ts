import { ExitFault } from "../runtime/exit.ts"
import type { Outcomes, Reply, Task } from "./worker.ts"

/**
 * Runs one task of a backup in a worker thread of its own, which ends with the task. Such tasks take long and must not block the
 * main thread.
 */
export function inBackupThread<Kind extends Task["do"]>(workerUrl: string, task: Extract<Task, { do: Kind }>): Promise<Outcomes[Kind]> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcomes[Kind]>()
  const worker = new Worker(workerUrl)
  worker.onmessage = ({ data }: MessageEvent<Reply>) => {
    // The worker answers each kind of task with the corresponding outcome.
    if ("outcome" in data) resolve(data.outcome as Outcomes[Kind])
    else reject(faultOf(data.fault))
  }
  worker.onerror = ({ message }) => reject(new ExitFault("failed", `A backup task failed: ${message}`))
  worker.postMessage(task)
  return promise.finally(() => worker.terminate())
}

function faultOf({ kind, message }: { kind: string; message: string }): ExitFault {
  if (kind === "full") return new ExitFault("storage", `The disk is full: ${message}`)
  if (kind === "damaged" || kind === "foreign") return new ExitFault("damaged", message)
  if (kind === "newer") return new ExitFault("configuration", message)
  return new ExitFault("failed", message)
}
