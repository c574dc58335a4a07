import { timingSafeEqual } from "node:crypto"
import type { Clock } from "../domain/clock.ts"
import { THINGS } from "../domain/limits.ts"
import type { Share } from "../domain/share.ts"

/** Proofs that a view's password was right: they speak for themselves, for an hour and for that password alone. */
export interface UnlockTokens {
  make(share: Pick<Share, "id" | "password_version">): string
  fits(share: Pick<Share, "id" | "password_version">, token: string | undefined): boolean
}

interface UnlockTokensOptions {
  clock: Pick<Clock, "now">
  /** The first one signs, all of them verify. */
  cookieSecrets: readonly [string, ...string[]]
}

export function createUnlockTokens({ clock, cookieSecrets }: UnlockTokensOptions): UnlockTokens {
  const sign = (secret: string, share: Pick<Share, "id" | "password_version">, until: number): string =>
    new Bun.CryptoHasher("sha256", secret).update(`unlock share ${share.id} ${share.password_version} ${until}`).digest("base64url")
  return {
    make(share) {
      const until = clock.now() + THINGS.shareUnlockMs
      return `${until}.${sign(cookieSecrets[0], share, until)}`
    },
    fits(share, token = "") {
      const [, end, signature = ""] = /^(\d{1,16})\.([\w-]{43})$/.exec(token) ?? []
      const until = Number(end)
      if (end === undefined || until <= clock.now()) return false
      return cookieSecrets.some((secret) => timingSafeEqual(Buffer.from(signature), Buffer.from(sign(secret, share, until))))
    },
  }
}
