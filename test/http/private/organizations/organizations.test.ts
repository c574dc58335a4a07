import { afterAll, beforeAll, expect, test } from "bun:test"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { faultsIn, newestEntries, newUser, ORGANIZATION, type SignedInUser } from "../people.ts"

let instance: TestInstance
let owner: SignedInUser
beforeAll(async () => {
  instance = await startInstance()
  owner = await newUser(instance, { role: "owner" })
})
afterAll(() => instance[Symbol.asyncDispose]())

const ALL = "/api/private/organizations"
const POLICY = {
  require_mfa: false,
  public_links: "allowed",
  key_default_days: 365,
  key_max_days: null,
  session_idle_days: null,
  session_absolute_days: null,
  sso_only: false,
  break_glass_user_ids: [],
}

test("a member reads the organization with its policy and counts", async () => {
  const { status, body, headers } = await owner.get(ORGANIZATION)
  expect(status).toBe(200)
  expect(body).toEqual({
    id: 1,
    name: "Shop",
    role: "owner",
    policy: POLICY,
    counts: { members: expect.any(Number), sites: 1, keys: 4 },
    version: 1,
  })
  expect(headers.get("etag")).toBe('"1"')
  const viewer = await newUser(instance, { role: "viewer" })
  expect((await viewer.get(ORGANIZATION)).body).toMatchObject({ role: "viewer" })
  expect((await viewer.get(ALL)).body).toMatchObject({ data: [{ id: 1, role: "viewer" }], has_more: false, next_cursor: null })
})

test("guests, other users and instance admins get organization_not_found, and anonymous clients must sign in", async () => {
  const guest = await newUser(instance, { role: "guest", siteRole: "viewer" })
  const stranger = await newUser(instance)
  const admin = await newUser(instance, { isInstanceAdmin: true })
  const withoutId = ({ body: { request_id: _, ...body }, status }: Awaited<ReturnType<SignedInUser["get"]>>) => ({ status, body })
  const unknown = withoutId(await stranger.get(`${ALL}/99`))
  expect(unknown).toMatchObject({ status: 404, body: { code: "organization_not_found" } })
  for (const who of [guest, stranger, admin])
    for (const path of [
      ORGANIZATION,
      `${ORGANIZATION}/members`,
      `${ORGANIZATION}/api-keys`,
      `${ORGANIZATION}/audit`,
      `${ALL}/0`,
      `${ALL}/x`,
    ])
      expect(withoutId(await who.get(path))).toEqual(unknown)
  expect((await guest.get(ALL)).body.data).toEqual([])
  expect((await instance.api.get(ORGANIZATION)).body).toMatchObject({ code: "session_required" })
})

test("a setting determines who creates organizations; the creator becomes the owner", async () => {
  const { settings } = instance.app.instance
  const user = await newUser(instance)
  const isOffered = async ({ get }: typeof user) => (await get("/api/private/me")).body.makes_organizations
  expect(await isOffered(user)).toBe(false)
  expect(await user.send("POST", ALL, { name: "Mine" })).toMatchObject({
    status: 403,
    body: { code: "forbidden", required_permission: "instance_admin" },
  })
  const admin = await newUser(instance, { isInstanceAdmin: true })
  expect(await admin.send("POST", ALL, { name: "Theirs" })).toMatchObject({ status: 201, body: { name: "Theirs", role: "owner" } })

  expect(await isOffered(admin)).toBe(true)
  await settings.change({ organization_creation: "users", key_default_days: 90 }, null)
  expect(await isOffered(user)).toBe(true)
  const made = await user.send("POST", ALL, { name: "  Mine " })
  expect(made).toMatchObject({
    status: 201,
    body: { name: "Mine", role: "owner", policy: { ...POLICY, key_default_days: 90 }, counts: { members: 1, sites: 0, keys: 0 } },
  })
  expect(made.headers.get("location")).toBe(`${ALL}/${made.body.id}`)
  expect((await user.get(made.headers.get("location")!)).body).toEqual(made.body)
  expect(await newestEntries(instance)).toMatchObject([
    {
      action: "accounts.organization.create",
      actor_id: user.id,
      organization_id: made.body.id,
      target_label: "Mine",
      changes: { name: [null, "Mine"] },
    },
  ])
  expect(faultsIn(await user.send("POST", ALL, { name: "", colour: 1 }))).toEqual(["/name too_short", "/colour unknown_field"])
  await settings.change({ organization_creation: null, key_default_days: null }, null)
})

test("a repeated creation creates one organization", async () => {
  const admin = await newUser(instance, { isInstanceAdmin: true })
  const key = { "idempotency-key": "once" }
  const first = await admin.send("POST", ALL, { name: "Once" }, key)
  const second = await admin.send("POST", ALL, { name: "Once" }, key)
  expect(second.body).toEqual(first.body)
  expect(second.headers.get("idempotency-replayed")).toBe("true")
  // Idempotency keys belong to a user.
  const other = await newUser(instance, { isInstanceAdmin: true })
  expect((await other.send("POST", ALL, { name: "Once" }, key)).body.id).not.toBe(first.body.id)
})

test("merges name and policy, and checks versions", async () => {
  const change = (body: unknown, headers = {}) => owner.send("PATCH", ORGANIZATION, body, headers)
  const before = (await owner.get(ORGANIZATION)).body
  const changed = await change({ name: "Shops", policy: { key_max_days: 30 } })
  expect(changed).toMatchObject({
    status: 200,
    body: { ...before, name: "Shops", policy: { ...POLICY, key_max_days: 30 }, version: before.version + 1 },
  })
  expect(await newestEntries(instance)).toMatchObject([
    {
      action: "accounts.organization.update",
      changes: { name: ["Shop", "Shops"], policy: [POLICY, { ...POLICY, key_max_days: 30 }] },
    },
  ])
  expect(await change({ name: "Late", version: before.version })).toMatchObject({
    status: 409,
    body: { code: "version_conflict", current: changed.body },
  })
  expect((await change({ name: "Late" }, { "if-match": `"${before.version}"` })).status).toBe(412)
  // The response of GET can be sent back unchanged.
  const same = await change(changed.body)
  expect(same).toMatchObject({ status: 200, body: { version: before.version + 1 } })
  expect(await change({ name: "Shop", policy: { key_max_days: null } })).toMatchObject({ body: { name: "Shop", policy: POLICY } })
})

test.each<[string, unknown, string[]]>([
  ["an array", [], [" invalid_type"]],
  ["a number as the policy", { policy: 5 }, ["/policy invalid_type"]],
  ["an unknown policy setting", { policy: { colour: 1 } }, ["/policy/colour unknown_field"]],
  [
    "policy settings of wrong types",
    { policy: { require_mfa: "yes", key_max_days: 0, public_links: "some", sso_only: null, session_idle_days: 1.5 } },
    [
      "/policy/require_mfa invalid_type",
      "/policy/key_max_days out_of_range",
      "/policy/public_links invalid_choice",
      "/policy/sso_only invalid_type",
      "/policy/session_idle_days invalid_type",
    ],
  ],
  [
    "a break-glass user who is not an owner",
    { policy: { break_glass_user_ids: [999_999] } },
    ["/policy/break_glass_user_ids/0 invalid_choice"],
  ],
  ["no default lifetime for keys", { policy: { key_default_days: null } }, ["/policy/key_default_days invalid_type"]],
])("rejects a change with %s", async (_, body, faults) => {
  const answer = await owner.send("PATCH", ORGANIZATION, body)
  expect([answer.status, faultsIn(answer)]).toEqual([422, faults])
})

test("owners can be named as break-glass users", async () => {
  const changed = await owner.send("PATCH", ORGANIZATION, { policy: { break_glass_user_ids: [owner.id] } })
  expect(changed.body.policy.break_glass_user_ids).toEqual([owner.id])
  await owner.send("PATCH", ORGANIZATION, { policy: { break_glass_user_ids: [] } })
})

test("creates a site in the organization, with its snippet", async () => {
  const admin = await newUser(instance, { role: "admin" })
  const made = await admin.send("POST", `${ORGANIZATION}/sites`, { name: "Blog", hosts: ["blog.example"] })
  expect(made).toMatchObject({ status: 201, body: { name: "Blog", hosts: ["blog.example"], timezone: "UTC" } })
  expect(made.body.snippet).toContain(made.body.tracking_id)
  expect(made.headers.get("location")).toBe(`/api/private/sites/${made.body.id}`)
  expect(await newestEntries(instance)).toMatchObject([{ action: "sites.site.create", site_id: made.body.id, organization_id: 1 }])
  expect(faultsIn(await admin.send("POST", `${ORGANIZATION}/sites`, { name: "Blog" }))).toEqual(["/hosts required"])
})

test("lists the permissions of each role", async () => {
  const allowed: Record<string, string[]> = {
    viewer: [],
    editor: [],
    admin: ["PATCH", "POST /sites", "GET /audit", "GET /members", "GET /api-keys", "GET /domains"],
    owner: ["PATCH", "POST /sites", "GET /audit", "GET /members", "GET /api-keys", "GET /domains", "DELETE"],
  }
  const asked: [string, string, string, unknown, string][] = [
    ["PATCH", "PATCH", "", {}, "org:write"],
    ["POST /sites", "POST", "/sites", {}, "site:create"],
    ["GET /audit", "GET", "/audit", undefined, "audit:read"],
    ["GET /members", "GET", "/members", undefined, "members:read"],
    ["GET /api-keys", "GET", "/api-keys", undefined, "keys:write"],
    ["GET /domains", "GET", "/domains", undefined, "org:write"],
    ["DELETE", "DELETE", "", { confirm: "" }, "org:delete"],
  ]
  for (const [role, may] of Object.entries(allowed)) {
    const who = await newUser(instance, { role: role as "viewer" })
    for (const [name, method, path, body, permission] of asked) {
      const answer = await who.send(method, ORGANIZATION + path, body)
      if (may.includes(name)) expect(`${role} ${name} ${[200, 422].includes(answer.status)}`).toBe(`${role} ${name} true`)
      else expect(answer, `${role} ${name}`).toMatchObject({ status: 403, body: { code: "forbidden", required_permission: permission } })
    }
  }
})

test("deletion needs the name and a recent proof of identity, and takes effect at once", async () => {
  const own = await startInstance()
  await using _ = own
  const { app, api, clock } = own
  const boss = await newUser(own, { role: "owner" })
  const viewer = await newUser(own, { role: "viewer" })
  const tired = await newUser(own, { role: "owner", provedAt: clock.now() - 11 * 60_000 })
  expect(await tired.send("DELETE", ORGANIZATION, { confirm: "Shop" })).toMatchObject({ status: 403, body: { code: "reauth_required" } })
  expect(faultsIn(await boss.send("DELETE", ORGANIZATION, { confirm: "shop" }))).toEqual(["/confirm invalid_choice"])
  expect(faultsIn(await boss.send("DELETE", ORGANIZATION, {}))).toEqual(["/confirm required"])
  expect((await api.get("/api/public/v1/sites", own.key)).status).toBe(200)

  expect(await boss.send("DELETE", ORGANIZATION, { confirm: "Shop" })).toMatchObject({ status: 202, body: "" })
  expect(await newestEntries(own)).toMatchObject([{ action: "accounts.organization.delete", organization_id: 1, actor_id: boss.id }])
  expect((await boss.get(ORGANIZATION)).status).toBe(404)
  expect((await viewer.get(ALL)).body.data).toEqual([])
  expect((await viewer.get("/api/private/me")).body).toMatchObject({ organizations: [], sites: [] })
  expect(await api.get("/api/public/v1/sites", own.key)).toMatchObject({ status: 401, body: { code: "invalid_api_key" } })
  // Events for its sites are unknown, and the sites await their purge.
  await own.collect({ n: "pageview", u: "https://shop.example/", d: own.site.tracking_id })
  expect(app.instance.sites.directory.byId(1)).toBeUndefined()
  clock.advance(31 * 86_400_000)
  expect(await app.instance.sites.purge(clock.now(), async () => {})).toEqual([1])
})
