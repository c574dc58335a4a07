import { type Fault, refuseFaults } from "./error.ts"
import { PASSWORD } from "./limits.ts"
import { fault } from "./shape.ts"
import { caseKey, characters, composed } from "./text.ts"

/** Whether a password is one of those that everybody tries first; it is given without capital letters. */
export type IsCommon = (password: string) => boolean

/** What a password is judged by beside itself. */
export interface PasswordTerms {
  isCommon: IsCommon
  /** Of whoever chooses it. */
  email?: string | undefined
  /** Where it stands in the body. */
  pointer?: string
}

const PRODUCT = /^(footfall)+$/

/** Throws `validation_failed`. Any characters will do; equal texts are equal whatever keyboard they came from. */
export function parsePassword(password: unknown, terms: PasswordTerms): string {
  refuseFaults(passwordFaults(password, terms))
  return normalPassword(String(password))
}

export const normalPassword = (password: string): string => composed(password)

/** Taken as it was typed: the rules for other texts are not for it. */
export function passwordFaults(password: unknown, { isCommon, email = "", pointer = "/password" }: PasswordTerms): Fault[] {
  if (password === undefined) return [fault(pointer, "required", "is required")]
  if (typeof password !== "string") return [fault(pointer, "invalid_type", "must be text")]
  const length = characters(normalPassword(password))
  if (length < PASSWORD.min) return [fault(pointer, "too_short", `needs at least ${PASSWORD.min} characters`)]
  if (length > PASSWORD.max) return [fault(pointer, "too_long", `may have ${PASSWORD.max} characters`)]
  if (!password.isWellFormed()) return [fault(pointer, "invalid_characters", "holds characters that no text may have")]
  const key = caseKey(password)
  if (key === caseKey(email)) return [fault(pointer, "password_too_common", "must not be the e-mail address")]
  // Figures and signs around the name of the product are what everybody adds to it.
  if (PRODUCT.test(key.replace(/[^a-z]/g, ""))) return [fault(pointer, "password_too_common", "must not be the name of the product")]
  if (isCommon(key)) return [fault(pointer, "password_too_common", "is one of the passwords that are tried first")]
  return []
}
