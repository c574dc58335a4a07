import { scryptSync } from "node:crypto"
import { setPriority } from "node:os"

/** A slow hash to compute. */
export type HashTask =
  | { do: "hash"; password: string; cost: { algorithm: "argon2id"; memoryCost: number; timeCost: number } }
  | { do: "verify"; password: string; hash: string }
  | { do: "derive"; secret: string; salt: Uint8Array; bytes: number; cost: { N: number; r: number; p: number } }

/** The first message. */
export interface Beginning {
  do: "begin"
  niceness: number
}

export interface Hashed {
  hash: string
  verify: boolean
  derive: Uint8Array
}

/** What came out, or the message of what went wrong. */
export type HashReply = { outcome: Hashed[HashTask["do"]] } | { fault: string }

// The globals of a worker; the compiler knows those of a window.
declare const self: Worker

self.onmessage = ({ data }: MessageEvent<HashTask | Beginning>) => {
  if (data.do === "begin") return giveWay(data.niceness)
  try {
    self.postMessage({ outcome: compute(data) } satisfies HashReply)
  } catch (error) {
    self.postMessage({ fault: error instanceof Error ? error.message : String(error) } satisfies HashReply)
  }
}

/** Linux gives every thread a priority of its own; elsewhere it would be that of the whole process. */
function giveWay(niceness: number): void {
  if (process.platform !== "linux" || niceness === 0) return
  try {
    setPriority(niceness)
  } catch {
    // A wish: where it is forbidden, hashes are computed all the same.
  }
}

function compute(task: HashTask): Hashed[HashTask["do"]] {
  if (task.do === "hash") return Bun.password.hashSync(task.password, task.cost)
  if (task.do === "verify") return Bun.password.verifySync(task.password, task.hash)
  return new Uint8Array(scryptSync(task.secret, task.salt, task.bytes, task.cost))
}
