import { timingSafeEqual } from "node:crypto"
import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import type { Random } from "./secrets.ts"
import { tokenHash } from "./sessions.ts"
import { rememberedTimes } from "./sign-in-limits.ts"

/** What whoever started the instance is told: on the terminal, and nowhere else. */
export interface SetupInvitation {
  token: string
  /** Epoch milliseconds. */
  expiresAt: number
}

/**
 * The token that proves to be the one who started the instance. It lives in memory, for half an hour, while nobody has set
 * the instance up; each new one makes the old one void.
 */
export interface SetupToken {
  /** Makes the first one; `tellLater` is told each that takes its place when it has expired. */
  begin(tellLater: (invitation: SetupInvitation) => void): SetupInvitation
  /** Makes a new one if the present one has expired. */
  renew(): void
  expiresAt(): number | undefined
  /** Throws `setup_token_invalid`, and `rate_limited` after ten wrong ones in a quarter of an hour, whoever sent them. */
  check(token: string): void
  /** The instance is set up: there will be no more. */
  end(): void
}

const LIFE_MS = 30 * 60_000
const TOKEN_BYTES = 32
const TRIES = 10
const TRIES_MS = 15 * 60_000

export function createSetupToken({ clock, random }: { clock: Pick<Clock, "now">; random: Random }): SetupToken {
  const wrong = rememberedTimes(clock.now, TRIES_MS)
  let tell: ((invitation: SetupInvitation) => void) | undefined
  let present: { hash: Uint8Array; madeAt: number; expiresAt: number } | undefined

  function make(): SetupInvitation {
    const token = random(TOKEN_BYTES).toBase64({ alphabet: "base64url", omitPadding: true })
    const now = clock.now()
    present = { hash: tokenHash(token), madeAt: now, expiresAt: now + LIFE_MS }
    return { token, expiresAt: present.expiresAt }
  }
  // A clock that was set back must not give a token a longer life.
  const isLive = (): boolean => present !== undefined && clock.now() < present.expiresAt && clock.now() >= present.madeAt - LIFE_MS

  return {
    begin(tellLater) {
      tell = tellLater
      return make()
    },
    renew() {
      if (present && !isLive()) tell?.(make())
    },
    expiresAt: () => present?.expiresAt,
    check(token) {
      const wait = Math.ceil((wrong.freeAt("", TRIES) - clock.now()) / 1_000)
      if (wait > 0) throw new AppError("rate_limited", `Too many tries. Try again in ${wait} s.`, { retry_after: wait })
      if (present && isLive() && timingSafeEqual(present.hash, tokenHash(token))) return
      wrong.note("")
      throw new AppError("setup_token_invalid", "Send the latest token that the console has printed.")
    },
    end() {
      present = undefined
      tell = undefined
    },
  }
}
