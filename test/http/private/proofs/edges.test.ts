import { expect, test } from "bun:test"
import fc from "fast-check"
import { announceEndingKeys } from "../../../../src/services/api-keys/key-usage.ts"
import { sql } from "../../../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { openMailbox } from "../../../mailbox.ts"
import { newUser, ORGANIZATION, type SignedInUser, signedIn, type UntypedResponse } from "../people.ts"

const DAY = 86_400_000
const plain = ({ status, body }: UntypedResponse) => {
  const { request_id: _, ...rest } = body
  return JSON.stringify([status, rest])
}

/** Creates two organizations, A (1) and B (2), each with a site, a member, a key, an invitation and a domain. */
async function twoOrganizations(instance: TestInstance) {
  const { organizations, sites } = instance.app.instance
  const b = await organizations.create({ name: "Sentinel Ltd" })
  const site = await sites.create(b.id, { name: "Sentinel shop", hosts: ["sentinel.example"] })
  const owner = await newUser(instance, { role: "owner", organizationId: b.id })
  const path = `/api/private/organizations/${b.id}`
  const key = await owner.send("POST", `${path}/api-keys`, { name: "Sentinel key", scopes: ["stats:read"], site_access: "all" })
  const invitation = await owner.send("POST", `${path}/members/invite`, { email: "sentinel@example.com", role: "viewer" })
  await owner.send("POST", `${path}/domains`, { domain: "sentinel.example" })
  expect([key.status, invitation.status]).toEqual([201, 201])
  return { path, site, owner, key, invitation }
}

test("a member of one organization sees nothing of another in lists, searches, counts and errors", async () => {
  await using instance = await startInstance()
  const foreign = await twoOrganizations(instance)
  const sitePath = `/api/private/sites/${foreign.site.id}`
  for (const role of ["viewer", "admin", "owner"] as const) {
    const who = await newUser(instance, { role })
    const of = (path: string) => path.replace(foreign.path, "/api/private/organizations/9999").replace(sitePath, "/api/private/sites/9999")
    const asked: [string, string, unknown?][] = [
      ["GET", foreign.path],
      ["PATCH", foreign.path, { name: "Mine" }],
      ["DELETE", foreign.path, { confirm: "Sentinel Ltd" }],
      ["POST", `${foreign.path}/sites`, { name: "X", hosts: ["x.example"] }],
      ["GET", `${foreign.path}/members?q=sentinel&count=true`],
      ["PATCH", `${foreign.path}/members/${foreign.owner.id}`, { role: "viewer" }],
      ["POST", `${foreign.path}/members/invite`, { email: who.email, role: "owner" }],
      ["POST", `${foreign.path}/transfer-ownership`, { user_id: who.id }],
      ["GET", `${foreign.path}/invitations`],
      ["GET", `${foreign.path}/audit`],
      ["GET", `${foreign.path}/domains`],
      ["GET", `${foreign.path}/api-keys/${foreign.key.body.id}`],
      ["POST", `${foreign.path}/api-keys/${foreign.key.body.id}/rotate`, {}],
      ["GET", `${sitePath}/members`],
      ["PUT", `${sitePath}/members/${who.id}`, { role: "admin" }],
      ["GET", `${sitePath}/api-keys`],
    ]
    for (const [method, path, body] of asked) {
      const answer = await who.send(method, path, body)
      expect(answer.status, path).toBe(404)
      expect(plain(answer)).toBe(plain(await who.send(method, of(path), body)))
    }
    // The member's own data does not mention the other organization.
    for (const path of [
      "/api/private/me",
      "/api/private/organizations",
      `${ORGANIZATION}/members`,
      `${ORGANIZATION}/api-keys`,
      `${ORGANIZATION}/audit`,
    ])
      expect(JSON.stringify((await who.get(path)).body).toLowerCase()).not.toContain("sentinel")
  }
  // Ids of the other organization in a body are treated as unknown.
  const owner = await newUser(instance, { role: "owner" })
  const bodies: [string, string, (id: number) => unknown, number, number][] = [
    [
      "POST",
      `${ORGANIZATION}/api-keys`,
      (id) => ({ name: "K", scopes: ["stats:read"], site_access: "list", site_ids: [id] }),
      foreign.site.id,
      9_999,
    ],
    ["POST", `${ORGANIZATION}/members/invite`, (id) => ({ email: "a@example.com", role: "guest", site_ids: [id] }), foreign.site.id, 9_999],
    ["POST", `${ORGANIZATION}/transfer-ownership`, (id) => ({ user_id: id }), foreign.owner.id, 9_999],
    ["PATCH", ORGANIZATION, (id) => ({ policy: { break_glass_user_ids: [id] } }), foreign.owner.id, 9_999],
  ]
  for (const [method, path, body, theirs, nobodys] of bodies)
    expect(plain(await owner.send(method, path, body(theirs)))).toBe(plain(await owner.send(method, path, body(nobodys))))
  for (const [method, theirs, nobodys] of [
    ["PATCH", `${ORGANIZATION}/members/${foreign.owner.id}`, `${ORGANIZATION}/members/9999`],
    ["DELETE", `${ORGANIZATION}/members/${foreign.owner.id}`, `${ORGANIZATION}/members/9999`],
    ["DELETE", `${ORGANIZATION}/api-keys/${foreign.key.body.id}`, `${ORGANIZATION}/api-keys/9999`],
    ["DELETE", `${ORGANIZATION}/invitations/${foreign.invitation.body.id}`, `${ORGANIZATION}/invitations/9999`],
    ["DELETE", `${ORGANIZATION}/domains/1`, `${ORGANIZATION}/domains/9999`],
    ["PUT", `/api/private/sites/1/members/${foreign.owner.id}`, "/api/private/sites/1/members/9999"],
  ] as const)
    expect(plain(await owner.send(method, theirs, {}))).toBe(plain(await owner.send(method, nobodys, {})))
})

test("an invitation to an address with an account receives the same response as any other", async () => {
  await using mailbox = await openMailbox()
  await using instance = await startInstance({ settings: { ...mailbox.settings, base_url: "http://localhost" } })
  const owner = await newUser(instance, { role: "owner" })
  const known = await newUser(instance)
  const answers: UntypedResponse[] = []
  for (const email of [known.email, "nobody-known@example.com"])
    answers.push(await owner.send("POST", `${ORGANIZATION}/members/invite`, { email, role: "viewer" }))
  const [first, second] = answers.map(({ status, body: { id: _, email: __, ...body } }) => ({ status, body }))
  expect(first).toEqual(second!)
  const listed = (await owner.get(`${ORGANIZATION}/invitations`)).body.data as object[]
  expect(listed.map((row) => Object.keys(row))).toEqual([Object.keys(listed[0]!), Object.keys(listed[0]!)])
})

test("under a second-factor policy, members without a factor can reach only their own account", async () => {
  await using instance = await startInstance()
  const owner = await newUser(instance, { role: "owner" })
  const member = await newUser(instance, { role: "editor" })
  const elsewhere = await instance.app.instance.organizations.create({ name: "Elsewhere" })
  const instanceAdmin = await newUser(instance, { role: "owner", organizationId: elsewhere.id })
  const invitation = await instanceAdmin.send("POST", `/api/private/organizations/${elsewhere.id}/members/invite`, {
    email: member.email,
    role: "viewer",
  })
  const token = invitation.body.link.split("/").at(-1)
  expect((await owner.send("PATCH", ORGANIZATION, { policy: { require_mfa: true } })).status).toBe(200)

  for (const [method, path] of [
    ["GET", "/api/private/organizations"],
    ["POST", "/api/private/organizations"],
    ["GET", ORGANIZATION],
    ["GET", `${ORGANIZATION}/members`],
    ["GET", "/api/private/sites/1/members"],
    ["GET", "/api/private/api-scopes"],
    ["POST", `/api/private/invitations/${token}/accept`],
    // The same holds for an organization without the policy, and for unknown paths.
    ["GET", `/api/private/organizations/${elsewhere.id}`],
    ["GET", "/api/private/sites/9999/members"],
  ] as const)
    expect(await member.send(method, path, method === "POST" ? {} : undefined), path).toMatchObject({
      status: 403,
      body: { code: "mfa_enrollment_required" },
    })
  expect((await member.get("/api/private/me")).status).toBe(200)
  await instance.app.instance.catalog.run(sql`update users set totp_sealed = x'00' where id = ${member.id}`)
  expect((await member.get(ORGANIZATION)).status).toBe(200)
})

test("a session from an organization's provider gives access only to that organization", async () => {
  await using instance = await startInstance()
  const { catalog, sessions, cookieSecrets, organizations } = instance.app.instance
  const second = await organizations.create({ name: "Second" })
  const member = await newUser(instance, { role: "admin" })
  await catalog.run(
    sql`insert into memberships (organization_id, user_id, role, created_at) values (${second.id}, ${member.id}, 'admin', 0)`,
  )
  const { token } = await catalog.transaction((statements) =>
    sessions.create(
      statements,
      { id: member.id },
      { method: "oidc", mfa: true, client: { userAgent: "", ipPrefix: "" }, organizationId: second.id },
    ),
  )
  const signature = new Bun.CryptoHasher("sha256", cookieSecrets[0]).update(token).digest("base64").replace(/=+$/, "")
  const narrow = await signedIn(instance, `sid=${encodeURIComponent(`${token}.${signature}`)}`)
  const listed = async (who: SignedInUser) => (await who.get("/api/private/organizations")).body.data.map(({ id }: { id: number }) => id)
  expect([await listed(member), await listed(narrow)]).toEqual([[1, second.id], [second.id]])
  expect((await narrow.get(`/api/private/organizations/${second.id}`)).status).toBe(200)
  expect((await narrow.get(ORGANIZATION)).body.code).toBe("organization_not_found")
  expect((await narrow.get("/api/private/sites/1/members")).body.code).toBe("site_not_found")
})

test("the expiry of a key is announced once 14 and once 3 days before, to its creator or to the owners", async () => {
  await using mailbox = await openMailbox()
  await using instance = await startInstance({ settings: { ...mailbox.settings, base_url: "http://localhost" } })
  const { app, clock } = instance
  const { catalog, accounts, keys, outbox } = app.instance
  const { mail } = accounts
  const owner = await newUser(instance, { role: "owner" })
  const admin = await newUser(instance, { role: "admin" })
  const ends = (days: number) => new Date(clock.now() + days * DAY).toISOString()
  const key = { scopes: ["stats:read"], site_access: "all" }
  await keys.create(1, { ...key, name: "By admin", expires_at: ends(20) }, { by: admin.id })
  const gone = await keys.create(1, { ...key, name: "Revoked", expires_at: ends(20) })
  await keys.revoke(1, gone.key.id)
  await keys.create(1, { ...key, name: "By nobody", expires_at: ends(2) })
  const announce = async () => {
    mailbox.emails.length = 0
    await announceEndingKeys({ catalog, clock, mail, outbox })
    await mail.deliver()
    return mailbox.emails.map(({ to, text }) => [to, /The API key "([^"]+)"/.exec(text)?.[1]]).sort()
  }
  expect(await announce()).toEqual([[owner.email, "By nobody"]])
  expect(await announce()).toEqual([])
  clock.advance(6 * DAY)
  expect(await announce()).toEqual([[admin.email, "By admin"]])
  clock.advance(10 * DAY)
  expect(await announce()).toEqual([])
  clock.advance(DAY)
  expect(await announce()).toEqual([[admin.email, "By admin"]])
  expect(await announce()).toEqual([])
})

test("no input causes an internal error in any route", async () => {
  await using instance = await startInstance()
  const owner = await newUser(instance, { role: "owner", isInstanceAdmin: true })
  const member = await newUser(instance, { role: "viewer" })
  const { key, invitation } = await twoOrganizations(instance)
  expect([key.status, invitation.status]).toEqual([201, 201])
  const routes: [string, string][] = [
    ["POST", "/api/private/organizations"],
    ["PATCH", ORGANIZATION],
    ["DELETE", ORGANIZATION],
    ["POST", `${ORGANIZATION}/sites`],
    ["POST", `${ORGANIZATION}/domains`],
    ["PATCH", `${ORGANIZATION}/members/${member.id}`],
    ["POST", `${ORGANIZATION}/members/invite`],
    ["POST", `${ORGANIZATION}/transfer-ownership`],
    ["PUT", `/api/private/sites/1/members/${member.id}`],
    ["POST", `${ORGANIZATION}/api-keys`],
    ["PATCH", `${ORGANIZATION}/api-keys/1`],
    ["POST", `${ORGANIZATION}/api-keys/1/rotate`],
    ["POST", "/api/private/sites/1/api-keys"],
    ["POST", `/api/private/invitations/${invitation.body.link.split("/").at(-1)}/accept`],
  ]
  const names = [
    "name",
    "policy",
    "role",
    "grants",
    "email",
    "site_ids",
    "scopes",
    "site_access",
    "expires_at",
    "version",
    "user_id",
    "confirm",
  ]
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom("\ud800", "\u0000", "__proto__", 2 ** 60, -1, "owner", "list", [1], [[]], { x: [] }),
  )
  const body = fc.oneof(value, fc.dictionary(fc.constantFrom(...names, "__proto__", "x"), value, { maxKeys: 6 }))
  for (const [method, path] of routes)
    for (const sent of fc.sample(body, { numRuns: 60, seed: 7 })) {
      const { status } = await owner.send(method, path, JSON.stringify(sent), { "content-type": "application/json" })
      expect(status, `${method} ${path} ${JSON.stringify(sent)}`).toBeLessThan(500)
    }
  for (const odd of ["%00", "%20", "1.5", "-1", "1e3", "01", "9".repeat(40), "%E0%A4%A", "..", "constructor", "'--"])
    for (const path of [
      `/api/private/organizations/${odd}`,
      `${ORGANIZATION}/members/${odd}`,
      `${ORGANIZATION}/api-keys/${odd}`,
      `/api/private/sites/${odd}/members`,
      `/api/private/invitations/${odd}`,
    ])
      for (const method of ["GET", "PATCH", "DELETE"])
        expect((await owner.send(method, path, method === "GET" ? undefined : {})).status, `${method} ${path}`).toBeLessThan(500)
  expect(instance.log.lines.filter(({ level }) => level === "error")).toEqual([])
})
