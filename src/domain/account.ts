/** Sessions, and the responses about the account of the signed-in user. */
import { type Static, Type as t } from "@sinclair/typebox"
import { AppError } from "./error.ts"
import type { OrganizationPolicy, Role } from "./organization.ts"
import type { Rank } from "./permission.ts"
import { anyOf, field, orNull, textOf } from "./response.ts"

/** The method by which a session was started. */
export type SignInMethod = "password" | "passkey" | "oidc" | "setup" | "invitation" | "impersonation"

/** A signed-in dashboard session. Times are epoch milliseconds. */
export interface Session {
  id: number
  user_id: number
  method: SignInMethod
  /** Whether a second factor, or a passkey that counts as two factors, was used. */
  mfa: boolean
  created_at: number
  last_seen_at: number
  idle_expires_at: number
  expires_at: number
  /** Time at which the user last confirmed their identity. */
  reauth_at: number
  device: string
  user_agent: string
  /** The /24 (IPv4) or /48 (IPv6) prefix of the client's IP address. */
  ip_prefix: string
  place: string
  impersonator_id: number | null
  impersonator_email: string | null
  impersonation_mode: "read_only" | "full" | null
  impersonation_reason: string | null
  /** The only organization that the session has access to. Null means all organizations of the user. */
  organization_id: number | null
  /** The identity provider by which the user signed in. */
  provider: string | null
  /** Whether the next response must replace the token, because permissions have changed. */
  renewal_wanted: boolean
  revoked_at: number | null
}

/** The time for which a confirmation of identity is valid. */
export const SUDO_MS = 10 * 60_000

/** Throws `reauth_required` when the user confirmed their identity too long ago. */
export function refuseWithoutRecentProof({ reauth_at }: Pick<Session, "reauth_at">, now: number): void {
  if (now - reauth_at > SUDO_MS) throw new AppError("reauth_required", "Confirm your identity first: POST /api/private/auth/reauth.")
}

/** Throws `impersonation_read_only` when an instance admin is impersonating the user. */
export function refuseDuringImpersonation({ impersonator_id }: Pick<Session, "impersonator_id">): void {
  if (impersonator_id !== null) throw new AppError("impersonation_read_only", "This action is not available while impersonating a user.")
}

/** The client of a request, as recorded in sessions and audit rows. */
export interface Client {
  userAgent: string
  /** The /24 (IPv4) or /48 (IPv6) prefix of the client's IP address. Empty when unknown. */
  ipPrefix: string
  /** City and country in plain text. Only for sessions. */
  place?: string
}

const USER = {
  id: t.Integer({ description: "Id of the user." }),
  email: t.String({ description: "Email address, as entered." }),
  email_verified: t.Boolean({ description: "Whether the user has opened a link that was sent to the email address." }),
  name: t.String({ description: "Display name." }),
  is_instance_admin: t.Boolean({ description: "Whether the user has access to the admin console of the instance." }),
}
/** A user at sign-in. The permissions are in `MeResponse`. */
export const UserResponse = t.Object(USER, { description: "User of the session." })
export type UserResponse = Static<typeof UserResponse>

const choice = (description: string) => orNull(t.String(), { description })

/** A user with their second factors and preferences. */
export const OwnUserResponse = t.Object(
  {
    ...USER,
    mfa: t.Object(
      {
        totp: t.Boolean({ description: "Whether an authenticator app is set up." }),
        passkeys: t.Integer({ description: "Number of passkeys." }),
        recovery_codes_left: t.Integer({ description: "Number of unused recovery codes." }),
      },
      { description: "Second factors of the user." },
    ),
    locale: choice("Language tag for dates and numbers. null means the language of the browser."),
    time_format: choice("Clock format: `12h` or `24h`. null means the format of the locale."),
    theme: choice("Colour theme: `auto`, `light` or `dark`. null means `auto`."),
    shortcuts: t.Boolean({ description: "Whether keyboard shortcuts are enabled." }),
    start_page: choice("Path that opens after sign-in. null means the list of sites."),
    version: t.Integer({ description: "Version of the profile, which increases with each change." }),
  },
  { description: "Signed-in user." },
)
export type OwnUserResponse = Static<typeof OwnUserResponse>

const Permissions = t.Array(t.String(), { description: "Names of the user's permissions." })

/** The signed-in user with all permissions. */
export const MeResponse = t.Object({
  user: OwnUserResponse,
  organizations: t.Array(
    t.Object({
      id: field.integer("Id of the organization."),
      name: field.text("Display name of the organization."),
      role: textOf<Role>({ description: "Role of the user in the organization." }),
      policy: anyOf<OrganizationPolicy>({ description: "Policy of the organization for its members." }),
      permissions: Permissions,
    }),
    { description: "Organizations that the user is a member of." },
  ),
  sites: t.Array(
    t.Object({
      id: field.integer("Id of the site."),
      name: field.text("Display name of the site."),
      organization_id: field.integer("Id of the organization that owns the site."),
      role: textOf<Rank>({ description: "Effective role of the user on the site." }),
      permissions: Permissions,
    }),
    { description: "Sites that the user has access to." },
  ),
  features: t.Array(t.String(), { description: "Ids of the enabled plugins." }),
  makes_organizations: t.Boolean({ description: "Whether the user can create organizations on this instance." }),
  impersonation: t.Optional(
    t.Object(
      {
        by: t.String({ description: "Email address of the instance admin." }),
        mode: textOf<"read_only" | "full">({ description: "Mode of the impersonation: `read_only` or `full`." }),
        expires_at: t.String({ description: "End of the impersonation." }),
      },
      { description: "Impersonation by an instance admin. Present only while one is in progress." },
    ),
  ),
})
export type MeResponse = Static<typeof MeResponse>

export const OwnSessionResponse = t.Object({
  id: field.integer("Id of the session."),
  current: t.Boolean({ description: "Whether the request was sent from this session." }),
  method: t.String({ description: "Sign-in method: `password`, `passkey`, `oidc`, `setup`, `invitation` or `impersonation`." }),
  device: t.String({ description: "Browser and operating system." }),
  place: t.String({ description: "Country or city of the IP address. Empty when unknown." }),
  ip_prefix: t.String({ description: "Prefix of the IP address: /24 for IPv4, /48 for IPv6." }),
  created_at: field.text("Time of the sign-in."),
  last_seen_at: t.String({ description: "Time of the latest request." }),
})
export type OwnSessionResponse = Static<typeof OwnSessionResponse>

export const PasskeyResponse = t.Object({
  id: field.integer("Id of the passkey."),
  name: field.text("Display name of the passkey."),
  algorithm: t.String({ description: "Signature algorithm, such as `ES256`." }),
  transports: t.Array(t.String(), { description: "Transports that the authenticator reported, such as `usb`." }),
  backed_up: t.Boolean({ description: "Whether the passkey is synchronized between devices." }),
  created_at: field.text("Time of creation."),
  last_used_at: orNull(t.String(), { description: "Time of the latest sign-in with the passkey. null before the first." }),
  version: field.integer("Version of the passkey, which increases with each change."),
})
export type PasskeyResponse = Static<typeof PasskeyResponse>

/** The start of adding an authenticator app. */
export const TotpResponse = t.Object({
  secret: t.String({ description: "Secret in Base32, for entering by hand." }),
  otpauth_uri: t.String({ description: "Secret as an `otpauth:` URI." }),
  qr_svg: t.String({ description: "QR code of the URI, as SVG." }),
  ticket: t.String({ description: "Ticket for the confirmation with the first code." }),
})
export type TotpResponse = Static<typeof TotpResponse>

export const RecoveryCodesResponse = t.Object({
  recovery_codes: t.Array(t.String(), { description: "Recovery codes, each for one sign-in. They are never returned again." }),
})
export type RecoveryCodesResponse = Static<typeof RecoveryCodesResponse>

/** The current session. */
export const SessionResponse = t.Object({
  user: UserResponse,
  expires_at: t.String({ description: "Time at which the session ends at the latest." }),
  idle_expires_at: t.String({ description: "Time at which the session ends without another request." }),
  reauth_until: t.Optional(
    t.String({ description: "Time until which the latest confirmation of identity is valid. Absent when it has expired." }),
  ),
  impersonator: t.Optional(
    t.String({ description: "Email address of the impersonating instance admin. Present only during an impersonation." }),
  ),
  provider: t.Optional(t.String({ description: "Identity provider that opened the session and can confirm your identity." })),
})
export type SessionResponse = Static<typeof SessionResponse>

export const SignedOutResponse = t.Object({
  oidc_logout_url: t.String({ description: "URL that ends the session at the identity provider." }),
})
export type SignedOutResponse = Static<typeof SignedOutResponse>
