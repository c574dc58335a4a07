import { Type as t } from "@sinclair/typebox"
import { refuseFaults } from "./error.ts"
import { THINGS } from "./limits.ts"
import { inspect } from "./shape.ts"

/** The owner of sites, members and API keys. Times are epoch milliseconds. */
export interface Organization {
  id: number
  name: string
  policy: OrganizationPolicy
  created_at: number
  updated_at: number
  version: number
}

/** What an organization demands of its members. Null: as the instance has it. */
export interface OrganizationPolicy {
  require_mfa: boolean
  public_links: "allowed" | "password_required" | "off"
  key_default_days: number
  key_max_days: number | null
  session_idle_days: number | null
  session_absolute_days: number | null
  sso_only: boolean
  /** Owners who may use a password under `sso_only`. */
  break_glass_user_ids: readonly number[]
}

export const DEFAULT_POLICY: OrganizationPolicy = {
  require_mfa: false,
  public_links: "allowed",
  key_default_days: 365,
  key_max_days: null,
  session_idle_days: null,
  session_absolute_days: null,
  sso_only: false,
  break_glass_user_ids: [],
}

/** A member's rank in an organization. */
export type Role = "owner" | "admin" | "editor" | "viewer" | "guest"

const OrganizationInput = t.Object({ name: t.String({ minLength: 1, maxLength: THINGS.siteNameChars }) }, { additionalProperties: false })

/** Throws `validation_failed`. */
export function parseOrganization(body: unknown): { name: string } {
  const { fields, faults } = inspect(OrganizationInput, body)
  refuseFaults(faults)
  return { name: fields.name! } // no fault: it is there
}
