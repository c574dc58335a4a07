import { afterAll, beforeAll, expect, test } from "bun:test"
import { SCOPES } from "../../../../src/domain/key.ts"
import { sql } from "../../../../src/store/sql.ts"
import { BROWSER, startInstance, type TestInstance } from "../../../kit.ts"
import { faultsIn, newestEntries, newUser, ORGANIZATION, type SignedInUser, type UntypedResponse } from "../people.ts"

let instance: TestInstance
let owner: SignedInUser
beforeAll(async () => {
  instance = await startInstance({ settings: { api_rate_limit: "0" } })
  owner = await newUser(instance, { role: "owner" })
})
afterAll(() => instance[Symbol.asyncDispose]())

const KEYS = `${ORGANIZATION}/api-keys`
const V1 = "/api/public/v1"
const DAY = 86_400_000
const reader = { name: "Reader", scopes: ["stats:read"], site_access: "all" }
const make = (who: SignedInUser, fields: object = {}, headers = {}) => who.send("POST", KEYS, { ...reader, ...fields }, headers)
const change = (who: SignedInUser, key: UntypedResponse, body: unknown, headers = {}) =>
  who.send("PATCH", `${KEYS}/${key.body.id}`, body, headers)
const use = ({ api }: TestInstance, { body }: UntypedResponse, path = "/key", headers = {}) =>
  api.get(V1 + path, body.key, headers) as Promise<UntypedResponse>
const member = (who: SignedInUser) => `${ORGANIZATION}/members/${who.id}`

test("lists all scopes with the scopes they imply", async () => {
  const viewer = await newUser(instance, { role: "viewer" })
  const { data } = (await viewer.get("/api/private/api-scopes")).body
  expect(data.map(({ scope }: { scope: string }) => scope)).toEqual([...SCOPES])
  expect(data.find(({ scope }: { scope: string }) => scope === "stats:read")).toEqual({
    scope: "stats:read",
    title: "Read statistics, and use all MCP tools",
    implies: ["sites:read", "goals:read", "funnels:read"],
  })
})

test("shows a key's secret once, with all its properties", async () => {
  const made = await make(owner, { site_access: "list", site_ids: [1], ip_allow: ["203.0.113.0/24"], rate_limit: 60, personal: true })
  const { key, ...shown } = made.body
  expect(key).toMatch(/^ff_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$/)
  expect(made.status).toBe(201)
  expect(made.headers.get("location")).toBe(`${KEYS}/${shown.id}`)
  expect(shown).toEqual({
    id: expect.any(Number),
    name: "Reader",
    prefix: key.slice(0, 11),
    last4: key.slice(-4),
    scopes: ["stats:read"],
    site_access: "list",
    site_ids: [1],
    ip_allow: ["203.0.113.0/24"],
    rate_limit: 60,
    personal: true,
    created_by: { id: owner.id, name: owner.email.split("@")[0], email: owner.email },
    created_at: "2026-11-21T12:00:00Z",
    expires_at: "2027-11-21T12:00:00Z",
    last_used_at: null,
    last_used_ip_prefix: null,
    last_used_agent: null,
    revoked_at: null,
    state: "active",
    owner_left: false,
    version: 1,
  })
  const read = await owner.get(`${KEYS}/${shown.id}`)
  expect([read.status, read.body, read.headers.get("etag")]).toEqual([200, shown, '"1"'])
  const deeds = await newestEntries(instance)
  expect(deeds).toMatchObject([
    { action: "accounts.api_key.create", target_type: "api_key", target_id: String(shown.id), organization_id: 1 },
  ])
  expect(JSON.stringify(deeds)).not.toContain(key.slice(12))
})

test("lists keys by state; those of the command line have no creator", async () => {
  await using own = await startInstance()
  const boss = await newUser(own, { role: "owner" })
  const short = await make(boss, { expires_at: "2026-11-21T13:00:00Z" })
  const gone = await make(boss)
  await boss.send("DELETE", `${KEYS}/${gone.body.id}`)
  own.clock.advance(3_600_000)
  const list = async (query = "") => (await boss.get(KEYS + query)).body.data as { id: number; state: string; created_by: unknown }[]
  expect((await list()).map(({ id, state }) => [id, state])).toEqual([
    [1, "active"],
    [2, "active"],
    [3, "active"],
    [4, "active"],
    [short.body.id, "expired"],
    [gone.body.id, "revoked"],
  ])
  expect((await list())[0]!.created_by).toBeNull()
  expect((await list("?state=active")).map(({ id }) => id)).toEqual([1, 2, 3, 4])
  expect((await list("?state=expired")).map(({ id }) => id)).toEqual([short.body.id])
  expect((await list("?state=revoked")).map(({ id }) => id)).toEqual([gone.body.id])
  expect((await boss.get(`${KEYS}?state=lost`)).body.code).toBe("invalid_query")
  expect((await boss.get(`${KEYS}?limit=2&count=true`)).body).toMatchObject({ has_more: true, total: 6 })
  expect(JSON.stringify(await list())).not.toContain(own.key.slice(12))
})

test("a key needs keys:write and a recent proof of identity, and belongs to its organization", async () => {
  for (const role of ["viewer", "editor"] as const)
    expect(await make(await newUser(instance, { role }))).toMatchObject({ status: 403, body: { required_permission: "keys:write" } })
  const tired = await newUser(instance, { role: "owner", provedAt: instance.clock.now() - 601_000 })
  const made = await make(owner)
  expect((await make(tired)).body.code).toBe("reauth_required")
  expect((await tired.send("POST", `${KEYS}/${made.body.id}/rotate`, {})).body.code).toBe("reauth_required")
  const other = await instance.app.instance.organizations.create({ name: "Other" })
  const stranger = await newUser(instance, { role: "owner", organizationId: other.id })
  for (const path of [KEYS, `${KEYS}/${made.body.id}`, `${KEYS}/${made.body.id}/usage`])
    expect((await stranger.get(path)).body.code).toBe("organization_not_found")
  const theirs = `/api/private/organizations/${other.id}/api-keys/${made.body.id}`
  for (const [method, path] of [
    ["GET", theirs],
    ["PATCH", theirs],
    ["DELETE", theirs],
    ["POST", `${theirs}/rotate`],
    ["GET", `${theirs}/usage`],
  ] as const)
    expect(await stranger.send(method, path, method === "GET" ? undefined : "{"), path).toMatchObject({
      status: 404,
      body: { code: "api_key_not_found" },
    })
  // An API key cannot access any of these routes.
  expect((await instance.api.get(KEYS, made.body.key)).body).toMatchObject({ code: "session_required" })
})

test.each<[string, object, string[]]>([
  ["an unknown scope", { scopes: ["stats:read", "admin"] }, ["/scopes/1 invalid_choice"]],
  ["no scope", { scopes: [] }, ["/scopes too_few"]],
  ["a list of sites that is missing", { site_access: "list" }, ["/site_ids required"]],
  ["a foreign site", { site_access: "list", site_ids: [1, 4711] }, ["/site_ids/1 invalid_choice"]],
  ["site ids with access to all sites", { site_ids: [1] }, ["/site_ids invalid_choice"]],
  ["an address list of words", { ip_allow: ["home"] }, ["/ip_allow/0 invalid_choice"]],
  ["21 ranges", { ip_allow: Array.from({ length: 21 }, (_, i) => `10.0.0.${i}`) }, ["/ip_allow too_many"]],
  ["a rate of 0", { rate_limit: 0 }, ["/rate_limit out_of_range"]],
  ["a rate of 100,001", { rate_limit: 100_001 }, ["/rate_limit out_of_range"]],
  ["an expiry in the past", { expires_at: "2026-11-21T12:00:00Z" }, ["/expires_at out_of_range"]],
  ["a day as the expiry", { expires_at: "2027-11-21" }, ["/expires_at invalid_date"]],
  ["a name of 101 characters", { name: "x".repeat(101) }, ["/name too_long"]],
  ["an unknown field", { colour: 1 }, ["/colour unknown_field"]],
  ["a given secret", { key: "ff_" }, ["/key unknown_field"]],
])("rejects a key with %s", async (_, fields, faults) => {
  const answer = await make(owner, fields)
  expect([answer.status, faultsIn(answer)]).toEqual([422, faults])
})

test("an empty list of sites gives access to none", async () => {
  const made = await make(owner, { site_access: "list", site_ids: [] })
  expect(made.body).toMatchObject({ site_access: "list", site_ids: [] })
  expect((await use(instance, made, "/sites")).body.data).toEqual([])
  expect((await use(instance, made, "/sites/1")).body.code).toBe("site_not_found")
})

test("the lifetime of keys is limited by the organization's policy, within that of the instance", async () => {
  const { settings } = instance.app.instance
  const policy = (fields: object) => owner.send("PATCH", ORGANIZATION, { policy: fields })
  expect((await make(owner, { expires_at: null })).body.expires_at).toBeNull()
  await policy({ key_default_days: 30 })
  expect((await make(owner)).body.expires_at).toBe("2026-12-21T12:00:00Z")
  await policy({ key_max_days: 10 })
  expect((await make(owner)).body.expires_at).toBe("2026-12-01T12:00:00Z")
  expect(faultsIn(await make(owner, { expires_at: null }))).toEqual(["/expires_at expiry_required"])
  expect(faultsIn(await make(owner, { expires_at: "2026-12-01T12:00:01Z" }))).toEqual(["/expires_at out_of_range"])
  expect((await make(owner, { expires_at: "2026-12-01T12:00:00Z" })).status).toBe(201)
  await settings.change({ key_max_days: 5 }, null)
  expect((await make(owner)).body.expires_at).toBe("2026-11-26T12:00:00Z")
  await policy({ key_max_days: null })
  expect(faultsIn(await make(owner, { expires_at: null }))).toEqual(["/expires_at expiry_required"])
  await settings.change({ key_max_days: null }, null)
  await policy({ key_default_days: 365 })
})

test("updates a key with versions, and the response of GET can be sent back", async () => {
  const made = await make(owner, { rate_limit: 5, expires_at: "2027-01-01T00:00:00Z" })
  const before = (await owner.get(`${KEYS}/${made.body.id}`)).body
  expect((await change(owner, made, before)).body).toEqual(before)
  const changed = await change(owner, made, {
    name: "Writer",
    scopes: ["goals:write", "stats:read"],
    site_access: "list",
    site_ids: [1],
    ip_allow: ["::1"],
    rate_limit: null,
    expires_at: null,
  })
  expect(changed).toMatchObject({
    status: 200,
    body: {
      ...before,
      name: "Writer",
      scopes: ["goals:write", "stats:read"],
      site_access: "list",
      site_ids: [1],
      ip_allow: ["::1"],
      rate_limit: null,
      expires_at: null,
      version: 2,
    },
  })
  expect(await newestEntries(instance)).toMatchObject([
    { action: "accounts.api_key.update", changes: { name: ["Reader", "Writer"], site_ids: [null, [1]], rate_limit: [5, null] } },
  ])
  expect((await change(owner, made, { site_access: "all", ip_allow: null })).body).toMatchObject({
    site_ids: null,
    ip_allow: [],
    version: 3,
  })
  expect(await change(owner, made, { name: "Late", version: 2 })).toMatchObject({
    status: 409,
    body: { code: "version_conflict", current: { name: "Writer", version: 3 } },
  })
  expect((await change(owner, made, { name: "Late" }, { "if-match": '"2"' })).status).toBe(412)
  expect(faultsIn(await change(owner, made, { site_ids: [1] }))).toEqual(["/site_ids invalid_choice"])
  expect(faultsIn(await change(owner, made, { site_access: "list" }))).toEqual(["/site_ids required"])
  expect(faultsIn(await change(owner, made, { scopes: null, personal: true, colour: 1 }))).toEqual([
    "/scopes invalid_type",
    "/colour unknown_field",
  ])
})

test("revocation is immediate and final", async () => {
  const made = await make(owner)
  expect((await use(instance, made)).status).toBe(200)
  expect((await owner.send("DELETE", `${KEYS}/${made.body.id}`)).status).toBe(204)
  expect(await use(instance, made)).toMatchObject({ status: 401, body: { code: "invalid_api_key" } })
  expect(await newestEntries(instance)).toMatchObject([{ action: "accounts.api_key.revoke", target_id: String(made.body.id) }])
  expect((await owner.send("DELETE", `${KEYS}/${made.body.id}`)).status).toBe(204)
  for (const [method, path] of [
    ["PATCH", ""],
    ["POST", "/rotate"],
  ] as const)
    expect(await owner.send(method, `${KEYS}/${made.body.id}${path}`, {})).toMatchObject({
      status: 409,
      body: { code: "invalid_state", state: "revoked" },
    })
})

test("rotation issues a new secret; the old one works until the grace period ends", async () => {
  await using own = await startInstance()
  const boss = await newUser(own, { role: "owner" })
  const made = await make(boss)
  const rotate = (body?: unknown) => boss.send("POST", `${KEYS}/${made.body.id}/rotate`, body)
  const second = await rotate({ grace_hours: 2 })
  expect(second).toMatchObject({ status: 200, body: { id: made.body.id, prefix: made.body.prefix, version: 2 } })
  expect(second.body.key).not.toBe(made.body.key)
  expect([(await use(own, made)).status, (await use(own, second)).status]).toEqual([200, 200])
  own.clock.advance(2 * 3_600_000)
  expect([(await use(own, made)).status, (await use(own, second)).status]).toEqual([401, 200])
  // The grace period stays over even if the clock goes back.
  own.clock.advance(-3_600_000)
  expect((await use(own, made)).status).toBe(401)
  const deeds = JSON.stringify(await newestEntries(own))
  expect(deeds).toContain("accounts.api_key.rotate")
  expect(deeds).not.toContain(second.body.key.slice(12))
  const fresh = await newUser(own, { role: "owner" })
  const again = (body?: unknown) => fresh.send("POST", `${KEYS}/${made.body.id}/rotate`, body)
  expect(faultsIn(await again({ grace_hours: 169 }))).toEqual(["/grace_hours out_of_range"])
  const third = await again()
  expect([third.status, (await use(own, second)).status]).toEqual([200, 200])
})

test("an expired key stays expired when the clock goes back", async () => {
  await using own = await startInstance()
  const boss = await newUser(own, { role: "owner" })
  const [seen, swept] = [await make(boss, { expires_at: "2026-11-22T12:00:00Z" }), await make(boss, { expires_at: "2026-11-22T12:00:00Z" })]
  own.clock.advance(DAY)
  expect((await use(own, seen)).status).toBe(401)
  await own.app.instance.keys.expire()
  own.clock.advance(-DAY)
  for (const key of [seen, swept]) {
    expect((await use(own, key)).status).toBe(401)
    expect((await boss.get(`${KEYS}/${key.body.id}`)).body.state).toBe("expired")
    expect(await change(boss, key, { expires_at: null })).toMatchObject({ status: 409, body: { code: "invalid_state", state: "expired" } })
  }
})

test("a key never exceeds its creator's permissions: on creation, update and use", async () => {
  const maker = await newUser(instance, { role: "admin" })
  const set = (fields: object) => owner.send("PATCH", member(maker), fields)
  await set({ denies: ["site:delete", "people:read"] })
  const refused: [object, string][] = [
    [{ scopes: ["sites:write"] }, "site:delete"],
    [{ scopes: ["export:read"] }, "people:read"],
    [{ scopes: ["stats:read", "export:read"], site_access: "list", site_ids: [1] }, "people:read"],
  ]
  for (const [fields, permission] of refused)
    expect(await make(maker, fields)).toMatchObject({ status: 403, body: { code: "forbidden", required_permission: permission } })
  // A key with a list of sites cannot delete a site.
  expect((await make(maker, { scopes: ["sites:write"], site_access: "list", site_ids: [1] })).status).toBe(201)
  await set({ denies: [] })

  const key = await make(maker, { scopes: ["sites:write", "goals:write", "stats:read", "events:write"] })
  const post = (path: string, body: unknown) => instance.api.post(V1 + path, body, key.body.key) as Promise<UntypedResponse>
  const goal = (value: string) => ({ kind: "event", value })
  expect((await post("/sites/1/goals", goal("one"))).status).toBe(201)
  await set({ role: "editor" })
  expect((await post("/sites/1/goals", goal("two"))).status).toBe(201)
  expect(await post("/sites", { name: "New", hosts: ["new.example"] })).toMatchObject({ status: 403, body: { code: "insufficient_scope" } })
  await set({ role: "viewer" })
  expect(await post("/sites/1/goals", goal("three"))).toMatchObject({
    status: 403,
    body: { code: "insufficient_scope", required_scopes: ["goals:write"] },
  })
  expect((await post("/sites/1/events", { events: [{ name: "x" }] })).body.code).toBe("insufficient_scope")
  // It can still read what it may read, including by scopes implied by a lost one.
  for (const path of ["/sites", "/sites/1/goals", "/sites/1/stats/summary"]) expect((await use(instance, key, path)).status).toBe(200)
  expect((await use(instance, key)).body.scopes).toEqual(["sites:read", "goals:read", "stats:read"])
  // The key itself is unchanged.
  expect((await owner.get(`${KEYS}/${key.body.id}`)).body.scopes).toEqual(["sites:write", "goals:write", "stats:read", "events:write"])
  // As a guest its creator first sees no site, then one.
  const { sites } = instance.app.instance
  const second = await sites.create(1, { name: "Second", hosts: ["second.example"] })
  await set({ role: "guest" })
  expect((await use(instance, key, "/sites")).body.data).toEqual([])
  expect((await post("/sites", { name: "New", hosts: ["new.example"] })).body.code).toBe("unrestricted_key_required")
  await owner.send("PUT", `/api/private/sites/1/members/${maker.id}`, { role: "editor" })
  expect((await use(instance, key, "/sites")).body.data.map(({ id }: { id: number }) => id)).toEqual([1])
  expect((await use(instance, key, `/sites/${second.id}`)).body.code).toBe("site_not_found")
  expect((await post("/sites/1/goals", goal("four"))).status).toBe(201)
  await set({ role: "admin" })
  expect((await use(instance, key, `/sites/${second.id}`)).status).toBe(200)
  // When its creator leaves, the key keeps its scopes and is marked.
  await owner.send("DELETE", member(maker))
  expect((await post("/sites/1/goals", goal("five"))).status).toBe(201)
  expect((await owner.get(`${KEYS}/${key.body.id}`)).body).toMatchObject({
    owner_left: true,
    created_by: { id: maker.id },
    state: "active",
  })
})

test("a site role limits the key on that site", async () => {
  const maker = await newUser(instance, { role: "editor" })
  await owner.send("PATCH", member(maker), { grants: ["keys:write"] })
  const key = await make(maker, { scopes: ["goals:write"] })
  expect(key.status).toBe(201)
  expect((await owner.send("PUT", `/api/private/sites/1/members/${maker.id}`, { role: "viewer" })).status).toBe(200)
  expect((await instance.api.post(`${V1}/sites/1/goals`, { kind: "event", value: "limited" }, key.body.key)).status).toBe(403)
  expect(await make(maker, { scopes: ["goals:write"] })).toMatchObject({ status: 403, body: { required_permission: "goals:write" } })
  expect((await make(maker, { scopes: ["sites:write"] })).body.required_permission).toBe("site:write")
})

test("an update cannot raise a key above the rights of the user making it", async () => {
  const strong = await make(owner, { scopes: ["stats:read"] })
  const helper = await newUser(instance, { role: "editor" })
  await owner.send("PATCH", member(helper), { grants: ["keys:write"] })
  expect(await change(helper, strong, { scopes: ["stats:read", "sites:write"] })).toMatchObject({
    status: 403,
    body: { code: "forbidden", required_permission: "site:write" },
  })
  expect((await change(helper, strong, { name: "Renamed" })).status).toBe(200)
  // Nor can they rotate or extend a key that exceeds their rights.
  const mighty = await make(owner, { scopes: ["sites:write"], site_access: "list", site_ids: [1] })
  expect(await helper.send("POST", `${KEYS}/${mighty.body.id}/rotate`, {})).toMatchObject({
    status: 403,
    body: { code: "forbidden", required_permission: "site:write" },
  })
  expect((await change(helper, mighty, { site_access: "all" })).body.code).toBe("forbidden")
  expect((await change(helper, mighty, { rate_limit: 5 })).status).toBe(200)
  expect((await helper.send("DELETE", `${KEYS}/${mighty.body.id}`)).status).toBe(204)
})

test("a personal key ends with the membership, and is suspended while its owner is disabled", async () => {
  const maker = await newUser(instance, { role: "admin" })
  const [personal, shared] = [await make(maker, { personal: true }), await make(maker)]
  const { catalog } = instance.app.instance
  const works = async () => [(await use(instance, personal)).status, (await use(instance, shared)).status]
  expect(await works()).toEqual([200, 200])
  await catalog.run(sql`update users set status = 'disabled' where id = ${maker.id}`)
  expect(await works()).toEqual([401, 200])
  await catalog.run(sql`update users set status = 'active' where id = ${maker.id}`)
  expect(await works()).toEqual([200, 200])
  await owner.send("DELETE", member(maker))
  expect(await works()).toEqual([401, 200])
})

test("records where a key was last used, at most once a minute", async () => {
  const made = await make(owner)
  const shown = async () => {
    const { last_used_at, last_used_ip_prefix, last_used_agent } = (await owner.get(`${KEYS}/${made.body.id}`)).body
    return [last_used_at, last_used_ip_prefix, last_used_agent]
  }
  await use(instance, made, "/key", { "user-agent": "curl/8.0" })
  const at = `${new Date(instance.clock.now()).toISOString().slice(0, 19)}Z`
  expect(await shown()).toEqual([at, "198.51.100.0/24", "curl/8.0"])
  await use(instance, made, "/key", { "user-agent": BROWSER })
  expect(await shown()).toEqual([at, "198.51.100.0/24", "curl/8.0"])
})

test("counts requests by day, route and status", async () => {
  await using own = await startInstance()
  const { clock, app } = own
  const boss = await newUser(own, { role: "owner" })
  const made = await make(boss, { scopes: ["goals:read"] })
  await use(own, made, "/sites/1/goals")
  await use(own, made, "/sites/1/goals/")
  await use(own, made, "/sites/1/goals/7")
  await use(own, made, "/sites/9/goals")
  clock.advance(DAY)
  await own.api.post(`${V1}/sites/1/goals`, {}, made.body.key)
  await use(own, made, "/sites/1/goals")
  const usage = (query = "") => boss.get(`${KEYS}/${made.body.id}/usage${query}`)
  expect((await usage()).body.data).toEqual([]) // counted in memory, not yet written
  await app.memberships.keyUsage.flush()
  const goals = "GET /api/public/v1/sites/:id/goals"
  expect((await usage()).body).toEqual({
    from: "2026-10-24",
    to: "2026-11-22",
    data: [
      { day: "2026-11-21", route: goals, status: "2xx", requests: 2 },
      { day: "2026-11-21", route: goals, status: "4xx", requests: 1 },
      { day: "2026-11-21", route: `${goals}/:id`, status: "4xx", requests: 1 },
      { day: "2026-11-22", route: goals, status: "2xx", requests: 1 },
      { day: "2026-11-22", route: goals.replace("GET", "POST"), status: "4xx", requests: 1 },
    ],
  })
  await use(own, made, "/sites/1/goals")
  await app.memberships.keyUsage.flush()
  expect((await usage("?from=2026-11-22&to=2026-11-22")).body.data[0]).toMatchObject({ route: goals, requests: 2 })
  for (const query of ["?from=x", "?from=2026-11-22&to=2026-11-21", "?day=1"])
    expect(await usage(query)).toMatchObject({ status: 400, body: { code: "invalid_query" } })
})

test("paths of other products, which name a site by any text, are counted as one route each", async () => {
  await using own = await startInstance()
  const boss = await newUser(own, { role: "owner" })
  const made = await make(boss, { scopes: ["stats:read"] })
  for (const path of [
    "/websites/shop.example/active",
    "/websites/1/active",
    "/websites/any-text/active",
    "/v1/sites/shop.example",
    "/v1/sites/x.example/",
    "/v1/sites/goals?site_id=1",
  ])
    await own.api.get(`/api${path}`, made.body.key)
  await own.app.memberships.keyUsage.flush()
  const { data } = (await boss.get(`${KEYS}/${made.body.id}/usage`)).body as { data: { route: string; status: string; requests: number }[] }
  expect(data.map(({ route, status, requests }) => `${requests} ${status} ${route}`).sort()).toEqual([
    "1 2xx GET /api/v1/sites/:id",
    "1 2xx GET /api/v1/sites/goals",
    "1 4xx GET /api/v1/sites/:id",
    "1 4xx GET /api/websites/:id/active",
    "2 2xx GET /api/websites/:id/active",
  ])
})

test("lists the keys with access to a site, and creates keys for that site only", async () => {
  await using own = await startInstance()
  const boss = await newUser(own, { role: "owner" })
  const { sites } = own.app.instance
  const second = await sites.create(1, { name: "Second", hosts: ["second.example"] })
  const path = `/api/private/sites/${second.id}/api-keys`
  const elsewhere = await make(boss, { site_access: "list", site_ids: [1] })
  const made = await boss.send("POST", path, { name: "Of the second", scopes: ["stats:read"] })
  expect(made).toMatchObject({ status: 201, body: { site_access: "list", site_ids: [second.id] } })
  const ids = ((await boss.get(path)).body.data as { id: number }[]).map(({ id }) => id)
  expect(ids).toContain(made.body.id)
  expect(ids).toContain(1)
  expect(ids).not.toContain(elsewhere.body.id)
  expect((await use(own, made, "/sites")).body.data.map(({ id }: { id: number }) => id)).toEqual([second.id])
  expect(faultsIn(await boss.send("POST", path, { ...reader, site_ids: [1] }))).toEqual([
    "/site_access unknown_field",
    "/site_ids unknown_field",
  ])
  const chief = await newUser(own, { role: "viewer", siteRole: "admin" })
  expect((await chief.get("/api/private/sites/1/api-keys")).body).toMatchObject({ code: "forbidden", required_permission: "keys:write" })
  // A deleted site is removed from the key's list.
  await sites.remove(second.id)
  expect((await boss.get(`${KEYS}/${made.body.id}`)).body).toMatchObject({ site_access: "list", site_ids: [] })
})

test("an organization has at most 100 active keys", async () => {
  await using own = await startInstance()
  const boss = await newUser(own, { role: "owner" })
  for (let i = 4; i < 100; i++) await own.makeKey(["stats:read"])
  expect(await make(boss)).toMatchObject({ status: 422, body: { code: "limit_reached", limit: 100, resource: "api_keys" } })
  await boss.send("DELETE", `${KEYS}/1`)
  expect((await make(boss)).status).toBe(201)
})

test("a repeated creation creates one key and shows its secret again", async () => {
  const [first, second] = [await make(owner, {}, { "idempotency-key": "k-1" }), await make(owner, {}, { "idempotency-key": "k-1" })]
  expect(second.body).toEqual(first.body)
  expect((await use(instance, second)).status).toBe(200)
  const kept = await instance.app.instance.catalog.all(sql`select * from idempotent_answers`)
  expect(JSON.stringify(kept)).not.toContain(first.body.key.slice(12))
  // A rotation whose response was lost can be repeated, because the previous secret still works.
  const rotate = () => owner.send("POST", `${KEYS}/${first.body.id}/rotate`, {}, { "idempotency-key": "k-2" })
  const [rotated, again] = [await rotate(), await rotate()]
  expect([rotated.status, again.status, again.headers.get("idempotency-replayed")]).toEqual([200, 200, "true"])
  expect(again.body).toEqual(rotated.body)
  for (const key of [first, rotated]) expect((await use(instance, key)).status).toBe(200)
})
