import { afterAll, beforeAll, expect, test } from "bun:test"
import type { Scope } from "../../../src/domain/key.ts"
import { startInstance, type TestInstance } from "../../kit.ts"

const SITE = "/api/public/v1/sites/1"
let instance: TestInstance
let key: string
beforeAll(async () => {
  instance = await startInstance()
  key = await instance.makeKey(["settings:write", "segments:write", "shares:write"])
})
afterAll(() => instance[Symbol.asyncDispose]())

const get = (path: string) => instance.api.get(SITE + path, key)
const send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  instance.api.send(method, SITE + path, body, key, headers)

test("settings are read and changed, with a version and without what belongs to users", async () => {
  const before = await get("/settings")
  expect(before).toMatchObject({ status: 200, body: { respect_gpc: false, timezone: "Europe/Berlin" } })
  expect(before.body).not.toHaveProperty("public")
  const tag = before.headers.get("etag")!
  expect(await send("PATCH", "/settings", { respect_gpc: true, retention_days: 90 }, { "if-match": tag })).toMatchObject({
    status: 200,
    body: { respect_gpc: true, retention_days: 90 },
  })
  expect(await send("PATCH", "/settings", { respect_gpc: false }, { "if-match": tag })).toMatchObject({ status: 412 })
  for (const field of ["public", "name", "hosts", "shields"])
    expect(await send("PATCH", "/settings", { [field]: true })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: `/${field}`, code: "unknown_field" }] },
    })
})

test("segments are created, changed and deleted", async () => {
  const filters = [{ dimension: "country", values: ["DE"] }]
  expect(await send("POST", "/segments", { name: "Germany", filters })).toMatchObject({ status: 201, body: { id: 1, filters } })
  expect(await send("POST", "/segments", { name: "Mine", filters, scope: "personal" })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: "/scope", code: "unknown_field" }] },
  })
  expect(await send("PATCH", "/segments/1", { name: "From Germany" })).toMatchObject({ status: 200, body: { name: "From Germany" } })
  expect(await send("DELETE", "/segments/1")).toMatchObject({ status: 204 })
})

test("shared views are created, opened, changed and revoked", async () => {
  const { api, signIn } = instance
  const cookie = await signIn({ role: "owner" })
  const terms = { name: "Partners", sections: ["summary", "pages"], locked_filters: [{ dimension: "country", values: ["DE"] }] }
  const made = await send("POST", "/shares", terms)
  const { id, url } = made.body as { id: number; url: string }
  expect(made).toMatchObject({ status: 201, body: { ...terms, site_id: 1, has_password: false, expires_at: null, is_public: false } })
  expect(made.headers.get("location")).toBe(`${SITE}/shares/${id}`)
  const link = new URL(url).pathname
  const opened = async () => (await api.get(`/api${link}`)).status
  expect(await opened()).toBe(200)

  expect((await get("/shares")).body).toMatchObject({ data: [made.body as object], has_more: false })
  expect((await get(`/shares/${id}`)).body).toEqual(made.body as object)
  const tag = made.headers.get("etag")!
  expect(await send("PATCH", `/shares/${id}`, { password: "correct horse" }, { "if-match": tag })).toMatchObject({
    status: 200,
    body: { name: "Partners", has_password: true },
  })
  expect(await send("PATCH", `/shares/${id}`, { name: "Late" }, { "if-match": tag })).toMatchObject({ status: 412 })
  expect(await send("PATCH", `/shares/${id}`, { embed_origins: ["https://partner.example"] })).toMatchObject({
    status: 422,
    body: { code: "embed_needs_no_password" },
  })
  // What `GET` returned can be sent back.
  expect((await send("PATCH", `/shares/${id}`, (await get(`/shares/${id}`)).body)).status).toBe(200)
  expect(await send("DELETE", `/shares/${id}`)).toMatchObject({ status: 204 })
  expect(await get(`/shares/${id}`)).toMatchObject({ status: 404, body: { code: "share_not_found" } })
  expect(await opened()).toBe(404)

  const log = (await api.get("/api/private/organizations/1/audit?action=sites.share.*&limit=3", undefined, { cookie })).body
  expect(log).toMatchObject({
    data: ["delete", "update", "create"].map((verb) => ({ action: `sites.share.${verb}`, actor_kind: "key", target_label: "Partners" })),
  })
  // Readers of the log must not learn the link.
  expect(JSON.stringify(log)).not.toContain(link.split("/").at(-1)!)
})

test("the policy of the organization applies to the shared views of keys, and reading is not writing", async () => {
  const { api, makeKey, signIn } = instance
  const cookie = await signIn({ role: "owner" })
  const policy = (public_links: string) =>
    api.send("PATCH", "/api/private/organizations/1", { policy: { public_links } }, undefined, { cookie })
  await policy("off")
  expect(await send("POST", "/shares", { name: "Forbidden" })).toMatchObject({ status: 422, body: { code: "sharing_disabled" } })
  await policy("allowed")

  const reader = await makeKey(["shares:read"])
  expect(await api.post(`${SITE}/shares`, { name: "No" }, reader)).toMatchObject({
    status: 403,
    body: { code: "insufficient_scope", required_scopes: ["shares:write"] },
  })
  expect((await api.get(`${SITE}/shares`, reader)).status).toBe(200)
})

interface NewKey {
  id: number
  key: string
}

test("a key for a site is created with its secret shown once, rotated and revoked", async () => {
  const { api, makeKey, signIn } = instance
  const cookie = await signIn({ role: "owner" })
  const maker = await makeKey(["keys:write", "goals:write"], [1])
  const keys = (method: string, path = "", body?: unknown, headers?: Record<string, string>) =>
    api.send(method, `${SITE}/api-keys${path}`, body, maker, headers)
  const goals = async (key: string) => (await api.get(`${SITE}/goals`, key)).status

  const made = await keys("POST", "", { name: "Server", scopes: ["goals:read"] }, { "idempotency-key": "once" })
  const { id, key, ...shown } = made.body as NewKey
  expect(made).toMatchObject({ status: 201, body: { name: "Server", scopes: ["goals:read"], site_ids: [1], state: "active" } })
  expect(made.headers.get("location")).toBe(`${SITE}/api-keys/${id}`)
  expect((await keys("POST", "", { name: "Server", scopes: ["goals:read"] }, { "idempotency-key": "once" })).body).toEqual(
    made.body as object,
  )
  expect(await goals(key)).toBe(200)
  expect((await keys("GET", `/${id}`)).body).toEqual({ id, ...shown, last_used_at: expect.any(String) })
  expect(JSON.stringify((await keys("GET")).body)).not.toContain(key)

  const rotated = (await keys("POST", `/${id}/rotate`, { grace_hours: 0 })).body as NewKey
  expect(await goals(key)).toBe(401)
  expect(await goals(rotated.key)).toBe(200)
  expect(await keys("DELETE", `/${id}`, undefined, { "if-match": '"1"' })).toMatchObject({ status: 412 })
  expect((await keys("DELETE", `/${id}`)).status).toBe(204)
  expect(await goals(rotated.key)).toBe(401)
  expect(await keys("POST", `/${id}/rotate`, {})).toMatchObject({ status: 409, body: { code: "invalid_state", state: "revoked" } })
  expect((await keys("GET", `/${id}`)).body).toMatchObject({ state: "revoked" })

  const log = (await api.get("/api/private/organizations/1/audit?action=accounts.api_key.*&limit=3", undefined, { cookie })).body
  expect(log).toMatchObject({
    data: ["revoke", "rotate", "create"].map((verb) => ({ action: `accounts.api_key.${verb}`, actor_kind: "key" })),
  })
  for (const secret of [key, rotated.key]) expect(JSON.stringify(log)).not.toContain(secret)
})

test("a key creates and rotates no key with more rights than its own", async () => {
  const { app, clock, fetch } = instance
  const { keys, sites } = app.instance
  const limits = { expires_at: new Date(clock.now() + 86_400_000).toISOString(), ip_allow: ["203.0.113.0/24"], rate_limit: 100 }
  const scopes = ["keys:write", "stats:read"]
  const other = await sites.create(1, { name: "Outlet", hosts: ["outlet.example"] })
  const { secret } = await keys.create(1, { name: "Maker", scopes, site_access: "list", site_ids: [1], ...limits })
  const send = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" }
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const answer = await fetch(new Request(`http://localhost${path}`, init), "203.0.113.9")
    return { status: answer.status, body: answer.status === 204 ? "" : await answer.json() }
  }
  const create = (body: object) => send("POST", `${SITE}/api-keys`, { name: "Made", scopes: ["sites:read"], ...body })

  // Without limits of its own, a key has those of its maker. `stats:read` includes `sites:read`.
  const { status, body: made } = await create({})
  expect({ status, made }).toMatchObject({
    status: 201,
    made: { scopes: ["sites:read"], site_ids: [1], ...limits, expires_at: limits.expires_at.replace(/\.\d+/, "") },
  })
  expect((await create({ ip_allow: ["203.0.113.128/25"], rate_limit: 5 })).status).toBe(201)

  const refused = await create({
    scopes: ["sites:read", "export:read", "goals:write"],
    ...{ expires_at: null, ip_allow: ["203.0.113.0/25", "203.0.0.0/16"], rate_limit: 101 },
  })
  expect(refused.status).toBe(422)
  const { errors } = refused.body as { errors: { pointer: string; code: string }[] }
  expect(errors.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
    "/scopes/1 invalid_choice",
    "/scopes/2 invalid_choice",
    "/expires_at out_of_range",
    "/ip_allow/1 invalid_choice",
    "/rate_limit out_of_range",
  ])
  for (const [field, value] of Object.entries({ ip_allow: [], rate_limit: null, expires_at: new Date(clock.now() + 90_000_000) }))
    expect(await create({ [field]: value })).toMatchObject({ status: 422, body: { errors: [{ pointer: `/${field}` }] } })
  for (const field of ["site_access", "site_ids", "personal"])
    expect(await create({ [field]: true })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: `/${field}`, code: "unknown_field" }] },
    })

  const make = async (body: object) => (await keys.create(1, { name: "Dashboard", scopes: ["sites:read"], ...limits, ...body })).key.id
  const stronger = await make({ site_access: "list", site_ids: [1], scopes: ["export:read"] })
  const lasting = await make({ site_access: "list", site_ids: [1], expires_at: null })
  for (const id of [stronger, lasting])
    expect(await send("POST", `${SITE}/api-keys/${id}/rotate`, {})).toMatchObject({ status: 403, body: { code: "forbidden" } })
  expect((await send("DELETE", `${SITE}/api-keys/${stronger}`)).status).toBe(204)

  const wider = [await make({ site_access: "all" }), await make({ site_access: "list", site_ids: [1, other.id] })]
  const { data } = (await send("GET", `${SITE}/api-keys`)).body as { data: { id: number }[] }
  for (const id of wider) {
    expect(data.map((row) => row.id)).not.toContain(id)
    for (const [method, path, body] of [
      ["GET", ""],
      ["POST", "/rotate", {}],
      ["DELETE", ""],
    ] as const)
      expect(await send(method, `${SITE}/api-keys/${id}${path}`, body)).toMatchObject({ status: 404, body: { code: "api_key_not_found" } })
  }
  expect(await send("GET", `/api/public/v1/sites/${other.id}/api-keys`)).toMatchObject({ status: 404, body: { code: "site_not_found" } })
})

test("a key that a key has made loses the rights that their common creator loses", async () => {
  const { app, api, signIn } = instance
  const cookie = await signIn({ role: "admin" })
  const sent = { name: "Setup", scopes: ["keys:write", "shares:write"], site_access: "list", site_ids: [1] }
  const { key } = (await api.send("POST", "/api/private/organizations/1/api-keys", sent, undefined, { cookie })).body as NewKey
  const made = (await api.post(`${SITE}/api-keys`, { name: "Made", scopes: ["keys:write", "shares:read"] }, key)).body as NewKey
  const statuses = async () => [(await api.get(`${SITE}/shares`, made.key)).status, (await api.get(`${SITE}/api-keys`, made.key)).status]
  expect(await statuses()).toEqual([200, 200])
  await app.instance.catalog.script(
    `update memberships set role = 'editor' where user_id = (select created_by from api_keys where id = ${made.id})`,
  )
  expect(await statuses()).toEqual([200, 403])
  await app.instance.catalog.script(
    `update memberships set role = 'viewer' where user_id = (select created_by from api_keys where id = ${made.id})`,
  )
  expect(await statuses()).toEqual([403, 403])
})

test("roles on a site are given up to the rights of the key and of its creator, changed and removed", async () => {
  const { api, app, makeKey, signIn } = instance
  const owner = await signIn({ role: "owner" })
  const guest = await signIn({ role: "guest" })
  const { user } = (await api.get("/api/private/me", undefined, { cookie: guest })).body as { user: { id: number; email: string } }
  const opens = async () => (await api.get("/api/private/sites/1", undefined, { cookie: guest })).status
  const reads: Scope[] = ["stats:read", "annotations:read", "settings:read", "segments:read", "configuration:read"]
  const key = await makeKey(["members:write", ...reads])
  const path = `${SITE}/members/${user.id}`
  const put = (role: string, by = key) => api.send("PUT", path, { role }, by)

  expect(await opens()).toBe(404)
  expect(await put("viewer")).toMatchObject({ status: 200, body: { id: user.id, email: user.email, role: "viewer" } })
  expect((await api.get(`${SITE}/members`, key)).body).toMatchObject({ data: [{ id: user.id, role: "viewer" }], has_more: false })
  expect(await put("owner")).toMatchObject({ status: 422, body: { errors: [{ pointer: "/role" }] } })
  expect(await api.send("PUT", `${SITE}/members/999`, { role: "viewer" }, key)).toMatchObject({
    status: 404,
    body: { code: "user_not_found" },
  })

  // It gives no role whose members could give a key more scopes than it has.
  for (const role of ["editor", "admin"]) expect(await put(role)).toMatchObject({ status: 403, body: { code: "forbidden" } })
  expect(await put("viewer", await makeKey(["members:write", "stats:read"]))).toMatchObject({ status: 403 })
  expect(await put("admin", instance.key)).toMatchObject({ status: 200, body: { role: "admin" } })
  for (const method of ["PUT", "DELETE"])
    expect(await api.send(method, path, method === "PUT" ? { role: "viewer" } : undefined, key)).toMatchObject({ status: 403 })
  expect(await put("viewer", instance.key)).toMatchObject({ status: 200 })

  // A key with all scopes gives no permission that its creator lacks.
  const cookie = await signIn({ role: "viewer", siteRole: "admin" })
  const { user: creator } = (await api.get("/api/private/me", undefined, { cookie })).body as { user: { id: number } }
  const sent = { name: "All", scopes: ["members:write", ...reads], site_access: "list", site_ids: [1] }
  const { secret } = await app.instance.keys.create(1, sent, { by: creator.id })
  await app.instance.catalog.script(`update memberships set denies_json = '["revenue:read"]' where user_id = ${creator.id}`)
  await api.send("DELETE", path, undefined, instance.key)
  expect(await put("viewer", secret)).toMatchObject({ status: 403, body: { code: "forbidden" } })

  await put("viewer")
  expect(await api.send("DELETE", path, undefined, key)).toMatchObject({ status: 204 })
  expect(await opens()).toBe(404)
  const log = (await api.get("/api/private/organizations/1/audit?action=accounts.site_member.*&limit=2", undefined, { cookie: owner })).body
  expect(log).toMatchObject({
    data: ["remove", "put"].map((verb) => ({ action: `accounts.site_member.${verb}`, actor_kind: "key", target_label: user.email })),
  })
})
