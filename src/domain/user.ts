import { Type as t } from "@sinclair/typebox"
import { type Fault, refuseFaults } from "./error.ts"
import { THINGS } from "./limits.ts"
import { type IsCommon, normalPassword, passwordFaults } from "./password.ts"
import { fault, inDocumentOrder, inspect, isObject } from "./shape.ts"
import { readSite, type SiteDefaults } from "./site-input.ts"

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
  /** As it was sent; it has been judged. */
  site?: unknown
}

/** By what a first user is judged. */
export interface SetUpTerms {
  isCommon: IsCommon
  siteDefaults: SiteDefaults
}

/** Throws `validation_failed` with all faults at once, those of a first site among them. */
export function parseSetUp(body: unknown, { isCommon, siteDefaults }: SetUpTerms): SetUpFields {
  // The password is taken as it was typed: the rules for other texts are not for it.
  const { password, site, ...rest } = isObject(body) ? body : {}
  const { fields, faults } = inspect(SetUpInput, isObject(body) ? rest : body)
  const meaning = emailFaults(fields.email)
  if (isObject(body)) meaning.push(...passwordFaults(password, { isCommon, email: fields.email }))
  if (site !== undefined) {
    const { faults: ofSite } = readSite(site, siteDefaults)
    meaning.push(...ofSite.map((found) => ({ ...found, pointer: `/site${found.pointer}` })))
  }
  refuseFaults(inDocumentOrder([...faults, ...meaning], body))
  const { email, name, organization } = fields as Pick<SetUpFields, "email" | "name" | "organization"> // no fault: they are there
  return { email, name, password: normalPassword(String(password)), organization, ...(site !== undefined && { site }) }
}

/** Of an address that is there. */
export const emailFaults = (email: string | undefined, pointer = "/email"): Fault[] =>
  email === undefined || isEmail(email) ? [] : [fault(pointer, "invalid_email", "must be an e-mail address")]

export const isEmail = (text: string): boolean => text.length <= EMAIL_CHARACTERS && EMAIL.test(text)

/** A field of a body that is to hold an address; whether it does is for `emailFaults`. */
export const EmailText = t.String({ minLength: 3, maxLength: EMAIL_CHARACTERS })
export const NameText = t.String({ minLength: 1, maxLength: THINGS.siteNameChars })
