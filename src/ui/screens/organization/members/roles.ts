import type { Role } from "../../../../domain/organization.ts"
import { CORE_PERMISSIONS, isAtLeast, type PermissionFacts } from "../../../../domain/permission.ts"
import type { Me } from "../../../api/session.ts"
import type { OwnOrganization } from "../own-organization.ts"

/** Roles from highest to lowest, with descriptions. */
export const ROLE_LABELS: Readonly<Record<Role, { label: string; description: string }>> = {
  owner: { label: "Owner", description: "full access, including owners and deletion" },
  admin: { label: "Admin", description: "manages members, API keys, sites and settings, but not owners" },
  editor: { label: "Editor", description: "edits goals, funnels, notes and dashboards of all sites, but no settings" },
  viewer: { label: "Viewer", description: "views the reports of all sites" },
  guest: { label: "Guest", description: "views only the sites they are given access to" },
}
export const ROLES = Object.keys(ROLE_LABELS) as Role[]

export const roleLabel = (role: string): string => ROLE_LABELS[role as Role]?.label ?? role

/** Returns the roles that a member with this role can assign: none above their own. */
export const rolesBelow = (role: string): readonly Role[] => ROLES.slice(Math.max(0, ROLES.indexOf(role as Role)))

const WORDS: Readonly<Record<string, string>> = {
  "site:read": "view sites and their reports",
  "site:write": "edit site settings",
  "site:delete": "delete sites",
  "site:create": "add sites",
  "goals:write": "create and edit goals",
  "funnels:write": "create and edit funnels",
  "segments:write": "save shared segments",
  "annotations:write": "add shared notes",
  "export:read": "download CSV and PNG files",
  "people:read": "view individual people (cohort members, power users)",
  "people:erase": "erase a person's data",
  "dashboards:read": "view saved dashboards",
  "dashboards:write": "edit shared dashboards",
  "dashboards:share": "share by public link",
  "revenue:read": "view revenue",
  "revenue:write": "enter transactions and refunds",
  "revenue:settings": "edit revenue settings and rates",
  "members:read": "view members and invitations",
  "members:write": "invite, edit and remove members",
  "keys:write": "manage API keys",
  "audit:read": "view the audit log",
  "org:write": "edit organization settings",
  "org:delete": "delete the organization",
}
const VERBS: Readonly<Record<string, string>> = { read: "view", write: "create and edit" }

/** Describes a permission. A plugin's permission is described by its name. */
export function permissionText(name: string): string {
  const [things = name, verb = ""] = name.split(":")
  return WORDS[name] ?? `${VERBS[verb] ?? verb} ${things.replaceAll("-", " ")}`
}

/**
 * Returns the permissions that the user can grant or deny: those they have in the organization or on one of its sites, except
 * deleting the organization, which only owners can do.
 */
export function permissionsHeld(organization: OwnOrganization, sites: Me["sites"]): readonly string[] {
  const ofSites = sites.filter((site) => site.organization_id === organization.id).flatMap((site) => site.permissions)
  return [...new Set([...organization.permissions, ...ofSites])].filter((name) => name !== "org:delete").sort(byPlace)
}

/** Sorts core permissions in the order above, then those of plugins by name. */
const byPlace = (a: string, b: string): number => place(a) - place(b) || a.localeCompare(b)
const place = (name: string): number => {
  const index = Object.keys(WORDS).indexOf(name)
  return index === -1 ? Number.MAX_SAFE_INTEGER : index
}

const FACTS: Readonly<Record<string, PermissionFacts>> = CORE_PERMISSIONS

/** Returns whether a role includes a permission. Undefined for a plugin's permission, whose minimum role only the server knows. */
export function permissionsOfRole(role: Role, name: string): boolean | undefined {
  const facts = FACTS[name]
  return facts && isAtLeast(role, facts.least)
}
