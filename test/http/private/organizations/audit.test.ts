import { afterAll, beforeAll, expect, test } from "bun:test"
import { createAuditList } from "../../../../src/services/audit/audit.ts"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { newUser, ORGANIZATION, type SignedInUser } from "../people.ts"

let instance: TestInstance
let owner: SignedInUser
let admin: SignedInUser
beforeAll(async () => {
  instance = await startInstance()
  owner = await newUser(instance, { role: "owner" })
  admin = await newUser(instance, { role: "admin" })
  const { organizations } = instance.app.instance
  const other = await organizations.create({ name: "Other" })
  const stranger = await newUser(instance, { role: "owner", organizationId: other.id })
  // In this order, one day apart.
  await owner.send("PATCH", ORGANIZATION, { name: "Shops" })
  instance.clock.advance(DAY)
  owner = await newUser(instance, { role: "owner" })
  admin = await newUser(instance, { role: "admin" })
  await admin.send("POST", `${ORGANIZATION}/sites`, { name: "Blog", hosts: ["blog.example"] })
  await stranger.send("PATCH", `/api/private/organizations/${other.id}`, { name: "Others" })
  await admin.send("POST", `${ORGANIZATION}/domains`, { domain: "example.org" })
  instance.clock.advance(DAY / 2)
  await owner.send("POST", `${ORGANIZATION}/domains`, { domain: "example.com" })
})
afterAll(() => instance[Symbol.asyncDispose]())

const DAY = 86_400_000
const AUDIT = `${ORGANIZATION}/audit`
const list = async (query = "", who = owner) => (await who.get(AUDIT + query)).body
const actionsOf = async (query = "") => ((await list(query)).data as { action: string }[]).map(({ action }) => action)
const ALL_ACTIONS = ["accounts.mail_domain.create", "accounts.mail_domain.create", "sites.site.create", "accounts.organization.update"]

test("an organization sees its own entries, newest first, with all details", async () => {
  expect(await actionsOf()).toEqual(ALL_ACTIONS)
  const { data } = await list("?limit=1")
  expect(data).toEqual(
    [
      {
        id: expect.any(Number),
        at: "2026-11-23T00:00:00Z",
        actor_kind: "user",
        actor_id: owner.id,
        actor_email: owner.email,
        impersonator_id: null,
        impersonator_email: null,
        action: "accounts.mail_domain.create",
        target_type: "mail_domain",
        target_id: "2",
        target_label: "example.com",
        organization_id: 1,
        site_id: null,
        outcome: "ok",
        ip_prefix: "198.51.100.0/24",
        user_agent: "",
        request_id: expect.any(String),
        changes: { domain: [null, "example.com"], token: [null, expect.any(String)], verified_at: expect.anything() },
      },
    ].map(({ changes: _, ...row }) => expect.objectContaining(row)),
  )
})

test.each<[string, string[]]>([
  ["?action=sites.site.create", ["sites.site.create"]],
  ["?action=accounts.*", ALL_ACTIONS.filter((action) => action.startsWith("accounts"))],
  ["?action=accounts", []],
  ["?target=mail_domain", ALL_ACTIONS.slice(0, 2)],
  ["?target=mail_domain:1", ALL_ACTIONS.slice(0, 1)],
  ["?target=mail_domain:9", []],
  ["?site=2", ["sites.site.create"]],
  ["?outcome=failed", []],
  ["?outcome=ok", ALL_ACTIONS],
  ["?ip=198.51.", ALL_ACTIONS],
  ["?ip=203.", []],
  ["?from=2026-11-22", ALL_ACTIONS.slice(0, 3)],
  ["?to=2026-11-21", ALL_ACTIONS.slice(3)],
  ["?from=2026-11-22&to=2026-11-22", ALL_ACTIONS.slice(1, 3)],
  ["?from=2026-11-22&action=accounts.*", ALL_ACTIONS.slice(0, 2)],
])("filters by %s", async (query, actions) => {
  expect(await actionsOf(query)).toEqual(actions)
})

test("filters by actor: an id, or an address in any case", async () => {
  expect(await actionsOf(`?actor=${admin.id}`)).toEqual(["accounts.mail_domain.create", "sites.site.create"])
  expect(await actionsOf(`?actor=${admin.email.toUpperCase()}`)).toEqual(["accounts.mail_domain.create", "sites.site.create"])
  expect(await actionsOf("?actor=nobody@example.com")).toEqual([])
})

test("continues from a cursor, without gaps while entries are added", async () => {
  const first = await list("?limit=2&count=true")
  expect(first).toMatchObject({ has_more: true, total: 4 })
  await owner.send("POST", `${ORGANIZATION}/domains`, { domain: "example.net" })
  const second = await list(`?limit=2&cursor=${encodeURIComponent(first.next_cursor)}`)
  expect(second).toMatchObject({ has_more: false, next_cursor: null })
  expect([...first.data, ...second.data].map(({ action }: { action: string }) => action)).toEqual(ALL_ACTIONS)
  const answer = await owner.get(`${AUDIT}?action=x&cursor=${encodeURIComponent(first.next_cursor)}`)
  expect(answer).toMatchObject({ status: 400, body: { code: "invalid_cursor" } })
})

test.each(["?actor=", "?from=yesterday", "?from=2026-11-22&to=2026-11-21", "?site=x", "?outcome=maybe", "?colour=1", "?limit=201"])(
  "rejects %s",
  async (query) => {
    expect(await owner.get(AUDIT + query)).toMatchObject({ status: 400, body: { code: "invalid_query" } })
  },
)

test("needs the permission to read it, and never shows entries of another organization", async () => {
  const editor = await newUser(instance, { role: "editor" })
  expect((await editor.get(AUDIT)).body).toMatchObject({ code: "forbidden", required_permission: "audit:read" })
  const boss = await newUser(instance, { role: "owner" })
  await boss.send("PATCH", `${ORGANIZATION}/members/${editor.id}`, { grants: ["audit:read"] })
  expect((await editor.get(AUDIT)).status).toBe(200)
  expect((await owner.get("/api/private/organizations/2/audit")).body.code).toBe("organization_not_found")
  expect((await owner.get(`${AUDIT}?organization=2`)).body.code).toBe("invalid_query")
})

test("finds a rare entry among thousands of others, and the chain stays intact", async () => {
  await using own = await startInstance()
  const { audit, catalog } = own.app.instance
  const actor = { kind: "system", email: "", ipPrefix: "", userAgent: "", requestId: "" } as const
  const deed = (action: string) => ({ action, target: { type: "x", id: 1, label: "x" }, organizationId: 1 })
  await catalog.transaction(async (statements) => {
    await audit.write(statements, actor, deed("rare.thing.done"))
    for (let i = 0; i < 2_500; i++) await audit.write(statements, actor, deed("usual.thing.done"))
  })
  const auditList = createAuditList({ catalog })
  const rare = { organizationId: 1, action: { name: "rare.", isPrefix: true } }
  expect((await auditList.list(rare, undefined, 50)).map(({ id }) => id)).toEqual([1])
  expect(await auditList.count(rare)).toBe(1)
  expect(await auditList.count({ organizationId: 1 })).toBe(2_501)
  expect(await auditList.list({ organizationId: 2 }, undefined, 50)).toEqual([])
  expect(await audit.verify()).toEqual({ ok: true, rows: 2_501 })
})

test("each write leaves exactly one entry; reads, rejections and repetitions leave none", async () => {
  await using own = await startInstance()
  const { catalog } = own.app.instance
  const boss = await newUser(own, { role: "owner", isInstanceAdmin: true })
  const other = await newUser(own, { role: "viewer" })
  const guest = await newUser(own)
  const member = `${ORGANIZATION}/members/${other.id}`
  const site = "/api/private/sites/1"
  const key = { name: "K", scopes: ["stats:read"], site_access: "all" }
  const invited = { email: guest.email, role: "viewer" }
  let token = ""
  const writes: [string, string, string, unknown?][] = [
    ["accounts.organization.create", "POST", "/api/private/organizations", { name: "Second" }],
    ["accounts.organization.update", "PATCH", ORGANIZATION, { name: "Shops" }],
    ["sites.site.create", "POST", `${ORGANIZATION}/sites`, { name: "Blog", hosts: ["blog.example"] }],
    ["accounts.mail_domain.create", "POST", `${ORGANIZATION}/domains`, { domain: "example.org" }],
    ["accounts.mail_domain.delete", "DELETE", `${ORGANIZATION}/domains/1`],
    ["accounts.member.update", "PATCH", member, { role: "editor" }],
    ["accounts.site_member.put", "PUT", `${site}/members/${other.id}`, { role: "viewer" }],
    ["accounts.site_member.remove", "DELETE", `${site}/members/${other.id}`],
    ["accounts.api_key.create", "POST", `${ORGANIZATION}/api-keys`, key],
    ["accounts.api_key.update", "PATCH", `${ORGANIZATION}/api-keys/5`, { name: "L" }],
    ["accounts.api_key.rotate", "POST", `${ORGANIZATION}/api-keys/5/rotate`, {}],
    ["accounts.api_key.create", "POST", `${site}/api-keys`, { name: "M", scopes: ["stats:read"] }],
    ["accounts.api_key.revoke", "DELETE", `${ORGANIZATION}/api-keys/5`],
    ["accounts.invitation.create", "POST", `${ORGANIZATION}/members/invite`, invited],
    ["accounts.invitation.resend", "POST", `${ORGANIZATION}/invitations/1/resend`],
    ["accounts.invitation.delete", "DELETE", `${ORGANIZATION}/invitations/1`],
    ["accounts.invitation.create", "POST", `${ORGANIZATION}/members/invite`, invited],
    ["accounts.member.remove", "DELETE", member],
  ]
  const auditList = createAuditList({ catalog })
  const newest = async (count: number) => (await auditList.list({}, undefined, 1_000)).slice(0, count).map(({ action }) => action)
  let rows = 0
  for (const [action, method, path, body] of writes) {
    const { status, body: response } = await boss.send(method, path, body)
    expect(status, path).toBeLessThan(300)
    rows++
    expect(await auditList.count({}), path).toBe(rows)
    expect(await newest(1), path).toEqual([action])
    if (typeof response === "object" && response.link) token = response.link.split("/").at(-1)
  }
  expect((await guest.send("POST", `/api/private/invitations/${token}/accept`, {})).status).toBe(200)
  expect(await newest(1)).toEqual(["accounts.invitation.accept"])
  expect((await boss.send("POST", `${ORGANIZATION}/transfer-ownership`, { user_id: guest.id })).status).toBe(200)
  expect(await newest(1)).toEqual(["accounts.organization.transfer"])
  expect((await guest.send("DELETE", ORGANIZATION, { confirm: "Shops" })).status).toBe(202)
  expect(await newest(1)).toEqual(["accounts.organization.delete"])
  rows += 3

  for (const [, method, path] of writes) {
    await boss.send(method, path, { colour: 1 })
    await boss.get(path)
  }
  expect(await auditList.count({})).toBe(rows)
})
