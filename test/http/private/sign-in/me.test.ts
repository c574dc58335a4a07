import { afterAll, beforeAll, expect, test } from "bun:test"
import { insertMembership } from "../../../../src/store/catalog/members.ts"
import { insertUser } from "../../../../src/store/catalog/users.ts"
import { sql } from "../../../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { ADA, type Browser, browserOf, setUp } from "../browser.ts"

let instance: TestInstance
let ada: Browser
beforeAll(async () => {
  instance = await startInstance()
  ada = await setUp(instance)
})
afterAll(() => instance[Symbol.asyncDispose]())

let network = 0
const signIn = async (email = ADA.email, password = ADA.password, of = instance): Promise<Browser> => {
  const browser = browserOf(of, `192.0.${network++}.1`)
  const { status, body } = await browser.post("/auth/login", { email, password })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return browser
}

/** Signs in another user with Ada's password, optionally with a role in organization 2. */
async function person(
  name: string,
  { role, isAdmin = false, of = instance }: { role?: "owner" | "viewer"; isAdmin?: boolean; of?: TestInstance } = {},
) {
  const { catalog } = of.app.instance
  const email = `${name}@example.org`
  const { password_hash } = (await catalog.get<{ password_hash: string }>(sql`select password_hash from users where id = 1`))!
  const user = (await insertUser(catalog, { email, email_key: email, name, password_hash, is_instance_admin: isAdmin, created_at: 0 }))!
  if (role) await insertMembership(catalog, { organizationId: 2, userId: user.id, role, now: 0 })
  return { ...user, browser: await signIn(email, ADA.password, of) }
}

test("updates name and preferences individually", async () => {
  const { version } = (await ada.get("/me")).body.user
  const changed = await ada.send("PATCH", "/me", {
    name: " Ada L. ",
    locale: "en-gb",
    time_format: "24h",
    theme: "dark",
    shortcuts: false,
    start_page: "/sites/1",
  })
  expect(changed).toMatchObject({
    status: 200,
    body: {
      id: 1,
      name: "Ada L.",
      locale: "en-GB",
      time_format: "24h",
      theme: "dark",
      shortcuts: false,
      start_page: "/sites/1",
      version: version + 1,
    },
  })
  expect(changed.headers.get("etag")).toBe(`"${version + 1}"`)
  expect((await ada.send("PATCH", "/me", { theme: null, version: version + 1 })).body).toMatchObject({
    theme: null,
    locale: "en-GB",
    version: version + 2,
  })
  expect((await ada.send("PATCH", "/me", {})).body.version).toBe(version + 2)
  expect(await ada.send("PATCH", "/me", { name: "B", version: version + 1 })).toMatchObject({
    status: 409,
    code: "version_conflict",
    body: { current: { name: "Ada L.", version: version + 2 } },
  })
  expect(await ada.send("PATCH", "/me", { name: "B" }, { "if-match": `"${version}"` })).toMatchObject({ status: 412 })
  expect((await ada.get("/me")).body.user.name).toBe("Ada L.")
})

test.each<[string, object, string]>([
  ["no name", { name: "  " }, "/name too_short"],
  ["a number as the name", { name: 5 }, "/name invalid_type"],
  ["an unknown language", { locale: "not a language" }, "/locale invalid_locale"],
  ["an unknown clock format", { time_format: "25h" }, "/time_format invalid_choice"],
  ["an unknown theme", { theme: "pink" }, "/theme invalid_choice"],
  ["a page on another host", { start_page: "//evil.example" }, "/start_page invalid_path"],
  ["a page on another host by a backslash", { start_page: "/\\evil.example" }, "/start_page invalid_path"],
  ["a URL as the page", { start_page: "https://evil.example" }, "/start_page invalid_path"],
  ["an email address", { email: "eve@example.org" }, "/email unknown_field"],
  ["an instance flag", { is_instance_admin: true }, "/is_instance_admin unknown_field"],
])("rejects %s", async (_, patch, fault) => {
  const { status, body } = await ada.send("PATCH", "/me", patch)
  expect([status, body.errors.map((e: { pointer: string; code: string }) => `${e.pointer} ${e.code}`)]).toEqual([422, [fault]])
})

test("a new password ends all other sessions and pending sign-ins, but not this one", async () => {
  const { browser, email } = await person("password")
  const elsewhere = await signIn(email)
  const wrong = { current: "not this one", password: "another fine password" }
  expect(await browser.post("/me/password", wrong)).toMatchObject({ status: 401, code: "invalid_credentials" })
  expect(await browser.post("/me/password", { password: "another fine password" })).toMatchObject({ status: 401 })
  expect((await browser.post("/me/password", { current: ADA.password, password: "short" })).body.errors[0]).toMatchObject({
    pointer: "/password",
    code: "too_short",
  })
  expect((await browser.post("/me/password", { current: ADA.password, password: "another fine password" })).status).toBe(204)
  expect((await browser.get("/me")).status).toBe(200)
  expect((await elsewhere.get("/me")).status).toBe(401)
  expect((await browserOf(instance, "192.1.0.1").post("/auth/login", { email, password: ADA.password })).status).toBe(401)
  expect((await signIn(email, "another fine password")).cookies.size).toBe(1)
})

test("lists sessions and ends them individually or all others at once", async () => {
  const { browser, email } = await person("sessions")
  const [second, third] = [await signIn(email), await signIn(email)]
  const { data } = (await browser.get("/me/sessions")).body
  expect(data).toHaveLength(3)
  expect(data.filter(({ current }: { current: boolean }) => current)).toHaveLength(1)
  expect(Object.keys(data[0]).sort()).toEqual(["created_at", "current", "device", "id", "ip_prefix", "last_seen_at", "method", "place"])
  expect(JSON.stringify(data)).not.toContain("token")
  const ids: number[] = data.map(({ id }: { id: number }) => id)
  const [secondId] = (await second.get("/me/sessions")).body.data
    .filter((row: { current: boolean }) => row.current)
    .map((row: { id: number }) => row.id)
  expect(ids).toContain(secondId)
  // Another user's session is not found.
  expect(await ada.send("DELETE", `/me/sessions/${secondId}`)).toMatchObject({ status: 404, code: "session_not_found" })
  expect(await browser.send("DELETE", "/me/sessions/x")).toMatchObject({ status: 404, code: "session_not_found" })
  expect((await browser.send("DELETE", `/me/sessions/${secondId}`)).status).toBe(204)
  expect((await second.get("/me")).status).toBe(401)
  expect(await browser.send("DELETE", `/me/sessions/${secondId}`)).toMatchObject({ status: 404 })
  expect((await browser.post("/me/sessions/revoke-others")).status).toBe(204)
  expect((await third.get("/me")).status).toBe(401)
  expect((await browser.get("/me")).status).toBe(200)
})

test("signing out ends the session, even if the browser keeps the cookie", async () => {
  const { browser } = await person("logout")
  const kept = browser.cookies.get("sid")!
  const out = await browser.post("/auth/logout")
  expect(out.status).toBe(204)
  expect(out.headers.getSetCookie()).toEqual(["sid=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax"])
  expect(browser.cookies.size).toBe(0)
  browser.cookies.set("sid", kept)
  expect(await browser.get("/me")).toMatchObject({ status: 401, code: "session_required" })
  expect((await browser.post("/auth/logout")).status).toBe(401)
})

test("the current session reports its expiry and how long the last proof is valid", async () => {
  const { browser } = await person("session")
  const at = instance.clock.now()
  const day = 86_400_000
  const text = (ms: number) => new Date(at + ms).toISOString().replace(".000Z", "Z")
  expect((await browser.get("/auth/session")).body).toMatchObject({
    user: { name: "session" },
    expires_at: text(30 * day),
    idle_expires_at: text(7 * day),
    reauth_until: text(600_000),
  })
  instance.clock.advance(600_000)
  expect((await browser.get("/auth/session")).body).not.toHaveProperty("reauth_until")
  expect((await browserOf(instance).get("/auth/session")).status).toBe(401)
})

test("confirming the password allows protected actions, with a new session token", async () => {
  const { browser } = await person("proof")
  instance.clock.advance(600_001)
  const change = () => browser.post("/me/password", { current: ADA.password, password: "short" })
  expect(await change()).toMatchObject({ status: 403, code: "reauth_required" })
  const before = browser.cookies.get("sid")!
  expect(await browser.post("/auth/reauth", { password: "wrong" })).toMatchObject({ status: 401, code: "invalid_credentials" })
  expect(await browser.post("/auth/reauth", { code: "000000" })).toMatchObject({ status: 401, code: "invalid_code" })
  expect(await browser.post("/auth/reauth", {})).toMatchObject({ status: 422 })
  expect((await browser.post("/auth/reauth", { password: ADA.password })).status).toBe(204)
  expect((await change()).status).toBe(422)
  const old = browserOf(instance)
  old.cookies.set("sid", before)
  expect((await old.get("/me")).status).toBe(401)
})

test("an impersonated session changes nothing of the user's account", async () => {
  const { id } = await person("subject")
  const { catalog, sessions, cookieSecrets } = instance.app.instance
  const { token } = await catalog.transaction((statements) =>
    sessions.create(
      statements,
      { id },
      {
        method: "impersonation",
        mfa: false,
        client: { userAgent: "", ipPrefix: "" },
        impersonation: { by: 1, mode: "full", reason: "help", minutes: 30 },
      },
    ),
  )
  const browser = browserOf(instance)
  const signature = new Bun.CryptoHasher("sha256", cookieSecrets[0]).update(token).digest("base64").replace(/=+$/, "")
  browser.cookies.set("sid", encodeURIComponent(`${token}.${signature}`))
  expect((await browser.get("/me")).body.impersonation).toMatchObject({ mode: "full" })
  for (const [method, path] of [
    ["PATCH", "/me"],
    ["DELETE", "/me"],
    ["POST", "/me/password"],
    ["POST", "/me/email"],
    ["POST", "/me/totp/start"],
    ["POST", "/me/passkeys"],
    ["GET", "/me/sessions"],
    ["POST", "/auth/reauth"],
    ["POST", "/me/leave"],
  ] as const)
    expect(await browser.send(method, path, method === "GET" ? undefined : {})).toMatchObject({
      status: 403,
      code: "impersonation_read_only",
    })
})

test("a member leaves an organization, but not as its last owner", async () => {
  const { browser, id } = await person("leaver", { role: "viewer" })
  expect(await browser.post("/me/leave", { organization_id: 1 })).toMatchObject({ status: 404, code: "organization_not_found" })
  expect((await browser.post("/me/leave", { organization_id: 2 })).status).toBe(204)
  expect((await browser.get("/me")).body.organizations).toEqual([])
  expect(await browser.post("/me/leave", { organization_id: 2 })).toMatchObject({ status: 404 })
  expect(await ada.post("/me/leave", { organization_id: 2 })).toMatchObject({ status: 409, code: "last_owner" })
  const rows = await instance.app.instance.catalog.all(
    sql`select action, target_id from audit_log where action = 'accounts.membership.leave'`,
  )
  expect(rows).toEqual([{ action: "accounts.membership.leave", target_id: String(id) }])
})

test("a deleted account leaves a row without a name, and its address is free", async () => {
  const { browser, id, email } = await person("gone", { role: "viewer" })
  const { catalog } = instance.app.instance
  expect((await browser.send("DELETE", "/me")).status).toBe(204)
  expect(browser.cookies.size).toBe(0)
  expect(await catalog.get(sql`select email, name, status, password_hash from users where id = ${id}`)).toEqual({
    email: `deleted-${id}`,
    name: "Deleted user",
    status: "deleted",
    password_hash: null,
  })
  expect(await catalog.get(sql`select 1 from memberships where user_id = ${id}`)).toBeUndefined()
  // The audit log still names the user.
  expect(await catalog.get(sql`select actor_email, target_label from audit_log where action = 'accounts.user.delete'`)).toEqual({
    actor_email: email,
    target_label: email,
  })
  expect((await browserOf(instance, "192.2.0.1").post("/auth/login", { email, password: ADA.password })).status).toBe(401)
  expect((await person("gone")).id).not.toBe(id)
})

test("the last owner and the last instance admin stay, even if two leave at the same time", async () => {
  await using own = await startInstance()
  const first = await setUp(own)
  expect(await first.send("DELETE", "/me")).toMatchObject({ status: 409, code: "last_owner" })
  const second = await person("second", { role: "owner", of: own })
  expect(await first.send("DELETE", "/me")).toMatchObject({ status: 409, code: "last_instance_admin" })
  await own.app.instance.catalog.run(sql`update users set is_instance_admin = 1 where id = ${second.id}`)
  const answers = await Promise.all([first.send("DELETE", "/me"), second.browser.send("DELETE", "/me")])
  expect(answers.map(({ status }) => status).sort()).toEqual([204, 409])
  expect(await own.app.instance.catalog.get(sql`select count(*) as n from users where status = 'active'`)).toEqual({ n: 1 })
})

test("a change of rights issues a new token; the old one stays valid only briefly", async () => {
  const { browser, id } = await person("promoted", { role: "viewer" })
  const { catalog, sessions } = instance.app.instance
  await sessions.renewAll(catalog, id)
  const old = browser.cookies.get("sid")!
  const answers = await Promise.all(Array.from({ length: 5 }, () => browser.get("/me")))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  expect(answers.flatMap(({ headers }) => headers.getSetCookie())).toHaveLength(1)
  expect(browser.cookies.get("sid")).not.toBe(old)
  expect((await browser.get("/me")).status).toBe(200)
  instance.clock.advance(10_000)
  const late = browserOf(instance)
  late.cookies.set("sid", old)
  expect((await late.get("/me")).status).toBe(401)
  expect((await browser.get("/me")).status).toBe(200)
})

test("an organization can shorten the lifetime of sessions", async () => {
  const { catalog } = instance.app.instance
  const policy = (value: object) => catalog.run(sql`update organizations set policy_json = ${JSON.stringify(value)} where id = 2`)
  await policy({ session_idle_days: 1, session_absolute_days: 2 })
  const browser = await signIn()
  const { expires_at, idle_expires_at } = (await browser.get("/auth/session")).body
  expect([Date.parse(idle_expires_at), Date.parse(expires_at)].map((at) => at - Math.floor(instance.clock.now() / 1_000) * 1_000)).toEqual([
    86_400_000, 172_800_000,
  ])
  instance.clock.advance(86_400_000 - 1_000)
  expect((await browser.get("/me")).status).toBe(200)
  instance.clock.advance(86_400_000 - 1_000)
  expect((await browser.get("/me")).status).toBe(200)
  instance.clock.advance(2_000)
  expect((await browser.get("/me")).status).toBe(401)
  // A clock that is set back does not revive it.
  instance.clock.advance(-3_000)
  expect((await browser.get("/me")).status).toBe(401)
  await policy({})
})
