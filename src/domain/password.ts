import { type Fault, refuseFaults } from "./error.ts"
import { PASSWORD } from "./limits.ts"
import { fault } from "./shape.ts"
import { caseKey, countCharacters, normalizeUnicode } from "./text.ts"

/** Returns whether a password, given in lower case, is on the list of common passwords. */
export type IsCommon = (password: string) => boolean

/** The context in which a password is validated. */
export interface PasswordTerms {
  isCommon: IsCommon
  /** Email address of the user, which the password must not equal. */
  email?: string | undefined
  /** JSON pointer to the password in the body. Default: `/password`. */
  pointer?: string
}

const PRODUCT = /^(footfall)+$/

/** Validates and normalizes a new password. All characters are allowed. Throws `validation_failed`. */
export function parsePassword(password: unknown, terms: PasswordTerms): string {
  refuseFaults(passwordFaults(password, terms))
  return normalizePassword(String(password))
}

/** Normalizes a password, so that it is the same on every keyboard. */
export const normalizePassword = (password: string): string => normalizeUnicode(password)

/** Returns the faults of a new password. The password is not trimmed like other texts. */
export function passwordFaults(password: unknown, { isCommon, email = "", pointer = "/password" }: PasswordTerms): Fault[] {
  if (password === undefined) return [fault(pointer, "required", "is required")]
  if (typeof password !== "string") return [fault(pointer, "invalid_type", "must be text")]
  const length = countCharacters(normalizePassword(password))
  if (length < PASSWORD.min) return [fault(pointer, "too_short", `must have at least ${PASSWORD.min} characters`)]
  if (length > PASSWORD.max) return [fault(pointer, "too_long", `must have at most ${PASSWORD.max} characters`)]
  if (!password.isWellFormed()) return [fault(pointer, "invalid_characters", "contains invalid characters")]
  const key = caseKey(password)
  if (key === caseKey(email)) return [fault(pointer, "password_too_common", "must not be the email address")]
  // The name of the product with added digits and punctuation is as easy to guess as the name alone.
  if (PRODUCT.test(key.replace(/[^a-z]/g, ""))) return [fault(pointer, "password_too_common", "must not be the name of the product")]
  if (isCommon(key)) return [fault(pointer, "password_too_common", "is on the list of common passwords, which attackers try first")]
  return []
}
