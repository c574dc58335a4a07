import type { Clock } from "../../domain/clock.ts"
import type { Statements } from "../../store/catalog/catalog.ts"
import { totpOf, updateTotp, useTotpStep } from "../../store/catalog/second-factors.ts"
import type { Random, Secrets } from "../secrets/secrets.ts"

/** Codes of authenticator apps (RFC 6238): SHA-1, six digits, 30 seconds, with a tolerance of one period in both directions. */
export interface Totp {
  /** Creates a secret without storing it. */
  begin(email: string): Promise<NewTotp>
  /** Whether a code is correct for a secret that is not confirmed yet. */
  isRight(userId: number, sealed: Uint8Array, code: string): Promise<boolean>
  /** Stores a secret if its first code is correct. Returns false otherwise. */
  confirm(statements: Statements, userId: number, sealed: Uint8Array, code: string): Promise<boolean>
  /** Uses up a code. Returns false for a wrong code and for a code of a period that was already used. */
  use(statements: Statements, userId: number, code: string): Promise<boolean>
  remove(statements: Statements, userId: number): Promise<void>
}

export interface NewTotp {
  /** The secret in base32, for typing it into an app. */
  secret: string
  uri: string
  qrSvg: string
  /** Encrypts the secret for the time until its confirmation. */
  seal(userId: number): Uint8Array
}

const SECRET_BYTES = 20
const PERIOD_MS = 30_000
const WINDOW = 1
const ISSUER = "Footfall"

/** Returns the place that the secret of a user's app is encrypted for. */
export const totpPlace = (userId: number) => ({ table: "users", row: userId, purpose: "totp" })

export function createTotp({ clock, random, secrets }: { clock: Pick<Clock, "now">; random: Random; secrets: Secrets }): Totp {
  /** Returns the period of a correct code, undefined for a wrong one. */
  async function stepOf(secret: Uint8Array, code: string): Promise<number | undefined> {
    const { TOTP, Secret } = await import("otpauth")
    const token = code.replace(/\s/g, "")
    const timestamp = clock.now()
    const totp = new TOTP({ secret: new Secret({ buffer: plainBuffer(secret) }) })
    const delta = totp.validate({ token, timestamp, window: WINDOW })
    return delta === null ? undefined : Math.floor(timestamp / PERIOD_MS) + delta
  }
  async function openedStep(sealed: Uint8Array, userId: number, code: string): Promise<number | undefined> {
    const secret = secrets.open(sealed, totpPlace(userId))
    // If the instance's key is lost, no code is correct. Recovery codes and the command line still work.
    return secret && stepOf(secret, code)
  }
  return {
    async begin(email) {
      const { TOTP, Secret } = await import("otpauth")
      const { renderSVG } = await import("uqr")
      const secret = random(SECRET_BYTES)
      const shown = new Secret({ buffer: plainBuffer(secret) })
      const uri = new TOTP({ issuer: ISSUER, label: email, secret: shown }).toString()
      return { secret: shown.base32, uri, qrSvg: renderSVG(uri), seal: (userId) => secrets.seal(secret, totpPlace(userId)) }
    },
    isRight: async (userId, sealed, code) => (await openedStep(sealed, userId, code)) !== undefined,
    async confirm(statements, userId, sealed, code) {
      const step = await openedStep(sealed, userId, code)
      if (step === undefined) return false
      await updateTotp(statements, userId, { sealed, last_step: step })
      return true
    },
    async use(statements, userId, code) {
      const stored = await totpOf(statements, userId)
      const step = stored && (await openedStep(stored.sealed, userId, code))
      return step !== undefined && useTotpStep(statements, userId, step)
    },
    remove: (statements, userId) => updateTotp(statements, userId, null),
  }
}

/** Copies bytes into a buffer of their own, because the library reads the whole buffer below a view. */
const plainBuffer = (bytes: Uint8Array): ArrayBuffer => Uint8Array.from(bytes).buffer
