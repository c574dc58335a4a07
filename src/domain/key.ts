import { type Static, Type as t } from "@sinclair/typebox"
import { type Fault, refuseFaults } from "./error.ts"
import { API, THINGS } from "./limits.ts"
import { fault, inDocumentOrder, inspect } from "./shape.ts"

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

const IMPLIED: { readonly [scope in Scope]?: readonly Scope[] } = {
  "sites:write": ["sites:read"],
  "goals:write": ["goals:read"],
  "funnels:write": ["funnels:read"],
  "annotations:write": ["annotations:read"],
  "stats:read": ["sites:read", "goals:read", "funnels:read"],
}

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
  created_at: number
  expires_at: number | null
  last_used_at: number | null
  revoked_at: number | null
}

export const reachesSite = (key: Pick<ApiKey, "organization_id" | "site_ids">, site: { id: number; organization_id: number }): boolean =>
  key.organization_id === site.organization_id && (key.site_ids === null || key.site_ids.includes(site.id))

/** What one may choose of a key. */
const KeyInput = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: THINGS.siteNameChars }),
    scopes: t.Array(t.Unknown(), { minItems: 1, maxItems: SCOPES.length, uniqueItems: true, description: SCOPES.join(", ") }),
    site_ids: t.Union(
      [t.Array(t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), { maxItems: 500, uniqueItems: true }), t.Null()],
      {
        description: "null = all sites of the organization",
      },
    ),
    ip_allow: t.Optional(t.Array(t.String(), { maxItems: API.keyRanges, description: "Addresses and ranges; empty = from everywhere" })),
    rate_limit: t.Optional(
      t.Union([t.Integer(API.keyRateLimit), t.Null()], { description: "Requests per minute; null = as the instance allows" }),
    ),
    expires_at: t.Optional(
      t.Union([t.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), t.Null()], {
        description: "Epoch milliseconds; null = never; default in a year",
      }),
    ),
  },
  { additionalProperties: false },
)

export type KeyFields = Pick<ApiKey, "name" | "scopes" | "site_ids" | "ip_allow" | "rate_limit" | "expires_at">

/** What a text of a key's address list is judged by. */
type IsRange = (text: string) => boolean

/** Throws `validation_failed` with all faults at once. `ownSites` are the sites of the organization. */
export function parseKey(body: unknown, now: number, ownSites: ReadonlySet<number>, isRange: IsRange): KeyFields {
  const { fields, faults } = inspect(KeyInput, body)
  const { name, scopes = [], site_ids, ip_allow = [], rate_limit = null, expires_at = now + API.keyDays * DAY_MS } = fields
  refuseFaults(inDocumentOrder([...faults, ...meaningFaults(fields, { now, ownSites, isRange })], body))
  // No fault: the fields are there, and every scope is one.
  return { name: name!, scopes: SCOPES.filter((scope) => scopes.includes(scope)), site_ids: site_ids!, ip_allow, rate_limit, expires_at }
}

const { min: minimum, max: maximum } = API.keyGraceHours
const RotationInput = t.Object({ grace_hours: t.Optional(t.Integer({ minimum, maximum })) }, { additionalProperties: false })

/** How long the old secret works on. Throws `validation_failed`. */
export function parseRotation(body: unknown): { grace_hours: number } {
  const { fields, faults } = inspect(RotationInput, body)
  refuseFaults(faults)
  return { grace_hours: fields.grace_hours ?? API.keyGraceHours.default }
}

const DAY_MS = 86_400_000

function meaningFaults(
  { scopes = [], site_ids, ip_allow = [], expires_at }: Partial<Static<typeof KeyInput>>,
  { now, ownSites, isRange }: { now: number; ownSites: ReadonlySet<number>; isRange: IsRange },
): Fault[] {
  const known: readonly unknown[] = SCOPES
  const found = scopes.flatMap((scope, i) =>
    known.includes(scope) ? [] : [fault(`/scopes/${i}`, "invalid_choice", `must be one of ${SCOPES.join(", ")}`, SCOPES)],
  )
  ;(site_ids ?? []).forEach((id, i) => {
    if (!ownSites.has(id)) found.push(fault(`/site_ids/${i}`, "invalid_choice", "must be a site of the organization"))
  })
  ip_allow.forEach((range, i) => {
    if (!isRange(range)) found.push(fault(`/ip_allow/${i}`, "invalid_choice", "must be an address or a range such as 203.0.113.0/24"))
  })
  if (typeof expires_at === "number" && expires_at <= now) found.push(fault("/expires_at", "out_of_range", "must lie in the future"))
  return found
}
