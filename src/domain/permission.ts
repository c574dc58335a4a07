import type { Role } from "./organization.ts"
import type { Site } from "./site.ts"

/** The roles that a permission can require, from lowest to highest. A guest has no rank in the organization. */
export const RANKS = ["viewer", "editor", "admin", "owner"] as const
export type Rank = (typeof RANKS)[number]
/** A member's site-specific role, which differs from their role in the organization. */
export type SiteRole = "admin" | "editor" | "viewer"

/** A permission: the lowest role that has it, and whether it applies to a site or to the organization as a whole. */
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

type WithSettings = Pick<Site, "settings">

/** Returns all permissions with the lowest roles that apply on a site, which can keep its revenue to higher ones. */
export const permissionsAt = ({ settings: { read_role } }: WithSettings, all: Permissions): Permissions =>
  read_role === CORE_PERMISSIONS["revenue:read"].least ? all : { ...all, "revenue:read": { least: read_role, on: "site" } }

/** Returns whether callers without a role see the revenue of a site: API keys, MCP clients, shared views and emails. */
export const isRevenueOpen = ({ settings: { read_role } }: WithSettings): boolean => read_role === "viewer"

/** Returns the event properties whose values reveal revenue: order ids, and the amounts that Umami's tracker sends as properties. */
export const revenueProperties = ({ settings: { order_property } }: WithSettings): ReadonlySet<string> =>
  new Set([order_property, "revenue", "currency"])

/** The facts about a member that determine permissions. Grants and denies are exceptions from the role. */
export interface Standing {
  role: Role
  grants: readonly string[]
  denies: readonly string[]
  /** The site-specific role on the site in question. */
  siteRole?: SiteRole
}

/** Returns whether a role has at least a rank. */
export const isAtLeast = (role: Role | SiteRole, least: Rank): boolean => rankOf(role) >= RANKS.indexOf(least)

/** Returns the index of a role among the ranks; -1 for a guest, who is below every rank. */
const rankOf = (role: Role | SiteRole): number => (role === "guest" ? -1 : RANKS.indexOf(role))

/**
 * Returns the effective role on a site: the site-specific role, else that in the organization. Owners and admins keep theirs.
 * Returns undefined for a guest without a site-specific role.
 */
export function roleOnSite({ role, siteRole }: Standing): Rank | undefined {
  if (role === "owner" || role === "admin") return role
  return siteRole ?? (role === "guest" ? undefined : role)
}

/** Returns the permissions of a member on the organization as a whole. Site-specific roles do not count, and a guest has none. */
export const organizationPermissions = (standing: Standing, all: Permissions): Set<string> =>
  standing.role === "guest" ? new Set() : permitted(standing, standing.role, only(all, "organization"))

/** The permissions of the organization that a site-specific admin has on that site: they manage its members. */
const SITE_ADMIN_PERMISSIONS = ["members:read", "members:write"]

/** Returns the permissions of a member on a site. Grants and denies do not apply to guests. */
export function sitePermissions(standing: Standing, all: Permissions): Set<string> {
  const role = roleOnSite(standing)
  if (role === undefined) return new Set()
  const exceptions = standing.role === "guest" ? { ...standing, grants: [], denies: [] } : standing
  const ofSiteRole = standing.siteRole === "admin" ? SITE_ADMIN_PERMISSIONS.filter((name) => !exceptions.denies.includes(name)) : []
  return permitted(exceptions, role, only(all, "site")).union(new Set(ofSiteRole))
}

/** Returns the permissions of a member on routes of a site, including those on the organization as a whole. */
export const permissionsOnSite = (standing: Standing, all: Permissions): Set<string> =>
  sitePermissions(standing, all).union(organizationPermissions(standing, all))

/** Returns all permissions of a member, for sites without a site-specific role. */
export const allPermissions = ({ role, grants, denies }: Standing, all: Permissions): Set<string> =>
  permissionsOnSite({ role, grants, denies }, all)

function permitted({ role, grants, denies }: Standing, rank: Role, all: readonly (readonly [string, PermissionFacts])[]): Set<string> {
  const names = all.filter(([name, { least }]) => isAtLeast(rank, least) || grants.includes(name)).map(([name]) => name)
  return new Set(role === "owner" ? names : names.filter((name) => !denies.includes(name)))
}

const only = (all: Permissions, on: PermissionFacts["on"]) => Object.entries(all).filter(([, facts]) => facts.on === on)
