import { timingSafeEqual } from "node:crypto"
import type { Clock } from "../domain/clock.ts"

/** What somebody has been shown before it is erased. */
export interface ShownErasure {
  userId: number
  siteId: number
  /** Range and filter, as they were understood. */
  question: object
}

/** Proofs that somebody has seen what an erasure takes away: for ten minutes, for them, the site and that question alone. */
export interface EraseTokens {
  make(shown: ShownErasure): { token: string; until: number }
  fits(shown: ShownErasure, token: unknown): boolean
}

interface EraseTokensOptions {
  clock: Pick<Clock, "now">
  /** The first one signs, all of them verify. */
  cookieSecrets: readonly [string, ...string[]]
}

const LIFE_MS = 600_000

export function createEraseTokens({ clock, cookieSecrets }: EraseTokensOptions): EraseTokens {
  const sign = (secret: string, { userId, siteId, question }: ShownErasure, until: number): string =>
    new Bun.CryptoHasher("sha256", secret).update(JSON.stringify(["erase", userId, siteId, question, until])).digest("base64url")
  return {
    make(shown) {
      const until = clock.now() + LIFE_MS
      return { token: `${until}.${sign(cookieSecrets[0], shown, until)}`, until }
    },
    fits(shown, token) {
      const [, end, signature = ""] = /^(\d{1,16})\.([\w-]{43})$/.exec(typeof token === "string" ? token : "") ?? []
      const until = Number(end)
      if (end === undefined || until <= clock.now()) return false
      return cookieSecrets.some((secret) => timingSafeEqual(Buffer.from(signature), Buffer.from(sign(secret, shown, until))))
    },
  }
}
