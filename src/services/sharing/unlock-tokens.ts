import { timingSafeEqual } from "node:crypto"
import type { Clock } from "../../domain/clock.ts"
import { THINGS } from "../../domain/limits.ts"

/** What has a password: a shared view, a link. */
export interface Locked {
  id: number
  /** Counts the passwords it has had. */
  password_version: number
}

/** Proofs that a thing's password was right: they speak for themselves, for an hour and for that password alone. */
export interface UnlockTokens {
  make(thing: Locked): string
  fits(thing: Locked, token: string | undefined): boolean
}

interface UnlockTokensOptions {
  /** What the things are: ids are counted for each kind. */
  kind: string
  clock: Pick<Clock, "now">
  /** The first one signs, all of them verify. */
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
