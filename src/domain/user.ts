import { Type as t } from "@sinclair/typebox"
import { type Fault, refuseFaults } from "./error.ts"
import { THINGS } from "./limits.ts"
import { type IsCommon, normalizePassword, passwordFaults } from "./password.ts"
import { fault, inDocumentOrder, inspect, isObject } from "./shape.ts"
import { readSite, type SiteDefaults } from "./site-input.ts"

/** A person who can sign in. Times are epoch milliseconds. */
export interface User {
  id: number
  email: string
  name: string
  is_instance_admin: boolean
  status: "active" | "disabled" | "deleted"
  /** Null until the user has verified the email address. */
  email_verified_at: number | null
  /** Preferences for the dashboard. Null means the setting of the browser or the instance. */
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

/** The syntax of an email address. It does not prove that the mailbox exists. */
const EMAIL = /^[^\s@<>()[\],;:"\\]+@[^\s@<>()[\],;:"\\]+$/
const EMAIL_CHARACTERS = 254

const SetUpInput = t.Object(
  {
    email: t.String({ minLength: 3, maxLength: EMAIL_CHARACTERS }),
    name: t.String({ minLength: 1, maxLength: THINGS.siteNameChars }),
    organization: t.String({ minLength: 1, maxLength: THINGS.siteNameChars, description: "Name of the first organization." }),
  },
  { additionalProperties: false },
)

/** The fields of the first user. */
export interface SetUpFields {
  email: string
  name: string
  password: string
  organization: string
  /** The first site as it was sent, already validated. */
  site?: unknown
}

/** The context in which the first user is validated. */
export interface SetUpTerms {
  isCommon: IsCommon
  siteDefaults: SiteDefaults
}

/** Reads the first user, organization and site. Throws `validation_failed` with all faults at once. */
export function parseSetUp(body: unknown, { isCommon, siteDefaults }: SetUpTerms): SetUpFields {
  // The password is not trimmed like other texts.
  const { password, site, ...rest } = isObject(body) ? body : {}
  const { fields, faults } = inspect(SetUpInput, isObject(body) ? rest : body)
  const meaning = emailFaults(fields.email)
  if (isObject(body)) meaning.push(...passwordFaults(password, { isCommon, email: fields.email }))
  if (site !== undefined) {
    const { faults: ofSite } = readSite(site, siteDefaults)
    meaning.push(...ofSite.map((found) => ({ ...found, pointer: `/site${found.pointer}` })))
  }
  refuseFaults(inDocumentOrder([...faults, ...meaning], body))
  const { email, name, organization } = fields as Pick<SetUpFields, "email" | "name" | "organization"> // present, because no fault was found
  return { email, name, password: normalizePassword(String(password)), organization, ...(site !== undefined && { site }) }
}

/** Returns the faults of an email address; none when it is undefined. */
export const emailFaults = (email: string | undefined, pointer = "/email"): Fault[] =>
  email === undefined || isEmail(email) ? [] : [fault(pointer, "invalid_email", "must be an email address")]

/** Returns whether a text has the syntax of an email address. */
export const isEmail = (text: string): boolean => text.length <= EMAIL_CHARACTERS && EMAIL.test(text)

/** Schema of an email field. `emailFaults` checks the syntax. */
export const EmailText = t.String({ minLength: 3, maxLength: EMAIL_CHARACTERS })
export const NameText = t.String({ minLength: 1, maxLength: THINGS.siteNameChars })
