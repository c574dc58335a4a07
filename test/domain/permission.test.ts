import { expect, test } from "bun:test"
import { plugins } from "../../plugins/index.ts"
import {
  CORE_PERMISSIONS,
  organizationPermissions,
  type Permissions,
  permissionsOnSite,
  RANKS,
  roleOnSite,
  type Standing,
  sitePermissions,
} from "../../src/domain/permission.ts"
import { pluginFacts } from "../../src/plugin/load.ts"

/** Roles per permission without exceptions, as in the specification. A plugin's rows apply only if the plugin is installed. */
const TABLE: Record<string, [viewer: number, editor: number, admin: number, owner: number]> = {
  "site:read": [1, 1, 1, 1],
  "goals:write": [0, 1, 1, 1],
  "funnels:write": [0, 1, 1, 1],
  "segments:write": [0, 1, 1, 1],
  "annotations:write": [0, 1, 1, 1],
  "site:write": [0, 0, 1, 1],
  "site:create": [0, 0, 1, 1],
  "site:delete": [0, 0, 1, 1],
  "imports:read": [1, 1, 1, 1],
  "imports:write": [0, 1, 1, 1],
  "dashboards:read": [1, 1, 1, 1],
  "dashboards:write": [0, 1, 1, 1],
  "dashboards:share": [0, 1, 1, 1],
  "cohorts:read": [1, 1, 1, 1],
  "cohorts:write": [0, 1, 1, 1],
  "people:read": [0, 1, 1, 1],
  "people:erase": [0, 0, 1, 1],
  "links:read": [1, 1, 1, 1],
  "pixels:read": [1, 1, 1, 1],
  "links:write": [0, 1, 1, 1],
  "pixels:write": [0, 1, 1, 1],
  "revenue:read": [1, 1, 1, 1],
  "revenue:write": [0, 1, 1, 1],
  "revenue:settings": [0, 0, 1, 1],
  "integrations:read": [0, 1, 1, 1],
  "integrations:write": [0, 0, 1, 1],
  "webhooks:write": [0, 0, 1, 1],
  "export:read": [1, 1, 1, 1],
  "members:read": [0, 0, 1, 1],
  "members:write": [0, 0, 1, 1],
  "keys:write": [0, 0, 1, 1],
  "audit:read": [0, 0, 1, 1],
  "org:write": [0, 0, 1, 1],
  "org:delete": [0, 0, 0, 1],
}
const OF_THE_ORGANIZATION = ["site:create", "members:read", "members:write", "keys:write", "audit:read", "org:write", "org:delete"]
/** Permissions that the core declares, independent of plugins. */
const OF_THE_CORE = [
  ...["site:read", "site:write", "site:delete", "goals:write", "funnels:write", "segments:write", "annotations:write", "export:read"],
  ...OF_THE_ORGANIZATION,
]

const ALL: Permissions = Object.assign({}, CORE_PERMISSIONS, ...pluginFacts(plugins).map(({ permissions }) => permissions))
const plain = (role: Standing["role"], more: Partial<Standing> = {}): Standing => ({ role, grants: [], denies: [], ...more })
const sorted = (names: Iterable<string>) => [...names].sort()

test("covers every core permission in the table", () => {
  expect(Object.keys(ALL).filter((name) => !(name in TABLE))).toEqual([])
  expect(OF_THE_CORE.filter((name) => !(name in CORE_PERMISSIONS))).toEqual([])
})

test.each(Object.entries(TABLE).filter(([name]) => name in ALL))("%s", (name, row) => {
  const has = RANKS.map((role) => permissionsOnSite(plain(role), ALL).has(name))
  expect(has).toEqual(row.map((dot) => dot === 1))
  expect(permissionsOnSite(plain("guest"), ALL).has(name)).toBe(false)
  const isOfOrganization = OF_THE_ORGANIZATION.includes(name)
  expect(organizationPermissions(plain("owner"), ALL).has(name)).toBe(isOfOrganization)
  expect(sitePermissions(plain("owner"), ALL).has(name)).toBe(!isOfOrganization)
})

test.each<[Standing["role"], Standing["siteRole"], string | undefined]>([
  ["owner", "viewer", "owner"],
  ["admin", "viewer", "admin"],
  ["editor", "viewer", "viewer"],
  ["editor", "admin", "admin"],
  ["viewer", "editor", "editor"],
  ["viewer", undefined, "viewer"],
  ["guest", "editor", "editor"],
  ["guest", undefined, undefined],
])("%s with the site-specific role %s acts as %s on the site", (role, siteRole, expected) => {
  expect(roleOnSite(plain(role, { ...(siteRole && { siteRole }) }))).toBe(expected as never)
})

test("applies grants and denies, and prefers a deny", () => {
  const exceptions = { grants: ["people:read", "goals:write", "keys:write"], denies: ["goals:write", "export:read"] }
  const viewer = plain("viewer", exceptions)
  expect(sitePermissions(viewer, ALL).has("people:read")).toBe(true)
  expect(sitePermissions(viewer, ALL).has("goals:write")).toBe(false)
  expect(sitePermissions(viewer, ALL).has("export:read")).toBe(false)
  expect(sorted(organizationPermissions(viewer, ALL))).toEqual(["keys:write"])
})

test("ignores denies for an owner", () => {
  const denied = plain("owner", { denies: Object.keys(ALL) })
  expect(sorted(permissionsOnSite(denied, ALL))).toEqual(sorted(Object.keys(ALL)))
  expect(permissionsOnSite(plain("admin", { denies: Object.keys(ALL) }), ALL).size).toBe(0)
})

test("derives a guest's permissions from the site-specific role only", () => {
  const guest = plain("guest", { siteRole: "viewer", grants: ["goals:write", "keys:write"], denies: ["site:read"] })
  expect(sorted(permissionsOnSite(guest, ALL))).toEqual(sorted(sitePermissions(plain("viewer"), ALL)))
  expect(permissionsOnSite(plain("guest", { grants: ["site:read"] }), ALL).size).toBe(0)
})

test("lets a site-specific admin manage only the members of that site", () => {
  for (const role of ["viewer", "editor", "guest"] as const) {
    const chief = plain(role, { siteRole: "admin" })
    const given = OF_THE_ORGANIZATION.filter((name) => permissionsOnSite(chief, ALL).has(name))
    expect(given).toEqual(["members:read", "members:write"])
    expect(organizationPermissions(chief, ALL).size).toBe(0)
    expect(OF_THE_ORGANIZATION.filter((name) => permissionsOnSite(plain(role, { siteRole: "editor" }), ALL).has(name))).toEqual([])
  }
  expect(permissionsOnSite(plain("viewer", { siteRole: "admin", denies: ["members:write"] }), ALL).has("members:write")).toBe(false)
})
