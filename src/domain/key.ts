import { type Static, Type as t } from "@sinclair/typebox"
import { AppError, refuseFaults } from "./error.ts"
import { API } from "./limits.ts"
import { PersonResponse } from "./membership.ts"
import { type Permissions, permissionsOnSite, type SiteRole, type Standing, sitePermissions } from "./permission.ts"
import { CREATED_AT, field, Id, Instant, orNull, textOf } from "./response.ts"
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
  "people:erase",
  "settings:read",
  "settings:write",
  "segments:read",
  "segments:write",
  "configuration:read",
  "configuration:write",
  "shares:read",
  "shares:write",
  "keys:read",
  "keys:write",
  "members:read",
  "members:write",
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
  "people:erase": "Erase everything about a person",
  "settings:read": "Read settings of sites",
  "settings:write": "Change settings of sites",
  "segments:read": "Read segments",
  "segments:write": "Create, change and delete segments",
  "configuration:read": "Read whole configurations of sites",
  "configuration:write": "Replace whole configurations of sites: settings, shields, goals, funnels and segments",
  "shares:read": "Read shared views and their links, which open without a key",
  "shares:write": "Create, change and delete shared views",
  "keys:read": "Read API keys that are limited to sites, without their secrets",
  "keys:write": "Create, rotate and revoke API keys that are limited to sites",
  "members:read": "Read site-specific roles and invitations to sites",
  "members:write": "Give, change and remove site-specific roles, and invite people to sites",
}

const IMPLIED: { readonly [scope in Scope]?: readonly Scope[] } = {
  "sites:write": ["sites:read"],
  "goals:write": ["goals:read"],
  "funnels:write": ["funnels:read"],
  "annotations:write": ["annotations:read"],
  "settings:write": ["settings:read"],
  "segments:write": ["segments:read"],
  "configuration:write": ["configuration:read"],
  "shares:write": ["shares:read"],
  "keys:write": ["keys:read"],
  "members:write": ["members:read"],
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
  /** Null means all sites of the organization, including future ones. An empty list gives access to no site. */
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

const KEY = {
  id: field.id("Id of the API key."),
  name: t.String({ description: "Display name." }),
  prefix: t.String({ description: "Visible beginning of the key, for recognizing it." }),
  last4: t.String({ description: "Last four characters of the key." }),
  scopes: t.Array(textOf<Scope>(), { description: "Scopes of the key." }),
  site_access: textOf<"all" | "list">({ description: "`all` for all sites of the organization, `list` for those in `site_ids`." }),
  site_ids: orNull(t.Array(Id), { description: "Ids of the sites of a limited key. null: all sites." }),
  ip_allow: t.Array(t.String(), { description: "IP addresses and ranges from which the key can be used. Empty means everywhere." }),
  rate_limit: orNull(t.Integer(), { description: "Maximum number of requests per minute. null means the limit of the instance." }),
  personal: t.Boolean({ description: "Whether the key stops working when its creator leaves the organization." }),
  created_by: orNull(PersonResponse, { description: "Creator of the key. null: created on the command line." }),
  created_at: CREATED_AT,
  expires_at: orNull(Instant, { description: "Expiry time. null means never." }),
  last_used_at: orNull(Instant, { description: "Time of the latest request. null before the first one." }),
  last_used_ip_prefix: orNull(t.String(), { description: "Prefix of the IP address of the latest request: /24 for IPv4, /48 for IPv6." }),
  last_used_agent: orNull(t.String(), { description: "User agent of the latest request." }),
  revoked_at: orNull(Instant, { description: "Time at which the key was revoked. null for other keys." }),
  state: textOf<KeyState>({ description: "State: `active`, `expired` or `revoked`." }),
  owner_left: t.Boolean({ description: "Whether its creator has left the organization, so that no role limits the key." }),
  version: t.Integer({ description: "Version of the key, which increases with each change." }),
}
export const KeyResponse = t.Object(KEY, { title: "ApiKey" })
export type KeyResponse = Static<typeof KeyResponse>

/** A key with its secret, when it is created or rotated. */
export const SecretResponse = t.Object(
  { ...KEY, key: t.String({ description: "Complete key. It is never returned again." }) },
  { title: "NewApiKey" },
)
export type SecretResponse = Static<typeof SecretResponse>

/** The requests of one or all keys. */
export const UsageResponse = t.Object({
  from: t.String({ description: "First day (UTC), YYYY-MM-DD." }),
  to: t.String({ description: "Last day (UTC, inclusive), YYYY-MM-DD." }),
  data: t.Array(
    t.Object({
      day: t.String({ description: "Day (UTC), YYYY-MM-DD." }),
      route: t.String({ description: "Method and path of the requests." }),
      status: t.String({ description: "Class of the response status, such as `2xx`." }),
      requests: t.Integer({ description: "Number of requests." }),
    }),
    { description: "Requests by day, route and status." },
  ),
})
export type UsageResponse = Static<typeof UsageResponse>

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
export const RotationInput = t.Object(
  {
    grace_hours: t.Optional(
      t.Integer({
        minimum,
        maximum,
        description: `Number of hours for which the old secret remains valid. Default: ${API.keyGraceHours.default}.`,
      }),
    ),
  },
  { additionalProperties: false, title: "ApiKeyRotation" },
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

/** The creator of a key, as a member of its organization. */
export interface Creator extends Pick<Standing, "role" | "grants" | "denies"> {
  /** Site-specific roles, by site id. */
  siteRoles: ReadonlyMap<number, SiteRole>
}

/**
 * The permissions that a member needs, on every site that a key reaches, to grant it a scope. `goals:write` also covers funnels.
 * A member who can define goals can also send events. Statistics contain revenue, and exports contain rows of visitors.
 */
const NEEDED: Readonly<Record<Scope, readonly string[]>> = {
  "sites:read": ["site:read"],
  "sites:write": ["site:write"],
  "goals:read": ["site:read"],
  "goals:write": ["goals:write", "funnels:write"],
  "funnels:read": ["site:read"],
  "funnels:write": ["funnels:write"],
  "stats:read": ["site:read", "revenue:read"],
  "events:write": ["goals:write"],
  "export:read": ["export:read", "people:read", "revenue:read"],
  "annotations:read": ["site:read"],
  "annotations:write": ["annotations:write"],
  "people:erase": ["people:erase"],
  "settings:read": ["site:read"],
  "settings:write": ["site:write"],
  "segments:read": ["site:read"],
  "segments:write": ["segments:write"],
  "configuration:read": ["site:read"],
  "configuration:write": ["site:write", "goals:write", "funnels:write", "segments:write"],
  "shares:read": ["dashboards:share"],
  "shares:write": ["dashboards:share"],
  "keys:read": ["keys:write"],
  "keys:write": ["keys:write"],
  "members:read": ["members:read"],
  "members:write": ["members:write"],
}
/** Additional permissions for a key that reaches all sites: it can create and delete sites. */
const NEEDED_FOR_ALL: { readonly [scope in Scope]?: readonly string[] } = { "sites:write": ["site:create", "site:delete"] }

/**
 * Returns the highest role on a site whose rights a key has: it has every scope that a member with the role could give to a key. Undefined
 * if it has not even those of a viewer.
 */
export const siteRoleOf = (key: Pick<ApiKey, "scopes">, all: Permissions): SiteRole | undefined =>
  (["admin", "editor", "viewer"] as const).find((siteRole) => {
    const held = sitePermissions({ role: "guest", grants: [], denies: [], siteRole }, all)
    return SCOPES.every((scope) => hasScope(key, [scope]) || !NEEDED[scope].every((name) => held.has(name)))
  })

type Reach = Pick<ApiKey, "scopes" | "site_ids">

/** Returns the first permission that a member lacks to create such a key, or undefined. */
export function missingPermissionFor(key: Reach, creator: Creator, all: Permissions): string | undefined {
  const sets = permissionSets(key.site_ids, creator, all)
  const isLacking = (name: string): boolean => sets.some((set) => !set.has(name))
  // A list without sites is checked like all sites of the organization.
  if (sets.length === 0) return missingPermissionFor({ ...key, site_ids: null }, creator, all)
  return isLacking("site:read") ? "site:read" : key.scopes.flatMap((scope) => neededFor(scope, key.site_ids)).find(isLacking)
}

/**
 * Restricts a key to the permissions of its creator: sites that the creator cannot see are removed, and a scope that exceeds the
 * permissions is replaced by the scopes that it implies.
 */
export function cappedKey(key: ApiKey, creator: Creator, all: Permissions): ApiKey {
  const named = key.site_ids ?? (creator.role === "guest" ? [...creator.siteRoles.keys()] : null)
  const site_ids = named?.filter((id) => onSite(creator, id, all).has("site:read")) ?? null
  const sets = permissionSets(site_ids, creator, all)
  const isGranted = (scope: Scope): boolean => neededFor(scope, site_ids).every((name) => sets.every((set) => set.has(name)))
  const scopes = key.scopes.flatMap((scope) => (isGranted(scope) ? [scope] : impliedBy(scope).filter(isGranted)))
  return { ...key, site_ids, scopes: [...new Set(scopes)] }
}

const neededFor = (scope: Scope, siteIds: readonly number[] | null): readonly string[] => [
  ...NEEDED[scope],
  ...(siteIds === null ? (NEEDED_FOR_ALL[scope] ?? []) : []),
]

/** Returns the permissions of a member on each site that a key reaches. Sites without a site-specific role share one set. */
const permissionSets = (siteIds: readonly number[] | null, creator: Creator, all: Permissions): Set<string>[] =>
  siteIds === null
    ? [undefined, ...creator.siteRoles.keys()].map((id) => onSite(creator, id, all))
    : siteIds.map((id) => onSite(creator, id, all))

function onSite({ siteRoles, ...standing }: Creator, id: number | undefined, all: Permissions): Set<string> {
  const siteRole = id === undefined ? undefined : siteRoles.get(id)
  return permissionsOnSite({ ...standing, ...(siteRole && { siteRole }) }, all)
}
