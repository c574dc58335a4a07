import { AppError } from "../domain/error.ts"

/** Hashes passwords beside the event loop, few at a time: each run takes 19 MiB and a core. */
export interface Passwords {
  /** Waits for its turn; throws `unavailable` when that takes too long. */
  hash(password: string): Promise<string>
  /**
   * Whether a password is that of a hash. Without a hash one is computed all the same, so that an unknown user costs as long
   * as a known one. `outdated`: the hash was made with other parameters and should be made anew.
   */
  verify(password: string, hash: string | undefined): Promise<{ isRight: boolean; outdated: boolean }>
}

const COST = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const
const PARAMETERS = `$argon2id$v=19$m=${COST.memoryCost},t=${COST.timeCost},p=1$`
const AT_ONCE = 4
const PATIENCE_MS = 5_000

/** Of a text nobody knows, made with the present parameters. */
const DUMMY = "$argon2id$v=19$m=19456,t=2,p=1$c29tZSBzYWx0IG9mIG5vYm9keQ$jqcn9N3fXUjpNJi9YVSXzB2Nq1zCzU1kDkMQuEoxQ9s"

export function createPasswords(): Passwords {
  let running = 0
  const waiting: (() => void)[] = []

  async function takeTurn(): Promise<void> {
    if (running < AT_ONCE) {
      running++
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const patience = setTimeout(() => {
      waiting.splice(waiting.indexOf(resolve), 1)
      reject(new AppError("unavailable", "Too many passwords are being checked", { retry_after: 5 }))
    }, PATIENCE_MS)
    waiting.push(resolve)
    await promise
    clearTimeout(patience)
  }
  /** The turn goes to the longest waiting, or is free again. */
  function endTurn(): void {
    const next = waiting.shift()
    if (next) next()
    else running--
  }
  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    await takeTurn()
    try {
      return await work()
    } finally {
      endTurn()
    }
  }
  return {
    hash: (password) => inTurn(() => Bun.password.hash(password, COST)),
    async verify(password, hash) {
      const isRight = await inTurn(() => Bun.password.verify(password, hash ?? DUMMY))
      return { isRight: isRight && hash !== undefined, outdated: hash !== undefined && !hash.startsWith(PARAMETERS) }
    },
  }
}
