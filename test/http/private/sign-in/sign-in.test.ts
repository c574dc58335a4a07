import { afterAll, beforeAll, expect, test } from "bun:test"
import { sql } from "../../../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { ADA, type Browser, browserOf, setUp } from "../browser.ts"
import { newUser } from "../people.ts"

let instance: TestInstance
beforeAll(async () => {
  instance = await startInstance()
  await setUp(instance)
})
afterAll(() => instance[Symbol.asyncDispose]())

let network = 0
/** Each test uses a network of its own, so that the limits of others do not apply. */
const newBrowser = (of = instance): Browser => browserOf(of, `192.0.${network++}.1`)
const signIn = (browser: Browser, password = ADA.password, email = ADA.email) => browser.post("/auth/login", { email, password })

test("signs in with the address in any case and the password in any Unicode form", async () => {
  const browser = newBrowser()
  expect(await signIn(browser, ADA.password, "ADA@Example.org")).toMatchObject({
    status: 200,
    body: { user: { id: 1, email: ADA.email, is_instance_admin: true } },
  })
  expect(await browser.get("/me")).toMatchObject({ status: 200, body: { user: { id: 1 } } })
})

test("an unknown address, a wrong password and a disabled user receive the same response", async () => {
  const { catalog } = instance.app.instance
  await catalog.script(`
    insert into users (email, email_key, name, password_hash, is_instance_admin, status, created_at)
    select 'off@example.org', 'off@example.org', 'Off', password_hash, 0, 'disabled', 0 from users where id = 1`)
  const answers = [
    await signIn(newBrowser(), "another long password"),
    await signIn(newBrowser(), ADA.password, "nobody@example.org"),
    await signIn(newBrowser(), ADA.password, "off@example.org"),
    await signIn(newBrowser(), ""),
    await signIn(newBrowser(), "x".repeat(1_024)),
  ]
  const bodies = answers.map(({ body: { request_id: _, ...rest } }) => JSON.stringify(rest))
  expect(answers.map(({ status, code }) => [status, code])).toEqual(Array(5).fill([401, "invalid_credentials"]))
  expect(new Set(bodies).size).toBe(1)
  expect(answers.flatMap(({ headers }) => headers.getSetCookie())).toEqual([])
})

test.each<[string, unknown, number, string]>([
  ["no password", { email: ADA.email }, 422, "validation_failed"],
  ["a number as the password", { email: ADA.email, password: 12 }, 422, "validation_failed"],
  ["a password of 1025 characters", { email: ADA.email, password: "x".repeat(1_025) }, 422, "validation_failed"],
  ["an array of addresses", { email: [ADA.email], password: ADA.password }, 422, "validation_failed"],
  ["an unknown field", { ...ADA, remember: true }, 422, "validation_failed"],
  ["an array", [], 422, "validation_failed"],
  ["malformed JSON", "{", 400, "invalid_json"],
])("rejects a sign-in with %s", async (_, body, status, code) => {
  expect(await newBrowser().post("/auth/login", body)).toMatchObject({ status, code })
})

test.each<[string, Record<string, string>, number, string]>([
  ["a form of another page", { "content-type": "application/x-www-form-urlencoded" }, 415, "unsupported_media_type"],
  ["text/plain, which any page may send", { "content-type": "text/plain" }, 415, "unsupported_media_type"],
  ["another site", { "sec-fetch-site": "cross-site" }, 403, "origin_not_allowed"],
  ["another host of the same site", { "sec-fetch-site": "same-site" }, 403, "origin_not_allowed"],
])("rejects a sign-in by %s", async (_, headers, status, code) => {
  expect(await newBrowser().post("/auth/login", { email: ADA.email, password: ADA.password }, headers)).toMatchObject({ status, code })
})

test("a sign-in replaces the previous cookie and ends the previous session", async () => {
  const browser = newBrowser()
  browser.cookies.set("sid", "planted.signature")
  await signIn(browser)
  const first = browser.cookies.get("sid")!
  expect(first).not.toContain("planted")
  await signIn(browser)
  const second = browser.cookies.get("sid")!
  expect(second).not.toBe(first)
  browser.cookies.set("sid", first)
  expect(await browser.get("/me")).toMatchObject({ status: 401, code: "session_required" })
  browser.cookies.set("sid", second)
  expect(await browser.get("/me")).toMatchObject({ status: 200 })
})

test("allows twenty attempts per minute and address, right or wrong", async () => {
  const browser = newBrowser()
  for (let i = 0; i < 20; i++) expect((await signIn(browser, "wrong", `u${i}@example.org`)).status).toBe(401)
  const refused = await signIn(browser)
  expect(refused).toMatchObject({ status: 429, code: "rate_limited" })
  expect(refused.headers.get("retry-after")).toBe("60")
  instance.clock.advance(60_000)
  expect((await signIn(browser)).status).toBe(200)
})

test("allows fifty failures per hour and address", async () => {
  const browser = newBrowser()
  for (let i = 0; i < 50; i++) {
    if (i % 20 === 0) instance.clock.advance(60_000)
    expect((await signIn(browser, "wrong", `u${i}@example.org`)).status).toBe(401)
  }
  instance.clock.advance(60_000)
  expect(await signIn(browser)).toMatchObject({ status: 429, code: "rate_limited" })
  instance.clock.advance(60 * 60_000)
  expect((await signIn(browser)).status).toBe(200)
})

test("after ten failures for an account, each further one doubles the wait, before a hash is computed", async () => {
  const base = `198.18.${network++}`
  const guess = (host: number) => signIn(browserOf(instance, `${base}.${host}`), "wrong")
  for (let i = 0; i < 10; i++) expect((await guess(i)).status).toBe(401)
  const waits: string[] = []
  for (let i = 0; i < 8; i++) {
    const refused = await guess(50 + i)
    expect(refused).toMatchObject({ status: 429 })
    waits.push(refused.headers.get("retry-after")!)
    instance.clock.advance(Number(waits.at(-1)) * 1_000)
    expect((await guess(100 + i)).status).toBe(401)
  }
  expect(waits).toEqual(["10", "20", "40", "80", "160", "320", "640", "900"])
  // Clients at other addresses never wait, and no account is locked permanently.
  expect((await signIn(newBrowser())).status).toBe(200)
  instance.clock.advance(900_000)
  expect((await signIn(browserOf(instance, `${base}.1`))).status).toBe(200)
})

test("simultaneous guesses do not bypass the limit", async () => {
  const browser = newBrowser()
  const answers = await Promise.all(Array.from({ length: 200 }, () => signIn(browser, "wrong")))
  const hashed = answers.filter(({ status }) => status === 401)
  expect(hashed).toHaveLength(10)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(190)
})

test("a correct password resets the failures before it", async () => {
  const browser = newBrowser()
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 9; i++) expect((await signIn(browser, "wrong")).status).toBe(401)
    expect((await signIn(browser)).status).toBe(200)
    instance.clock.advance(60_000)
  }
})

test("renews a hash with older parameters when its password is used", async () => {
  const { catalog } = instance.app.instance
  const old = await Bun.password.hash(ADA.password, { algorithm: "argon2id", memoryCost: 128, timeCost: 1 })
  await catalog.run(sql`update users set password_hash = ${old} where id = 1`)
  const hash = async () => (await catalog.get<{ password_hash: string }>(sql`select password_hash from users where id = 1`))!.password_hash
  await signIn(newBrowser(), "wrong")
  expect(await hash()).toBe(old)
  expect((await signIn(newBrowser())).status).toBe(200)
  expect(await hash()).toStartWith("$argon2id$v=19$m=64,t=1,p=1$")
  expect((await signIn(newBrowser())).status).toBe(200)
})

test("an organization can require its provider; the owners it names keep the password", async () => {
  const { catalog } = instance.app.instance
  const policy = (value: object) => catalog.run(sql`update organizations set policy_json = ${JSON.stringify(value)} where name = 'Acme'`)
  await policy({ sso_only: true })
  expect(await signIn(newBrowser())).toMatchObject({ status: 403, code: "sso_required" })
  expect(await signIn(newBrowser(), "wrong")).toMatchObject({ status: 401, code: "invalid_credentials" })
  await policy({ sso_only: true, break_glass_user_ids: [1] })
  expect(await signIn(newBrowser())).toMatchObject({ status: 200 })
  await catalog.run(sql`update memberships set role = 'admin' where user_id = 1`)
  expect(await signIn(newBrowser())).toMatchObject({ status: 403, code: "sso_required" })
  await catalog.run(sql`update memberships set role = 'owner' where user_id = 1`)
  await policy({})
})

test("the audit log records sign-ins, and at most a hundred failures per day and network", async () => {
  await using own = await startInstance({ settings: { signin_per_minute: "1000", signin_failures_per_hour: "1000" } })
  await setUp(own)
  const browser = browserOf(own, "203.0.113.9")
  for (let i = 0; i < 105; i++) await signIn(browser, "wrong", i % 2 ? `u${i}@example.org` : `into the wrong field ${i}`)
  await signIn(browser)
  const { catalog, audit } = own.app.instance
  const rows = await catalog.all<{ n: number }>(sql`
    select count(*) as n, outcome from audit_log where action = 'accounts.session.create' group by outcome order by outcome`)
  expect(rows).toMatchObject([
    { n: 100, outcome: "failed" },
    { n: 2, outcome: "ok" },
  ])
  expect(await catalog.get(sql`select 1 from audit_log where target_label like '%wrong field%'`)).toBeUndefined()
  expect(await audit.verify()).toMatchObject({ ok: true })
}, 60_000)

test("signing out of an impersonation also ends the admin's own session, which the browser still holds", async () => {
  await using instance = await startInstance()
  const admin = await newUser(instance, { isInstanceAdmin: true })
  const viewer = await newUser(instance, { role: "viewer" })
  const act = await admin.send("POST", `/api/private/admin/users/${viewer.id}/impersonate`, { reason: "Ticket 7" })
  const [acting, waiting] = act.headers.getSetCookie().map((line) => line.split(";")[0]!)
  const own = `sid=${waiting!.split(/=(.*)/s)[1]}`
  const asks = (path: string, cookie: string, body?: unknown) =>
    instance.api.send(body === undefined ? "GET" : "POST", `/api/private${path}`, body, undefined, { cookie })
  expect((await asks("/me", own)).status).toBe(200)
  const out = await asks("/auth/logout", `${acting}; ${waiting}`, {})
  expect(out.status).toBe(204)
  expect(out.headers.getSetCookie().map((line) => /^([^=]+)=;.*Max-Age=0/.exec(line)?.[1])).toEqual(["own-sid", "sid"])
  expect((await asks("/me", own)).status).toBe(401)
  expect((await asks("/me", acting!)).status).toBe(401)
})
