import { Type as t } from "@sinclair/typebox"
import { AppError, refuseFaults } from "./error.ts"
import { API } from "./limits.ts"
import { inspect } from "./shape.ts"

/** What an API key may hold, in the order of the public documents. */
export const SCOPES = [
  "sites:read",
  "sites:write",
  "goals:read",
  "goals:write",
  "funnels:read",
  "funnels:write",
  "stats:read",
  "events:write",
  "export:read",
  "annotations:read",
  "annotations:write",
] as const
export type Scope = (typeof SCOPES)[number]

/** What each lets its holder do, for people. */
export const SCOPE_TITLES: Readonly<Record<Scope, string>> = {
  "sites:read": "Read sites",
  "sites:write": "Create, change and delete sites",
  "goals:read": "Read goals",
  "goals:write": "Create, change and delete goals, and funnels made of them",
  "funnels:read": "Read funnels",
  "funnels:write": "Create, change and delete funnels",
  "stats:read": "Read statistics, and use all tools of MCP",
  "events:write": "Send events from servers",
  "export:read": "Export reports and raw rows",
  "annotations:read": "Read annotations",
  "annotations:write": "Create, change and delete annotations",
}

const IMPLIED: { readonly [scope in Scope]?: readonly Scope[] } = {
  "sites:write": ["sites:read"],
  "goals:write": ["goals:read"],
  "funnels:write": ["funnels:read"],
  "annotations:write": ["annotations:read"],
  "stats:read": ["sites:read", "goals:read", "funnels:read"],
}

/** What a scope opens besides itself. */
export const impliedBy = (scope: Scope): readonly Scope[] => IMPLIED[scope] ?? []

/** Whether a key has one of the scopes that would do, itself or by implication. */
export const hasScope = ({ scopes }: Pick<ApiKey, "scopes">, sufficient: readonly Scope[]): boolean =>
  scopes.some((scope) => sufficient.includes(scope) || IMPLIED[scope]?.some((implied) => sufficient.includes(implied)))

/** A key as its organization sees it; the secret itself is shown once and kept nowhere. Times are epoch milliseconds. */
export interface ApiKey {
  id: number
  organization_id: number
  name: string
  /** `ff_` and the public key id: how people tell keys apart. */
  prefix: string
  last4: string
  scopes: readonly Scope[]
  /** Null: all sites of the organization, future ones too. An empty list reaches none. */
  site_ids: readonly number[] | null
  /** Ranges of addresses it may be used from; empty: from everywhere. */
  ip_allow: readonly string[]
  /** Requests per minute; null: as many as the instance allows. */
  rate_limit: number | null
  /** Of a personal key, which ends with the membership. */
  owner_user_id: number | null
  /** Null: the command line. */
  created_by: number | null
  created_at: number
  expires_at: number | null
  /** When it was found to be over: it stays so, whatever the clock says later. */
  expired_at: number | null
  last_used_at: number | null
  /** /24 or /48 of the address. */
  last_used_ip_prefix: string | null
  last_used_agent: string | null
  revoked_at: number | null
  version: number
}

export const KEY_STATES = ["active", "expired", "revoked"] as const
export type KeyState = (typeof KEY_STATES)[number]

export function keyState(
  { revoked_at, expired_at, expires_at }: Pick<ApiKey, "revoked_at" | "expired_at" | "expires_at">,
  now: number,
): KeyState {
  if (revoked_at !== null) return "revoked"
  return expired_at !== null || (expires_at !== null && expires_at <= now) ? "expired" : "active"
}

export const reachesSite = (key: Pick<ApiKey, "organization_id" | "site_ids">, site: { id: number; organization_id: number }): boolean =>
  key.organization_id === site.organization_id && (key.site_ids === null || key.site_ids.includes(site.id))

const { min: minimum, max: maximum } = API.keyGraceHours
const RotationInput = t.Object({ grace_hours: t.Optional(t.Integer({ minimum, maximum })) }, { additionalProperties: false })

/** How long the old secret works on. Throws `validation_failed`. */
export function parseRotation(body: unknown): { grace_hours: number } {
  const { fields, faults } = inspect(RotationInput, body)
  refuseFaults(faults)
  return { grace_hours: fields.grace_hours ?? API.keyGraceHours.default }
}

export const keyNotFound = () => new AppError("api_key_not_found", "The organization has no API key with this id")

/** Of a key that has ended: nothing brings it back. */
export const keyEnded = (state: KeyState) => new AppError("invalid_state", `The key is ${state}.`, { state })
