import { expect, test } from "bun:test"
import { hasScope, type Scope } from "../../../src/domain/key.ts"
import { composeKey, keyIdOf } from "../../../src/domain/key-token.ts"
import { sql } from "../../../src/store/sql.ts"
import { faultsOf } from "../faults.ts"
import { openServices } from "../instance.ts"

const reader = { name: "Reader", scopes: ["stats:read"], site_access: "all" }

async function withOrganization() {
  const services = await openServices()
  const { id } = await services.organizations.create({ name: "Acme" })
  await services.sites.create(id, { name: "Shop", hosts: ["shop.example"] })
  return { ...services, organizationId: id }
}

test("the text of a key consists of its id, its secret and a checksum", () => {
  // Computed independently: base 62 with the digits 0-9A-Za-z, CRC-32 as in zip files.
  expect(composeKey(new Uint8Array(48))).toEqual({ keyId: "00000000", token: `ff_00000000_${"0".repeat(43)}3quSEe` })
  const { keyId, token } = composeKey(new Uint8Array(48).fill(255))
  expect(token).toMatch(/^ff_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$/)
  expect(keyIdOf(token)).toBe(keyId)
})

test("the checksum rejects a mistyped key", () => {
  const { token } = composeKey(Uint8Array.from({ length: 48 }, (_, i) => i * 5))
  for (let i = 0; i < token.length; i++) {
    const wrong = token[i] === "a" ? "b" : "a"
    expect(keyIdOf(token.slice(0, i) + wrong + token.slice(i + 1))).toBeUndefined()
  }
  for (const other of ["", token.slice(1), token.slice(0, -1), `${token}0`, token.toUpperCase(), ` ${token}`, `${token}\n`])
    expect(keyIdOf(other)).toBeUndefined()
})

test("finds a key by its whole text and stores only its hash", async () => {
  await using services = await withOrganization()
  const { keys, catalog, organizationId } = services
  const { key, secret } = await keys.create(organizationId, {
    name: " Reader ",
    scopes: ["stats:read", "events:write"],
    site_access: "list",
    site_ids: [1],
  })
  expect(key).toEqual({
    id: 1,
    organization_id: 1,
    name: "Reader",
    prefix: secret.slice(0, 11),
    last4: secret.slice(-4),
    scopes: ["stats:read", "events:write"],
    site_ids: [1],
    ip_allow: [],
    rate_limit: null,
    owner_user_id: null,
    created_by: null,
    created_at: Date.parse("2026-11-21T12:00:00Z"),
    expires_at: Date.parse("2027-11-21T12:00:00Z"),
    expired_at: null,
    last_used_at: null,
    last_used_ip_prefix: null,
    last_used_agent: null,
    revoked_at: null,
    version: 1,
  })
  expect(await keys.find(secret)).toEqual(key)
  const [row] = await catalog.all<Record<string, unknown>>(sql`select * from api_keys`)
  expect(JSON.stringify(Object.values(row!))).not.toContain(secret.slice(12, 30))
  expect(row!.secret_hash).toEqual(new Uint8Array(new Bun.CryptoHasher("sha256").update(secret).digest()))
})

test("does not find a key with the right id and another secret", async () => {
  await using services = await withOrganization()
  const { keys, organizationId } = services
  const bytes = new Uint8Array(48).fill(9)
  const { secret } = await keys.create(organizationId, reader)
  // The same public id with another secret and a valid checksum, as an attacker who knows the prefix could forge it.
  const forged = composeKey(bytes)
  await services.catalog.run(sql`update api_keys set key_id = ${forged.keyId}`)
  expect(await keys.find(forged.token)).toBeUndefined()
  expect(await keys.find(secret)).toBeUndefined()
})

test("a malformed key does not reach the store", async () => {
  await using services = await withOrganization()
  await services.catalog.close()
  expect(await services.keys.find("ff_00000000_nonsense")).toBeUndefined()
  await expect(services.keys.find(composeKey(new Uint8Array(48)).token)).rejects.toThrow("closed")
})

test("expiry and revocation take effect with the next request", async () => {
  await using services = await withOrganization()
  const { keys, clock, organizationId } = services
  const short = await keys.create(organizationId, { ...reader, expires_at: new Date(clock.now() + 1000).toISOString() })
  const endless = await keys.create(organizationId, { ...reader, expires_at: null })
  expect(endless.key.expires_at).toBeNull()
  clock.advance(999)
  expect(await keys.find(short.secret)).toMatchObject({ id: 1 })
  clock.advance(1)
  expect(await keys.find(short.secret)).toBeUndefined()
  clock.advance(20 * 365 * 86_400_000)
  expect(await keys.find(endless.secret)).toMatchObject({ id: 2 })
  expect(await keys.revoke(organizationId, "2")).toMatchObject({ revoked_at: clock.now() })
  expect(await keys.find(endless.secret)).toBeUndefined()
  expect((await keys.list(organizationId)).map(({ id, revoked_at }) => [id, revoked_at !== null])).toEqual([
    [1, false],
    [2, true],
  ])
})

test("a key belongs to one organization", async () => {
  await using services = await withOrganization()
  const { keys, organizations, organizationId } = services
  await keys.create(organizationId, reader)
  const otherOrganization = await organizations.create({ name: "Stranger" })
  expect(await faultsOf(keys.revoke(otherOrganization.id, 1))).toBe("api_key_not_found")
  expect(await faultsOf(keys.revoke(organizationId, "x"))).toBe("api_key_not_found")
  expect(await keys.list(otherOrganization.id)).toEqual([])
  expect(await faultsOf(keys.create(otherOrganization.id, { ...reader, site_access: "list", site_ids: [1] }))).toEqual([
    "/site_ids/0 invalid_choice",
  ])
})

test("records the use of a key at most once a minute", async () => {
  await using services = await withOrganization()
  const { keys, clock, organizationId } = services
  const { secret } = await keys.create(organizationId, reader)
  const lastUse = async () => (await keys.list(organizationId))[0]!.last_used_at
  const first = clock.now()
  await keys.find(secret)
  expect(await lastUse()).toBe(first)
  clock.advance(59_999)
  await keys.find(secret)
  expect(await lastUse()).toBe(first)
  clock.advance(1)
  await keys.find(secret)
  expect(await lastUse()).toBe(first + 60_000)
})

test.each([
  ["nothing", {}, ["/name required", "/scopes required", "/site_access required"]],
  ["no scope", { ...reader, scopes: [] }, ["/scopes too_few"]],
  ["an unknown scope", { ...reader, scopes: ["stats:read", "admin"] }, ["/scopes/1 invalid_choice"]],
  ["a duplicate scope", { ...reader, scopes: ["stats:read", "stats:read"] }, ["/scopes not_unique"]],
  ["a site that does not exist", { ...reader, site_access: "list", site_ids: [1, 2] }, ["/site_ids/1 invalid_choice"]],
  ["a site as text", { ...reader, site_access: "list", site_ids: ["1"] }, ["/site_ids/0 invalid_type"]],
  ["a missing list", { ...reader, site_access: "list" }, ["/site_ids required"]],
  ["a list for all sites", { ...reader, site_ids: [1] }, ["/site_ids invalid_choice"]],
  ["an unknown access", { ...reader, site_access: "some" }, ["/site_access invalid_choice"]],
  ["an expiry in the past", { ...reader, expires_at: "2026-11-21T12:00:00Z" }, ["/expires_at out_of_range"]],
  ["an expiry as a number", { ...reader, expires_at: 1_800_000_000_000 }, ["/expires_at invalid_type"]],
  ["an expiry that is not a valid time", { ...reader, expires_at: "2027-02-30T12:00:00Z" }, ["/expires_at invalid_date"]],
  ["an empty name", { ...reader, name: "" }, ["/name too_short"]],
])("rejects a key with %s", async (_, body, faults) => {
  await using services = await withOrganization()
  expect(await faultsOf(services.keys.create(services.organizationId, body))).toEqual(faults)
})

test("an organization has at most 100 live keys", async () => {
  await using services = await withOrganization()
  const { keys, organizationId } = services
  for (let i = 0; i < 100; i++) await keys.create(organizationId, reader)
  await expect(keys.create(organizationId, reader)).rejects.toMatchObject({ code: "limit_reached", members: { limit: 100 } })
  await keys.revoke(organizationId, 1)
  expect((await keys.create(organizationId, reader)).key.id).toBe(101)
})

test.each<[Scope[], Scope[], boolean]>([
  [["stats:read"], ["stats:read"], true],
  [["stats:read"], ["sites:read"], true],
  [["stats:read"], ["funnels:read"], true],
  [["stats:read"], ["goals:write"], false],
  [["goals:write"], ["goals:read"], true],
  [["goals:write"], ["funnels:write", "goals:write"], true],
  [["goals:write"], ["funnels:write"], false],
  [["sites:read"], ["stats:read"], false],
  [["annotations:write"], ["annotations:read"], true],
  [["events:write"], ["sites:read", "stats:read"], false],
])("the scopes %j allow what needs any of %j: %j", (scopes, sufficient, allowed) => {
  expect(hasScope({ scopes }, sufficient)).toBe(allowed)
})

test("after a rotation the old secret works until its grace period ends", async () => {
  await using services = await withOrganization()
  const { keys, clock, organizationId } = services
  const first = await keys.create(organizationId, { ...reader, expires_at: null })
  const second = await keys.rotate(organizationId, first.key.id, {})
  expect(second.secret).not.toBe(first.secret)
  expect(second.key).toEqual({ ...first.key, last4: second.secret.slice(-4), version: 2 })
  clock.advance(24 * 3_600_000 - 1)
  expect(await keys.find(first.secret)).toMatchObject({ id: 1 })
  clock.advance(1)
  expect(await keys.find(first.secret)).toBeUndefined()
  expect(await keys.find(second.secret)).toMatchObject({ id: 1 })

  const third = await keys.rotate(organizationId, "1", { grace_hours: 0 })
  expect(await keys.find(second.secret)).toBeUndefined()
  expect(await keys.find(first.secret)).toBeUndefined()
  expect(await keys.find(third.secret)).toMatchObject({ id: 1 })
  await keys.revoke(organizationId, 1)
  expect(await keys.find(third.secret)).toBeUndefined()
  await expect(keys.rotate(organizationId, 1, {})).rejects.toMatchObject({ code: "invalid_state", members: { state: "revoked" } })
})

test("rejects a grace period out of bounds and does not rotate the key of another organization", async () => {
  await using services = await withOrganization()
  const { keys, organizations, organizationId } = services
  await keys.create(organizationId, reader)
  for (const grace_hours of [-1, 169, 1.5, "24", null])
    expect(await faultsOf(keys.rotate(organizationId, 1, { grace_hours }))).toEqual([
      expect.stringMatching(/^\/grace_hours (out_of_range|invalid_type)$/),
    ])
  const other = await organizations.create({ name: "Other" })
  await expect(keys.rotate(other.id, 1, {})).rejects.toMatchObject({ code: "api_key_not_found" })
})

test("a key with a list of addresses works only from these", async () => {
  await using services = await withOrganization()
  const { keys, organizationId } = services
  const { secret } = await keys.create(organizationId, { ...reader, ip_allow: ["203.0.113.0/24", "2001:db8::/32", "198.51.100.7"] })
  for (const address of ["203.0.113.9", "2001:db8::5", "198.51.100.7", "::ffff:203.0.113.1"])
    expect(await keys.find(secret, { address })).toMatchObject({ id: 1 })
  for (const address of ["203.0.114.1", "2001:db9::1", "", undefined]) expect(await keys.find(secret, { address })).toBeUndefined()
  expect(await faultsOf(keys.create(organizationId, { ...reader, ip_allow: ["home", "10.0.0.0/8"] }))).toEqual([
    "/ip_allow/0 invalid_choice",
  ])
})
