import { expect, test } from "bun:test"
import fc from "fast-check"
import { AppError } from "../../../src/domain/error.ts"
import { parseFunnel } from "../../../src/domain/funnel.ts"
import { parseGoal } from "../../../src/domain/goal.ts"
import { parseDomain } from "../../../src/domain/identity-provider.ts"
import { parseInvitation, parseNewAccount } from "../../../src/domain/invitation.ts"
import { type ApiKey, parseRotation } from "../../../src/domain/key.ts"
import { parseKey, patchKey } from "../../../src/domain/key-input.ts"
import { parseRemoval, parseSiteMember, parseTransfer, patchMember } from "../../../src/domain/membership.ts"
import { DEFAULT_POLICY, parseOrganization, patchOrganization } from "../../../src/domain/organization.ts"
import { CORE_PERMISSIONS } from "../../../src/domain/permission.ts"
import { parseSite } from "../../../src/domain/site-input.ts"
import { parseSetUp } from "../../../src/domain/user.ts"
import { isRange } from "../../../src/ingest/address/client-address.ts"

const rules = { allowed_query_params: ["id"], hash_routing: true }
const defaults = { timezone: "UTC", retention_days: null, revenue_currency: "USD" }
const READERS: Record<string, { read(body: unknown): object; sound: object }> = {
  site: { read: (body) => parseSite(body, defaults), sound: { name: "Shop", hosts: ["shop.example"], retention_days: 5, timezone: "UTC" } },
  goal: { read: (body) => parseGoal(body, rules), sound: { kind: "page", match: "wildcard", value: "/a*", name: "A", props: { a: "b" } } },
  funnel: {
    read: (body) => parseFunnel(body, rules),
    sound: {
      name: "F",
      steps: [
        { type: "page", value: "/a?id=1#b" },
        { type: "event", value: "b" },
      ],
      window_hours: 5,
    },
  },
  key: {
    read: (body) => parseKey(body, { now: 0, ownSites: new Set([1]), life: { default: 365, maximum: null }, isRange }),
    sound: {
      name: "K",
      scopes: ["stats:read"],
      site_access: "list",
      site_ids: [1],
      expires_at: "2027-01-01T00:00:00Z",
      ip_allow: ["::1/128"],
      rate_limit: 1,
    },
  },
  "change of a key": {
    read: (body) => patchKey(KEY, body, { now: 0, ownSites: new Set([1]), life: { default: 365, maximum: 10_000 }, isRange }),
    sound: { name: "L", scopes: ["goals:write"], site_access: "list", site_ids: [1], expires_at: "1980-01-01T00:00:00Z", version: 1 },
  },
  "rotation of a key": { read: parseRotation, sound: { grace_hours: 3 } },
  organization: { read: parseOrganization, sound: { name: "Acme" } },
  "change of an organization": {
    read: (body) => patchOrganization(ACME, body, new Set([7])),
    sound: { name: "B", policy: { require_mfa: true, key_max_days: null, break_glass_user_ids: [7] }, version: 1 },
  },
  "change of a member": {
    read: (body) => patchMember(MEMBER, body, CORE_PERMISSIONS),
    sound: { role: "editor", grants: ["site:write"], denies: ["goals:write"], version: 1 },
  },
  "removal of a member": { read: (body) => parseRemoval(body, new Set([7])), sound: { transfer_to: 7 } },
  "transfer of ownership": { read: (body) => parseTransfer(body, new Set([7])), sound: { user_id: 7 } },
  "row of a site": { read: parseSiteMember, sound: { role: "admin" } },
  invitation: {
    read: (body) => parseInvitation(body, new Set([1])),
    sound: { email: "a@b.c", role: "guest", site_ids: [1] },
  },
  "new account": {
    read: (body) => parseNewAccount(body, { isCommon: () => false, email: "a@b.c" }),
    sound: { name: "A", password: "x".repeat(12) },
  },
  "domain of mail": { read: parseDomain, sound: { domain: "example.org" } },
  "first user": {
    read: (body) => parseSetUp(body, { isCommon: () => false, siteDefaults: defaults }),
    sound: { email: "a@b.c", name: "A", password: "x".repeat(12), organization: "O" },
  },
}

const KEY: ApiKey = {
  ...{ id: 1, organization_id: 1, name: "K", prefix: "ff_", last4: "0000", scopes: ["stats:read"], site_ids: null, ip_allow: [] },
  ...{ rate_limit: null, owner_user_id: null, created_by: null, created_at: 0, expires_at: 5, expired_at: null, last_used_at: null },
  ...{ last_used_ip_prefix: null, last_used_agent: null, revoked_at: null, version: 1 },
}
const ACME = { id: 1, name: "Acme", policy: DEFAULT_POLICY, created_at: 0, updated_at: 0, version: 1 }
const MEMBER = { role: "viewer", grants: [], denies: [] } as const

/** Arbitrary JSON and hostile strings. */
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.constantFrom(
    "\ud800",
    "\u0000",
    "/",
    "*",
    "**********",
    "https://x.example/?a#b",
    "%00",
    "__proto__",
    "-".repeat(5000),
    Number.POSITIVE_INFINITY,
    -1,
    2 ** 53,
  ),
)

test.each(Object.entries(READERS))("accepts any body for a %s as a whole or rejects it with a pointer into it", (_, { read, sound }) => {
  const body = fc.oneof(
    value,
    fc.record(Object.fromEntries(Object.keys(sound).map((name) => [name, value])), { requiredKeys: [] }),
    fc.tuple(fc.constantFrom(...Object.keys(sound), "__proto__", "x"), value).map(([name, other]) => ({ ...sound, [name]: other })),
  )
  const judge = (sent: unknown) => {
    try {
      expect(read(sent)).toBeInstanceOf(Object)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      expect(error.code).toBe("validation_failed")
      const faults = error.members.errors ?? []
      expect(faults.length).toBeGreaterThan(0)
      expect(faults.every(({ pointer, code, detail }) => /^(\/.*)?$/s.test(pointer) && /^[a-z_]+$/.test(code) && detail.length > 0)).toBe(
        true,
      )
    }
  }
  expect(read(sound)).toBeInstanceOf(Object)
  fc.assert(fc.property(body, judge), { seed: 7, numRuns: 1500 })
})

test.each(["site", "goal", "funnel"])("an accepted %s is accepted again, unchanged", (name) => {
  const { read, sound } = READERS[name]!
  const text = fc.string({ unit: "binary", minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(text, (label) => {
      const body = { ...sound, name: label }
      let taken: object
      try {
        taken = read(body)
      } catch {
        return // rejected bodies are covered by the test above
      }
      expect(read(JSON.parse(JSON.stringify(taken)))).toEqual(taken)
    }),
    { seed: 7, numRuns: 500 },
  )
})
