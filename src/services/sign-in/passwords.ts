import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { type IsCommon, type PasswordTerms, parsePassword } from "../../domain/sign-in.ts"
import { createHashThreads, type HashThreadSettings } from "./hash-threads.ts"

/** Hashes passwords in low-priority threads, a few at a time: each hash takes 19 MiB and a core. */
export interface Passwords extends Hashes {
  /**
   * Computes hashes only when no sign-in is waiting for one. Used for passwords of shared views and links, and for new recovery codes.
   */
  lowPriority: Hashes
  /** Loads the list of common passwords. */
  common(): Promise<IsCommon>
  /** Validates a new password and returns it in the form to hash. Throws `validation_failed`. */
  accept(password: unknown, terms: Omit<PasswordTerms, "isCommon">): Promise<string>
  /** Ends the threads. Running and later hashes reject with `unavailable`. */
  close(): void
}

/** Slow hashes. Callers check limits and preconditions first, so that a rejected request never computes one. */
export interface Hashes {
  /** Hashes a password. Throws `unavailable` after 5 seconds in the queue. */
  hash(password: string): Promise<string>
  /**
   * Verifies a password. Without a hash, a dummy is verified, so that unknown users take as long as known ones. `outdated` means that the
   * hash uses other parameters and should be replaced.
   */
  verify(password: string, hash: string | null | undefined): Promise<{ isRight: boolean; outdated: boolean }>
  /** Returns a slow hash with the caller's salt, for short secrets that are compared with several stored ones. */
  derive(secret: string, salt: Uint8Array): Promise<Uint8Array>
}

export interface HashSettings extends Pick<HashThreadSettings, "workerUrl" | "niceness"> {
  /** Maximum number of concurrent hashes. */
  atOnce: number
  cost?: HashCost
}

/** How much work a hash is: Argon2 with `memory` KiB for passwords, scrypt with `blocks` of 1 KiB for derived secrets. */
interface HashCost {
  memory: number
  passes: number
  blocks: number
}

interface PasswordsOptions extends HashSettings {
  clock: Pick<Clock, "monotonic">
}

/** 19 MiB for a password and 16 MiB for a derived secret, as OWASP's Password Storage Cheat Sheet recommends at least. */
const COST: HashCost = { memory: 19_456, passes: 2, blocks: 16_384 }
const MAX_WAIT_MS = 5_000
const DERIVED_BYTES = 32

/** Salt and hash of an unknown text, for users that do not exist. */
const DUMMY = "c29tZSBzYWx0IG9mIG5vYm9keQ$jqcn9N3fXUjpNJi9YVSXzB2Nq1zCzU1kDkMQuEoxQ9s"

/**
 * Creates the password service. After each hash its slot pauses for as long as the hash took. Signed-in users cause work on the thread
 * that ingests events, so many simultaneous sign-ins are slowed down to half the speed. A single one is not, because the pause follows
 * the response.
 */
export function createPasswords({ atOnce, clock, cost = COST, ...threading }: PasswordsOptions): Passwords {
  const argon2 = { algorithm: "argon2id", memoryCost: cost.memory, timeCost: cost.passes } as const
  const parameters = `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=1$`
  const scrypt = { N: cost.blocks, r: 8, p: 1 }
  const enqueue = createQueue(atOnce, clock)
  const threads = createHashThreads(threading)
  // Loaded when a password is first chosen, because the list is long.
  const common = async (): Promise<IsCommon> => (await import("./common-passwords.ts")).isCommonPassword
  const hashes = (priority: Priority): Hashes => ({
    hash: (password) => enqueue(priority, () => threads.run<"hash">({ do: "hash", password, cost: argon2 })),
    async verify(password, hash) {
      const isRight = await enqueue(priority, () => threads.run<"verify">({ do: "verify", password, hash: hash ?? parameters + DUMMY }))
      return { isRight: isRight && Boolean(hash), outdated: Boolean(hash) && !hash?.startsWith(parameters) }
    },
    derive: (secret, salt) =>
      enqueue(priority, () => threads.run<"derive">({ do: "derive", secret, salt, bytes: DERIVED_BYTES, cost: scrypt })),
  })
  return {
    ...hashes("normal"),
    lowPriority: hashes("low"),
    common,
    accept: async (password, terms) => parsePassword(password, { ...terms, isCommon: await common() }),
    close: threads.close,
  }
}

type Priority = "normal" | "low"

/**
 * Returns a queue that runs at most `atOnce` tasks at a time, with a pause after each. Waiting tasks run in order of arrival, those of low
 * priority last, and reject with `unavailable` after 5 seconds.
 */
function createQueue(atOnce: number, { monotonic }: Pick<Clock, "monotonic">) {
  let running = 0
  const queues: Readonly<Record<Priority, (() => void)[]>> = { normal: [], low: [] }

  async function take(priority: Priority): Promise<void> {
    if (running < atOnce) {
      running++
      return
    }
    const waiting = queues[priority]
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timeout = setTimeout(() => {
      waiting.splice(waiting.indexOf(resolve), 1)
      reject(new AppError("unavailable", "Too many passwords are being checked right now. Try again in a few seconds.", { retry_after: 5 }))
    }, MAX_WAIT_MS)
    waiting.push(resolve)
    await promise
    clearTimeout(timeout)
  }
  /** Passes the slot to the next waiting task, or frees it. */
  function end(): void {
    const next = queues.normal.shift() ?? queues.low.shift()
    if (next) next()
    else running--
  }
  return async <T>(priority: Priority, work: () => Promise<T>): Promise<T> => {
    await take(priority)
    const startedAt = monotonic()
    try {
      return await work()
    } finally {
      setTimeout(end, monotonic() - startedAt).unref()
    }
  }
}
