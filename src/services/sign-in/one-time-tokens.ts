import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import {
  deleteTokens,
  findToken,
  insertToken,
  type OneTimeToken,
  type TokenPurpose,
  useToken,
  voidTokens,
  voidTokensSince,
} from "../store/catalog/one-time-tokens.ts"
import type { Random } from "./secrets.ts"
import { tokenHash } from "./sessions.ts"

/** Tokens of links in mails: random, kept as hashes, used once. Every refusal is `token_invalid`. */
export interface OneTimeTokens {
  /** A newer one makes older ones of the same user and purpose void, unless they are to be kept. */
  issue(statements: Statements, token: NewToken): Promise<string>
  look(purpose: TokenPurpose, token: string): Promise<OneTimeToken>
  /** Of parallel calls exactly one gets it. */
  use(statements: Statements, purpose: TokenPurpose, token: string): Promise<OneTimeToken>
  void(statements: Statements, userId: number, ...purposes: readonly TokenPurpose[]): Promise<void>
  /** Those of the same user and purpose that were issued after this one, if all of them live equally long. */
  voidLater(statements: Statements, purpose: TokenPurpose, token: OneTimeToken): Promise<void>
  /** Removes what ended long ago. */
  forget(): Promise<void>
}

export interface NewToken {
  purpose: TokenPurpose
  userId: number
  payload: unknown
  lifeMs: number
  keepsOlder?: boolean
}

const TOKEN_BYTES = 32
/** Ended ones are kept for a while: a clock that is set back must find them used. */
const KEPT_ENDED_MS = 86_400_000

export function createOneTimeTokens({
  catalog,
  clock,
  random,
}: {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
}): OneTimeTokens {
  return {
    async issue(statements, { purpose, userId, payload, lifeMs, keepsOlder }) {
      const token = random(TOKEN_BYTES).toBase64({ alphabet: "base64url", omitPadding: true })
      if (!keepsOlder) await voidTokens(statements, userId, purpose, clock.now())
      await insertToken(statements, tokenHash(token), { purpose, userId, payload, expiresAt: clock.now() + lifeMs })
      return token
    },
    async look(purpose, token) {
      const found = await findToken(catalog, tokenHash(token), purpose)
      if (!found) throw tokenInvalid()
      if (found.expires_at > clock.now()) return found
      // Used up, so that a clock that is set back does not revive it.
      await useToken(catalog, tokenHash(token), purpose, clock.now())
      throw tokenInvalid()
    },
    async use(statements, purpose, token) {
      const found = await useToken(statements, tokenHash(token), purpose, clock.now())
      if (!found || found.expires_at <= clock.now()) throw tokenInvalid()
      return found
    },
    async void(statements, userId, ...purposes) {
      for (const purpose of purposes) await voidTokens(statements, userId, purpose, clock.now())
    },
    voidLater: (statements, purpose, { user_id, expires_at }) =>
      voidTokensSince(statements, { userId: user_id, purpose, since: expires_at }, clock.now()),
    forget: () => deleteTokens(catalog, clock.now() - KEPT_ENDED_MS, 1_000),
  }
}

export const tokenInvalid = () => new AppError("token_invalid", "The link is unknown, used or expired. Ask for a new one.")
