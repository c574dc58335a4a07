import { expect, test } from "bun:test"
import { actionsOf, startConsole } from "./console.ts"

type Rows = { data: { id: number | null; email: string; status: string }[]; has_more: boolean; next_cursor: string | null; total?: number }

test.each([
  ["without a session", "nobody", "/users", 401, "session_required"],
  ["as an owner who is not an instance administrator", "owner", "/users", 403, "forbidden"],
  ["as an owner who is not an instance administrator, for an unknown user", "owner", "/users/999", 403, "forbidden"],
  ["with an unknown sort", "admin", "/users?sort=name", 400, "invalid_query"],
  ["with a limit out of range", "admin", "/users?limit=201", 400, "invalid_query"],
  ["with an unknown parameter", "admin", "/users?page=2", 400, "invalid_query"],
  ["with an invalid cursor", "admin", "/users?cursor=abc", 400, "invalid_cursor"],
  ["for an unknown user", "admin", "/users/999", 404, "user_not_found"],
  ["for an invalid id", "admin", "/users/1e3", 404, "user_not_found"],
] as const)("refuses users %s", async (_, who, path, status, code) => {
  await using console = await startConsole()
  const cookies = { admin: console.cookie, owner: (await console.person({ role: "owner" })).cookie, nobody: "sid=x" }
  expect(await console.get(path, cookies[who])).toMatchObject({ status, body: { code } })
})

test("lists users with their organizations, including pending invitations", async () => {
  await using console = await startConsole()
  const viewer = await console.person({ role: "viewer" })
  const { memberships, instance } = console.instance.app
  const [shop] = await instance.organizations.list()
  await memberships.invitations.create(shop!, { email: "new@example.org", role: "editor" }, "instance")
  const { status, body } = await console.get("/users?count=true")
  expect(status).toBe(200)
  const { data, total } = body as Rows
  expect(total).toBe(3)
  expect(data.find(({ id }) => id === viewer.id)).toMatchObject({
    email: viewer.email,
    status: "active",
    is_instance_admin: false,
    organizations: [{ id: 1, name: "Shop", role: "viewer" }],
    mfa: { totp: false, passkeys: 0 },
    auth: { password: false, oidc: [] },
    sessions: 1,
    api_keys: 0,
  })
  expect(data.find(({ id }) => id === null)).toMatchObject({
    email: "new@example.org",
    status: "invited",
    organizations: [{ id: 1, role: "editor" }],
  })
})

test("a list continues from its cursor without gaps or duplicates, also while users are added", async () => {
  await using console = await startConsole()
  for (let i = 0; i < 6; i++) await console.person()
  const first = (await console.get("/users?limit=3")).body as Rows
  expect([first.data.length, first.has_more]).toEqual([3, true])
  await console.person()
  const seen = first.data.map(({ id }) => id)
  for (let cursor = first.next_cursor; cursor !== null; ) {
    const page = (await console.get(`/users?limit=3&cursor=${cursor}`)).body as Rows
    seen.push(...page.data.map(({ id }) => id))
    cursor = page.next_cursor
  }
  expect(new Set(seen).size).toBe(seen.length)
  expect(seen.length).toBeGreaterThanOrEqual(7)
  // A cursor is valid only for its own order and filter.
  expect(await console.get(`/users?limit=3&sort=created_at&cursor=${first.next_cursor}`)).toMatchObject({
    status: 400,
    body: { code: "invalid_cursor" },
  })
})

test.each(["email", "created_at", "last_seen_at"])(
  "the list by %s continues after a user who was deleted since the last page",
  async (sort) => {
    await using console = await startConsole()
    for (let i = 0; i < 4; i++) await console.person()
    const all = (await console.get(`/users?sort=${sort}`)).body as Rows
    const ids = all.data.map(({ id }) => id)
    // The administrator who sends the request cannot be deleted.
    const place = ids[1] === console.adminId ? 2 : 1
    const first = (await console.get(`/users?sort=${sort}&limit=${place + 1}`)).body as Rows
    expect((await console.send("DELETE", `/users/${ids[place]}`)).status).toBe(204)
    const second = (await console.get(`/users?sort=${sort}&cursor=${first.next_cursor}`)).body as Rows
    expect(second.data.map(({ id }) => id)).toEqual(ids.slice(place + 1))
  },
)

test.each([
  ["?role=viewer", ["viewer"]],
  ["?role=owner", ["admin"]],
  ["?status=disabled", ["gone"]],
  ["?organization=1", ["admin", "viewer"]],
  ["?organization=2", []],
  ["?mfa=true", []],
] as const)("users are filtered by %s", async (query, expected) => {
  await using console = await startConsole()
  const ids = {
    admin: console.adminId,
    viewer: (await console.person({ role: "viewer" })).id,
    gone: (await console.person()).id,
  }
  await console.send("POST", `/users/${ids.gone}/disable`)
  const { data } = (await console.get(`/users${query}`)).body as Rows
  expect(data.map(({ id }) => id).sort()).toEqual(expected.map((name) => ids[name]).sort())
})

test("creates a user with a link to choose a password", async () => {
  await using console = await startConsole()
  const { status, body, headers } = await console.send("POST", "/users", {
    email: "Ann@Example.org",
    name: "Ann",
    organization_id: 1,
    role: "editor",
  })
  expect(status).toBe(201)
  expect(body).toMatchObject({ email: "Ann@Example.org", name: "Ann", status: "active", organizations: [{ id: 1, role: "editor" }] })
  expect(headers.get("location")).toBe(`/api/private/admin/users/${(body as { id: number }).id}`)
  const { link } = body as { link: string }
  const token = link.split("/reset/")[1]
  const { api } = console.instance
  expect(await api.post("/api/private/auth/reset", { token, password: "correct horse battery" })).toMatchObject({ status: 204 })
  expect(await api.post("/api/private/auth/login", { email: "ann@example.org", password: "correct horse battery" })).toMatchObject({
    status: 200,
    // The link was passed on by the administrator, so it does not verify the email address.
    body: { user: { name: "Ann", email_verified: false } },
  })
  expect(await console.send("POST", "/users", { email: "ANN@example.org", name: "Other" })).toMatchObject({
    status: 409,
    body: { code: "email_taken" },
  })
})

test.each([
  [{ name: "A" }, "/email", "required"],
  [{ email: "x", name: "A" }, "/email", "too_short"],
  [{ email: "no address", name: "A" }, "/email", "invalid_email"],
  [{ email: "a@b.example", name: " " }, "/name", "too_short"],
  [{ email: "a@b.example", name: "A", organization_id: 1 }, "/role", "required"],
  [{ email: "a@b.example", name: "A", role: "viewer" }, "/organization_id", "required"],
  [{ email: "a@b.example", name: "A", organization_id: 1, role: "guest" }, "/role", "invalid_choice"],
  [{ email: "a@b.example", name: "A", password: "short" }, "/password", "too_short"],
  [{ email: "a@b.example", name: "A", is_instance_admin: "yes" }, "/is_instance_admin", "invalid_type"],
  [{ email: "a@b.example", name: "A", colour: 1 }, "/colour", "unknown_field"],
] as const)("rejects a new user with %j", async (body, pointer, code) => {
  await using console = await startConsole()
  const answer = await console.send("POST", "/users", body)
  expect(answer).toMatchObject({ status: 422, body: { code: "validation_failed" } })
  expect((answer.body as { errors: object[] }).errors[0]).toMatchObject({ pointer, code })
})

test("does not create a user of an unknown organization", async () => {
  await using console = await startConsole()
  const fields = { email: "a@b.example", name: "A", organization_id: 77, role: "viewer" }
  expect(await console.send("POST", "/users", fields)).toMatchObject({ status: 404, body: { code: "organization_not_found" } })
  expect(((await console.get("/users?q=a@b.example")).body as Rows).data).toEqual([])
})

test("granting access requires a recent confirmation of identity, renaming does not", async () => {
  await using console = await startConsole()
  const { id } = await console.person()
  const stale = await console.instance.signIn({ isInstanceAdmin: true, provedAt: console.instance.clock.now() - 11 * 60_000 })
  const by = { cookie: stale }
  const fields = { email: "a@b.example", name: "A" }
  for (const [method, path, body] of [
    ["PATCH", `/users/${id}`, { is_instance_admin: true }],
    ["PATCH", `/users/${id}`, { email: "mine@example.org" }],
    ["POST", "/users", { ...fields, is_instance_admin: true }],
    ["POST", "/users", { ...fields, organization_id: 1, role: "owner" }],
    ["POST", `/users/${id}/reset-password`, undefined],
  ] as const)
    expect(await console.send(method, path, body, by)).toMatchObject({ status: 403, body: { code: "reauth_required" } })
  expect(await console.send("POST", "/users", fields, by)).toMatchObject({ status: 201 })
  expect(await console.send("PATCH", `/users/${id}`, { name: "Other" }, by)).toMatchObject({
    status: 200,
    body: { name: "Other", version: 2 },
  })
  expect(await console.send("PATCH", `/users/${id}`, { is_instance_admin: true })).toMatchObject({
    status: 200,
    body: { is_instance_admin: true },
  })
})

test("correcting an email address invalidates the link that was sent to the wrong one", async () => {
  await using console = await startConsole()
  const { body } = await console.send("POST", "/users", { email: "stranger@example.org", name: "Ann" })
  const { id, link } = body as { id: number; link: string }
  expect(await console.send("PATCH", `/users/${id}`, { email: "ann@example.org" })).toMatchObject({ status: 200 })
  const reset = { token: link.split("/reset/")[1], password: "correct horse battery" }
  expect(await console.instance.api.post("/api/private/auth/reset", reset)).toMatchObject({ status: 422, body: { code: "token_invalid" } })
})

test("rejects a change based on an outdated version", async () => {
  await using console = await startConsole()
  const { id } = await console.person()
  const path = `/users/${id}`
  expect((await console.get(path)).headers.get("etag")).toBe('"1"')
  expect(await console.send("PATCH", path, { name: "B", version: 1 })).toMatchObject({ status: 200, body: { version: 2 } })
  expect(await console.send("PATCH", path, { name: "C", version: 1 })).toMatchObject({
    status: 409,
    body: { code: "version_conflict", current: { name: "B", version: 2 } },
  })
  expect(await console.send("PATCH", path, { name: "C" }, { headers: { "if-match": '"1"' } })).toMatchObject({
    status: 412,
    body: { code: "precondition_failed" },
  })
  expect(await console.get(path)).toMatchObject({ body: { name: "B" } })
})

test("disabling a user ends sessions and personal keys immediately but keeps the memberships", async () => {
  await using console = await startConsole()
  const { api, app } = console.instance
  const owner = await console.person({ role: "owner" })
  const { secret } = await app.instance.keys.create(
    1,
    { name: "Own", scopes: ["sites:read"], site_access: "all", personal: true },
    { by: owner.id },
  )
  expect((await api.get("/api/public/v1/sites", secret)).status).toBe(200)
  expect(await console.send("POST", `/users/${owner.id}/disable`)).toMatchObject({
    status: 200,
    body: { status: "disabled", sessions: 0, api_keys: 0 },
  })
  expect((await api.get("/api/private/me", undefined, { cookie: owner.cookie })).status).toBe(401)
  expect((await api.get("/api/public/v1/sites", secret)).status).toBe(401)
  expect(await console.send("POST", `/users/${owner.id}/enable`)).toMatchObject({
    status: 200,
    body: { status: "active", organizations: [{ id: 1, role: "owner" }] },
  })
  // Enabling the user does not restore them.
  expect((await api.get("/api/private/me", undefined, { cookie: owner.cookie })).status).toBe(401)
})

test("keeps the last active instance administrator, also when two disable each other concurrently", async () => {
  await using console = await startConsole()
  const { adminId } = console
  for (const [method, path, body] of [
    ["POST", `/users/${adminId}/disable`, undefined],
    ["PATCH", `/users/${adminId}`, { is_instance_admin: false }],
  ] as const)
    expect(await console.send(method, path, body)).toMatchObject({ status: 409, body: { code: "last_instance_admin" } })

  const other = await console.person({ isInstanceAdmin: true })
  const answers = await Promise.all([
    console.send("PATCH", `/users/${other.id}`, { is_instance_admin: false }),
    console.send("PATCH", `/users/${adminId}`, { is_instance_admin: false }, { cookie: other.cookie }),
  ])
  expect(answers.map(({ status }) => status).sort()).not.toEqual([200, 200])
  const { data } = (await console.instance.app.console.users.list({ status: "active" })) as { data: { is_instance_admin: boolean }[] }
  expect(data.filter((user) => user.is_instance_admin).length).toBe(1)
})

test("deletes the only owner of an organization only if another owner is named", async () => {
  await using console = await startConsole()
  const { app } = console.instance
  const founder = await console.person()
  const { id } = await app.instance.organizations.createOwned({ id: founder.id, is_instance_admin: true }, { name: "Mill" })
  const heir = await console.person({ role: "viewer", organizationId: id })
  const outsider = await console.person()
  const path = `/users/${founder.id}`
  expect(await console.send("DELETE", path)).toMatchObject({
    status: 409,
    body: { code: "sole_owner", organizations: [{ id, name: "Mill" }] },
  })
  const transferTo = (user_id: number) => ({ transfer: [{ organization_id: id, user_id }] })
  expect(await console.send("DELETE", path, transferTo(outsider.id))).toMatchObject({ status: 409, body: { code: "sole_owner" } })
  expect(await console.send("DELETE", path, transferTo(heir.id))).toMatchObject({ status: 204 })
  expect(await console.get(path)).toMatchObject({ status: 404, body: { code: "user_not_found" } })
  expect(await console.get(`/users/${heir.id}`)).toMatchObject({ body: { organizations: [{ id, role: "owner" }] } })
  expect((await console.instance.api.get("/api/private/me", undefined, { cookie: founder.cookie })).status).toBe(401)
  // The address can be used again, and the audit log keeps the former owner.
  expect(await console.send("POST", "/users", { email: founder.email, name: "Again" })).toMatchObject({ status: 201 })
  const [row] = await app.memberships.auditList.list({ action: { name: "admin.user.delete", isPrefix: false } }, undefined, 1)
  expect(row).toMatchObject({ target_label: founder.email, actor_id: console.adminId })
})

test("audits every action with one entry", async () => {
  await using console = await startConsole()
  const { id } = await console.person()
  const before = (await actionsOf(console)).length
  await console.send("PATCH", `/users/${id}`, { name: "B" })
  await console.send("PATCH", `/users/${id}`, { name: "B" })
  await console.send("POST", `/users/${id}/disable`)
  await console.send("POST", `/users/${id}/disable`)
  await console.send("POST", `/users/${id}/enable`)
  await console.send("POST", `/users/${id}/reset-password`)
  await console.send("POST", `/users/${id}/reset-mfa`)
  await console.send("POST", `/users/${id}/sign-out`)
  await console.send("DELETE", `/users/${id}`)
  expect((await actionsOf(console)).slice(before)).toEqual([
    "admin.user.update",
    "admin.user.disable",
    "admin.user.enable",
    "admin.user.reset-password",
    "admin.user.reset-mfa",
    "admin.user.sign-out",
    "admin.user.delete",
  ])
})
