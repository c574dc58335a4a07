import { Type as t } from "@sinclair/typebox"
import { type Fault, refuseFaults } from "./error.ts"
import { THINGS } from "./limits.ts"
import { RoleInput } from "./membership.ts"
import type { Role } from "./organization.ts"
import { isOwnPath } from "./own-path.ts"
import { fault, inDocumentOrder, inspect, isObject } from "./shape.ts"
import { type IsCommon, normalizePassword, passwordFaults } from "./sign-in.ts"
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
    email: t.String({ minLength: 3, maxLength: EMAIL_CHARACTERS, description: "Email address." }),
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
export const EmailText = t.String({ minLength: 3, maxLength: EMAIL_CHARACTERS, description: "Email address." })
export const NameText = t.String({ minLength: 1, maxLength: THINGS.siteNameChars })

const Id = t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** The fields of a new user that an instance admin creates. The password is validated separately. */
const NewUserInput = t.Object(
  {
    email: EmailText,
    name: NameText,
    organization_id: t.Optional(Id),
    role: t.Optional(RoleInput),
    send_invitation: t.Optional(t.Boolean()),
    is_instance_admin: t.Optional(t.Boolean()),
  },
  { additionalProperties: false, title: "NewUserInput" },
)

/** Read-only fields of the GET response, which are accepted and ignored. */
const READ_ONLY_FIELDS = ["status", "organizations", "mfa", "auth", "last_login_at", "last_seen_at", "sessions", "api_keys"] as const

const UserPatch = t.Object(
  {
    name: t.Optional(NameText),
    email: t.Optional(EmailText),
    is_instance_admin: t.Optional(t.Boolean()),
    version: t.Optional(Id),
    ...(Object.fromEntries(READ_ONLY_FIELDS.map((name) => [name, t.Optional(t.Unknown())])) as Record<
      string,
      ReturnType<typeof t.Unknown>
    >),
  },
  { additionalProperties: false, title: "UserPatch" },
)

export interface NewUserFields {
  email: string
  name: string
  is_instance_admin: boolean
  send_invitation: boolean
  membership: { organizationId: number; role: Role } | undefined
  /** The password as it was typed, not validated yet. Undefined when the user chooses one later. */
  password: unknown
}

/** Reads a new user from a request body. An organization requires a role and vice versa; guests must be invited. Throws `validation_failed`. */
export function parseNewUser(body: unknown): NewUserFields {
  const { password, ...rest } = isObject(body) ? body : {}
  const { fields, faults } = inspect(NewUserInput, isObject(body) ? rest : body)
  const { organization_id, role } = fields
  const found = [...faults, ...emailFaults(fields.email)]
  if (organization_id !== undefined && role === undefined) found.push(fault("/role", "required", "is required with organization_id"))
  if (role !== undefined && organization_id === undefined) found.push(fault("/organization_id", "required", "is required with role"))
  if (role === "guest")
    found.push(fault("/role", "invalid_choice", "must be a role in the whole organization: guests are invited to single sites instead"))
  refuseFaults(inDocumentOrder(found, body))
  return {
    email: fields.email!, // present, because no fault was found
    name: fields.name!,
    is_instance_admin: fields.is_instance_admin ?? false,
    send_invitation: fields.send_invitation ?? true,
    membership: organization_id === undefined ? undefined : { organizationId: organization_id, role: role! },
    password,
  }
}

/** Reads a merge patch of a user. Throws `validation_failed`. */
export function parseUserPatch(body: unknown): { name?: string; email?: string; is_instance_admin?: boolean; version?: number } {
  const { fields, faults } = inspect(UserPatch, body)
  refuseFaults(inDocumentOrder([...faults, ...emailFaults(fields.email as string | undefined)], body))
  const { name, email, is_instance_admin, version } = fields as ReturnType<typeof parseUserPatch> // the types of their schemas
  return {
    ...(name !== undefined && { name }),
    ...(email !== undefined && { email }),
    ...(is_instance_admin !== undefined && { is_instance_admin }),
    ...(version !== undefined && { version }),
  }
}

const Removal = t.Object(
  { transfer: t.Optional(t.Array(t.Object({ organization_id: Id, user_id: Id }, { additionalProperties: false }), { maxItems: 1_000 })) },
  { additionalProperties: false, title: "UserRemoval" },
)

/** Reads the new owners of organizations of which a removed user is the only owner: user id by organization id. Throws `validation_failed`. */
export function parseUserRemoval(body: unknown): Map<number, number> {
  const { fields, faults } = inspect(Removal, body)
  refuseFaults(faults)
  return new Map((fields.transfer ?? []).map(({ organization_id, user_id }) => [organization_id, user_id]))
}

const orDefault = <Schema extends ReturnType<typeof t.Union> | ReturnType<typeof t.String>>(schema: Schema) => t.Union([schema, t.Null()])

const ProfilePatch = t.Object(
  {
    name: t.Optional(NameText),
    locale: t.Optional(orDefault(t.String({ minLength: 2, maxLength: 35 }))),
    time_format: t.Optional(orDefault(t.String())),
    theme: t.Optional(orDefault(t.String())),
    shortcuts: t.Optional(t.Boolean()),
    start_page: t.Optional(orDefault(t.String({ minLength: 1, maxLength: 500 }))),
    version: t.Optional(t.Integer({ minimum: 1 })),
  },
  { additionalProperties: false },
)

/** The preferences of a user. Null means the setting of the browser or the instance. */
export type Profile = Pick<User, "name" | "locale" | "time_format" | "theme" | "shortcuts" | "start_page">

const CHOICES = { time_format: ["12h", "24h"], theme: ["auto", "light", "dark"] } as const

/** Applies a merge patch to a profile. Returns it with the version that the patch names. Throws `validation_failed`. */
export function patchProfile(user: User, patch: unknown): { profile: Profile; version: number | undefined } {
  const { fields, faults } = inspect(ProfilePatch, patch)
  const { version, ...changes } = fields
  refuseFaults(inDocumentOrder([...faults, ...meaningFaults(changes)], patch))
  const { name, locale, time_format, theme, shortcuts, start_page } = { ...user, ...changes }
  const profile = { name, locale: locale && Intl.getCanonicalLocales(locale)[0]!, time_format, theme, shortcuts, start_page }
  return { profile, version }
}

function meaningFaults({ locale, start_page, ...choices }: Partial<Profile>): Fault[] {
  const found: Fault[] = []
  if (locale && !isLocale(locale)) found.push(fault("/locale", "invalid_locale", "must be a language tag such as de or en-GB"))
  for (const [name, allowed] of Object.entries(CHOICES)) {
    const value = choices[name as keyof typeof CHOICES]
    if (value != null && !(allowed as readonly string[]).includes(value))
      found.push(fault(`/${name}`, "invalid_choice", `must be ${allowed.slice(0, -1).join(", ")} or ${allowed.at(-1)}`, allowed))
  }
  if (start_page && !isOwnPath(start_page)) found.push(fault("/start_page", "invalid_path", "must be a path of this instance"))
  return found
}

function isLocale(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1
  } catch {
    return false
  }
}
