import { AppError } from "./error.ts"

/** How somebody came in. */
export type SignInMethod = "password" | "passkey" | "oidc" | "setup" | "invitation" | "impersonation"

/** A signed-in dashboard session. Times are epoch milliseconds. */
export interface Session {
  id: number
  user_id: number
  method: SignInMethod
  /** A second factor was shown, or something that counts as two. */
  mfa: boolean
  created_at: number
  last_seen_at: number
  idle_expires_at: number
  expires_at: number
  /** When who it is was last proved. */
  reauth_at: number
  device: string
  user_agent: string
  /** /24 or /48 of the address. */
  ip_prefix: string
  place: string
  impersonator_id: number | null
  impersonator_email: string | null
  impersonation_mode: "read_only" | "full" | null
  impersonation_reason: string | null
  /** The only organization it reaches; null: all of the user's. */
  organization_id: number | null
  /** The identity provider that opened it. */
  provider: string | null
  /** Rights have changed: the next answer brings a new token. */
  renewal_wanted: boolean
  revoked_at: number | null
}

/** How long a proof of who somebody is holds. */
export const SUDO_MS = 10 * 60_000

/** Throws `reauth_required` when who it is was proved too long ago. */
export function refuseUnproved({ reauth_at }: Pick<Session, "reauth_at">, now: number): void {
  if (now - reauth_at > SUDO_MS) throw new AppError("reauth_required", "Prove again who you are: POST /api/private/auth/reauth.")
}

/** Throws `impersonation_read_only` when it is an admin who acts for the user. */
export function refuseInAnothersName({ impersonator_id }: Pick<Session, "impersonator_id">): void {
  if (impersonator_id !== null) throw new AppError("impersonation_read_only", "This cannot be done in the name of somebody else.")
}

/** Who asks, as far as a session or an audit row says it. */
export interface Client {
  userAgent: string
  /** /24 or /48 of the address; empty when it is not known. */
  ipPrefix: string
  /** Of a session: city and country as people read them. */
  place?: string
}
