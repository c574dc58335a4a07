import { AppError } from "../domain/error.ts"

/** Hashes passwords beside the event loop, few at a time: each run takes 19 MiB and a core. */
export interface Passwords {
  /** Waits for its turn; throws `unavailable` when that takes too long. */
  hash(password: string): Promise<string>
}

const COST = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const
const AT_ONCE = 4
const PATIENCE_MS = 5_000

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
  return {
    async hash(password) {
      await takeTurn()
      try {
        return await Bun.password.hash(password, COST)
      } finally {
        endTurn()
      }
    },
  }
}
