import { expect, test } from "bun:test"
import { sql } from "../../../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { ADA, type Browser, browserOf, type Page, setUp } from "../browser.ts"
import { identityProvider, type Person, type TokenDefects } from "./identity-provider.ts"

const BASE = "http://localhost:9000"
const EVE: Person = { sub: "eve-1", email: "eve@example.org", email_verified: true, name: "Eve" }
const ADA_THERE: Person = { sub: "ada-1", email: "ADA@example.org", email_verified: true, name: "Ada" }

/** Starts an instance with a configured provider, set up by Ada. With `opened`, providers that users enter may be on loopback. */
async function start(settings: Record<string, string> = {}, { opened = false } = {}) {
  let now = Date.parse("2026-11-21T12:00:00Z")
  const provider = identityProvider({ now: () => now })
  const instance = await startInstance({
    settings: {
      base_url: BASE,
      oidc_issuer: provider.issuer,
      oidc_client_id: provider.clientId,
      oidc_client_secret: provider.clientSecret,
      oidc_name: "Example",
      ...(opened && {
        allow_http_webhooks: "1",
        allow_private_webhooks: "127.0.0.0/8",
        outbound_ports: new URL(provider.issuer).port,
      }),
      ...settings,
    },
  })
  const ada = await setUp(instance)
  return {
    provider,
    instance,
    ada,
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

const JIT = { oidc_jit: "1", oidc_allowed_domains: "example.org" }
let network = 0
const newBrowser = ({ instance }: { instance: TestInstance }): Browser => browserOf(instance, `192.0.${network++}.1`)

const begin = async (browser: Browser, next = "", id = "oidc"): Promise<string> =>
  (await browser.get(`/auth/oidc/${id}/start${next}`)).headers.get("location")!
const comeBack = (browser: Browser, to: URL): Promise<Page> => browser.get(to.pathname.replace("/api/private", "") + to.search)

async function signIn(
  { provider }: World,
  browser: Browser,
  person: Person,
  { odd, next, id }: { odd?: TokenDefects; next?: string; id?: string } = {},
) {
  return comeBack(browser, provider.signIn(await begin(browser, next, id), person, odd))
}
const where = ({ status, headers }: Page) => [status, headers.get("location")]

test("redirects with code, PKCE, state and nonce, bound to the browser by a cookie", async () => {
  await using world = await start()
  const browser = newBrowser(world)
  expect((await browser.get("/auth/oidc")).body).toEqual({ data: [{ id: "oidc", name: "Example" }], mail: false })
  const answer = await browser.get("/auth/oidc/oidc/start")
  expect(answer.status).toBe(303)
  const url = new URL(answer.headers.get("location")!)
  expect(url.origin + url.pathname).toBe(`${world.provider.issuer}/authorize`)
  expect(Object.fromEntries(url.searchParams)).toEqual({
    client_id: "footfall",
    response_type: "code",
    redirect_uri: `${BASE}/api/private/auth/oidc/oidc/callback`,
    scope: "openid email profile",
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: "S256",
  })
  expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/^oidc=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/)])
  expect(await browser.get("/auth/oidc/nobody/start")).toMatchObject({ status: 404, code: "provider_not_found" })
})

test.each(["RS256", "PS256", "ES256", "EdDSA"] as const)(
  "signs up a new user with a token of %s if sign-ups are allowed",
  async (algorithm) => {
    await using world = await start(JIT)
    world.provider.rotate(algorithm, "key-2")
    const browser = newBrowser(world)
    expect(where(await signIn(world, browser, EVE))).toEqual([303, "/"])
    const { body } = await browser.get("/me")
    expect(body).toMatchObject({
      user: { email: "eve@example.org", email_verified: true, name: "Eve", is_instance_admin: false },
      organizations: [],
      sites: [],
    })
    expect(browser.cookies.has("oidc")).toBe(false)
    // The next sign-in is the same user, even with another address.
    const again = newBrowser(world)
    await signIn(world, again, { ...EVE, email: "other@elsewhere.example", email_verified: false })
    expect((await again.get("/me")).body.user.id).toBe(body.user.id)
    const { catalog } = world.instance.app.instance
    expect(await catalog.all(sql`select action from audit_log where actor_email = 'eve@example.org' order by id`)).toEqual([
      { action: "accounts.user.create" },
      { action: "accounts.session.create" },
      { action: "accounts.session.create" },
    ])
  },
)

const ODD: [string, TokenDefects][] = [
  ["another issuer", { claims: { iss: "https://evil.example" } }],
  ["an issuer with a trailing slash", { claims: { iss: "http://127.0.0.1/" } }],
  ["another audience", { claims: { aud: "other" } }],
  ["several audiences without an authorized party", { claims: { aud: ["footfall", "other"] } }],
  ["several audiences and another authorized party", { claims: { aud: ["footfall", "other"], azp: "other" } }],
  ["an expiry 61 seconds ago", { claims: { exp: Date.parse("2026-11-21T11:58:59Z") / 1_000 } }],
  ["an issue time 61 seconds ahead", { claims: { iat: Date.parse("2026-11-21T12:01:01Z") / 1_000 } }],
  ["no expiry", { claims: { exp: undefined } }],
  ["no issue time", { claims: { iat: undefined } }],
  ["another nonce", { claims: { nonce: "other" } }],
  ["no nonce", { claims: { nonce: undefined } }],
  ["no subject", { claims: { sub: undefined } }],
  ["no signature", { unsigned: true }],
  ["a signature with the client secret", { shared: true }],
  ["a signature of an unpublished key", { foreignKey: true }],
  ["an unknown key id", { header: { kid: "unknown" } }],
  ["an algorithm that does not match the key", { header: { alg: "RS384" } }],
]

test.each(ODD)("rejects a token with %s", async (_, odd) => {
  await using world = await start(JIT)
  const browser = newBrowser(world)
  expect(where(await signIn(world, browser, EVE, { odd }))).toEqual([303, "/signin?error=oidc_failed"])
  expect(browser.cookies.size).toBe(0)
  expect(await world.instance.app.instance.catalog.get(sql`select count(*) as n from users`)).toEqual({ n: 1 })
})

test.each<[string, TokenDefects]>([
  ["several audiences and the client as the authorized party", { claims: { aud: ["footfall", "other"], azp: "footfall" } }],
  ["an expiry 59 seconds ago", { claims: { exp: Date.parse("2026-11-21T11:59:01Z") / 1_000 } }],
  ["an issue time 59 seconds ahead", { claims: { iat: Date.parse("2026-11-21T12:00:59Z") / 1_000 } }],
])("accepts a token with %s", async (_, odd) => {
  await using world = await start(JIT)
  expect(where(await signIn(world, newBrowser(world), EVE, { odd }))).toEqual([303, "/"])
})

test("rejects a callback without the cookie, with another state, or a second time", async () => {
  await using world = await start(JIT)
  const { provider } = world
  const back = "/signin?error=oidc_failed"
  const mine = newBrowser(world)
  const to = provider.signIn(await begin(mine), EVE)
  expect(where(await comeBack(newBrowser(world), to))).toEqual([303, back])
  expect(where(await comeBack(mine, to))).toEqual([303, "/"])
  expect(where(await comeBack(mine, to))).toEqual([303, back])

  // Another person's callback, as an attacker's page would submit it in a victim's browser.
  const [attacker, victim] = [newBrowser(world), newBrowser(world)]
  const lure = provider.signIn(await begin(attacker), EVE)
  await begin(victim)
  expect(where(await comeBack(victim, lure))).toEqual([303, back])
  expect(victim.cookies.has("sid")).toBe(false)

  const late = newBrowser(world)
  const slow = provider.signIn(await begin(late), EVE)
  world.advance(600_000)
  expect(where(await comeBack(late, slow))).toEqual([303, back])

  const cancelled = newBrowser(world)
  const refused = provider.signIn(await begin(cancelled), EVE)
  refused.searchParams.delete("code")
  refused.searchParams.set("error", "access_denied")
  expect(where(await comeBack(cancelled, refused))).toEqual([303, "/signin?error=access_denied"])
})

test("an unknown key triggers a reload of the keys, at most once a minute", async () => {
  await using world = await start(JIT)
  const { provider } = world
  await signIn(world, newBrowser(world), EVE)
  expect(provider.counts.keys).toBe(1)
  const forged: TokenDefects = { header: { kid: "unknown" } }
  for (let i = 0; i < 3; i++) await signIn(world, newBrowser(world), EVE, { odd: forged })
  expect(provider.counts.keys).toBe(1)
  world.advance(60_000)
  await Promise.all([1, 2, 3, 4].map(() => signIn(world, newBrowser(world), EVE, { odd: forged })))
  for (let i = 0; i < 3; i++) await signIn(world, newBrowser(world), EVE, { odd: forged })
  expect(provider.counts.keys).toBe(2)
  // A key that was really rotated is found after a minute at the latest.
  provider.rotate("ES256", "key-3")
  world.advance(60_000)
  expect(where(await signIn(world, newBrowser(world), EVE))).toEqual([303, "/"])
  expect(provider.counts).toMatchObject({ keys: 3, discovery: 1 })
})

test.each<[string, Person]>([
  ["is not verified", { ...ADA_THERE, email_verified: false }],
  ["has a string as its verification", { ...ADA_THERE, email_verified: "true" }],
  ["has no verification", { sub: "ada-1", email: ADA.email }],
  ["is missing", { sub: "ada-1", email_verified: true }],
  ["is invalid", { sub: "ada-1", email: "ada", email_verified: true }],
])("an address that %s neither links nor creates a user", async (_, person) => {
  await using world = await start(JIT)
  const browser = newBrowser(world)
  expect(where(await signIn(world, browser, person))).toEqual([303, "/signin?error=email_not_verified"])
  expect(await world.instance.app.instance.catalog.get(sql`select 1 from oidc_identities`)).toBeUndefined()
})

test("links a known address once, confirmed by its password, and afterwards by the subject alone", async () => {
  await using world = await start()
  const browser = newBrowser(world)
  const answer = await signIn(world, browser, ADA_THERE)
  expect(answer.headers.get("location")).toMatch(/^\/signin\/link#[\w-]{43}$/)
  expect(browser.cookies.has("sid")).toBe(false)
  const ticket = answer.headers.get("location")!.split("#")[1]!
  expect(await browser.post("/auth/oidc/link", { ticket, password: "wrong" })).toMatchObject({ status: 401, code: "invalid_credentials" })
  expect(await browser.post("/auth/oidc/link", { ticket })).toMatchObject({ status: 422 })
  expect(await browser.post("/auth/oidc/link", { ticket, password: ADA.password })).toMatchObject({
    status: 200,
    body: { user: { id: 1 } },
  })
  expect((await browser.get("/me")).body.user.id).toBe(1)
  expect(await browser.post("/auth/oidc/link", { ticket, password: ADA.password })).toMatchObject({ status: 401, code: "ticket_invalid" })
  const again = newBrowser(world)
  expect(where(await signIn(world, again, { sub: "ada-1" }))).toEqual([303, "/"])
  // Another subject with the same address is a different person until linked.
  expect((await signIn(world, newBrowser(world), { ...ADA_THERE, sub: "ada-2" })).headers.get("location")).toMatch(/^\/signin\/link#/)
})

test("an active session links without a password, but only for the same user and not by impersonation", async () => {
  await using world = await start(JIT)
  const { instance, ada } = world
  const ticketOf = async (browser: Browser, person: Person) =>
    (await signIn(world, browser, person)).headers.get("location")!.split("#")[1]!
  const eve = newBrowser(world)
  await signIn(world, eve, EVE)
  const ticket = await ticketOf(eve, ADA_THERE)
  expect(await eve.post("/auth/oidc/link", { ticket })).toMatchObject({ status: 422 })
  const { catalog } = instance.app.instance
  await catalog.run(sql`update sessions set organization_id = 2 where user_id = 1`)
  expect(await ada.post("/auth/oidc/link", { ticket })).toMatchObject({ status: 422 })
  await catalog.run(sql`update sessions set organization_id = null where user_id = 1`)
  expect(await ada.post("/auth/oidc/link", { ticket })).toMatchObject({ status: 200 })
  expect((await ada.get("/auth/session")).status).toBe(200)
  expect(await catalog.all(sql`select user_id, provider, subject from oidc_identities order by id`)).toEqual([
    { user_id: 2, provider: "oidc", subject: "eve-1" },
    { user_id: 1, provider: "oidc", subject: "ada-1" },
  ])
})

test.each<[string, Record<string, string>, string]>([
  ["sign-ups are off", {}, "not_allowed"],
  ["no domain is allowed", { oidc_jit: "1" }, "not_allowed"],
  ["another domain is allowed", { oidc_jit: "1", oidc_allowed_domains: "example.com" }, "not_allowed"],
  ["a suffix of the domain is allowed", { oidc_jit: "1", oidc_allowed_domains: "ple.org" }, "not_allowed"],
])("creates no user if %s", async (_, settings, error) => {
  await using world = await start(settings)
  expect(where(await signIn(world, newBrowser(world), EVE))).toEqual([303, `/signin?error=${error}`])
})

test("rejects a disabled user", async () => {
  await using world = await start(JIT)
  await signIn(world, newBrowser(world), EVE)
  await world.instance.app.instance.catalog.run(sql`update users set status = 'disabled' where id = 2`)
  const browser = newBrowser(world)
  expect(where(await signIn(world, browser, EVE))).toEqual([303, "/signin?error=not_allowed"])
  expect(browser.cookies.has("sid")).toBe(false)
})

test.each<[string, string]>([
  ["/sites/1?period=30d", "/sites/1?period=30d"],
  ["/", "/"],
  ["//evil.example", "/"],
  ["/\\evil.example", "/"],
  ["https://evil.example", "/"],
  ["javascript:alert(1)", "/"],
  ["sites/1", "/"],
  ["/\t/evil.example", "/"],
  ["\\\\evil.example", "/"],
  ["/%0d%0aset-cookie: a=b", "/"],
])("after sign-in, the target %j leads to %s", async (next, to) => {
  await using world = await start(JIT)
  expect(where(await signIn(world, newBrowser(world), EVE, { next: `?next=${encodeURIComponent(next)}` }))).toEqual([303, to])
})

test("groups determine roles at each sign-in; manual roles return, and owners are never changed", async () => {
  const map = { analysts: { role: "viewer" }, makers: { role: "admin" }, agency: { role: "guest", site_ids: [1, 99] } }
  await using world = await start({ ...JIT, oidc_role_map: JSON.stringify(map) })
  const { catalog } = world.instance.app.instance
  const role = async (organization = 1) =>
    (await catalog.get<{ role: string }>(sql`select role from memberships where user_id = 2 and organization_id = ${organization}`))?.role
  const come = (...groups: string[]) => signIn(world, newBrowser(world), { ...EVE, groups })
  await come("analysts", "unknown")
  expect(await role()).toBe("viewer")
  await come("analysts", "makers")
  expect(await role()).toBe("admin")
  const guest = newBrowser(world)
  await signIn(world, guest, { ...EVE, groups: ["agency"] })
  expect(await role()).toBe("guest")
  expect((await guest.get("/me")).body.sites).toMatchObject([{ id: 1, role: "viewer" }])
  await come()
  expect(await role()).toBeUndefined()
  expect(await catalog.get(sql`select 1 from site_members`)).toBeUndefined()
  // The manually assigned role returns when the groups map to nothing.
  await catalog.run(sql`insert into memberships (organization_id, user_id, role, created_at) values (1, 2, 'editor', 0)`)
  await come("analysts")
  expect(await role()).toBe("viewer")
  await come()
  expect(await role()).toBe("editor")
  await catalog.run(sql`update memberships set role = 'owner' where organization_id = 1 and user_id = 2`)
  await come("analysts")
  expect(await role()).toBe("owner")
  const rows = await catalog.all<{ changes_json: string }>(sql`
    select changes_json from audit_log where action = 'accounts.member.map' and organization_id = 1 and target_id = '2' order by id`)
  expect(rows.map(({ changes_json }) => JSON.parse(changes_json).role)).toEqual([
    [null, "viewer"],
    ["viewer", "admin"],
    ["admin", "guest"],
    ["guest", null],
    ["editor", "viewer"],
    ["viewer", "editor"],
  ])
})

/** A provider of organization 2, with a domain that is verified or only listed. */
async function ofOrganization(world: World, { proved = true, jit = true, domain = "example.org" } = {}) {
  const { catalog } = world.instance.app.instance
  world.provider.openToPublic()
  await catalog.run(sql`
    insert into oidc_providers (id, organization_id, name, issuer, client_id, scopes, allowed_domains_json, jit, role_map_json, created_at)
    values ('acme', 2, 'Acme', ${world.provider.issuer}, 'footfall', 'openid email', ${JSON.stringify([domain])}, ${jit}, '{"*":{"role":"viewer"}}', 0)`)
  await catalog.run(sql`
    insert into organization_domains (organization_id, domain, token, verified_at, created_at) values (2, ${domain}, 't', ${proved ? 1 : null}, 0)`)
}

test("an organization's provider is trusted for verified domains, and its sessions reach only that organization", async () => {
  await using world = await start({}, { opened: true })
  await ofOrganization(world)
  const { instance } = world
  const { catalog } = instance.app.instance
  // Its button appears only for addresses of the domain.
  expect((await newBrowser(world).get("/auth/oidc")).body.data.map(({ id }: { id: string }) => id)).toEqual(["oidc"])
  expect((await newBrowser(world).get("/auth/oidc?email=bob@EXAMPLE.org")).body.data.map(({ id }: { id: string }) => id)).toEqual([
    "oidc",
    "acme",
  ])
  const eve = newBrowser(world)
  expect(where(await signIn(world, eve, EVE, { id: "acme" }))).toEqual([303, "/"])
  expect((await eve.get("/me")).body.organizations).toMatchObject([{ id: 2, role: "viewer" }])
  // She also has rights in another organization and in the instance, but not in this session.
  await catalog.run(sql`insert into memberships (organization_id, user_id, role, created_at) values (1, 2, 'owner', 0)`)
  await catalog.run(sql`update users set is_instance_admin = 1 where id = 2`)
  expect((await eve.get("/me")).body.organizations).toMatchObject([{ id: 2 }])
  expect(await eve.get("/organizations/1")).toMatchObject({ status: 404, code: "organization_not_found" })
  // The session can neither change the account nor create anything outside the organization.
  for (const [method, path] of [
    ["POST", "/organizations"],
    ["POST", "/me/password"],
    ["POST", "/me/email"],
    ["POST", "/me/passkeys"],
    ["POST", "/me/totp/start"],
    ["DELETE", "/me"],
  ] as const)
    expect(await eve.send(method, path, {})).toMatchObject({ status: 403, code: "own_session_required" })
  const elsewhere: Person = { sub: "bob-1", email: "bob@elsewhere.example", email_verified: true }
  expect(where(await signIn(world, newBrowser(world), elsewhere, { id: "acme" }))).toEqual([303, "/signin?error=not_allowed"])
})

test.each<[string, { proved?: boolean; jit?: boolean; domain?: string }, Person, string]>([
  ["has only listed its domain", { proved: false }, EVE, "not_allowed"],
  ["does not create users", { jit: false }, EVE, "not_allowed"],
  ["has verified another domain", { domain: "example.com" }, EVE, "not_allowed"],
  ["has not verified the address", {}, { ...EVE, email_verified: false }, "email_not_verified"],
])("an organization's provider that %s admits no one", async (_, options, person, error) => {
  await using world = await start({}, { opened: true })
  await ofOrganization(world, options)
  expect(where(await signIn(world, newBrowser(world), person, { id: "acme" }))).toEqual([303, `/signin?error=${error}`])
})

test("losing the verified domain ends the sessions it admitted", async () => {
  await using world = await start({}, { opened: true })
  await ofOrganization(world)
  await signIn(world, newBrowser(world), EVE, { id: "acme" })
  const { catalog } = world.instance.app.instance
  // A user whose address leaves the domain no longer belongs to the provider either.
  await catalog.run(sql`update users set email = 'eve@private.example', email_key = 'eve@private.example' where id = 2`)
  expect(where(await signIn(world, newBrowser(world), EVE, { id: "acme" }))).toEqual([303, "/signin?error=not_allowed"])
  await catalog.run(sql`update users set email = 'eve@example.org', email_key = 'eve@example.org' where id = 2`)
  await catalog.run(sql`delete from organization_domains`)
  expect(where(await signIn(world, newBrowser(world), EVE, { id: "acme" }))).toEqual([303, "/signin?error=not_allowed"])
})

test("requests to user-defined providers pass the address guard and cannot reach loopback", async () => {
  await using world = await start()
  await ofOrganization(world)
  const { counts } = world.provider
  const before = { ...counts }
  expect(await newBrowser(world).get("/auth/oidc/acme/start")).toMatchObject({ status: 503, code: "unavailable" })
  expect(counts).toEqual(before)
})

test("rejects a provider whose metadata names another issuer", async () => {
  await using world = await start()
  world.provider.claim({ issuer: "https://login.example.org" })
  expect(await newBrowser(world).get("/auth/oidc/oidc/start")).toMatchObject({ status: 503, code: "unavailable" })
})

test("an unreachable provider redirects a browser to an error page and returns a problem to a client", async () => {
  await using world = await start()
  await world.provider[Symbol.asyncDispose]()
  const redirect = async (path: string, accept: string, browser = newBrowser(world)) => {
    const answer = await browser.send("GET", `/auth/oidc/oidc/${path}`, undefined, { accept })
    return [answer.status, answer.headers.get("location") ?? answer.code, browser.cookies.has("oidc")]
  }
  const person = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
  expect(await redirect("start?next=/sites", person)).toEqual([303, "/signin?error=unavailable", false])
  for (const program of ["application/json", "*/*", "text/html;q=0, */*"])
    expect(await redirect("start", program)).toEqual([503, "unavailable", false])
  const { catalog } = world.instance.app.instance
  await catalog.run(sql`update sessions set method = 'oidc', provider = 'oidc'`)
  expect(await redirect("reauth?next=/signin%3Fproved%3Dtrue", person, world.ada)).toEqual([
    303,
    "/signin?proved=true&reauth_error=unavailable",
    false,
  ])
  expect(await redirect("reauth?next=//elsewhere.example", person, world.ada)).toEqual([303, "/?reauth_error=unavailable", false])
  expect(await redirect("reauth", "application/json", world.ada)).toEqual([503, "unavailable", false])
})

test("neither the code nor the client secret follows a redirect of the provider", async () => {
  const reached: string[] = []
  using elsewhere = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (new URL(request.url).pathname === "/token") return new Response(null, { status: 307, headers: { location: "/canary" } })
      reached.push(await request.text())
      return new Response("{}")
    },
  })
  await using world = await start({ outbound_ports: String(elsewhere.port) }, { opened: true })
  world.provider.claim({ token_endpoint: `http://127.0.0.1:${elsewhere.port}/token` })
  expect(where(await signIn(world, newBrowser(world), EVE))).toEqual([303, "/signin?error=oidc_failed"])
  expect(reached).toEqual([])
})

test("an organization that requires its provider admits members only through it", async () => {
  await using world = await start({ ...JIT, oidc_role_map: '{"*":{"role":"viewer","organization_id":2}}' })
  const { catalog } = world.instance.app.instance
  await signIn(world, newBrowser(world), EVE)
  const { password_hash } = (await catalog.get<{ password_hash: string }>(sql`select password_hash from users where id = 1`))!
  await catalog.run(sql`update users set password_hash = ${password_hash} where id = 2`)
  const login = () => newBrowser(world).post("/auth/login", { email: EVE.email, password: ADA.password })
  expect((await login()).status).toBe(200)
  await catalog.run(sql`update organizations set policy_json = '{"sso_only":true}' where id = 2`)
  expect(await login()).toMatchObject({ status: 403, code: "sso_required" })
  expect(where(await signIn(world, newBrowser(world), EVE))).toEqual([303, "/"])
})

test("signing out returns the provider's logout URL", async () => {
  await using world = await start(JIT)
  const browser = newBrowser(world)
  await signIn(world, browser, EVE)
  expect(await browser.post("/auth/logout")).toMatchObject({
    status: 200,
    body: {
      oidc_logout_url: `${world.provider.issuer}/logout?client_id=footfall&post_logout_redirect_uri=${encodeURIComponent(`${BASE}/signin`)}`,
    },
  })
  expect(browser.cookies.has("sid")).toBe(false)
  expect((await world.ada.post("/auth/logout")).status).toBe(204)
})
