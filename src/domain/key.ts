import { Type as t } from "@sinclair/typebox"
import { AppError, refuseFaults } from "./error.ts"
import { API } from "./limits.ts"
import { inspect } from "./shape.ts"

/** The scopes of API keys, in the order of the public documentation. */
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

/** What each scope allows, as shown in the dashboard. */
export const SCOPE_TITLES: Readonly<Record<Scope, string>> = {
  "sites:read": "Read sites",
  "sites:write": "Create, change and delete sites",
  "goals:read": "Read goals",
  "goals:write": "Create, change and delete goals, and funnels of goals",
  "funnels:read": "Read funnels",
  "funnels:write": "Create, change and delete funnels",
  "stats:read": "Read statistics, and use all MCP tools",
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

/** Returns the scopes that a scope includes in addition to itself. */
export const impliedBy = (scope: Scope): readonly Scope[] => IMPLIED[scope] ?? []

/** Returns whether a key has one of the sufficient scopes, directly or by implication. */
export const hasScope = ({ scopes }: Pick<ApiKey, "scopes">, sufficient: readonly Scope[]): boolean =>
  scopes.some((scope) => sufficient.includes(scope) || IMPLIED[scope]?.some((implied) => sufficient.includes(implied)))

/** An API key without its secret, which is shown once and never stored. Times are epoch milliseconds. */
export interface ApiKey {
  id: number
  organization_id: number
  name: string
  /** `ff_` and the public key id, by which people recognize the key. */
  prefix: string
  last4: string
  scopes: readonly Scope[]
  /** Null means all sites of the organization, including future ones. An empty list reaches no site. */
  site_ids: readonly number[] | null
  /** IP ranges from which the key can be used. Empty means everywhere. */
  ip_allow: readonly string[]
  /** Maximum number of requests per minute. Null means the limit of the instance. */
  rate_limit: number | null
  /** Owner of a personal key, which stops working when the membership ends. Null for other keys. */
  owner_user_id: number | null
  /** Null when the command line created the key. */
  created_by: number | null
  created_at: number
  expires_at: number | null
  /** Time at which the expiry was noticed. An expired key stays expired, even if the clock is set back. */
  expired_at: number | null
  last_used_at: number | null
  /** The /24 (IPv4) or /48 (IPv6) prefix of the client's IP address. */
  last_used_ip_prefix: string | null
  last_used_agent: string | null
  revoked_at: number | null
  version: number
}

export const KEY_STATES = ["active", "expired", "revoked"] as const
export type KeyState = (typeof KEY_STATES)[number]

/** Returns the state of a key at a moment. */
export function keyState(
  { revoked_at, expired_at, expires_at }: Pick<ApiKey, "revoked_at" | "expired_at" | "expires_at">,
  now: number,
): KeyState {
  if (revoked_at !== null) return "revoked"
  return expired_at !== null || (expires_at !== null && expires_at <= now) ? "expired" : "active"
}

/** Returns whether a key reaches a site. */
export const reachesSite = (key: Pick<ApiKey, "organization_id" | "site_ids">, site: { id: number; organization_id: number }): boolean =>
  key.organization_id === site.organization_id && (key.site_ids === null || key.site_ids.includes(site.id))

const { min: minimum, max: maximum } = API.keyGraceHours
const RotationInput = t.Object(
  {
    grace_hours: t.Optional(
      t.Integer({
        minimum,
        maximum,
        description: `Number of hours for which the old secret remains valid. Default: ${API.keyGraceHours.default}.`,
      }),
    ),
  },
  { additionalProperties: false },
)

/** Reads for how many hours the old secret of a rotated key remains valid. Throws `validation_failed`. */
export function parseRotation(body: unknown): { grace_hours: number } {
  const { fields, faults } = inspect(RotationInput, body)
  refuseFaults(faults)
  return { grace_hours: fields.grace_hours ?? API.keyGraceHours.default }
}

export const keyNotFound = () => new AppError("api_key_not_found", "This organization has no API key with this id.")

/** Creates the error for a change of an expired or revoked key, which cannot be reactivated. */
export const keyEnded = (state: KeyState) =>
  new AppError("invalid_state", `The API key is ${state} and can no longer be changed. Create a new one.`, { state })
