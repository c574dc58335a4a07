import { timingSafeEqual } from "node:crypto"
import type { Session } from "../../domain/account.ts"
import type { Clock } from "../../domain/clock.ts"
import type { User } from "../../domain/user.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import {
  type Factors,
  factorsOf,
  isFactorRequired,
  listRecoveryCodes,
  replaceRecoveryCodes,
  totpOf,
  updateTotp,
  useRecoveryCode,
  useTotpStep,
} from "../../store/catalog/second-factors.ts"
import type { Random, Secrets } from "../secrets/secrets.ts"
import type { InstanceSettings } from "../settings/settings.ts"
import type { Passwords } from "./passwords.ts"

export type { Factors }

/** A code that a user enters as second factor. */
export type TypedFactor = { code: string } | { recovery_code: string }

/** The fields of a session that decide whether a second factor was used. */
export type FactorSession = Pick<Session, "method" | "mfa" | "organization_id">

/** The second factors of users, and the policies that require them. */
export interface SecondFactors {
  of(user: Pick<User, "id">, statements?: Statements): Promise<Factors>
  /**
   * Whether the instance or an organization requires a second factor that the user does not have. An identity provider that has asked for
   * one satisfies the requirement. In a session of an organization's own provider only the instance's policy counts, because such a
   * session cannot add factors to the account.
   */
  isMissing(user: Pick<User, "id" | "is_instance_admin">, session: FactorSession): Promise<boolean>
  /** Whether a policy requires the user to keep a second factor. */
  isRequired(user: Pick<User, "id" | "is_instance_admin">, statements?: Statements): Promise<boolean>
  /**
   * Does the slow part of checking a code. `use` then uses it up in the caller's transaction and returns false for a wrong or used code.
   */
  prepare(user: Pick<User, "id">, typed: TypedFactor): Promise<{ use(statements: Statements): Promise<boolean> }>
}

interface SecondFactorsOptions {
  catalog: Catalog
  settings: Pick<InstanceSettings, "get">
  totp: Totp
  recoveryCodes: RecoveryCodes
}

export function createSecondFactors({ catalog, settings, totp, recoveryCodes }: SecondFactorsOptions): SecondFactors {
  const isRequiredByInstance = ({ is_instance_admin }: Pick<User, "is_instance_admin">): boolean => {
    const wanted = settings.get("require_mfa")
    return wanted === "all" || (wanted === "admins" && is_instance_admin)
  }
  const isRequired: SecondFactors["isRequired"] = async (user, statements = catalog) =>
    isRequiredByInstance(user) || isFactorRequired(statements, user.id)
  return {
    of: ({ id }, statements = catalog) => factorsOf(statements, id),
    isRequired,
    async isMissing(user, { method, mfa, organization_id }) {
      if (method === "oidc" && mfa) return false
      if (!(organization_id === null ? await isRequired(user) : isRequiredByInstance(user))) return false
      const { totp: hasTotp, passkeys } = await factorsOf(catalog, user.id)
      return !hasTotp && passkeys === 0
    },
    async prepare({ id }, typed) {
      if ("code" in typed) return { use: (statements) => totp.use(statements, id, typed.code) }
      return (await recoveryCodes.find(id, typed.recovery_code)) ?? { use: async () => false }
    },
  }
}

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

/** Recovery codes for users who have lost their second factor. Each code works once, and a new set replaces the old one. */
export interface RecoveryCodes {
  /** Creates a new set. Hashing is slow, so call it outside of a transaction. */
  make(): Promise<NewCodes>
  /** Finds a code, which is slow. Returns a function that uses it up in the caller's transaction, undefined for a wrong code. */
  find(userId: number, typed: string): Promise<{ use(statements: Statements): Promise<boolean> } | undefined>
}

export interface NewCodes {
  /** The codes in plain text, which are shown only once. */
  codes: string[]
  keep(statements: Statements, userId: number): Promise<void>
}

const CODE_COUNT = 10
const CODE_CHARACTERS = 10
const SALT_BYTES = 16
/** Base32 without letters that look like digits. */
const CODE_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"

/**
 * Creates the recovery code service. A code has 50 bits, too few for a fast hash. A set shares one salt, so that an entered code is hashed
 * once and compared with all of them. The instance's secret key is not involved: codes still work if that key is lost.
 */
export function createRecoveryCodes(options: {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  passwords: Passwords
}): RecoveryCodes {
  const { catalog, clock, random, passwords } = options
  return {
    async make() {
      const salt = random(SALT_BYTES)
      const codes = Array.from({ length: CODE_COUNT }, () => [...random(CODE_CHARACTERS)].map((byte) => CODE_ALPHABET[byte & 31]).join(""))
      const hashes: Uint8Array[] = []
      // One after the other, so that a set takes one place in the queue and none of its hashes times out waiting for the others.
      for (const code of codes) hashes.push(new Uint8Array(Buffer.concat([salt, await passwords.lowPriority.derive(code, salt)])))
      return {
        codes: codes.map((code) => `${code.slice(0, 5)}-${code.slice(5)}`),
        keep: (statements, userId) => replaceRecoveryCodes(statements, userId, hashes),
      }
    },
    async find(userId, typed) {
      const left = await listRecoveryCodes(catalog, userId)
      const salt = left[0]?.code_hash.subarray(0, SALT_BYTES)
      if (!salt) return undefined
      const hash = await passwords.derive(normalizeCode(typed), salt)
      const found = left.find(({ code_hash }) => timingSafeEqual(code_hash.subarray(SALT_BYTES), hash))
      return found && { use: (statements) => useRecoveryCode(statements, found.id, clock.now()) }
    },
  }
}

/** Normalizes an entered code: removes spaces and dashes, ignores case and corrects letters that look like digits. */
const normalizeCode = (typed: string): string => typed.toLowerCase().replace(/[\s-]/g, "").replaceAll("o", "0").replace(/[il]/g, "1")
