import { expect, test } from "bun:test"
import { sql } from "../../../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { ADA, type Browser, browserOf, setUp } from "../browser.ts"
import { type Algorithm, createAuthenticator, type Defects } from "./authenticator.ts"

const ORIGIN = "http://localhost:9000"
const start = () => startInstance({ settings: { base_url: ORIGIN } })

async function addPasskey(browser: Browser, algorithm: Algorithm = "ES256", name?: string) {
  const device = createAuthenticator(ORIGIN, algorithm)
  const begun = await browser.post("/me/passkeys", {})
  const response = device.create(begun.body.options)
  const added = await browser.post("/me/passkeys", { challenge_id: begun.body.challenge_id, response, ...(name && { name }) })
  return { device, added }
}

let network = 0
const newBrowser = (instance: TestInstance): Browser => browserOf(instance, `192.0.${network++}.1`)

async function signIn(browser: Browser, device: ReturnType<typeof createAuthenticator>, defects: Defects = {}, body: object = {}) {
  const { options, challenge_id } = (await browser.post("/auth/passkey/options", body)).body
  return browser.post("/auth/passkey/verify", { challenge_id, response: device.get(options, defects) })
}

test.each<Algorithm>(["ES256", "EdDSA", "RS256"])(
  "registers a passkey with %s, which signs in as two factors at once",
  async (algorithm) => {
    await using instance = await start()
    const ada = await setUp(instance)
    const { device, added } = await addPasskey(ada, algorithm, "Phone")
    expect(added).toMatchObject({
      status: 201,
      body: {
        id: 1,
        name: "Phone",
        algorithm,
        transports: ["internal"],
        backed_up: false,
        created_at: "2026-11-21T12:00:00Z",
        last_used_at: null,
        version: 1,
      },
    })
    expect(added.headers.get("location")).toBe("/api/private/me/passkeys/1")
    expect((await ada.get("/me")).body.user.mfa).toMatchObject({ passkeys: 1 })
    const browser = newBrowser(instance)
    expect(await signIn(browser, device)).toMatchObject({ status: 200, body: { user: { id: 1, email: ADA.email } } })
    expect((await browser.get("/me")).status).toBe(200)
    expect(await instance.app.instance.catalog.get(sql`select method, mfa from sessions order by id desc limit 1`)).toEqual({
      method: "passkey",
      mfa: 1,
    })
    expect((await ada.get("/me/passkeys")).body.data).toMatchObject([{ id: 1, last_used_at: "2026-11-21T12:00:00Z" }])
  },
)

test("requests the options that create a passkey", async () => {
  await using instance = await start()
  const ada = await setUp(instance)
  await addPasskey(ada)
  const { options } = (await ada.post("/me/passkeys", {})).body
  expect(options).toMatchObject({
    rp: { id: "localhost", name: "Footfall" },
    user: { name: ADA.email },
    pubKeyCredParams: [{ alg: -7 }, { alg: -8 }, { alg: -257 }],
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    attestation: "none",
    excludeCredentials: [{ transports: ["internal"] }],
  })
  const signInOptions = (await newBrowser(instance).post("/auth/passkey/options")).body.options
  expect(signInOptions).toMatchObject({ rpId: "localhost", userVerification: "required", allowCredentials: [] })
  expect(Buffer.from(signInOptions.challenge, "base64url")).toHaveLength(32)
})

const WRONG: [string, Defects][] = [
  ["another origin", { origin: "https://evil.example" }],
  ["another port", { origin: "http://localhost:9001" }],
  ["another host", { rpId: "evil.example" }],
  ["another challenge", { challenge: Buffer.alloc(32).toString("base64url") }],
  ["a user who was not verified", { unverified: true }],
  ["an embedded page", { crossOrigin: true }],
  ["a response to a registration", { type: "webauthn.create" }],
  ["the handle of another user", { userHandle: Buffer.from("user-2").toString("base64url") }],
  ["an altered signature", { forged: true }],
]

test("any invalid response looks the same as that of an unknown device", async () => {
  await using instance = await start()
  const ada = await setUp(instance)
  const { device } = await addPasskey(ada)
  const unknown = createAuthenticator(ORIGIN)
  const answers = []
  for (const [, defects] of WRONG) answers.push(await signIn(newBrowser(instance), device, defects))
  answers.push(await signIn(newBrowser(instance), unknown))
  const bodies = answers.map(({ body: { request_id: _, ...rest } }) => JSON.stringify(rest))
  expect(answers.map(({ status, code }) => `${status} ${code}`)).toEqual(Array(WRONG.length + 1).fill("401 invalid_credentials"))
  expect(new Set(bodies).size).toBe(1)
  expect((await signIn(newBrowser(instance), device)).status).toBe(200)
})

test.each<[string, unknown]>([
  ["nothing", {}],
  ["an empty id", { id: "", rawId: "", type: "public-key", response: {} }],
  ["numbers", { id: 1, rawId: 1, type: 1, response: 1 }],
  ["no clientDataJSON", { id: "x", rawId: "x", type: "public-key", response: { authenticatorData: "", signature: "" } }],
  ["a prototype key", JSON.parse('{"__proto__":{"id":"x"},"id":"x","response":{"clientDataJSON":"e30"}}')],
])("rejects a response of %s without an internal error", async (_, response) => {
  await using instance = await start()
  await setUp(instance)
  const browser = newBrowser(instance)
  const { challenge_id } = (await browser.post("/auth/passkey/options")).body
  expect(await browser.post("/auth/passkey/verify", { challenge_id, response })).toMatchObject({ status: 401, code: "invalid_credentials" })
})

test("a challenge is used once and expires after five minutes", async () => {
  await using instance = await start()
  const ada = await setUp(instance)
  const { device } = await addPasskey(ada)
  const browser = newBrowser(instance)
  const first = (await browser.post("/auth/passkey/options")).body
  const response = device.get(first.options)
  const both = await Promise.all(
    [1, 2, 3].map(() => newBrowser(instance).post("/auth/passkey/verify", { challenge_id: first.challenge_id, response })),
  )
  expect(both.map(({ status }) => status).sort()).toEqual([200, 401, 401])
  const wrong = (await browser.post("/auth/passkey/options")).body
  await browser.post("/auth/passkey/verify", { challenge_id: wrong.challenge_id, response: device.get(wrong.options, { forged: true }) })
  expect(
    await browser.post("/auth/passkey/verify", { challenge_id: wrong.challenge_id, response: device.get(wrong.options) }),
  ).toMatchObject({
    status: 401,
    code: "ticket_invalid",
  })
  const old = (await browser.post("/auth/passkey/options")).body
  instance.clock.advance(5 * 60_000)
  expect(await browser.post("/auth/passkey/verify", { challenge_id: old.challenge_id, response: device.get(old.options) })).toMatchObject({
    code: "ticket_invalid",
  })
  // A challenge for one purpose is not valid for another.
  const fresh = (await ada.post("/auth/passkey/options")).body
  expect(
    (
      await ada.post("/me/passkeys", {
        challenge_id: fresh.challenge_id,
        response: createAuthenticator(ORIGIN).create({ ...fresh.options, rp: { id: "localhost" }, user: { id: "" } }),
      })
    ).code,
  ).toBe("ticket_invalid")
})

test("a device whose counter goes back is rejected as a copy and recorded in the audit log", async () => {
  await using instance = await start()
  const ada = await setUp(instance)
  const { device } = await addPasskey(ada)
  expect((await signIn(newBrowser(instance), device, { count: 10 })).status).toBe(200)
  for (const count of [9, 10])
    expect(await signIn(newBrowser(instance), device, { count })).toMatchObject({ status: 401, code: "invalid_credentials" })
  const rows = await instance.app.instance.catalog.all(
    sql`select outcome, changes_json from audit_log where action = 'accounts.passkey.use'`,
  )
  expect(rows).toEqual([
    { outcome: "failed", changes_json: '{"sign_count":[10,9]}' },
    { outcome: "failed", changes_json: '{"sign_count":[10,10]}' },
  ])
  expect((await signIn(newBrowser(instance), device, { count: 11 })).status).toBe(200)
  // Many devices have no counter.
  expect((await signIn(newBrowser(instance), device, { count: 0 })).status).toBe(200)
})

test("as a second factor, only a passkey of the same user is accepted", async () => {
  await using instance = await start()
  const ada = await setUp(instance)
  const { device } = await addPasskey(ada)
  const browser = newBrowser(instance)
  const { body } = await browser.post("/auth/login", { email: ADA.email, password: ADA.password })
  expect(body).toMatchObject({ mfa_required: true, methods: ["passkey"] })
  const { options, challenge_id } = (await browser.post("/auth/passkey/options", { ticket: body.ticket })).body
  expect(options.allowCredentials).toMatchObject([{ id: device.id }])
  const answer = { challenge_id, response: device.get(options) }
  expect((await browser.post("/auth/passkey/verify", answer)).status).toBe(200)
  // The ticket is used up as well.
  expect(await browser.post("/auth/passkey/options", { ticket: body.ticket })).toMatchObject({ status: 401, code: "ticket_invalid" })
  expect(await browser.post("/auth/passkey/options", { ticket: "x" })).toMatchObject({ status: 401, code: "ticket_invalid" })
})

test("a passkey of the same user confirms their identity", async () => {
  await using instance = await start()
  const ada = await setUp(instance)
  const { device } = await addPasskey(ada)
  instance.clock.advance(600_001)
  expect(await ada.post("/me/passkeys", {})).toMatchObject({ status: 403, code: "reauth_required" })
  const begun = (await ada.post("/auth/passkey/options")).body
  expect((await ada.post("/auth/reauth", { challenge_id: begun.challenge_id, response: device.get(begun.options) })).status).toBe(204)
  expect((await ada.post("/me/passkeys", {})).status).toBe(200)
  await instance.app.instance.catalog.script(
    "insert into users (email, email_key, name, is_instance_admin, created_at) values ('b@example.org', 'b@example.org', 'B', 0, 0); update passkeys set user_id = 2",
  )
  const other = (await ada.post("/auth/passkey/options")).body
  const response = device.get(other.options, { userHandle: Buffer.from("user-2").toString("base64url") })
  expect(await ada.post("/auth/reauth", { challenge_id: other.challenge_id, response })).toMatchObject({
    status: 401,
    code: "invalid_credentials",
  })
})

test.each<[string, Defects]>([
  ["another origin", { origin: "https://evil.example" }],
  ["another host", { rpId: "evil.example" }],
  ["a user who was not verified", { unverified: true }],
  ["another challenge", { challenge: "AAAA" }],
])("rejects adding a passkey with %s", async (_, defects) => {
  await using instance = await start()
  const ada = await setUp(instance)
  const begun = (await ada.post("/me/passkeys", {})).body
  const answer = { challenge_id: begun.challenge_id, response: createAuthenticator(ORIGIN).create(begun.options, defects) }
  expect((await ada.post("/me/passkeys", answer)).body).toMatchObject({
    code: "validation_failed",
    errors: [{ pointer: "/response", code: "invalid_passkey" }],
  })
  expect((await ada.get("/me/passkeys")).body.data).toEqual([])
})

test("lists, renames and removes passkeys; those of other users are not found", async () => {
  await using instance = await start()
  const ada = await setUp(instance)
  const elsewhere = newBrowser(instance)
  await elsewhere.post("/auth/login", { email: ADA.email, password: ADA.password })
  await addPasskey(ada)
  expect((await elsewhere.get("/me")).status).toBe(401)
  expect((await ada.send("PATCH", "/me/passkeys/1", { name: "Key ring" })).body).toMatchObject({ name: "Key ring", version: 2 })
  expect(await ada.send("PATCH", "/me/passkeys/1", { name: "X", version: 1 })).toMatchObject({
    status: 409,
    body: { current: { name: "Key ring" } },
  })
  expect(await ada.send("PATCH", "/me/passkeys/1", { name: "" })).toMatchObject({ status: 422 })
  expect(await ada.send("PATCH", "/me/passkeys/2", { name: "X" })).toMatchObject({ status: 404, code: "passkey_not_found" })
  await instance.app.instance.catalog.run(sql`update organizations set policy_json = '{"require_mfa":true}' where name = 'Acme'`)
  expect(await ada.send("DELETE", "/me/passkeys/1")).toMatchObject({ status: 409, code: "mfa_required_by_policy" })
  await addPasskey(ada)
  expect((await ada.send("DELETE", "/me/passkeys/1")).status).toBe(204)
  expect(await ada.send("DELETE", "/me/passkeys/1")).toMatchObject({ status: 404, code: "passkey_not_found" })
  await instance.app.instance.catalog.script(
    "insert into users (email, email_key, name, is_instance_admin, created_at) values ('b@example.org', 'b@example.org', 'B', 0, 0); update passkeys set user_id = 2",
  )
  expect(await ada.send("DELETE", "/me/passkeys/2")).toMatchObject({ status: 404, code: "passkey_not_found" })
})

test("a device is added only once, and at most twenty per user", async () => {
  await using instance = await start()
  const ada = await setUp(instance)
  const device = createAuthenticator(ORIGIN)
  const add = async () => {
    const begun = (await ada.post("/me/passkeys", {})).body
    return begun.options ? ada.post("/me/passkeys", { challenge_id: begun.challenge_id, response: device.create(begun.options) }) : begun
  }
  expect((await add()).status).toBe(201)
  expect(await add()).toMatchObject({ status: 422, body: { errors: [{ pointer: "/response" }] } })
  for (let i = 1; i < 20; i++) expect((await addPasskey(ada)).added.status).toBe(201)
  expect(await ada.post("/me/passkeys", {})).toMatchObject({
    status: 422,
    code: "limit_reached",
    body: { limit: 20, resource: "passkeys" },
  })
})

test("a disabled user's passkey does not sign in", async () => {
  await using instance = await start()
  const ada = await setUp(instance)
  const { device } = await addPasskey(ada)
  await instance.app.instance.catalog.run(sql`update users set status = 'disabled' where id = 1`)
  expect(await signIn(newBrowser(instance), device)).toMatchObject({ status: 401, code: "invalid_credentials" })
})
