import { timingSafeEqual } from "node:crypto"
import type { Clock } from "../../domain/clock.ts"
import { THINGS } from "../../domain/limits.ts"

/** An object with a password: a shared view or a link. */
export interface Locked {
  id: number
  /** Incremented with each new password. */
  password_version: number
}

/** Stateless proofs that the password of an object was entered. They are valid for an hour, and only for that password. */
export interface UnlockTokens {
  make(thing: Locked): string
  fits(thing: Locked, token: string | undefined): boolean
}

interface UnlockTokensOptions {
  /** Kind of the objects, because ids are unique only within a kind. */
  kind: string
  clock: Pick<Clock, "now">
  /** The first secret signs, and all of them verify. */
  cookieSecrets: readonly [string, ...string[]]
}

export function createUnlockTokens({ kind, clock, cookieSecrets }: UnlockTokensOptions): UnlockTokens {
  const sign = (secret: string, thing: Locked, until: number): string =>
    new Bun.CryptoHasher("sha256", secret).update(`unlock ${kind} ${thing.id} ${thing.password_version} ${until}`).digest("base64url")
  return {
    make(thing) {
      const until = clock.now() + THINGS.shareUnlockMs
      return `${until}.${sign(cookieSecrets[0], thing, until)}`
    },
    fits(thing, token = "") {
      const [, end, signature = ""] = /^(\d{1,16})\.([\w-]{43})$/.exec(token) ?? []
      const until = Number(end)
      if (end === undefined || until <= clock.now()) return false
      return cookieSecrets.some((secret) => timingSafeEqual(Buffer.from(signature), Buffer.from(sign(secret, thing, until))))
    },
  }
}
