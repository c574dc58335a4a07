import type { Role } from "../../../domain/organization.ts"
import { CORE_PERMISSIONS, isAtLeast, type PermissionFacts } from "../../../domain/permission.ts"
import type { Me } from "../../boot.ts"
import type { OwnOrganization } from "./own-organization.ts"

/** From the highest to the lowest, each with what it is. */
export const ROLE_WORDS: Readonly<Record<Role, { label: string; says: string }>> = {
  owner: { label: "Owner", says: "may do everything, and decides who else is an owner" },
  admin: { label: "Admin", says: "manages members, keys, sites and settings; owners are out of reach" },
  editor: { label: "Editor", says: "works on all sites: goals, funnels, notes, dashboards; no settings" },
  viewer: { label: "Viewer", says: "sees all sites and their reports, changes nothing for others" },
  guest: { label: "Guest", says: "sees only the sites named for them" },
}
export const ROLES = Object.keys(ROLE_WORDS) as Role[]

export const roleLabel = (role: string): string => ROLE_WORDS[role as Role]?.label ?? role

/** Roles that somebody can give: none above their own. A guest of the organization gives none. */
export const rolesBelow = (role: string): readonly Role[] => ROLES.slice(Math.max(0, ROLES.indexOf(role as Role)))

const WORDS: Readonly<Record<string, string>> = {
  "site:read": "see sites and their reports",
  "site:write": "change settings of sites",
  "site:delete": "delete sites",
  "site:create": "make sites",
  "goals:write": "create and change goals",
  "funnels:write": "create and change funnels",
  "segments:write": "save segments for all",
  "annotations:write": "add notes for all",
  "export:read": "download CSV and PNG",
  "people:read": "see single people: members of cohorts, power users",
  "people:erase": "erase a person's data",
  "dashboards:read": "see saved dashboards",
  "dashboards:write": "change dashboards for all",
  "dashboards:share": "share by public links",
  "revenue:read": "see revenue",
  "revenue:write": "enter transactions and refunds",
  "revenue:settings": "change revenue settings and rates",
  "members:read": "see members and invitations",
  "members:write": "invite, change and remove members",
  "keys:write": "manage API keys",
  "audit:read": "read the audit log",
  "org:write": "change settings of the organization",
  "org:delete": "delete the organization",
}
const VERBS: Readonly<Record<string, string>> = { read: "see", write: "create and change" }

/** A permission in words; those of plugins from their names. */
export function permissionWords(name: string): string {
  const [things = name, verb = ""] = name.split(":")
  return WORDS[name] ?? `${VERBS[verb] ?? verb} ${things.replaceAll("-", " ")}`
}

/**
 * What somebody can give or take: what they hold themselves, on the organization or on one of its sites. Deleting the
 * organization goes with being an owner.
 */
export function permissionsHeld(organization: OwnOrganization, sites: Me["sites"]): readonly string[] {
  const ofSites = sites.filter((site) => site.organization_id === organization.id).flatMap((site) => site.permissions)
  return [...new Set([...organization.permissions, ...ofSites])].filter((name) => name !== "org:delete").sort(byPlace)
}

/** The core's in its own order, those of plugins behind them. */
const byPlace = (a: string, b: string): number => place(a) - place(b) || a.localeCompare(b)
const place = (name: string): number => {
  const index = Object.keys(WORDS).indexOf(name)
  return index === -1 ? Number.MAX_SAFE_INTEGER : index
}

const FACTS: Readonly<Record<string, PermissionFacts>> = CORE_PERMISSIONS

/** Whether a role has a permission by itself; undefined for those of plugins, whose least role only the server knows. */
export function givenByRole(role: Role, name: string): boolean | undefined {
  const facts = FACTS[name]
  return facts && isAtLeast(role, facts.least)
}
