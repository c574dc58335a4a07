import { Type as t } from "@sinclair/typebox"
import { type Fault, refuseFaults } from "./error.ts"
import { THINGS } from "./limits.ts"
import { fault, inDocumentOrder, inspect, isObject } from "./shape.ts"
import { caseKey, characters } from "./text.ts"

/** Someone who signs in. Times are epoch milliseconds. */
export interface User {
  id: number
  email: string
  name: string
  is_instance_admin: boolean
  status: "active" | "disabled" | "deleted"
  /** Null until somebody has shown that the address is theirs. */
  email_verified_at: number | null
  /** Choices for the dashboard; null: as the browser or the instance has it. */
  locale: string | null
  time_format: string | null
  theme: string | null
  shortcuts: boolean
  start_page: string | null
  created_at: number
  last_login_at: number | null
  last_seen_at: number | null
  disabled_at: number | null
  version: number
}

const PASSWORD = { min: 12, max: 256 } as const

/** An address as mail needs it, without a claim that anybody reads it. */
const EMAIL = /^[^\s@<>()[\],;:"\\]+@[^\s@<>()[\],;:"\\]+$/
const EMAIL_CHARACTERS = 254

const SetUpInput = t.Object(
  {
    email: t.String({ minLength: 3, maxLength: EMAIL_CHARACTERS }),
    name: t.String({ minLength: 1, maxLength: THINGS.siteNameChars }),
    organization: t.String({ minLength: 1, maxLength: THINGS.siteNameChars, description: "Name of the first organization" }),
  },
  { additionalProperties: false },
)

/** What the first user is made of. */
export interface SetUpFields {
  email: string
  name: string
  password: string
  organization: string
}

/** Throws `validation_failed` with all faults at once. */
export function parseSetUp(body: unknown): SetUpFields {
  // The password is taken as it was typed: the rules for other texts are not for it.
  const { password, ...rest } = isObject(body) ? body : {}
  const { fields, faults } = inspect(SetUpInput, isObject(body) ? rest : body)
  const meaning =
    fields.email === undefined || EMAIL.test(fields.email) ? [] : [fault("/email", "invalid_email", "must be an e-mail address")]
  if (isObject(body)) meaning.push(...passwordFaults(password, fields.email))
  refuseFaults(inDocumentOrder([...faults, ...meaning], body))
  const { email, name, organization } = fields as Omit<SetUpFields, "password"> // no fault: they are there
  return { email, name, password: normalPassword(String(password)), organization }
}

/** Throws `validation_failed`. Any characters will do; equal texts are equal whatever keyboard they came from. */
export function parsePassword(password: unknown, email: string): string {
  refuseFaults(passwordFaults(password, email))
  return normalPassword(String(password))
}

const normalPassword = (password: string): string => password.normalize("NFC")

function passwordFaults(password: unknown, email = ""): Fault[] {
  if (password === undefined) return [fault("/password", "required", "is required")]
  if (typeof password !== "string") return [fault("/password", "invalid_type", "must be text")]
  const length = characters(normalPassword(password))
  if (length < PASSWORD.min) return [fault("/password", "too_short", `needs at least ${PASSWORD.min} characters`)]
  if (length > PASSWORD.max) return [fault("/password", "too_long", `may have ${PASSWORD.max} characters`)]
  if (!password.isWellFormed()) return [fault("/password", "invalid_characters", "holds characters that no text may have")]
  if (caseKey(password) === caseKey(email)) return [fault("/password", "password_too_common", "must not be the e-mail address")]
  return []
}
