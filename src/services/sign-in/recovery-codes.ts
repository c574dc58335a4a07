import { timingSafeEqual } from "node:crypto"
import type { Clock } from "../domain/clock.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import { listRecoveryCodes, replaceRecoveryCodes, useRecoveryCode } from "../store/catalog/second-factors.ts"
import type { Passwords } from "./passwords.ts"
import type { Random } from "./secrets.ts"

/** Codes for whoever has lost the second factor: each works once, and a new set takes the place of the old one. */
export interface RecoveryCodes {
  /** A new set with its hashes, which are slow to make: outside any transaction. */
  make(): Promise<NewCodes>
  /** Looks for a code, which is slow; what it returns uses it up, in the caller's transaction. Undefined for a wrong one. */
  find(userId: number, typed: string): Promise<{ use(statements: Statements): Promise<boolean> } | undefined>
}

export interface NewCodes {
  /** Told this once. */
  codes: string[]
  keep(statements: Statements, userId: number): Promise<void>
}

const COUNT = 10
const LENGTH = 10
const SALT_BYTES = 16
/** Base32 without letters that look like figures. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"

/**
 * A code has 50 bits, too few for a plain hash. The salt is one for a whole set, so that a typed code is hashed once and
 * compared with all of them. No key of the instance takes part: codes still work when that key is lost.
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
      const hashes = await Promise.all(codes.map((code) => passwords.derive(code, salt)))
      const kept = hashes.map((hash) => new Uint8Array(Buffer.concat([salt, hash])))
      return {
        codes: codes.map((code) => `${code.slice(0, 5)}-${code.slice(5)}`),
        keep: (statements, userId) => replaceRecoveryCodes(statements, userId, kept),
      }
    },
    async find(userId, typed) {
      const left = await listRecoveryCodes(catalog, userId)
      const salt = left[0]?.code_hash.subarray(0, SALT_BYTES)
      if (!salt) return undefined
      const hash = await passwords.derive(asMade(typed), salt)
      const found = left.find(({ code_hash }) => timingSafeEqual(code_hash.subarray(SALT_BYTES), hash))
      return found && { use: (statements) => useRecoveryCode(statements, found.id, clock.now()) }
    },
  }
}

/** As people write it down: with or without the dash, in capital letters, with letters for figures. */
const asMade = (typed: string): string => typed.toLowerCase().replace(/[\s-]/g, "").replaceAll("o", "0").replace(/[il]/g, "1")
