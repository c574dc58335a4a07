import { type ApiKey, impliedBy, type Scope } from "./key.ts"
import { type Permissions, permissionsOnSite, type SiteRole, type Standing } from "./permission.ts"

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
}
/** Additional permissions for a key that reaches all sites: it can create and delete sites. */
const NEEDED_FOR_ALL: { readonly [scope in Scope]?: readonly string[] } = { "sites:write": ["site:create", "site:delete"] }

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
