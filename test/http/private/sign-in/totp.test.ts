import { expect, test } from "bun:test"
import { sql } from "../../../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { openMailbox } from "../../../mailbox.ts"
import { ADA, type Browser, browserOf, setUp } from "../browser.ts"
import { appCode, secretBytes, withApp } from "./authenticator-app.ts"

let network = 0
async function ticketFor(instance: TestInstance): Promise<{ browser: Browser; ticket: string }> {
  const browser = browserOf(instance, `192.0.${network++}.1`)
  const { body } = await browser.post("/auth/login", { email: ADA.email, password: ADA.password })
  return { browser, ticket: body.ticket }
}

test("the first code of an app adds it, with ten recovery codes", async () => {
  await using instance = await startInstance()
  const ada = await setUp(instance)
  const elsewhere = browserOf(instance)
  await elsewhere.post("/auth/login", { email: ADA.email, password: ADA.password })
  const start = await ada.post("/me/totp/start")
  expect(start.body).toEqual({
    secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
    otpauth_uri: expect.stringMatching(
      /^otpauth:\/\/totp\/Footfall:ada%40example\.org\?issuer=Footfall&secret=[A-Z2-7]{32}&algorithm=SHA1&digits=6&period=30$/,
    ),
    qr_svg: expect.stringMatching(/^<svg /),
    ticket: expect.any(String),
  })
  // Nothing is active yet.
  expect((await ada.get("/me")).body.user.mfa).toEqual({ totp: false, passkeys: 0, recovery_codes_left: 0 })
  const { secret, ticket } = start.body
  const right = appCode(secret, instance.clock.now())
  const wrong = String((Number(right) + 1) % 1_000_000).padStart(6, "0")
  expect(await ada.post("/me/totp/confirm", { ticket, code: wrong })).toMatchObject({ status: 401, code: "invalid_code" })
  const confirmed = await ada.post("/me/totp/confirm", { ticket, code: right })
  expect(confirmed.status).toBe(200)
  const codes: string[] = confirmed.body.recovery_codes
  expect(codes).toHaveLength(10)
  expect(new Set(codes).size).toBe(10)
  for (const code of codes) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}$/)
  expect((await ada.get("/me")).body.user.mfa).toEqual({ totp: true, passkeys: 0, recovery_codes_left: 10 })
  // All other sessions have ended, this one continues; the ticket is used up.
  expect((await elsewhere.get("/me")).status).toBe(401)
  expect(await ada.post("/me/totp/confirm", { ticket, code: right })).toMatchObject({ status: 401, code: "ticket_invalid" })
})

test("a password alone no longer signs in", async () => {
  await using instance = await startInstance()
  const { secret } = await withApp(instance)
  const { browser, ticket } = await ticketFor(instance)
  const answer = await browser.post("/auth/login", { email: ADA.email, password: ADA.password })
  expect(answer).toMatchObject({ status: 200, body: { mfa_required: true, methods: ["totp", "recovery"], ticket: expect.any(String) } })
  expect(answer.headers.getSetCookie()).toEqual([])
  // The ticket is not a session.
  browser.cookies.set("sid", ticket)
  expect((await browser.get("/me")).status).toBe(401)
  browser.cookies.clear()
  const entered = await browser.post("/auth/mfa", { ticket, code: appCode(secret, instance.clock.now()) })
  expect(entered).toMatchObject({ status: 200, body: { user: { id: 1 } } })
  expect(entered.body).not.toHaveProperty("recovery_codes_left")
  expect((await browser.get("/me")).status).toBe(200)
  expect(await instance.app.instance.catalog.get(sql`select mfa, method from sessions order by id desc limit 1`)).toEqual({
    mfa: 1,
    method: "password",
  })
})

test.each<[string, number, number]>([
  ["of the current period", 0, 200],
  ["of the previous period", -30_000, 200],
  ["of the next period", 30_000, 200],
  ["of two periods ago", -60_000, 401],
  ["of two periods ahead", 60_000, 401],
])("a code %s", async (_, offset, status) => {
  await using instance = await startInstance()
  const { secret } = await withApp(instance)
  instance.clock.advance(90_000)
  const { browser, ticket } = await ticketFor(instance)
  expect((await browser.post("/auth/mfa", { ticket, code: appCode(secret, instance.clock.now() + offset) })).status).toBe(status)
})

test("a code works once, even in simultaneous requests, and no earlier code works after it", async () => {
  await using instance = await startInstance()
  const { secret } = await withApp(instance)
  const tries = await Promise.all(Array.from({ length: 6 }, () => ticketFor(instance)))
  const code = appCode(secret, instance.clock.now())
  const answers = await Promise.all(tries.map(({ browser, ticket }) => browser.post("/auth/mfa", { ticket, code })))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401, 401])
  const late = await ticketFor(instance)
  for (const offset of [0, -30_000])
    expect(
      await late.browser.post("/auth/mfa", { ticket: late.ticket, code: appCode(secret, instance.clock.now() + offset) }),
    ).toMatchObject({
      status: 401,
      code: "invalid_code",
    })
  instance.clock.advance(60_000)
  const next = { ticket: late.ticket, code: appCode(secret, instance.clock.now()) }
  expect((await late.browser.post("/auth/mfa", next)).status).toBe(200)
})

test("a ticket is used once, expires after five minutes and allows five attempts", async () => {
  await using instance = await startInstance()
  const { secret } = await withApp(instance)
  const now = () => appCode(secret, instance.clock.now())
  const used = await ticketFor(instance)
  expect((await used.browser.post("/auth/mfa", { ticket: used.ticket, code: now() })).status).toBe(200)
  instance.clock.advance(60_000)
  expect(await used.browser.post("/auth/mfa", { ticket: used.ticket, code: now() })).toMatchObject({ status: 401, code: "ticket_invalid" })

  const old = await ticketFor(instance)
  instance.clock.advance(5 * 60_000)
  expect(await old.browser.post("/auth/mfa", { ticket: old.ticket, code: now() })).toMatchObject({ status: 401, code: "ticket_invalid" })
  // A clock that is set back does not revive it.
  instance.clock.advance(-60_000)
  expect(await old.browser.post("/auth/mfa", { ticket: old.ticket, code: now() })).toMatchObject({ status: 401, code: "ticket_invalid" })
  instance.clock.advance(120_000)

  const tried = await ticketFor(instance)
  for (let i = 0; i < 5; i++)
    // Uses many addresses, so that no other limit is reached first.
    expect(await browserOf(instance, `203.0.${i}.1`).post("/auth/mfa", { ticket: tried.ticket, code: "000000" })).toMatchObject({
      code: "invalid_code",
    })
  expect(await tried.browser.post("/auth/mfa", { ticket: tried.ticket, code: now() })).toMatchObject({
    status: 401,
    code: "ticket_invalid",
  })
})

test("allows five wrong codes per quarter of an hour and network, across all tickets", async () => {
  await using instance = await startInstance()
  const { secret } = await withApp(instance)
  const { browser } = await ticketFor(instance)
  const login = async () => (await browser.post("/auth/login", { email: ADA.email, password: ADA.password })).body.ticket
  for (let i = 0; i < 5; i++) expect((await browser.post("/auth/mfa", { ticket: await login(), code: "000000" })).status).toBe(401)
  const refused = await browser.post("/auth/mfa", { ticket: await login(), code: appCode(secret, instance.clock.now()) })
  expect(refused).toMatchObject({ status: 429, code: "rate_limited" })
  const other = await ticketFor(instance)
  const code = appCode(secret, instance.clock.now())
  expect((await other.browser.post("/auth/mfa", { ticket: other.ticket, code })).status).toBe(200)
})

test("after 20 wrong codes of an account in 15 minutes from all networks, notifies its owner and delays codes", async () => {
  await using mailbox = await openMailbox()
  await using instance = await startInstance({ settings: mailbox.settings })
  const { ada, secret } = await withApp(instance)
  const { mail } = instance.app.instance.accounts
  const alarms = async () => {
    await mail.settled()
    return mailbox.emails.filter(({ text }) => text.includes("20 wrong codes"))
  }
  const guess = async (code: string) => {
    const { browser, ticket } = await ticketFor(instance)
    return browser.post("/auth/mfa", { ticket, code })
  }
  for (let i = 0; i < 19; i++) expect(await guess("000000")).toMatchObject({ status: 401, code: "invalid_code" })
  // A correct code is still accepted, and does not allow more guesses.
  expect((await guess(appCode(secret, instance.clock.now()))).status).toBe(200)
  expect(await alarms()).toEqual([])
  expect((await guess("000000")).status).toBe(401)
  expect(await alarms()).toMatchObject([{ to: ADA.email }])

  instance.clock.advance(60_000)
  const refused = await guess(appCode(secret, instance.clock.now()))
  expect(refused).toMatchObject({ status: 429, code: "rate_limited" })
  expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 15 * 60 + 1)
  // An active session cannot continue guessing either, while the password and passkeys work.
  expect(await ada.post("/auth/reauth", { code: "000000" })).toMatchObject({ status: 429, code: "rate_limited" })
  expect((await ada.post("/auth/reauth", { password: ADA.password })).status).toBe(204)
  const { browser, ticket } = await ticketFor(instance)
  expect(await browser.post("/auth/mfa", { ticket, code: "000000" })).toMatchObject({ status: 429 })
  expect((await browser.post("/auth/passkey/options", { ticket })).status).toBe(200)

  instance.clock.advance(15 * 60_000)
  for (let i = 0; i < 20; i++) expect((await guess("000000")).status).toBe(401)
  expect((await guess("000000")).status).toBe(429)
  expect(await alarms()).toHaveLength(2)
})

test("a delayed code does not use up an attempt of its ticket", async () => {
  await using instance = await startInstance()
  const { secret } = await withApp(instance)
  const { browser } = await ticketFor(instance)
  const login = async () => (await browser.post("/auth/login", { email: ADA.email, password: ADA.password })).body.ticket
  for (let i = 0; i < 5; i++) await browser.post("/auth/mfa", { ticket: await login(), code: "000000" })
  const ticket = await login()
  for (let i = 0; i < 6; i++) expect((await browser.post("/auth/mfa", { ticket, code: "000000" })).status).toBe(429)
  const elsewhere = browserOf(instance, "203.0.113.9")
  expect((await elsewhere.post("/auth/mfa", { ticket, code: appCode(secret, instance.clock.now()) })).status).toBe(200)
})

test("a recovery code works once, in any notation; a new set invalidates the old one", async () => {
  await using instance = await startInstance()
  const { ada, codes } = await withApp(instance)
  const first = await ticketFor(instance)
  const written = codes[0]!.toUpperCase().replace("-", " ").replaceAll("0", "O").replaceAll("1", "l")
  expect(await first.browser.post("/auth/mfa", { ticket: first.ticket, recovery_code: written })).toMatchObject({
    status: 200,
    body: { recovery_codes_left: 9 },
  })
  const again = await ticketFor(instance)
  expect(await again.browser.post("/auth/mfa", { ticket: again.ticket, recovery_code: codes[0] })).toMatchObject({ code: "invalid_code" })
  const tries = await Promise.all(Array.from({ length: 4 }, () => ticketFor(instance)))
  const answers = await Promise.all(tries.map(({ browser, ticket }) => browser.post("/auth/mfa", { ticket, recovery_code: codes[1] })))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401])

  const fresh = await ada.post("/me/recovery-codes")
  expect(fresh.body.recovery_codes).toHaveLength(10)
  const old = await ticketFor(instance)
  expect(await old.browser.post("/auth/mfa", { ticket: old.ticket, recovery_code: codes[2] })).toMatchObject({ code: "invalid_code" })
  expect((await old.browser.post("/auth/mfa", { ticket: old.ticket, recovery_code: fresh.body.recovery_codes[2] })).status).toBe(200)
})

test("recovery codes still work if the instance's secret key is lost", async () => {
  await using instance = await startInstance()
  const { secret, codes } = await withApp(instance)
  // Values sealed with another key cannot be opened.
  await instance.app.instance.catalog.run(sql`update users set totp_sealed = ${new Uint8Array(80).fill(1)} where id = 1`)
  const { browser, ticket } = await ticketFor(instance)
  expect(await browser.post("/auth/mfa", { ticket, code: appCode(secret, instance.clock.now()) })).toMatchObject({ code: "invalid_code" })
  expect((await browser.post("/auth/mfa", { ticket, recovery_code: codes[0] })).status).toBe(200)
})

test("the last factor cannot be removed while a policy requires one", async () => {
  await using instance = await startInstance()
  const { ada } = await withApp(instance)
  const { catalog } = instance.app.instance
  const want = (value: boolean) =>
    catalog.run(sql`update organizations set policy_json = ${JSON.stringify({ require_mfa: value })} where name = 'Acme'`)
  await want(true)
  expect(await ada.post("/me/totp/disable")).toMatchObject({ status: 409, code: "mfa_required_by_policy" })
  expect((await ada.get("/me")).body.user.mfa).toMatchObject({ totp: true, recovery_codes_left: 10 })
  await want(false)
  expect((await ada.post("/me/totp/disable")).status).toBe(204)
  expect((await ada.get("/me")).body.user.mfa).toEqual({ totp: false, passkeys: 0, recovery_codes_left: 0 })
  expect(await ada.post("/me/totp/disable")).toMatchObject({ status: 409, code: "invalid_state" })
  expect(await ada.post("/me/recovery-codes")).toMatchObject({ status: 409, code: "invalid_state" })
})

test("without a required factor, only the account is accessible until one is added", async () => {
  await using instance = await startInstance()
  const ada = await setUp(instance)
  await instance.app.instance.catalog.run(sql`update organizations set policy_json = '{"require_mfa":true}' where name = 'Acme'`)
  expect((await ada.get("/me")).status).toBe(200)
  expect((await ada.get("/auth/session")).status).toBe(200)
  expect(await ada.get("/organizations/2")).toMatchObject({ status: 403, code: "mfa_enrollment_required" })
  const { body } = await ada.post("/me/totp/start")
  await ada.post("/me/totp/confirm", { ticket: body.ticket, code: appCode(body.secret, instance.clock.now()) })
  expect((await ada.get("/organizations/2")).status).toBe(200)
})

test.each<[string, string, unknown]>([
  ["start", "/me/totp/start", undefined],
  ["confirm", "/me/totp/confirm", { ticket: "x", code: "000000" }],
  ["disable", "/me/totp/disable", undefined],
  ["new recovery codes", "/me/recovery-codes", undefined],
])("%s needs a proof of identity from the last ten minutes", async (_, path, body) => {
  await using instance = await startInstance()
  const { ada, secret } = await withApp(instance)
  instance.clock.advance(10 * 60_000)
  expect(await ada.post(path, body)).toMatchObject({ status: 403, code: "reauth_required" })
  const before = ada.cookies.get("sid")
  expect((await ada.post("/auth/reauth", { code: appCode(secret, instance.clock.now()) })).status).toBe(204)
  expect(ada.cookies.get("sid")).not.toBe(before)
  expect((await ada.post(path, body)).code).not.toBe("reauth_required")
})

test("stores neither the secret nor the codes in plain text", async () => {
  await using instance = await startInstance()
  const { secret, codes } = await withApp(instance)
  const { catalog } = instance.app.instance
  await catalog.checkpoint()
  await catalog.copyTo(`${instance.dataDir}/copy.db`)
  const bytes = Buffer.from(await Bun.file(`${instance.dataDir}/copy.db`).arrayBuffer())
  for (const clear of [secret, secretBytes(secret), codes[0]!, codes[0]!.replace("-", "")]) expect(bytes.includes(clear)).toBe(false)
})
