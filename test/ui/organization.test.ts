import { expect, test } from "bun:test"
import type { AuditRowResponse } from "../../src/domain/audit.ts"
import { SCOPES as ALL_SCOPES, impliedBy, type Scope } from "../../src/domain/key.ts"
import { CORE_PERMISSIONS } from "../../src/domain/permission.ts"
import { actionText, auditFile, changesOf } from "../../src/ui/screens/organization/audit/audit-entries.ts"
import { byRoute, unusedWrites } from "../../src/ui/screens/organization/keys/key-usage.tsx"
import { bodyOf, withPreset } from "../../src/ui/screens/organization/keys/keys.ts"
import { beyondPreset, SCOPES, withoutImplied } from "../../src/ui/screens/organization/keys/scopes.ts"
import { permissionsOfRole, permissionText, rolesBelow } from "../../src/ui/screens/organization/members/roles.ts"
import { bodyOfProvider, EMPTY } from "../../src/ui/screens/organization/providers/provider-draft.ts"

test("every scope and every permission of the core has its own label", () => {
  expect(SCOPES).toEqual([...ALL_SCOPES])
  const words = Object.keys(CORE_PERMISSIONS).map(permissionText)
  expect(new Set(words).size).toBe(words.length)
  expect([permissionText("links:write"), permissionText("power-users:read")]).toEqual(["create and edit links", "view power users"])
})

test("omits implied scopes and does not count them as beyond a preset", () => {
  for (const scope of ALL_SCOPES) expect(withoutImplied([scope, ...impliedBy(scope)])).toEqual([scope])
  expect(beyondPreset("assistant", ["stats:read", "sites:read"], "list")).toEqual([])
  expect(beyondPreset("assistant", ["stats:read"], "all")).toEqual(["access all sites, including future ones"])
  expect(beyondPreset("events", ["events:write", "export:read"], "list")).toEqual(["download raw data"])
  expect(beyondPreset("provisioning", ["sites:write", "goals:write", "funnels:write"], "all")).toEqual([])
})

/** Body of a new key without limits. */
const PLAIN = { name: "A", ip_allow: [], rate_limit: null, personal: false }
const EVENTS = { ...PLAIN, scopes: ["events:write"], site_access: "list", site_ids: [] }

test.each<[string, Parameters<typeof bodyOf>[0], object]>([
  [
    "with a preset",
    { ...withPreset("assistant"), name: "A", siteIds: [3] },
    { ...PLAIN, scopes: ["stats:read"], site_access: "list", site_ids: [3] },
  ],
  [
    "for all sites",
    { ...withPreset("provisioning"), name: "A", siteIds: [3] },
    { ...PLAIN, scopes: ["sites:write", "goals:write", "funnels:write"], site_access: "all" },
  ],
  ["without expiry", { ...withPreset("events"), name: "A", expiry: "never" }, { ...EVENTS, expires_at: null }],
  [
    "that expires at the end of a day",
    { ...withPreset("events"), name: "A", expiry: "2027-01-31" },
    { ...EVENTS, expires_at: "2027-01-31T23:59:59Z" },
  ],
  ["with the organization's default expiry", { ...withPreset("events"), name: "A" }, EVENTS],
  [
    "restricted to two address ranges",
    { ...withPreset("events"), name: "A", ranges: " 203.0.113.0/24\n\n198.51.100.7 ", rate: "60" },
    { ...EVENTS, ip_allow: ["203.0.113.0/24", "198.51.100.7"], rate_limit: 60 },
  ],
])("sends a key %s", (_, draft, body) => expect(bodyOf(draft)).toEqual(body))

test("keeps a provider's secret unless it is replaced or removed", () => {
  const secretOf = (changes: Partial<typeof EMPTY>) =>
    (bodyOfProvider({ ...EMPTY, ...changes }) as { client_secret?: string | null }).client_secret
  expect([secretOf({}), secretOf({ secret: "new" }), secretOf({ dropsSecret: true })]).toEqual([undefined, "new", null])
  const groups = [
    { group: " staff ", role: "viewer", siteIds: [1] },
    { group: "agency", role: "guest", siteIds: [1] },
    { group: "", role: "viewer", siteIds: [] },
  ]
  expect(bodyOfProvider({ ...EMPTY, groups })).toMatchObject({
    role_map: { staff: { role: "viewer" }, agency: { role: "guest", site_ids: [1] } },
  })
})

test("offers no role above the user's own", () => {
  expect(rolesBelow("editor")).toEqual(["editor", "viewer", "guest"])
  expect([
    permissionsOfRole("editor", "goals:write"),
    permissionsOfRole("viewer", "goals:write"),
    permissionsOfRole("viewer", "links:read"),
  ]).toEqual([true, false, undefined])
})

const row = {
  id: 1,
  at: "2026-11-21T12:00:00Z",
  actor_kind: "user",
  actor_id: 1,
  actor_email: "=HYPERLINK(1)@example.org",
  impersonator_id: null,
  impersonator_email: null,
  action: "accounts.api_key.rotate",
  target_type: "api_key",
  target_id: "7",
  target_label: 'Key "one", two',
  organization_id: 1,
  site_id: null,
  outcome: "ok",
  ip_prefix: "203.0.113.0/24",
  user_agent: "curl",
  request_id: "r1",
  changes: {},
}

test("the audit log's CSV file quotes cells where necessary and contains no formulas", () => {
  expect(auditFile([row], "csv")).toBe(
    "at,actor_kind,actor_email,impersonator_email,action,target_type,target_id,target_label,site_id,outcome,ip_prefix,user_agent,request_id,changes\r\n" +
      `2026-11-21T12:00:00Z,user,'=HYPERLINK(1)@example.org,,accounts.api_key.rotate,api_key,7,"Key ""one"", two",,ok,203.0.113.0/24,curl,r1,{}\r\n`,
  )
  expect(
    auditFile([row, { ...row, id: 2 }], "ndjson")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).id),
  ).toEqual([1, 2])
})

test("lists the changed parts with their values before and after", () => {
  expect(actionText(row.action)).toBe("API key rotated")
  const changes: AuditRowResponse["changes"] = {
    role: ["viewer", "editor"],
    policy: [
      { require_mfa: false, sso_only: false },
      { require_mfa: true, sso_only: false },
    ],
    hosts: [null, ["a.example", "b.example"]],
    note: [null, ""],
  }
  expect(changesOf({ changes })).toEqual([
    { field: "role", before: "viewer", after: "editor" },
    { field: "require mfa", before: "false", after: "true" },
    { field: "hosts", before: undefined, after: "a.example, b.example" },
  ])
})

test("shows a key's usage by route and points out unused write scopes", () => {
  const used = (route: string, status: string, requests: number, day = "2026-11-20") => ({ day, route, status, requests })
  const reads = [
    used("POST /api/public/v1/mcp", "2xx", 3),
    used("POST /api/public/v1/mcp", "4xx", 1, "2026-11-21"),
    used("GET /api/public/v1/sites", "2xx", 9),
  ]
  expect(byRoute(reads)).toEqual([
    { route: "GET /api/public/v1/sites", requests: 9, rejected: 0, lastDay: "2026-11-20" },
    { route: "POST /api/public/v1/mcp", requests: 4, rejected: 1, lastDay: "2026-11-21" },
  ])
  const scopes: Scope[] = ["stats:read", "goals:write"]
  expect(unusedWrites(scopes, reads)).toEqual(["goals:write"])
  expect(unusedWrites(scopes, [...reads, used("POST /api/public/v1/sites/:id/goals", "2xx", 1)])).toEqual([])
  expect(unusedWrites(scopes, [])).toEqual([])
})
