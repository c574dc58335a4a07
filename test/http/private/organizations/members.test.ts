import { afterAll, beforeAll, expect, test } from "bun:test"
import { insertMembership } from "../../../../src/store/catalog/members.ts"
import { sql } from "../../../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { faultsIn, newestEntries, newUser, ORGANIZATION, type SignedInUser, signedIn } from "../people.ts"

let instance: TestInstance
let owner: SignedInUser
let admin: SignedInUser
beforeAll(async () => {
  instance = await startInstance()
  owner = await newUser(instance, { role: "owner" })
  admin = await newUser(instance, { role: "admin" })
})
afterAll(() => instance[Symbol.asyncDispose]())

const MEMBERS = `${ORGANIZATION}/members`
const TRANSFER = `${ORGANIZATION}/transfer-ownership`
const change = (who: SignedInUser, whom: SignedInUser, body: unknown, headers = {}) =>
  who.send("PATCH", `${MEMBERS}/${whom.id}`, body, headers)
const remove = (who: SignedInUser, whom: SignedInUser, body?: unknown) => who.send("DELETE", `${MEMBERS}/${whom.id}`, body)

test("lists members with their roles, factors and site roles", async () => {
  await using own = await startInstance()
  const { clock } = own
  const boss = await newUser(own, { role: "owner" })
  clock.advance(60_000)
  const guest = await newUser(own, { role: "guest", siteRole: "editor" })
  const { status, body } = await boss.get(MEMBERS)
  expect(status).toBe(200)
  expect(body).toEqual({
    data: [
      {
        user: { id: boss.id, name: boss.email.split("@")[0], email: boss.email },
        role: "owner",
        grants: [],
        denies: [],
        site_roles: [],
        mfa: false,
        last_seen_at: "2026-11-21T12:00:00Z",
        joined_at: "2026-11-21T12:00:00Z",
        version: 1,
      },
      {
        user: { id: guest.id, name: guest.email.split("@")[0], email: guest.email },
        role: "guest",
        grants: [],
        denies: [],
        site_roles: [{ site_id: 1, role: "editor" }],
        mfa: false,
        last_seen_at: "2026-11-21T12:01:00Z",
        joined_at: "2026-11-21T12:01:00Z",
        version: 1,
      },
    ],
    has_more: false,
    next_cursor: null,
  })
  expect((await boss.get(`${MEMBERS}?role=guest`)).body.data).toMatchObject([{ user: { id: guest.id } }])
  expect((await boss.get(`${MEMBERS}?q=${boss.email.slice(2, 12).toUpperCase()}`)).body.data).toMatchObject([{ user: { id: boss.id } }])
  const first = await boss.get(`${MEMBERS}?limit=1&count=true`)
  expect(first.body).toMatchObject({ data: [{ user: { id: boss.id } }], has_more: true, total: 2 })
  const cursor = encodeURIComponent(first.body.next_cursor)
  expect((await boss.get(`${MEMBERS}?limit=1&cursor=${cursor}`)).body).toMatchObject({
    data: [{ user: { id: guest.id } }],
    has_more: false,
    next_cursor: null,
  })
  // A cursor belongs to one list and one filter.
  for (const path of [`${MEMBERS}?role=guest&cursor=${cursor}`, `${ORGANIZATION}/invitations?cursor=${cursor}`, `${MEMBERS}?cursor=x`])
    expect(await boss.get(path)).toMatchObject({ status: 400, body: { code: "invalid_cursor" } })
  for (const query of ["limit=0", "limit=201", "limit=x", "role=boss", "colour=1", "limit=1&limit=2", "count=yes"])
    expect(await boss.get(`${MEMBERS}?${query}`)).toMatchObject({ status: 400, body: { code: "invalid_query" } })
})

test("a change of role, grants or denials applies from the next request", async () => {
  const member = await newUser(instance, { role: "viewer" })
  const may = async (permission: string) => (await member.get("/api/private/me")).body.sites[0].permissions.includes(permission) as boolean
  expect(await may("goals:write")).toBe(false)
  expect(await change(admin, member, { role: "editor" })).toMatchObject({ status: 200, body: { role: "editor", version: 2 } })
  expect(await may("goals:write")).toBe(true)
  expect(await change(admin, member, { denies: ["goals:write", "export:read"] })).toMatchObject({
    body: { role: "editor", denies: ["export:read", "goals:write"], version: 3 },
  })
  expect(await may("goals:write")).toBe(false)
  await change(admin, member, { role: "viewer", denies: [], grants: ["people:read", "keys:write"] })
  expect(await may("people:read")).toBe(true)
  expect((await member.get(`${ORGANIZATION}/api-keys`)).status).toBe(200)
  expect(await newestEntries(instance)).toMatchObject([
    {
      action: "accounts.member.update",
      actor_id: admin.id,
      target_type: "user",
      target_id: String(member.id),
      target_label: member.email,
      organization_id: 1,
      changes: { role: ["editor", "viewer"], grants: [[], ["keys:write", "people:read"]], denies: [["export:read", "goals:write"], []] },
    },
  ])
})

test("an update has a version, and the response of the list can be sent back", async () => {
  const member = await newUser(instance, { role: "viewer" })
  const shown = (await owner.get(`${MEMBERS}?q=${member.email}`)).body.data[0]
  expect((await change(owner, member, shown)).body).toEqual(shown)
  expect((await change(owner, member, { role: "editor", version: 1 })).body.version).toBe(2)
  expect(await change(owner, member, { role: "admin", version: 1 })).toMatchObject({
    status: 409,
    body: { code: "version_conflict", current: { role: "editor", version: 2 } },
  })
  expect((await change(owner, member, { role: "admin" }, { "if-match": '"1"' })).status).toBe(412)
  expect((await change(owner, member, { role: "admin" }, { "if-match": '"2"' })).headers.get("etag")).toBe('"3"')
})

test("no one assigns a role above their own or a permission they lack; only owners change owners", async () => {
  const other = await newUser(instance, { role: "owner" })
  const member = await newUser(instance, { role: "viewer" })
  const helper = await newUser(instance, { role: "editor" })
  const limited = await newUser(instance, { role: "admin" })
  await change(owner, helper, { grants: ["members:write"] })
  await change(owner, limited, { denies: ["people:read", "site:delete"] })

  const refused: [SignedInUser, SignedInUser, object, string | undefined][] = [
    [admin, member, { role: "owner" }, "org:delete"],
    [admin, other, { role: "viewer" }, "org:delete"],
    [admin, other, { role: "owner", grants: [] }, "org:delete"],
    [helper, member, { role: "admin" }, undefined],
    [helper, admin, { role: "viewer" }, undefined],
    [helper, member, { grants: ["members:write", "org:write"] }, "org:write"],
    [helper, member, { grants: ["keys:write"] }, "keys:write"],
    [limited, member, { grants: ["people:read"] }, "people:read"],
    // Least of all to themselves.
    [limited, limited, { denies: [] }, "people:read"],
    [limited, limited, { role: "owner" }, "org:delete"],
    [helper, helper, { role: "admin" }, undefined],
    [admin, admin, { grants: ["org:delete"] }, "org:delete"],
  ]
  for (const [who, whom, body, permission] of refused)
    expect(await change(who, whom, body), JSON.stringify(body)).toMatchObject({
      status: 403,
      body: { code: "forbidden", ...(permission && { required_permission: permission }) },
    })
  expect((await change(admin, other, {})).status).toBe(403)
  expect((await change(helper, member, { role: "editor", grants: ["members:write"] })).status).toBe(200)
  expect((await change(owner, other, { role: "admin" })).body.role).toBe("admin")
  expect((await change(owner, limited, { role: "owner" })).body).toMatchObject({ role: "owner", denies: [], grants: [] })
  expect((await change(owner, limited, { role: "viewer" })).body.denies).toEqual([])
})

test.each<[string, unknown, string[]]>([
  ["an unknown role", { role: "boss" }, ["/role invalid_choice"]],
  ["no role", { role: null }, ["/role invalid_type"]],
  [
    "an unknown permission",
    { grants: ["goals:write", "moon:read"], denies: ["x"] },
    ["/grants/1 invalid_choice", "/denies/0 invalid_choice"],
  ],
  ["a repeated permission", { grants: ["goals:write", "goals:write"] }, ["/grants not_unique"]],
  ["a string as the permissions", { grants: "goals:write" }, ["/grants invalid_type"]],
  ["exceptions of an owner", { role: "owner", denies: ["goals:write"] }, ["/denies/0 invalid_choice"]],
  ["exceptions of a guest", { role: "guest", grants: ["goals:write"] }, ["/grants/0 invalid_choice"]],
  ["an unknown field", { colour: 1 }, ["/colour unknown_field"]],
  ["the name of an inherited property", { grants: ["constructor"] }, ["/grants/0 invalid_choice"]],
])("rejects a change to %s", async (_, body, faults) => {
  const member = await newUser(instance, { role: "viewer" })
  const answer = await change(owner, member, body)
  expect([answer.status, faultsIn(answer)]).toEqual([422, faults])
})

test("the user in the path is checked before the body, and a recent proof of identity before both", async () => {
  const stranger = await newUser(instance)
  for (const [method, body] of [
    ["PATCH", "{"],
    ["DELETE", "{"],
  ] as const)
    for (const id of [stranger.id, 0, "x", 9_999_999])
      expect(await owner.send(method, `${MEMBERS}/${id}`, body)).toMatchObject({ status: 404, body: { code: "user_not_found" } })
  const member = await newUser(instance, { role: "viewer" })
  expect(await owner.send("PATCH", `${MEMBERS}/${member.id}`, "{")).toMatchObject({ status: 400, body: { code: "invalid_json" } })
  const tired = await newUser(instance, { role: "owner", provedAt: instance.clock.now() - 10 * 60_000 - 1 })
  expect(await tired.send("PATCH", `${MEMBERS}/x`, "{")).toMatchObject({ status: 403, body: { code: "reauth_required" } })
  expect((await change(tired, member, {})).body.code).toBe("reauth_required")
})

test("an organization keeps an owner, even if two demote each other", async () => {
  await using own = await startInstance()
  const [a, b] = [await newUser(own, { role: "owner" }), await newUser(own, { role: "owner" })]
  expect(await change(a, a, { role: "admin" })).toMatchObject({ status: 200 })
  expect(await change(b, b, { role: "viewer" })).toMatchObject({ status: 409, body: { code: "last_owner" } })
  expect(await remove(b, b)).toMatchObject({ status: 409, body: { code: "last_owner" } })
  await change(b, a, { role: "owner" })

  for (let round = 0; round < 10; round++) {
    const results = await Promise.all([change(a, b, { role: "admin" }), change(b, a, { role: "admin" })])
    expect(results.map(({ status }) => status).sort()).toEqual([200, 403])
    const [winner, loser] = results[0]!.status === 200 ? [a, b] : [b, a]
    await change(winner, loser, { role: "owner" })
  }
  await Promise.all([change(a, a, { role: "viewer" }), change(b, b, { role: "viewer" }), remove(a, b), remove(b, a)])
  const owners = await own.app.instance.catalog.all(sql`select user_id from memberships where role = 'owner'`)
  expect(owners).toHaveLength(1)
})

test("a disabled owner does not count as an owner", async () => {
  await using own = await startInstance()
  const [a, b] = [await newUser(own, { role: "owner" }), await newUser(own, { role: "owner" })]
  await own.app.instance.catalog.run(sql`update users set status = 'disabled' where id = ${b.id}`)
  expect(await change(a, a, { role: "admin" })).toMatchObject({ status: 409, body: { code: "last_owner" } })
  expect((await change(a, b, { role: "viewer" })).status).toBe(200)
})

test("a removed member loses site roles, personal keys and open invitations, but not what the organization owns", async () => {
  await using own = await startInstance()
  const { app, api } = own
  const boss = await newUser(own, { role: "owner" })
  const leaver = await newUser(own, { role: "admin", siteRole: "admin" })
  const key = (fields: object) =>
    leaver.send("POST", `${ORGANIZATION}/api-keys`, { name: "K", scopes: ["goals:write"], site_access: "all", ...fields })
  const [personal, shared] = [await key({ personal: true }), await key({})]
  const invitation = await leaver.send("POST", `${MEMBERS}/invite`, { email: "new@example.com", role: "viewer" })
  expect(invitation.status).toBe(201)
  const works = async (secret: string) => (await api.get("/api/public/v1/sites/1/goals", secret)).status
  expect([await works(personal.body.key), await works(shared.body.key)]).toEqual([200, 200])

  expect(faultsIn(await remove(boss, leaver, { transfer_to: leaver.id }))).toEqual(["/transfer_to invalid_choice"])
  expect(faultsIn(await remove(boss, leaver, { transfer_to: 99 }))).toEqual(["/transfer_to invalid_choice"])
  expect((await remove(boss, leaver, { transfer_to: boss.id })).status).toBe(204)
  expect(await newestEntries(own)).toMatchObject([{ action: "accounts.member.remove", target_id: String(leaver.id) }])
  expect((await leaver.get(ORGANIZATION)).status).toBe(404)
  expect((await leaver.get("/api/private/sites/1/members")).status).toBe(404)
  expect([await works(personal.body.key), await works(shared.body.key)]).toEqual([401, 200])
  const listed = (await boss.get(`${ORGANIZATION}/api-keys/${shared.body.id}`)).body
  expect(listed).toMatchObject({ state: "active", owner_left: true, created_by: { id: leaver.id }, scopes: ["goals:write"] })
  expect((await boss.get(`${ORGANIZATION}/api-keys/${personal.body.id}`)).body).toMatchObject({ state: "revoked" })
  const token = invitation.body.link.split("/").at(-1)
  expect((await api.get(`/api/private/invitations/${token}`)).status).toBe(404)
  expect((await boss.get(`${ORGANIZATION}/invitations`)).body.data).toEqual([])
  expect(await app.instance.catalog.all(sql`select * from site_members`)).toEqual([])
  expect((await remove(boss, leaver)).body.code).toBe("user_not_found")
})

test("no one can assign, keep or promote to a permission that they are denied", async () => {
  await using own = await startInstance()
  const boss = await newUser(own, { role: "owner" })
  const limited = await newUser(own, { role: "admin" })
  const editor = await newUser(own, { role: "editor" })
  const viewer = await newUser(own, { role: "viewer" })
  const guest = await newUser(own, { role: "guest", siteRole: "viewer" })
  // An invitation sent earlier does not outlive the permission to send it.
  const open = await limited.send("POST", `${MEMBERS}/invite`, { email: "later@example.com", role: "editor" })
  expect(open.status).toBe(201)
  expect((await change(boss, limited, { denies: ["people:read", "export:read"] })).status).toBe(200)

  const lacked = (permission: string) => ({ status: 403, body: { code: "forbidden", required_permission: permission } })
  expect(await change(limited, editor, { role: "admin" })).toMatchObject({ status: 200 })
  expect(await change(limited, viewer, { role: "editor" })).toMatchObject(lacked("people:read"))
  expect(await change(limited, guest, { role: "viewer" })).toMatchObject(lacked("export:read"))
  expect(await change(limited, viewer, { grants: ["people:read"] })).toMatchObject(lacked("people:read"))
  expect(await change(limited, viewer, { role: "editor", denies: ["people:read"] })).toMatchObject({ status: 200 })
  expect(await change(limited, viewer, { denies: [] })).toMatchObject(lacked("people:read"))
  // Removing rights is allowed.
  expect(await change(limited, viewer, { role: "viewer" })).toMatchObject({ status: 200 })

  for (const role of ["admin", "editor", "viewer"])
    expect((await limited.send("POST", `${MEMBERS}/invite`, { email: "new@example.com", role })).status, role).toBe(403)
  expect(await limited.send("POST", `${MEMBERS}/invite`, { email: "g@example.com", role: "guest", site_ids: [1] })).toMatchObject(
    lacked("export:read"),
  )
  const row = `/api/private/sites/1/members/${guest.id}`
  expect(await limited.send("PUT", row, { role: "editor" })).toMatchObject(lacked("people:read"))
  expect((await limited.send("DELETE", row)).status).toBe(204)
  expect(await limited.send("PUT", row, { role: "viewer" })).toMatchObject(lacked("export:read"))
  // A site role that limits a member is a limit, so removing it grants rights.
  const held = await newUser(own, { role: "editor", siteRole: "viewer" })
  expect(await limited.send("DELETE", `/api/private/sites/1/members/${held.id}`)).toMatchObject(lacked("people:read"))

  const token = open.body.link.split("/").at(-1)
  expect((await own.api.get(`/api/private/invitations/${token}`)).status).toBe(404)
  expect((await change(boss, limited, { denies: [] })).status).toBe(200)
  expect((await own.api.get(`/api/private/invitations/${token}`)).status).toBe(200)
})

test("only owners remove owners, and no one removes a member above them", async () => {
  const other = await newUser(instance, { role: "owner" })
  const helper = await newUser(instance, { role: "editor" })
  await change(owner, helper, { grants: ["members:write"] })
  expect(await remove(admin, other)).toMatchObject({ status: 403, body: { required_permission: "org:delete" } })
  expect((await remove(helper, admin)).status).toBe(403)
  expect((await remove(owner, other)).status).toBe(204)
})

test("ownership is transferred, and the previous owner stays as admin", async () => {
  await using own = await startInstance()
  const boss = await newUser(own, { role: "owner" })
  const successor = await newUser(own, { role: "viewer" })
  const guest = await newUser(own, { role: "guest", siteRole: "viewer" })
  const stranger = await newUser(own)
  for (const user_id of [boss.id, guest.id, stranger.id, 99])
    expect(faultsIn(await boss.send("POST", TRANSFER, { user_id }))).toEqual(["/user_id invalid_choice"])
  expect(faultsIn(await boss.send("POST", TRANSFER, {}))).toEqual(["/user_id required"])
  expect(await successor.send("POST", TRANSFER, { user_id: successor.id })).toMatchObject({
    status: 403,
    body: { required_permission: "org:delete" },
  })
  expect(await boss.send("POST", TRANSFER, { user_id: successor.id })).toMatchObject({ status: 200, body: { id: 1, role: "admin" } })
  expect(await newestEntries(own)).toMatchObject([
    { action: "accounts.organization.transfer", changes: { owner: [boss.email, successor.email] }, organization_id: 1 },
  ])
  expect((await successor.get(ORGANIZATION)).body.role).toBe("owner")
  // Of two simultaneous transfers, one succeeds.
  const other = await newUser(own, { role: "admin" })
  const both = await Promise.all([boss.id, other.id].map((user_id) => successor.send("POST", TRANSFER, { user_id })))
  expect(both.map(({ status }) => status).sort()).toEqual([200, 403])
})

test("an impersonated session changes no members", async () => {
  const { catalog, sessions, cookieSecrets } = instance.app.instance
  const chief = await newUser(instance, { isInstanceAdmin: true })
  const impersonation = { by: chief.id, mode: "full", reason: "help", minutes: 30 } as const
  const { token } = await catalog.transaction((statements) =>
    sessions.create(
      statements,
      { id: owner.id },
      { method: "impersonation", mfa: true, client: { userAgent: "", ipPrefix: "" }, impersonation },
    ),
  )
  const signature = new Bun.CryptoHasher("sha256", cookieSecrets[0]).update(token).digest("base64").replace(/=+$/, "")
  const double = await signedIn(instance, `sid=${encodeURIComponent(`${token}.${signature}`)}`)
  const member = await newUser(instance, { role: "viewer" })
  expect(double.id).toBe(owner.id)
  for (const [method, path] of [
    ["PATCH", `${MEMBERS}/${member.id}`],
    ["DELETE", `${MEMBERS}/${member.id}`],
    ["POST", `${MEMBERS}/invite`],
    ["POST", TRANSFER],
    ["PUT", `/api/private/sites/1/members/${member.id}`],
    ["POST", `${ORGANIZATION}/api-keys`],
    ["DELETE", ORGANIZATION],
  ] as const)
    expect(await double.send(method, path, {}), path).toMatchObject({ status: 403, body: { code: "impersonation_read_only" } })
  expect((await double.get(MEMBERS)).status).toBe(200)
})

test("an organization has at most 500 members", async () => {
  await using own = await startInstance()
  const { catalog } = own.app.instance
  const boss = await newUser(own, { role: "owner" })
  await catalog.transaction(async (statements) => {
    for (let i = 0; i < 499; i++) {
      const email = `m${i}@example.com`
      await statements.run(sql`insert into users (email, email_key, name, created_at) values (${email}, ${email}, ${email}, 0)`)
      const row = await statements.get<{ id: number }>(sql`select id from users where email_key = ${email}`)
      await insertMembership(statements, { organizationId: 1, userId: row!.id, role: "viewer", now: 0 })
    }
  })
  expect((await boss.get(`${MEMBERS}?limit=200&count=true`)).body).toMatchObject({ total: 500, has_more: true })
  expect(await boss.send("POST", `${MEMBERS}/invite`, { email: "one-more@example.com", role: "viewer" })).toMatchObject({
    status: 422,
    body: { code: "limit_reached", limit: 500, resource: "members" },
  })
})

test("a change of rights replaces the session token and ends the old one", async () => {
  await using own = await startInstance()
  const { api, clock } = own
  const boss = await newUser(own, { role: "owner" })
  const successor = await newUser(own, { role: "viewer" })
  const changes: [string, SignedInUser, () => Promise<{ status: number }>][] = [
    ["role", successor, () => change(boss, successor, { role: "editor" })],
    ["grants", successor, () => change(boss, successor, { grants: ["keys:write"] })],
    ["row of a site", successor, () => boss.send("PUT", `/api/private/sites/1/members/${successor.id}`, { role: "viewer" })],
    ["row taken away", successor, () => boss.send("DELETE", `/api/private/sites/1/members/${successor.id}`)],
    ["ownership", successor, () => boss.send("POST", TRANSFER, { user_id: successor.id })],
  ]
  for (const [name, whom, change] of changes) {
    const old = whom.cookie
    expect((await change()).status, name).toBeLessThan(300)
    expect((await whom.get("/api/private/me")).status).toBe(200)
    expect(whom.cookie, name).not.toBe(old)
    clock.advance(11_000)
    expect((await api.get("/api/private/me", undefined, { cookie: old })).status, name).toBe(401)
    expect((await whom.get("/api/private/me")).status).toBe(200)
  }
})
