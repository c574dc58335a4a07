/** Responses of setup and sign-in, before anyone is signed in. */
import { type Static, Type as t } from "@sinclair/typebox"
import { UserResponse } from "./account-response.ts"
import type { Fault } from "./error.ts"
import { anyOf, field, named, textOf } from "./response.ts"
import { SiteResponse } from "./site-response.ts"

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
