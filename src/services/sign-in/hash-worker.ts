import { scryptSync } from "node:crypto"
import { setPriority } from "node:os"

/** A slow hash to compute. */
export type HashTask =
  | { do: "hash"; password: string; cost: { algorithm: "argon2id"; memoryCost: number; timeCost: number } }
  | { do: "verify"; password: string; hash: string }
  | { do: "derive"; secret: string; salt: Uint8Array; bytes: number; cost: { N: number; r: number; p: number } }

/** The first message to the worker. */
export interface StartMessage {
  do: "begin"
  niceness: number
}

export interface Hashed {
  hash: string
  verify: boolean
  derive: Uint8Array
}

/** The result of a task, or the message of its error. */
export type HashReply = { outcome: Hashed[HashTask["do"]] } | { fault: string }

// The compiler assumes the globals of a window.
declare const self: Worker

self.onmessage = ({ data }: MessageEvent<HashTask | StartMessage>) => {
  if (data.do === "begin") return lowerPriority(data.niceness)
  try {
    self.postMessage({ outcome: compute(data) } satisfies HashReply)
  } catch (error) {
    self.postMessage({ fault: error instanceof Error ? error.message : String(error) } satisfies HashReply)
  }
}

/** Lowers the priority of this thread. Linux only, because elsewhere it would apply to the whole process. */
function lowerPriority(niceness: number): void {
  if (process.platform !== "linux" || niceness === 0) return
  try {
    setPriority(niceness)
  } catch {
    // Best effort: hashing works without the lower priority.
  }
}

function compute(task: HashTask): Hashed[HashTask["do"]] {
  if (task.do === "hash") return Bun.password.hashSync(task.password, task.cost)
  if (task.do === "verify") return Bun.password.verifySync(task.password, task.hash)
  return new Uint8Array(scryptSync(task.secret, task.salt, task.bytes, task.cost))
}
