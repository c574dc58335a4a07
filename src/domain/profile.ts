import { Type as t } from "@sinclair/typebox"
import { type Fault, refuseFaults } from "./error.ts"
import { isOwnPath } from "./own-path.ts"
import { fault, inDocumentOrder, inspect } from "./shape.ts"
import { NameText, type User } from "./user.ts"

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
