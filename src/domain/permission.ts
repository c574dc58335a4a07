import type { Role } from "./organization.ts"

/** A role that a permission can ask for, from the least to the highest. A guest has none in the organization. */
export const RANKS = ["viewer", "editor", "admin", "owner"] as const
export type Rank = (typeof RANKS)[number]
/** A member's role on one site, where it differs from that in the organization. */
export type SiteRole = "admin" | "editor" | "viewer"

/** What a route can ask for, with the least role that has it. On a site, or on the organization as a whole. */
export interface PermissionFacts {
  least: Rank
  on: "site" | "organization"
}

/** The core's own permissions; a plugin adds those of its area (areas/01 section 6). */
export const CORE_PERMISSIONS = {
  "site:read": { least: "viewer", on: "site" },
  "site:write": { least: "admin", on: "site" },
  "site:delete": { least: "admin", on: "site" },
  "site:create": { least: "admin", on: "organization" },
  "goals:write": { least: "editor", on: "site" },
  "funnels:write": { least: "editor", on: "site" },
  "segments:write": { least: "editor", on: "site" },
  "annotations:write": { least: "editor", on: "site" },
  "export:read": { least: "viewer", on: "site" },
  "people:read": { least: "editor", on: "site" },
  "dashboards:share": { least: "editor", on: "site" },
  "revenue:read": { least: "viewer", on: "site" },
  "members:read": { least: "admin", on: "organization" },
  "members:write": { least: "admin", on: "organization" },
  "keys:write": { least: "admin", on: "organization" },
  "audit:read": { least: "admin", on: "organization" },
  "org:write": { least: "admin", on: "organization" },
  "org:delete": { least: "owner", on: "organization" },
} as const satisfies Record<string, PermissionFacts>

/** All permissions of an instance, by name: the core's and those of its plugins. */
export type Permissions = Readonly<Record<string, PermissionFacts>>

/** What of a member decides about permissions. Grants and denies are exceptions from the role. */
export interface Standing {
  role: Role
  grants: readonly string[]
  denies: readonly string[]
  /** The role in the row of the site that is asked about. */
  siteRole?: SiteRole
}

export const isAtLeast = (role: Role | SiteRole, least: Rank): boolean => rankOf(role) >= RANKS.indexOf(least)

/** A guest is below every rank. */
const rankOf = (role: Role | SiteRole): number => (role === "guest" ? -1 : RANKS.indexOf(role))

/** The role on a site: that of the site's row, else that of the organization; owners and admins cannot be lowered. Undefined for a guest without a row. */
export function roleOnSite({ role, siteRole }: Standing): Rank | undefined {
  if (role === "owner" || role === "admin") return role
  return siteRole ?? (role === "guest" ? undefined : role)
}

/** What a member may do on the organization as a whole: never by the row of a site, and nothing as a guest. */
export const organizationPermissions = (standing: Standing, all: Permissions): Set<string> =>
  standing.role === "guest" ? new Set() : permitted(standing, standing.role, only(all, "organization"))

/** Whoever is admin of a site by its row decides who else has one: the only thing of the organization that a row gives. */
const OF_SITE_ADMINS = ["members:read", "members:write"]

/** What a member may do on a site. Exceptions of a membership are not a guest's. */
export function sitePermissions(standing: Standing, all: Permissions): Set<string> {
  const role = roleOnSite(standing)
  if (role === undefined) return new Set()
  const exceptions = standing.role === "guest" ? { ...standing, grants: [], denies: [] } : standing
  const ofRow = standing.siteRole === "admin" ? OF_SITE_ADMINS.filter((name) => !exceptions.denies.includes(name)) : []
  return permitted(exceptions, role, only(all, "site")).union(new Set(ofRow))
}

/** What a member may ask for where a path names a site: also what the organization as a whole gives. */
export const permissionsOnSite = (standing: Standing, all: Permissions): Set<string> =>
  sitePermissions(standing, all).union(organizationPermissions(standing, all))

/** All that a member may do, on sites without a row of their own. */
export const allPermissions = ({ role, grants, denies }: Standing, all: Permissions): Set<string> =>
  permissionsOnSite({ role, grants, denies }, all)

function permitted({ role, grants, denies }: Standing, rank: Role, all: readonly (readonly [string, PermissionFacts])[]): Set<string> {
  const names = all.filter(([name, { least }]) => isAtLeast(rank, least) || grants.includes(name)).map(([name]) => name)
  return new Set(role === "owner" ? names : names.filter((name) => !denies.includes(name)))
}

const only = (all: Permissions, on: PermissionFacts["on"]) => Object.entries(all).filter(([, facts]) => facts.on === on)
