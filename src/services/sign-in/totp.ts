import type { Clock } from "../domain/clock.ts"
import type { Statements } from "../store/catalog/catalog.ts"
import { totpOf, updateTotp, useTotpStep } from "../store/catalog/second-factors.ts"
import type { Random, Secrets } from "./secrets.ts"

/** Codes of an authenticator app (RFC 6238): SHA-1, six figures, 30 seconds, one period of tolerance either way. */
export interface Totp {
  /** A new secret, which nothing knows of yet. */
  begin(email: string): Promise<NewTotp>
  /** Keeps a secret whose first code is right; false, and nothing is kept, for a wrong code. */
  confirm(statements: Statements, userId: number, sealed: Uint8Array, code: string): Promise<boolean>
  /** Uses a code up. False for a wrong one, and for one of a period that was used before. */
  use(statements: Statements, userId: number, code: string): Promise<boolean>
  remove(statements: Statements, userId: number): Promise<void>
}

export interface NewTotp {
  /** As people type it into an app: base32. */
  secret: string
  uri: string
  qrSvg: string
  /** The secret as it waits for its confirmation. */
  seal(userId: number): Uint8Array
}

const SECRET_BYTES = 20
const PERIOD_MS = 30_000
const WINDOW = 1
const ISSUER = "Footfall"

/** Where the secret of a user's app is sealed. */
export const totpPlace = (userId: number) => ({ table: "users", row: userId, purpose: "totp" })

export function createTotp({ clock, random, secrets }: { clock: Pick<Clock, "now">; random: Random; secrets: Secrets }): Totp {
  /** The period of a right code. */
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
    // With a lost key no code is right: recovery codes and the command line are.
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

/** The library takes the whole buffer below a view. */
const plainBuffer = (bytes: Uint8Array): ArrayBuffer => Uint8Array.from(bytes).buffer
