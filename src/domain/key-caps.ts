import { type ApiKey, impliedBy, type Scope } from "./key.ts"
import { type Permissions, permissionsOnSite, type SiteRole, type Standing } from "./permission.ts"

/** Who made a key, as a member of its organization. */
export interface Creator extends Pick<Standing, "role" | "grants" | "denies"> {
  /** The rows of the organization's sites, by site. */
  siteRoles: ReadonlyMap<number, SiteRole>
}

/**
 * What a member must be allowed to do on every site that a key with this scope reaches. Goals open funnels too. Whoever
 * decides what counts may add to what is counted. Statistics show revenue, and exports show rows of visitors.
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
/** A key for all sites makes and deletes some. */
const NEEDED_FOR_ALL: { readonly [scope in Scope]?: readonly string[] } = { "sites:write": ["site:create", "site:delete"] }

type Reach = Pick<ApiKey, "scopes" | "site_ids">

/** The first permission that a member lacks to have a key do this; undefined: none. */
export function lackedFor(key: Reach, creator: Creator, all: Permissions): string | undefined {
  const sets = permissionSets(key.site_ids, creator, all)
  const isLacking = (name: string): boolean => sets.some((set) => !set.has(name))
  // Of a list with no sites only the whole organization can be asked.
  if (sets.length === 0) return lackedFor({ ...key, site_ids: null }, creator, all)
  return isLacking("site:read") ? "site:read" : key.scopes.flatMap((scope) => neededFor(scope, key.site_ids)).find(isLacking)
}

/**
 * A key as far as its creator's permissions carry it: sites that the creator cannot see are out of reach, a scope that goes
 * too far leaves those that it implies.
 */
export function cappedKey(key: ApiKey, creator: Creator, all: Permissions): ApiKey {
  const named = key.site_ids ?? (creator.role === "guest" ? [...creator.siteRoles.keys()] : null)
  const site_ids = named?.filter((id) => onSite(creator, id, all).has("site:read")) ?? null
  const sets = permissionSets(site_ids, creator, all)
  const isCarried = (scope: Scope): boolean => neededFor(scope, site_ids).every((name) => sets.every((set) => set.has(name)))
  const scopes = key.scopes.flatMap((scope) => (isCarried(scope) ? [scope] : impliedBy(scope).filter(isCarried)))
  return { ...key, site_ids, scopes: [...new Set(scopes)] }
}

const neededFor = (scope: Scope, siteIds: readonly number[] | null): readonly string[] => [
  ...NEEDED[scope],
  ...(siteIds === null ? (NEEDED_FOR_ALL[scope] ?? []) : []),
]

/** What a member may do, by each site that a key reaches; sites without a row are all alike. */
const permissionSets = (siteIds: readonly number[] | null, creator: Creator, all: Permissions): Set<string>[] =>
  siteIds === null
    ? [undefined, ...creator.siteRoles.keys()].map((id) => onSite(creator, id, all))
    : siteIds.map((id) => onSite(creator, id, all))

function onSite({ siteRoles, ...standing }: Creator, id: number | undefined, all: Permissions): Set<string> {
  const siteRole = id === undefined ? undefined : siteRoles.get(id)
  return permissionsOnSite({ ...standing, ...(siteRole && { siteRole }) }, all)
}
