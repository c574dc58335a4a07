import { expect, test } from "bun:test"
import { sql } from "../../../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { ADA, browserOf } from "../browser.ts"

const begin = (instance: TestInstance, later: string[] = []) =>
  instance.app.instance.accounts.setup.token.begin(({ token }) => later.push(token))

test("the set-up token sets up the instance and signs the user in", async () => {
  await using instance = await startInstance({ settings: { base_url: "http://localhost:9000", default_timezone: "Europe/Berlin" } })
  const browser = browserOf(instance)
  const { token } = begin(instance)
  expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/)
  expect((await browser.get("/setup")).body).toEqual({
    needed: true,
    token_expires_at: "2026-11-21T12:30:00Z",
    defaults: { timezone: "Europe/Berlin", currency: "USD", base_url: "http://localhost:9000" },
  })
  const made = await browser.post("/setup", { token, ...ADA, site: { name: "Blog", hosts: ["blog.example"] } })
  expect(made).toMatchObject({
    status: 201,
    body: {
      user: { id: 1, email: "ada@example.org", name: "Ada", is_instance_admin: true, email_verified: false },
      // Created by the command line before the set-up, together with a site.
      organization: { id: 1, name: "Acme" },
      site: { id: 2, name: "Blog", hosts: ["blog.example"], timezone: "Europe/Berlin" },
    },
  })
  expect(JSON.stringify(made.body)).not.toContain("password")
  const me = await browser.get("/me")
  expect(me.body).toMatchObject({ user: { id: 1 }, organizations: [{ id: 1, role: "owner" }], sites: [{ id: 1 }, { id: 2 }] })
  expect((await browser.get("/setup")).body).toMatchObject({ needed: false })
  expect((await browser.get("/setup")).body).not.toHaveProperty("token_expires_at")
  const rows = await instance.app.instance.catalog.all(sql`select action, actor_kind, actor_email from audit_log order by id`)
  expect(rows).toEqual([
    { action: "accounts.instance.set-up", actor_kind: "user", actor_email: ADA.email },
    { action: "accounts.session.create", actor_kind: "user", actor_email: ADA.email },
    { action: "sites.site.create", actor_kind: "user", actor_email: ADA.email },
  ])
})

test("validates the set-up without changing anything, with the same errors as the set-up itself", async () => {
  await using instance = await startInstance()
  const { token } = begin(instance)
  const browser = browserOf(instance)
  const wrong = { ...ADA, password: "short", site: { name: "", hosts: ["https://blog.example/about"] } }
  const trial = await browser.post("/setup", { token, ...wrong, dry_run: true })
  expect(trial).toMatchObject({ status: 200 })
  expect(trial.headers.get("set-cookie")).toBeNull()
  const refused = await browser.post("/setup", { token, ...wrong })
  expect(refused).toMatchObject({ status: 422, body: trial.body })
  expect(trial.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(["/password", "/site/name", "/site/hosts/0"])

  expect(await browser.post("/setup", { token: "wrong", ...ADA, dry_run: true })).toMatchObject({
    status: 403,
    code: "setup_token_invalid",
  })
  expect(await browser.post("/setup", { token, ...ADA, dry_run: true })).toMatchObject({ status: 200, body: { errors: [] } })
  expect((await browser.get("/setup")).body).toMatchObject({ needed: true })
  expect(await browser.post("/setup", { token, ...ADA, dry_run: false })).toMatchObject({ status: 201 })
  expect(await browser.post("/setup", { token, ...ADA, dry_run: true })).toMatchObject({ status: 409, code: "already_set_up" })
})

test("the first user takes over the existing organization with its keys, under the name they enter", async () => {
  await using instance = await startInstance()
  const { token } = begin(instance)
  const browser = browserOf(instance)
  expect((await browser.post("/setup", { token, ...ADA })).status).toBe(201)
  expect((await browser.get("/organizations/1")).body).toMatchObject({
    name: "Acme",
    role: "owner",
    counts: { members: 1, sites: 1, keys: 4 },
    version: 2,
  })
  expect((await browser.get("/sites")).body).toMatchObject({ data: [{ id: 1, organization: { name: "Acme" } }] })
  expect((await instance.api.get("/api/public/v1/sites", instance.key)).body).toMatchObject({ data: [{ id: 1 }] })
})

test.each<[string, (instance: TestInstance) => Promise<unknown>]>([
  ["there are several organizations", ({ app }) => app.instance.organizations.create({ name: "Second" })],
  [
    "it has a member",
    (instance) => instance.signIn({ role: "viewer" }).then(() => instance.app.instance.catalog.script("delete from setup")),
  ],
])("leaves an organization alone that others may use: %s", async (_, prepare) => {
  await using instance = await startInstance()
  await prepare(instance)
  const { token } = begin(instance)
  const browser = browserOf(instance)
  const { organization } = (await browser.post("/setup", { token, ...ADA })).body as { organization: { id: number; name: string } }
  expect(organization).toEqual({ id: expect.any(Number), name: "Acme" })
  expect(organization.id).toBeGreaterThan(1)
  expect((await browser.get("/sites")).body).toMatchObject({ data: [] })
})

test("a site created by the command line during the set-up belongs to the first user's organization", async () => {
  for (let round = 0; round < 5; round++) {
    await using instance = await startInstance()
    const { app } = instance
    await app.instance.organizations.remove(1, { confirm: "Shop" }, null)
    const { token } = begin(instance)
    const browser = browserOf(instance)
    const site = async (name: string, after: number) => {
      // The set-up takes a while to hash the password; sites are created before, during and after it.
      await Bun.sleep(after)
      await app.operations["site.create"]({ organization: undefined, site: { name, hosts: [`${name}.example`], timezone: "UTC" } })
    }
    const [made] = await Promise.all([
      browser.post("/setup", { token, ...ADA }),
      ...["one", "two", "three"].map((name, i) => site(name, i * 10 * round)),
    ])
    expect(made.status).toBe(201)
    expect((await app.instance.organizations.list()).map(({ name }) => name)).toEqual(["Acme"])
    expect((await browser.get("/me")).body.sites.map(({ name }: { name: string }) => name).sort()).toEqual(["one", "three", "two"])
  }
})

test("exactly one of twenty simultaneous set-ups succeeds, and all later ones fail", async () => {
  await using instance = await startInstance()
  const { token } = begin(instance)
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => browserOf(instance).post("/setup", { token, ...ADA, email: `a${i}@example.org` })),
  )
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  // Requests whose password cannot be hashed within seconds, because the machine is busy, are told to retry.
  const refused = answers.filter(({ status }) => status !== 201).map(({ status, code }) => `${status} ${code}`)
  expect(refused.filter((each) => each !== "409 already_set_up" && each !== "503 unavailable")).toEqual([])
  const { catalog } = instance.app.instance
  expect(await catalog.get(sql`select count(*) as users from users`)).toEqual({ users: 1 })
  expect(await catalog.get(sql`select count(*) as sessions from sessions`)).toEqual({ sessions: 1 })
  await catalog.script("update users set status = 'deleted'")
  expect(await browserOf(instance).post("/setup", { token, ...ADA })).toMatchObject({ status: 409, code: "already_set_up" })
})

test("a token expires after half an hour, and a new one invalidates the old one", async () => {
  await using instance = await startInstance()
  const later: string[] = []
  const { token: first } = begin(instance, later)
  const { renew } = instance.app.instance.accounts.setup.token
  instance.clock.advance(30 * 60_000 - 1)
  renew()
  expect(later).toEqual([])
  instance.clock.advance(1)
  expect(await browserOf(instance).post("/setup", { token: first, ...ADA })).toMatchObject({ status: 403, code: "setup_token_invalid" })
  renew()
  expect(later).toHaveLength(1)
  expect(await browserOf(instance).post("/setup", { token: first, ...ADA })).toMatchObject({ status: 403, code: "setup_token_invalid" })
  const { token: restarted } = begin(instance)
  expect(await browserOf(instance).post("/setup", { token: later[0], ...ADA })).toMatchObject({ status: 403 })
  expect(await browserOf(instance).post("/setup", { token: restarted, ...ADA })).toMatchObject({ status: 201 })
})

test("accepts at most ten wrong tokens in a quarter of an hour, from any address", async () => {
  await using instance = await startInstance()
  const { token } = begin(instance)
  for (let i = 0; i < 10; i++)
    expect(await browserOf(instance, `203.0.113.${i}`).post("/setup", { token: `wrong ${i}`, ...ADA })).toMatchObject({ status: 403 })
  const refused = await browserOf(instance).post("/setup", { token, ...ADA })
  expect(refused).toMatchObject({ status: 429, code: "rate_limited" })
  expect(refused.headers.get("retry-after")).toBe("900")
  instance.clock.advance(15 * 60_000)
  expect(await browserOf(instance).post("/setup", { token, ...ADA })).toMatchObject({ status: 201 })
})

test.each<[string, object, number, string | string[]]>([
  ["no token", { token: undefined }, 403, "setup_token_invalid"],
  ["a number as the token", { token: 5 }, 403, "setup_token_invalid"],
  ["a wrong token and an invalid body", { token: "x", email: 5 }, 403, "setup_token_invalid"],
  ["a short password", { password: "short" }, 422, ["/password too_short"]],
  ["a common password", { password: "123qweASDzxc" }, 422, ["/password password_too_common"]],
  ["the product's name in the password", { password: "Footfall-2026!" }, 422, ["/password password_too_common"]],
  ["the user's address as the password", { password: "ADA@example.org" }, 422, ["/password password_too_common"]],
  ["an unknown field", { admin: true }, 422, ["/admin unknown_field"]],
  ["a site without hosts", { site: { name: "Blog" } }, 422, ["/site/hosts required"]],
  ["an array as the site", { site: [] }, 422, ["/site invalid_type"]],
  [
    "several errors at once",
    { email: "x", site: { name: "", hosts: ["a b"] } },
    422,
    ["/email too_short", "/site/name too_short", "/site/hosts/0 invalid_host"],
  ],
])("rejects a set-up with %s", async (_, fields, status, code) => {
  await using instance = await startInstance()
  const { token } = begin(instance)
  const answer = await browserOf(instance).post("/setup", { token, ...ADA, ...fields })
  expect(answer.status).toBe(status)
  if (typeof code === "string") expect(answer.code).toBe(code)
  else expect(answer.body.errors.map((e: { pointer: string; code: string }) => `${e.pointer} ${e.code}`)).toEqual(code)
  expect(await instance.app.instance.accounts.users.isSetUp()).toBe(false)
})

test("until the set-up, every other private route reports it, including sign-in", async () => {
  await using instance = await startInstance()
  const browser = browserOf(instance)
  for (const [method, path] of [
    ["GET", "/me"],
    ["POST", "/auth/login"],
    ["POST", "/auth/mfa"],
  ] as const)
    expect(await browser.send(method, path, method === "POST" ? {} : undefined)).toMatchObject({ status: 503, code: "setup_required" })
})

test("a page of another origin cannot set up an instance", async () => {
  await using instance = await startInstance()
  const { token } = begin(instance)
  const forged: Record<string, string>[] = [{ "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "same-site" }]
  for (const headers of forged)
    expect(await browserOf(instance).post("/setup", { token, ...ADA }, headers)).toMatchObject({ status: 403, code: "origin_not_allowed" })
  const form = await browserOf(instance).post("/setup", "token=x", { "content-type": "application/x-www-form-urlencoded" })
  expect(form).toMatchObject({ status: 415, code: "unsupported_media_type" })
})

test("rejects the set-up over unencrypted HTTP, except on this machine or if allowed", async () => {
  await using open = await startInstance({ settings: { base_url: "http://stats.example.org" } })
  const { token } = begin(open)
  const far = browserOf(open, "198.51.100.7", "http://stats.example.org")
  expect(await far.post("/setup", { token, ...ADA })).toMatchObject({ status: 403, code: "insecure_connection" })
  expect(await browserOf(open).post("/setup", { token, ...ADA })).toMatchObject({ status: 201 })

  await using allowed = await startInstance({ settings: { base_url: "http://stats.example.org", allow_insecure_http: "1" } })
  const { token: other } = begin(allowed)
  const near = browserOf(allowed, "198.51.100.7", "http://stats.example.org")
  const answer = await near.post("/setup", { token: other, ...ADA })
  expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/^sid=[^;]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/)])

  await using secure = await startInstance({ settings: { base_url: "https://stats.example.org" } })
  const { token: third } = begin(secure)
  const safe = browserOf(secure, "198.51.100.7", "http://stats.example.org")
  const cookies = (await safe.post("/setup", { token: third, ...ADA })).headers.getSetCookie()
  expect(cookies).toEqual([expect.stringMatching(/^__Host-sid=[^;]+; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax$/)])
})

test("stores neither token, password nor session in plain text", async () => {
  await using instance = await startInstance()
  const { token } = begin(instance)
  const browser = browserOf(instance)
  await browser.post("/setup", { token, ...ADA })
  const session = decodeURIComponent(browser.cookies.get("sid")!).split(".")[0]!
  const { catalog } = instance.app.instance
  await catalog.checkpoint()
  await catalog.copyTo(`${instance.dataDir}/copy.db`)
  const bytes = Buffer.from(await Bun.file(`${instance.dataDir}/copy.db`).arrayBuffer())
  expect(bytes.includes(ADA.email)).toBe(true)
  for (const secret of [token, ADA.password, session]) expect(bytes.includes(secret)).toBe(false)
  expect(JSON.stringify(instance.log.lines)).not.toContain(token)
})
