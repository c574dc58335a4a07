/** Passwords, and the requests and responses of setup, sign-in and the confirmation of identity. */
import { type Static, type TObject, Type as t } from "@sinclair/typebox"
import { UserResponse } from "./account.ts"
import { type Fault, refuseFaults } from "./error.ts"
import { PASSWORD } from "./limits.ts"
import { anyOf, field, named, textOf } from "./response.ts"
import { fault, inspect, isObject } from "./shape.ts"
import { SiteResponse } from "./site-response.ts"
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

/** Schema of a code or token. The maximum is longer than any that Footfall issues; values are looked up as sent. */
const SecretText = t.String({ minLength: 1, maxLength: 1_024 })
const Closed = { additionalProperties: false } as const

const LoginInput = t.Object({ email: t.String({ minLength: 1, maxLength: 254 }) }, Closed)
const FactorInput = t.Object({ ticket: SecretText, code: t.Optional(SecretText), recovery_code: t.Optional(SecretText) }, Closed)

/** Reads an email address and a password, which is not trimmed. Throws `validation_failed`. */
export function parseLogin(body: unknown): { email: string; password: string } {
  const { password, ...rest } = isObject(body) ? body : {}
  const { fields, faults } = inspect(LoginInput, isObject(body) ? rest : body)
  refuseFaults([...faults, ...(isObject(body) ? typedFaults(password, "/password") : [])])
  return { email: fields.email!, password: normalizePassword(String(password)) } // present, because no fault was found
}

/** Reads a second factor: either a code of an authenticator app or a recovery code. Throws `validation_failed`. */
export function parseFactor(body: unknown): { ticket: string } & ({ code: string } | { recovery_code: string }) {
  const { ticket, code, recovery_code } = parsed(FactorInput, body)
  if (code !== undefined && recovery_code !== undefined)
    refuseFaults([fault("/recovery_code", "unknown_field", "cannot be combined with code")])
  if (code !== undefined) return { ticket, code }
  if (recovery_code === undefined) refuseFaults([fault("/code", "required", "is required")])
  return { ticket, recovery_code: recovery_code! } // present, because a missing one was refused above
}

/** Validates a body against a schema and returns its fields. Throws `validation_failed` with all faults at once. */
export function parsed<Shape extends TObject>(schema: Shape, body: unknown): Static<Shape> {
  const { fields, faults } = inspect(schema, body)
  refuseFaults(faults)
  return fields as Static<Shape> // complete, because no fault was found
}

/** Returns the faults of a typed secret, which is not trimmed. */
export function typedFaults(value: unknown, pointer: string): Fault[] {
  if (value === undefined) return [fault(pointer, "required", "is required")]
  if (typeof value !== "string") return [fault(pointer, "invalid_type", "must be text")]
  if (value.length > 1_024) return [fault(pointer, "too_long", "must have at most 1024 characters")]
  return []
}

/** The response of a passkey. Its format is validated by the WebAuthn library. */
export type PasskeyResponse = Record<string, unknown>
export type Proof = { password: string } | { code: string } | { challenge_id: string; response: PasskeyResponse }

const CodeInput = t.Object({ code: SecretText }, Closed)
const PasskeyInput = t.Object({ challenge_id: SecretText, response: t.Record(t.String(), t.Unknown()) }, Closed)

/** Reads a confirmation of identity: a code, a passkey response or a password. Throws `validation_failed`. */
export function parseProof(body: unknown): Proof {
  if (isObject(body) && "code" in body) return parsed(CodeInput, body)
  if (isObject(body) && "challenge_id" in body) return parsePasskey(body)
  const { password, ...rest } = isObject(body) ? body : {}
  const { faults } = inspect(t.Object({}, Closed), isObject(body) ? rest : body)
  refuseFaults([...faults, ...(isObject(body) ? typedFaults(password, "/password") : [])])
  return { password: normalizePassword(String(password)) }
}

/** Reads the response of a passkey. It is not normalized, because it is signed. Throws `validation_failed`. */
export function parsePasskey(body: unknown): { challenge_id: string; response: PasskeyResponse } {
  const { challenge_id, response } = parsed(PasskeyInput, body)
  return { challenge_id, response: (body as { response?: PasskeyResponse }).response ?? response } // an object, as validated above
}

/** Reads a password change. `current` is undefined for a user without a password. Throws `validation_failed`. */
export function parsePasswordChange(body: unknown): { current: string | undefined; password: unknown } {
  const { current, password, ...rest } = isObject(body) ? body : {}
  const { faults } = inspect(t.Object({}, Closed), isObject(body) ? rest : body)
  refuseFaults([...faults, ...(current === undefined ? [] : typedFaults(current, "/current"))])
  return { current: current === undefined ? undefined : normalizePassword(String(current)), password }
}

export const SetupResponse = t.Object({
  needed: t.Boolean({ description: "Whether the instance has no user yet." }),
  token_expires_at: t.Optional(t.String({ description: "Expiry of the setup token. Present only if one is valid." })),
  defaults: t.Object(
    {
      timezone: t.String({ description: "IANA time zone of a new site." }),
      currency: t.String({ description: "ISO 4217 code of the currency of a new site." }),
      base_url: t.String({ description: "Base URL of the instance." }),
    },
    { description: "Default values of the form." },
  ),
})
export type SetupResponse = Static<typeof SetupResponse>

/** The first user, organization and site. */
export const SetupCompletedResponse = t.Object({
  user: UserResponse,
  organization: named("Organization of the user."),
  site: t.Optional(SiteResponse),
})
export type SetupCompletedResponse = Static<typeof SetupCompletedResponse>

const FaultResponse = t.Object({
  pointer: t.String({ description: "JSON Pointer to the field in the body." }),
  code: t.String({ description: "Code of the problem, such as `required` or `out_of_range`." }),
  detail: t.String({ description: "Explanation for people. The text may change." }),
  allowed: t.Optional(
    anyOf<NonNullable<Fault["allowed"]>>({ description: "Allowed values or bounds. Absent if any value of the type is allowed." }),
  ),
})
/** The result of a dry run. */
export const FaultsResponse = t.Object({
  errors: t.Array(FaultResponse, { description: "Problems of the fields. Empty if there are none." }),
})
export type FaultsResponse = Static<typeof FaultsResponse>

export const SignedInResponse = t.Object({ user: UserResponse })
export type SignedInResponse = Static<typeof SignedInResponse>

/** The response to a second factor. */
export const FactorAcceptedResponse = t.Object({
  user: UserResponse,
  recovery_codes_left: t.Optional(t.Integer({ description: "Number of unused recovery codes. Present only if one was used." })),
})
export type FactorAcceptedResponse = Static<typeof FactorAcceptedResponse>

/** The response to a correct password of a user with a second factor. */
export const FactorRequiredResponse = t.Object({
  mfa_required: t.Literal(true, { description: "Always true: the sign-in must be completed with a second factor." }),
  methods: t.Array(textOf<"totp" | "passkey" | "recovery">(), { description: "Methods that the user can choose from." }),
  ticket: t.String({ description: "Ticket for the request with the second factor." }),
})
export type FactorRequiredResponse = Static<typeof FactorRequiredResponse>

/** The options for the browser's WebAuthn API, which define their own format. */
export const PasskeyChallengeResponse = t.Object({
  options: anyOf<object>({ description: "Options for the browser's WebAuthn API." }),
  challenge_id: t.String({ description: "Id of the challenge, to be returned with the response of the passkey." }),
})
/** `Options` is the type of the browser's API for the options. */
export type PasskeyChallengeResponse<Options = object> = Omit<Static<typeof PasskeyChallengeResponse>, "options"> & { options: Options }

/** The ways to sign in other than a password. */
export const SignInMethodsResponse = t.Object({
  data: t.Array(t.Object({ id: field.text("Id of the provider."), name: field.text("Display name of the provider.") }), {
    description: "Identity providers.",
  }),
  mail: t.Boolean({ description: "Whether the instance can send email." }),
})
export type SignInMethodsResponse = Static<typeof SignInMethodsResponse>
