import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { type IsCommon, type PasswordTerms, parsePassword } from "../domain/password.ts"
import { createHashThreads, type HashThreadSettings } from "./hash-threads.ts"

/** Hashes passwords in threads that give way to all others, few at a time: each run takes 19 MiB and a core. */
export interface Passwords {
  /** Waits for its turn; throws `unavailable` when that takes too long. */
  hash(password: string): Promise<string>
  /**
   * Whether a password is that of a hash. Without a hash one is computed all the same, so that an unknown user costs as long
   * as a known one. `outdated`: the hash was made with other parameters and should be made anew.
   */
  verify(password: string, hash: string | null | undefined): Promise<{ isRight: boolean; outdated: boolean }>
  /** A slow hash under a salt of the caller's, for short secrets that are looked for among several. */
  derive(secret: string, salt: Uint8Array): Promise<Uint8Array>
  /** The passwords that everybody tries first. */
  common(): Promise<IsCommon>
  /** The password as it is hashed. Throws `validation_failed`. */
  accept(password: unknown, terms: Omit<PasswordTerms, "isCommon">): Promise<string>
  /** Ends the threads. Whoever waits for them, or comes later, is told to try again. */
  close(): void
}

export interface HashSettings extends Pick<HashThreadSettings, "workerUrl" | "niceness"> {
  /** Hashes that run at a time. */
  atOnce: number
}

interface PasswordsOptions extends HashSettings {
  clock: Pick<Clock, "monotonic">
}

const COST = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const
const PARAMETERS = `$argon2id$v=19$m=${COST.memoryCost},t=${COST.timeCost},p=1$`
const PATIENCE_MS = 5_000
const DERIVED_BYTES = 32
/** Of 16 MiB. */
const DERIVE_COST = { N: 16_384, r: 8, p: 1 } as const

/** Of a text nobody knows, made with the present parameters. */
const DUMMY = "$argon2id$v=19$m=19456,t=2,p=1$c29tZSBzYWx0IG9mIG5vYm9keQ$jqcn9N3fXUjpNJi9YVSXzB2Nq1zCzU1kDkMQuEoxQ9s"

/**
 * Each of the `atOnce` hashes is followed by a rest as long as it took: whoever is let in is work for the thread that takes
 * events, and a crowd is let in half as fast. Whoever is alone does not notice: the rest comes after the answer.
 */
export function createPasswords({ atOnce, clock, ...threading }: PasswordsOptions): Passwords {
  const inTurn = turns(atOnce, clock)
  const threads = createHashThreads(threading)
  // Loaded when somebody first chooses a password: the list is long.
  const common = async (): Promise<IsCommon> => (await import("./common-passwords.ts")).isCommonPassword
  return {
    hash: (password) => inTurn(() => threads.run<"hash">({ do: "hash", password, cost: COST })),
    async verify(password, hash) {
      const isRight = await inTurn(() => threads.run<"verify">({ do: "verify", password, hash: hash ?? DUMMY }))
      return { isRight: isRight && Boolean(hash), outdated: Boolean(hash) && !hash?.startsWith(PARAMETERS) }
    },
    derive: (secret, salt) => inTurn(() => threads.run<"derive">({ do: "derive", secret, salt, bytes: DERIVED_BYTES, cost: DERIVE_COST })),
    common,
    accept: async (password, terms) => parsePassword(password, { ...terms, isCommon: await common() }),
    close: threads.close,
  }
}

/** Runs so many works at a time, with rests; the others wait in their order, and give up after a while. */
function turns(atOnce: number, { monotonic }: Pick<Clock, "monotonic">) {
  let running = 0
  const waiting: (() => void)[] = []

  async function take(): Promise<void> {
    if (running < atOnce) {
      running++
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const patience = setTimeout(() => {
      waiting.splice(waiting.indexOf(resolve), 1)
      reject(new AppError("unavailable", "Too many passwords are being checked.", { retry_after: 5 }))
    }, PATIENCE_MS)
    waiting.push(resolve)
    await promise
    clearTimeout(patience)
  }
  /** The turn goes to the longest waiting, or is free again. */
  function end(): void {
    const next = waiting.shift()
    if (next) next()
    else running--
  }
  return async <T>(work: () => Promise<T>): Promise<T> => {
    await take()
    const begun = monotonic()
    try {
      return await work()
    } finally {
      setTimeout(end, monotonic() - begun).unref()
    }
  }
}
