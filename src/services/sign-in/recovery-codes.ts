import { timingSafeEqual } from "node:crypto"
import type { Clock } from "../../domain/clock.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { listRecoveryCodes, replaceRecoveryCodes, useRecoveryCode } from "../../store/catalog/second-factors.ts"
import type { Random } from "../secrets/secrets.ts"
import type { Passwords } from "./passwords.ts"

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

const COUNT = 10
const LENGTH = 10
const SALT_BYTES = 16
/** Base32 without letters that look like digits. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"

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
      const codes = Array.from({ length: COUNT }, () => [...random(LENGTH)].map((byte) => ALPHABET[byte & 31]).join(""))
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
