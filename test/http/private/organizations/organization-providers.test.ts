import { expect, test } from "bun:test"
import { sql } from "../../../../src/store/sql.ts"
import { passwordHash, startInstance } from "../../../kit.ts"
import { browserOf } from "../browser.ts"
import { faultsIn, newestEntries, newUser, ORGANIZATION, signedIn } from "../people.ts"
import { identityProvider, type Person, type TokenDefects } from "../sign-in/identity-provider.ts"

const BASE = "http://localhost:9000"
const PROVIDERS = `${ORGANIZATION}/providers`
const SECRET = "between the two of us"
const EVE: Person = { sub: "eve-1", email: "eve@example.org", email_verified: true, name: "Eve" }

/** Starts an instance that may send requests to loopback, with an owner of organization 1 and a provider that is not yet configured. */
async function start(settings: Record<string, string> = {}) {
  let now = Date.parse("2026-11-21T12:00:00Z")
  const provider = identityProvider({ now: () => now, clientSecret: SECRET })
  const instance = await startInstance({
    settings: {
      base_url: BASE,
      allow_http_webhooks: "1",
      allow_private_webhooks: "127.0.0.0/8",
      outbound_ports: new URL(provider.issuer).port,
      ...settings,
    },
  })
  const owner = await newUser(instance, { role: "owner" })
  const { catalog } = instance.app.instance
  let network = 0
  return {
    provider,
    instance,
    catalog,
    owner,
    entry: (more: object = {}) => ({ name: "Acme SSO", issuer: provider.issuer, client_id: "footfall", client_secret: SECRET, ...more }),
    prove: (domain = "example.org", organization = 1) =>
      catalog.run(sql`
        insert into organization_domains (organization_id, domain, token, verified_at, created_at)
        values (${organization}, ${domain}, 't', 1, 0)`),
    stranger: () => browserOf(instance, `192.0.${network++}.1`),
    advance(ms: number) {
      now += ms
      instance.clock.advance(ms)
    },
    async [Symbol.asyncDispose]() {
      await instance[Symbol.asyncDispose]()
      await provider[Symbol.asyncDispose]()
    },
  }
}
type World = Awaited<ReturnType<typeof start>>
type Browser = ReturnType<World["stranger"]>

/** Goes to the provider and back, and returns the URL to which the browser is finally redirected. */
async function visit(
  { provider }: World,
  browser: Browser,
  id: string,
  person: Person,
  { odd = {}, endpoint = "start", query = "" }: { odd?: TokenDefects; endpoint?: "start" | "reauth"; query?: string } = {},
) {
  const location = (await browser.get(`/auth/oidc/${id}/${endpoint}${query}`)).headers.get("location")!
  const back = provider.signIn(location, person, odd)
  const answer = await browser.get(back.pathname.replace("/api/private", "") + back.search)
  return { location: new URL(location), to: answer.headers.get("location") }
}

const ALL = { jit: true, allowed_domains: ["example.org"], role_map: { "*": { role: "admin" } } }

test("adds, reads, updates and deletes a provider, without ever returning its secret", async () => {
  await using world = await start()
  const { owner, provider, instance, catalog } = world
  expect((await owner.get(PROVIDERS)).body).toEqual({ data: [], has_more: false, next_cursor: null })
  const made = await owner.send("POST", PROVIDERS, world.entry())
  const { id } = made.body
  expect(id).toMatch(/^acme-sso-[0-9a-f]{10}$/)
  const shown = {
    id,
    name: "Acme SSO",
    issuer: provider.issuer,
    client_id: "footfall",
    client_secret: { set: true, hint: "…f us", updated_at: "2026-11-21T12:00:00Z" },
    scopes: "openid email profile",
    allowed_domains: [],
    jit: false,
    role_map: {},
    sso_only: false,
    enabled: true,
    redirect_uri: `${BASE}/api/private/auth/oidc/${id}/callback`,
    identities: 0,
    created_at: "2026-11-21T12:00:00Z",
    updated_at: "2026-11-21T12:00:00Z",
    version: 1,
  }
  expect({ ...made, headers: made.headers.get("location") }).toEqual({ status: 201, body: shown, headers: `${PROVIDERS}/${id}` })
  const read = await owner.get(`${PROVIDERS}/${id}`)
  expect({ body: read.body, etag: read.headers.get("etag") }).toEqual({ body: shown, etag: '"1"' })
  expect((await owner.get(PROVIDERS)).body.data).toEqual([shown])

  // The response of GET can be sent back unchanged.
  expect((await owner.send("PATCH", `${PROVIDERS}/${id}`, shown)).body).toEqual(shown)
  const renamed = await owner.send(
    "PATCH",
    `${PROVIDERS}/${id}`,
    { name: "Login", allowed_domains: ["EXAMPLE.org"], version: 1 },
    { "if-match": '"1"' },
  )
  expect(renamed.body).toEqual({ ...shown, name: "Login", allowed_domains: ["example.org"], version: 2 })
  expect(await owner.send("PATCH", `${PROVIDERS}/${id}`, { name: "Late", version: 1 })).toMatchObject({
    status: 409,
    body: { code: "version_conflict", current: { name: "Login", version: 2 } },
  })
  for (const [method, body] of [["PATCH", { name: "Late" }], ["DELETE"]] as const)
    expect((await owner.send(method, `${PROVIDERS}/${id}`, body, { "if-match": '"1"' })).status).toBe(412)
  expect((await owner.send("PATCH", `${PROVIDERS}/${id}`, { client_secret: "another long secret" })).body.client_secret).toMatchObject({
    set: true,
    hint: "…cret",
  })
  expect(await newestEntries(instance)).toMatchObject([
    { action: "accounts.provider.update", target_id: id, organization_id: 1, changes: { client_secret: ["(redacted)", "(redacted)"] } },
  ])
  expect((await owner.send("PATCH", `${PROVIDERS}/${id}`, { client_secret: null })).body.client_secret).toEqual({ set: false })
  expect(await catalog.all(sql`select id from secrets`)).toEqual([])
  expect((await owner.send("DELETE", `${PROVIDERS}/${id}`)).status).toBe(204)
  expect(await owner.get(`${PROVIDERS}/${id}`)).toMatchObject({ status: 404, body: { code: "provider_not_found" } })
  const log = JSON.stringify(await catalog.all(sql`select changes_json, target_label from audit_log`))
  for (const secret of [SECRET, "another long secret"]) expect(log).not.toContain(secret)
})

test("reports all invalid fields of a body", async () => {
  await using world = await start()
  const { owner } = world
  const faults = async (body: object) => faultsIn(await owner.send("POST", PROVIDERS, body))
  expect(await faults({})).toEqual(["/name required", "/issuer required", "/client_id required"])
  expect(await faults({ name: "", issuer: 5, client_id: "x", colour: 1, client_secret: "" })).toEqual([
    "/name too_short",
    "/issuer invalid_type",
    "/colour unknown_field",
    "/client_secret too_short",
  ])
  for (const issuer of [
    "nowhere",
    "ftp://login.example.org",
    "https://login.example.org/?a=1",
    "https://login.example.org/#a",
    "https://a:b@login.example.org",
    "https://localhost",
    "https://printer.local",
  ])
    expect({ issuer, faults: await faults(world.entry({ issuer })) }).toEqual({ issuer, faults: ["/issuer blocked_address"] })
  const odd = {
    scopes: "email",
    allowed_domains: ["*.example.org", "org"],
    role_map: {
      boss: { role: "viewer", site_ids: [1] },
      agency: { role: "guest" },
      other: { role: "guest", site_ids: [99] },
      far: { role: "viewer", organization_id: 2 },
    },
  }
  expect(await faults(world.entry(odd))).toEqual([
    "/scopes invalid_choice",
    "/allowed_domains/0 invalid_domain",
    "/allowed_domains/1 invalid_domain",
    "/role_map/boss/site_ids invalid_choice",
    "/role_map/agency/site_ids required",
    "/role_map/other/site_ids/0 invalid_choice",
    "/role_map/far/organization_id unknown_field",
  ])
  expect(await faults(world.entry({ role_map: { boss: { role: "owner" } } }))).toHaveLength(1)
  for (let i = 0; i < 20; i++) expect((await owner.send("POST", PROVIDERS, world.entry())).status).toBe(201)
  expect(await owner.send("POST", PROVIDERS, world.entry())).toMatchObject({ status: 422, body: { code: "limit_reached", limit: 20 } })
  const page = (await owner.get(`${PROVIDERS}?limit=2&count=true`)).body
  expect(page).toMatchObject({ has_more: true, total: 20 })
  expect(
    (await owner.get(`${PROVIDERS}?limit=19&cursor=${encodeURIComponent((await owner.get(`${PROVIDERS}?limit=19`)).body.next_cursor)}`))
      .body.data,
  ).toHaveLength(1)
})

test("no one can map groups to a role that they could not assign, or keep such a map", async () => {
  await using world = await start()
  const { instance, owner } = world
  const limited = await newUser(instance, { role: "admin" })
  const helper = await newUser(instance, { role: "editor" })
  const change = (who: { id: number }, body: object) => owner.send("PATCH", `${ORGANIZATION}/members/${who.id}`, body)
  await change(limited, { denies: ["people:read"] })
  await change(helper, { grants: ["org:write"] })
  expect(await helper.send("POST", PROVIDERS, world.entry(ALL))).toMatchObject({ status: 403, body: { code: "forbidden" } })
  expect(await limited.send("POST", PROVIDERS, world.entry(ALL))).toMatchObject({
    status: 403,
    body: { required_permission: "people:read" },
  })
  const { body } = await owner.send("POST", PROVIDERS, world.entry(ALL))
  // Another issuer would give the role to other people.
  expect((await limited.send("PATCH", `${PROVIDERS}/${body.id}`, { issuer: `${world.provider.issuer}/` })).status).toBe(403)
  // Disabling it grants no one anything.
  expect((await limited.send("PATCH", `${PROVIDERS}/${body.id}`, { enabled: false })).status).toBe(200)
})

test("members sign in through it; changing the issuer unlinks them all and ends their sessions", async () => {
  await using world = await start()
  const { owner, catalog } = world
  await world.prove()
  const { id } = (await owner.send("POST", PROVIDERS, world.entry(ALL))).body
  const eve = world.stranger()
  expect((await visit(world, eve, id, EVE)).to).toBe("/")
  expect((await eve.get("/me")).body).toMatchObject({ user: { email: EVE.email }, organizations: [{ id: 1, role: "admin" }] })
  expect((await eve.get("/auth/session")).body).toMatchObject({ provider: id })
  expect((await owner.get(`${PROVIDERS}/${id}`)).body.identities).toBe(1)

  // A new name does not affect them.
  await owner.send("PATCH", `${PROVIDERS}/${id}`, { name: "Other" })
  expect((await eve.get("/auth/session")).status).toBe(200)
  expect((await owner.send("PATCH", `${PROVIDERS}/${id}`, { issuer: `${world.provider.issuer}/` })).body.identities).toBe(0)
  expect((await eve.get("/auth/session")).status).toBe(401)
  await owner.send("PATCH", `${PROVIDERS}/${id}`, { issuer: world.provider.issuer })
  // The address belongs to an account, so its owner must first confirm it.
  expect((await visit(world, eve, id, EVE)).to).toStartWith("/signin/link#")

  await owner.send("PATCH", `${PROVIDERS}/${id}`, { enabled: false })
  expect(await eve.get(`/auth/oidc/${id}/start`)).toMatchObject({ status: 404, code: "provider_not_found" })
  expect((await owner.send("DELETE", `${PROVIDERS}/${id}`)).status).toBe(204)
  // Roles assigned by its map become manual roles.
  expect(await catalog.all(sql`select role, provider, given_role from memberships where role = 'admin'`)).toEqual([
    { role: "admin", provider: null, given_role: null },
  ])
})

test("a user signed in through it can change it and stays signed in; its other sessions end", async () => {
  await using world = await start()
  const { owner } = world
  await world.prove()
  const { id } = (await owner.send("POST", PROVIDERS, world.entry(ALL))).body
  const [eve, bob] = [world.stranger(), world.stranger()]
  await visit(world, eve, id, EVE)
  await visit(world, bob, id, { ...EVE, sub: "bob-1", email: "bob@example.org" })
  expect((await eve.send("PATCH", `/organizations/1/providers/${id}`, { enabled: false })).status).toBe(200)
  expect([(await eve.get("/auth/session")).status, (await bob.get("/auth/session")).status]).toEqual([200, 401])
})

test("the provider test reports errors and passes the address guard", async () => {
  await using world = await start()
  const { owner, provider } = world
  const { id } = (await owner.send("POST", PROVIDERS, world.entry({ enabled: false }))).body
  expect((await owner.send("POST", `${PROVIDERS}/${id}/test`)).body).toMatchObject({
    ok: true,
    steps: [
      { name: "discovery", ok: true },
      { name: "keys", ok: true },
    ],
  })
  provider.claim({ issuer: "https://other.example.org" })
  expect((await owner.send("POST", `${PROVIDERS}/${id}/test`)).body).toMatchObject({ ok: false, steps: [{ name: "discovery", ok: false }] })
  await using shut = await start({ allow_private_webhooks: "none" })
  const hidden = (await shut.owner.send("POST", PROVIDERS, shut.entry())).body
  const failed = (await shut.owner.send("POST", `${PROVIDERS}/${hidden.id}/test`)).body
  expect(failed).toMatchObject({ ok: false, steps: [{ name: "discovery", ok: false }] })
  expect(shut.provider.counts.discovery).toBe(0)
})

test("while members must use it, it, its domain and its state cannot be removed", async () => {
  await using world = await start()
  const { owner, catalog } = world
  const policy = (sso_only: boolean) => owner.send("PATCH", ORGANIZATION, { policy: { sso_only, break_glass_user_ids: [owner.id] } })
  const refused = { status: 409, body: { code: "provider_required" } }
  expect(await policy(true)).toMatchObject(refused)
  const { id } = (await owner.send("POST", PROVIDERS, world.entry())).body
  // It has no verified domain yet.
  expect(await policy(true)).toMatchObject(refused)
  expect(await owner.send("PATCH", `${PROVIDERS}/${id}`, { sso_only: true })).toMatchObject(refused)
  await world.prove()
  expect((await policy(true)).status).toBe(200)
  const [domain] = await catalog.all<{ id: number }>(sql`select id from organization_domains`)
  expect(await owner.send("DELETE", `${PROVIDERS}/${id}`)).toMatchObject(refused)
  expect(await owner.send("PATCH", `${PROVIDERS}/${id}`, { enabled: false })).toMatchObject(refused)
  expect(await owner.send("DELETE", `${ORGANIZATION}/domains/${domain!.id}`)).toMatchObject(refused)
  expect((await owner.get(`${PROVIDERS}/${id}`)).body).toMatchObject({ enabled: true, version: 1 })
  // A second provider can take its place.
  const second = (await owner.send("POST", PROVIDERS, world.entry())).body
  expect((await owner.send("DELETE", `${PROVIDERS}/${id}`)).status).toBe(204)
  expect((await policy(false)).status).toBe(200)
  // Deleting the provider that requires itself also removes the requirement.
  expect((await owner.send("PATCH", `${PROVIDERS}/${second.id}`, { sso_only: true })).status).toBe(200)
  expect(await owner.send("DELETE", `${ORGANIZATION}/domains/${domain!.id}`)).toMatchObject(refused)
  expect((await owner.send("DELETE", `${PROVIDERS}/${second.id}`)).status).toBe(204)
  expect((await owner.send("DELETE", `${ORGANIZATION}/domains/${domain!.id}`)).status).toBe(204)
})

test("while members must use it, neither the instance's provider nor a sign-up bypasses it", async () => {
  await using own = await start()
  const { issuer } = own.provider
  await using world = await start({
    oidc_issuer: issuer,
    oidc_client_id: "footfall",
    oidc_client_secret: SECRET,
    oidc_jit: "1",
    oidc_allowed_domains: "example.org",
    outbound_ports: `${new URL(issuer).port}`,
  })
  const { owner, catalog } = world
  const eve = world.stranger()
  const come = () => visit({ ...world, provider: own.provider }, eve, "oidc", EVE)
  expect((await come()).to).toBe("/")
  await catalog.run(
    sql`insert into memberships (organization_id, user_id, role, created_at) select 1, id, 'viewer', 0 from users where email = ${EVE.email}`,
  )
  // Without a provider of its own, the organization uses that of the instance.
  const policy = { sso_only: true, break_glass_user_ids: [owner.id] }
  expect((await owner.send("PATCH", ORGANIZATION, { policy })).status).toBe(200)
  expect((await come()).to).toBe("/")
  expect((await eve.get("/sites/1")).status).toBe(200)
  await world.prove()
  expect((await owner.send("POST", PROVIDERS, world.entry({ issuer }))).status).toBe(201)
  // An earlier session does not bypass it either.
  expect(await eve.get("/sites/1")).toMatchObject({ status: 403, code: "sso_required" })
  expect((await come()).to).toBe("/signin?error=sso_required")

  const { link } = (await owner.send("POST", `${ORGANIZATION}/members/invite`, { email: "new@example.org", role: "viewer" })).body
  const token = link.split("/").at(-1)
  const newcomer = world.stranger()
  const joined = await newcomer.post(`/invitations/${token}/accept`, { name: "New", password: "a fine long password" })
  expect([joined.status, newcomer.cookies.size]).toEqual([200, 0])
  expect(await newcomer.post("/auth/login", { email: "new@example.org", password: "a fine long password" })).toMatchObject({
    status: 403,
    code: "sso_required",
  })
})

test("existing sessions are redirected to the provider, except those of the owners it names", async () => {
  await using world = await start()
  const { owner, instance, catalog } = world
  await world.prove()
  const { id } = (await owner.send("POST", PROVIDERS, world.entry(ALL))).body
  const editor = await newUser(instance, { role: "editor" })
  const other = (await instance.app.instance.organizations.create({ name: "Other" })).id
  await catalog.run(sql`insert into memberships (organization_id, user_id, role, created_at) values (${other}, ${editor.id}, 'admin', 0)`)
  const admin = await newUser(instance, { role: "admin", isInstanceAdmin: true })
  const sso = (more: object = {}) => owner.send("PATCH", ORGANIZATION, { policy: { sso_only: true, ...more } })

  // The user who enables it must not lock themselves out.
  expect(await sso()).toMatchObject({
    status: 409,
    body: { code: "provider_required", detail: expect.stringContaining("lock you out") },
  })
  expect(await owner.send("PATCH", `${PROVIDERS}/${id}`, { sso_only: true })).toMatchObject({
    status: 409,
    body: { code: "provider_required" },
  })
  expect((await owner.get(ORGANIZATION)).body.policy.sso_only).toBe(false)
  expect((await sso({ break_glass_user_ids: [owner.id] })).status).toBe(200)
  expect((await owner.get("/api/private/sites/1")).status).toBe(200)

  const refused = { status: 403, body: { code: "sso_required" } }
  for (const path of ["/sites/1", "/sites/1/goals", "/sites/1/stats/summary", "/sites/1/links", "/organizations/1"])
    expect(await editor.get(`/api/private${path}`)).toMatchObject(refused)
  expect(await editor.send("POST", "/api/private/sites/1/goals", { kind: "event", value: "buy" })).toMatchObject(refused)
  // Other organizations are unaffected, and the user is still identified.
  expect((await editor.get(`/api/private/organizations/${other}`)).status).toBe(200)
  expect((await editor.get("/api/private/sites")).body.data).toEqual([])
  expect((await editor.get("/api/private/me")).body).toMatchObject({
    organizations: [
      { id: 1, role: "editor", permissions: [] },
      { id: other, role: "admin", permissions: expect.arrayContaining(["org:write"]) },
    ],
    sites: [],
  })
  // If nothing else is left, the list explains why it is empty.
  for (const path of ["/sites", "/organizations", "/stats/overview"]) expect(await admin.get(`/api/private${path}`)).toMatchObject(refused)
  expect((await admin.get("/api/private/admin/sites")).status).toBe(200)

  const eve = world.stranger()
  await visit(world, eve, id, EVE)
  expect((await eve.get("/sites/1")).status).toBe(200)
  expect(await owner.send("PATCH", ORGANIZATION, { policy: { break_glass_user_ids: [] } })).toMatchObject({
    status: 409,
    body: { code: "provider_required" },
  })
  expect((await owner.send("PATCH", ORGANIZATION, { policy: { sso_only: false } })).status).toBe(200)
  expect((await editor.get("/api/private/sites/1")).status).toBe(200)
})

test("a session's open live stream ends when the organization requires a provider", async () => {
  await using world = await start()
  const { owner, instance } = world
  await world.prove()
  await owner.send("POST", PROVIDERS, world.entry())
  const editor = await newUser(instance, { role: "editor" })
  const live = await instance.fetch(new Request("http://localhost/api/private/sites/1/live", { headers: { cookie: editor.cookie } }))
  expect(live.status).toBe(200)
  await owner.send("PATCH", ORGANIZATION, { policy: { sso_only: true, break_glass_user_ids: [owner.id] } })
  // Ends by itself; otherwise the test would wait forever.
  await new Response(live.body).arrayBuffer()
})

test("the instance can require its provider of everyone except its admins, as long as it has one", async () => {
  await using own = await start()
  for (const [oidc, code] of [
    [{ oidc_issuer: own.provider.issuer, oidc_client_id: "footfall" }, "sso_required"],
    [{}, undefined],
  ] as const) {
    await using world = await start(oidc as Record<string, string>)
    const { instance, catalog } = world
    await instance.signIn({ isInstanceAdmin: true })
    const password_hash = await passwordHash("a fine long password")
    await catalog.run(sql`update users set password_hash = ${password_hash}`)
    await instance.app.instance.settings.change({ sso_only: true }, null)
    const users = await catalog.all<{ email: string; is_instance_admin: number }>(
      sql`select email, is_instance_admin from users order by id`,
    )
    const codes = []
    for (const { email } of users)
      codes.push((await world.stranger().post("/auth/login", { email, password: "a fine long password" })).code)
    expect(codes).toEqual([code, undefined])
    const open = [world.owner, await newUser(instance, { role: "owner", isInstanceAdmin: true })]
    expect(await Promise.all(open.map(async (each) => (await each.get(ORGANIZATION)).body.code))).toEqual([code, undefined])
  }
})

test("a user signed in through a provider confirms their identity there", async () => {
  await using world = await start()
  const { owner, instance, catalog } = world
  await world.prove()
  const { id } = (await owner.send("POST", PROVIDERS, world.entry(ALL))).body
  const eve = world.stranger()
  await visit(world, eve, id, EVE)
  const key = { name: "Key", scopes: ["stats:read"], site_access: "all" }
  const make = () => eve.post("/organizations/1/api-keys", key)
  expect((await make()).status).toBe(201)
  world.advance(10 * 60_000 + 1)
  expect(await make()).toMatchObject({ status: 403, code: "reauth_required" })
  // Neither with a password nor with the account's factors, which do not belong to this session.
  expect(await eve.post("/auth/reauth", { password: "x" })).toMatchObject({ status: 403, code: "own_session_required" })

  const seconds = () => Math.floor(instance.clock.now() / 1_000)
  const prove = (person: Person, odd: TokenDefects) =>
    visit(world, eve, id, person, { odd, endpoint: "reauth", query: "?next=%2Fsettings%3Ftab%3Dkeys" })
  const failed = "/settings?tab=keys&reauth_error=oidc_failed"
  const before = eve.cookies.get("sid")
  // The provider must state that it authenticated this user, just now.
  expect((await prove(EVE, {})).to).toBe(failed)
  expect((await prove(EVE, { claims: { auth_time: seconds() - 61 } })).to).toBe(failed)
  expect((await prove({ ...EVE, sub: "eve-2" }, { claims: { auth_time: seconds() } })).to).toBe(failed)
  expect(await make()).toMatchObject({ code: "reauth_required" })
  expect(eve.cookies.get("sid")).toBe(before!)

  const { location, to } = await prove(EVE, { claims: { auth_time: seconds() } })
  expect({ prompt: location.searchParams.get("prompt"), age: location.searchParams.get("max_age"), to }).toEqual({
    prompt: "login",
    age: "0",
    to: "/settings?tab=keys",
  })
  expect(eve.cookies.get("sid")).not.toBe(before!)
  expect((await make()).status).toBe(201)
  expect(await catalog.all(sql`select outcome from audit_log where action = 'accounts.session.prove' order by id`)).toEqual([
    { outcome: "failed" },
    { outcome: "failed" },
    { outcome: "failed" },
    { outcome: "ok" },
  ])

  expect(await world.stranger().get(`/auth/oidc/${id}/reauth`)).toMatchObject({ status: 401, code: "session_required" })
  // It does not confirm the identity of a session that it did not start.
  const mine = await signedIn(instance, owner.cookie)
  expect((await mine.get(`/api/private/auth/oidc/${id}/reauth`)).body.code).toBe("forbidden")
})

test("a second-factor policy does not lock out members who use the organization's provider", async () => {
  await using world = await start()
  const { owner, instance } = world
  await world.prove()
  const { id } = (await owner.send("POST", PROVIDERS, world.entry(ALL))).body
  const eve = world.stranger()
  await visit(world, eve, id, EVE)
  expect((await owner.send("PATCH", ORGANIZATION, { policy: { require_mfa: true } })).status).toBe(200)
  // This session cannot add factors to the account; how much to trust the provider is the organization's choice.
  expect((await eve.get("/organizations/1")).status).toBe(200)
  expect(await owner.get(ORGANIZATION)).toMatchObject({ status: 403, body: { code: "mfa_enrollment_required" } })
  // The instance's policy applies to everyone, unless the provider states that it verified a second factor.
  await instance.app.instance.settings.change({ require_mfa: "all" }, null)
  expect(await eve.get("/organizations/1")).toMatchObject({ status: 403, code: "mfa_enrollment_required" })
  await visit(world, eve, id, EVE, { odd: { claims: { amr: ["pwd", "mfa"] } } })
  expect((await eve.get("/organizations/1")).status).toBe(200)
})

test("a secret that can no longer be decrypted must be entered again", async () => {
  await using world = await start()
  const { owner, catalog, provider } = world
  await world.prove()
  const { id } = (await owner.send("POST", PROVIDERS, world.entry(ALL))).body
  const eve = world.stranger()
  await visit(world, eve, id, EVE)
  await catalog.run(sql`update secrets set sealed = ${new Uint8Array(60).fill(1)}`)
  const before = provider.counts.token
  expect(await world.stranger().get(`/auth/oidc/${id}/start`)).toMatchObject({ status: 503, code: "unavailable" })
  expect((await world.stranger().get("/auth/oidc?email=eve@example.org")).body.data).toMatchObject([{ id, name: "Acme SSO" }])
  expect((await eve.post("/auth/logout")).status).toBe(204)
  expect(provider.counts.token).toBe(before)
  await owner.send("PATCH", `${PROVIDERS}/${id}`, { client_secret: SECRET })
  expect((await visit(world, world.stranger(), id, EVE)).to).toBe("/")
})

test("deleting an organization deletes its providers, their secrets and the linked identities", async () => {
  await using world = await start()
  const { owner, catalog } = world
  await world.prove()
  const { id } = (await owner.send("POST", PROVIDERS, world.entry(ALL))).body
  const eve = world.stranger()
  await visit(world, eve, id, EVE)
  const { name } = (await owner.get(ORGANIZATION)).body
  expect((await owner.send("DELETE", ORGANIZATION, { confirm: name })).status).toBe(202)
  expect((await eve.get("/auth/session")).status).toBe(401)
  expect(await eve.get(`/auth/oidc/${id}/start`)).toMatchObject({ status: 404, code: "provider_not_found" })
  expect(await catalog.all(sql`select id from secrets union select id from oidc_identities`)).toEqual([])
})

test("a provider of another organization is not found", async () => {
  await using world = await start()
  const { instance, owner } = world
  const { id: other } = await instance.app.instance.organizations.create({ name: "Other" })
  const stranger = await newUser(instance, { role: "owner", organizationId: other })
  const { id } = (await owner.send("POST", PROVIDERS, world.entry())).body
  for (const [method, path] of [
    ["GET", ""],
    ["PATCH", ""],
    ["DELETE", ""],
    ["POST", "/test"],
  ] as const)
    expect(
      await stranger.send(method, `/api/private/organizations/${other}/providers/${id}${path}`, method === "PATCH" ? {} : undefined),
    ).toMatchObject({
      status: 404,
      body: { code: "provider_not_found" },
    })
})
