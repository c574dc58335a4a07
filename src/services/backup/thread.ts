import { ExitFault } from "../runtime/exit.ts"
import type { Outcomes, Reply, Task } from "./worker.ts"

/** The answer to a worker that asks before its last step. */
export const GO_ON = "go on"

/**
 * Runs one task of a backup in a worker thread of its own, which ends with the task. Such tasks take long and must not block the
 * main thread. `beforeLast` is called before the last step of a task that asks for it.
 */
export function inBackupThread<Kind extends Task["do"]>(
  workerUrl: string,
  task: Extract<Task, { do: Kind }>,
  beforeLast: () => void = () => {},
): Promise<Outcomes[Kind]> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcomes[Kind]>()
  const worker = new Worker(workerUrl)
  worker.onmessage = ({ data }: MessageEvent<Reply>) => {
    if ("asks" in data) {
      beforeLast()
      worker.postMessage(GO_ON)
      return
    }
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
