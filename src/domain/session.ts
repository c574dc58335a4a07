import { AppError } from "./error.ts"

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
