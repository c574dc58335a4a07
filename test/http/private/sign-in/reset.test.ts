import { expect, test } from "bun:test"
import { sql } from "../../../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { type SmtpServer, smtpServer } from "../../../services/mail/smtp-server.ts"
import { ADA, type Browser, browserOf, setUp } from "../browser.ts"

const BASE = "https://stats.example.org"
const OTHER = "another fine password"

/** Starts an instance with a mail server, set up by Ada. */
async function start() {
  const server = await smtpServer()
  const settings = { base_url: BASE, smtp_host: "127.0.0.1", smtp_port: String(server.port), smtp_security: "none" }
  const instance = await startInstance({ settings })
  const ada = await setUp(instance)
  return {
    server,
    instance,
    ada,
    async [Symbol.asyncDispose]() {
      await instance[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

/** Waits for background work and returns the emails that arrived. */
async function mails(instance: TestInstance, server: SmtpServer) {
  await instance.app.instance.accounts.background.settled()
  await instance.app.instance.accounts.mail.deliver()
  return server.mails
}

const linkIn = (text: string): string => /https?:\/\/\S+/.exec(text)![0]
const tokenIn = (text: string): string => linkIn(text).split("/").at(-1)!

let network = 0
const newBrowser = (instance: TestInstance): Browser => browserOf(instance, `192.0.${network++}.1`)
const login = (browser: Browser, password: string, email = ADA.email) => browser.post("/auth/login", { email, password })

async function askedToken({ instance, server }: { instance: TestInstance; server: SmtpServer }): Promise<string> {
  expect((await newBrowser(instance).post("/auth/forgot", { email: ADA.email })).status).toBe(202)
  return tokenIn((await mails(instance, server)).at(-1)!.text)
}

test("a link sent by email sets a new password, works once and does not sign in", async () => {
  await using world = await start()
  const { instance, ada, server } = world
  const token = await askedToken(world)
  expect(server.mails[0]).toMatchObject({ to: [ADA.email] })
  expect(linkIn(server.mails[0]!.text)).toBe(`${BASE}/reset/${token}`)
  const browser = newBrowser(instance)
  expect((await browser.post("/auth/reset", { token, password: "short" })).body.errors[0]).toMatchObject({
    pointer: "/password",
    code: "too_short",
  })
  const done = await browser.post("/auth/reset", { token, password: OTHER })
  expect(done.status).toBe(204)
  expect(done.headers.getSetCookie()).toEqual([])
  expect(await browser.post("/auth/reset", { token, password: OTHER })).toMatchObject({ status: 422, code: "token_invalid" })
  // All sessions have ended, the old password is invalid, and the address counts as verified.
  expect((await ada.get("/me")).status).toBe(401)
  expect((await login(newBrowser(instance), ADA.password)).status).toBe(401)
  expect((await login(newBrowser(instance), OTHER)).body.user).toMatchObject({ email_verified: true })
  expect((await mails(instance, server)).at(-1)!.headers.get("subject")).toBe("Your password was changed")
})

test("unknown, disabled and known addresses receive the same response without delay", async () => {
  await using world = await start()
  const { instance, server } = world
  await instance.app.instance.catalog.script(
    "insert into users (email, email_key, name, is_instance_admin, status, created_at) values ('off@example.org', 'off@example.org', 'Off', 0, 'disabled', 0)",
  )
  for (const email of ["nobody@example.org", "off@example.org", "no address", ADA.email.toUpperCase()]) {
    const answer = await newBrowser(instance).post("/auth/forgot", { email })
    expect([answer.status, answer.body.text]).toEqual([202, ""])
  }
  expect((await mails(instance, server)).map(({ to }) => to)).toEqual([[ADA.email]])
  expect(await newBrowser(instance).post("/auth/forgot", {})).toMatchObject({ status: 422 })
})

test.each<[string, number, number]>([
  ["within an hour", 3_600_000 - 1, 204],
  ["after an hour", 3_600_000, 422],
])("a link used %s", async (_, wait, status) => {
  await using world = await start()
  const token = await askedToken(world)
  world.instance.clock.advance(wait)
  expect((await newBrowser(world.instance).post("/auth/reset", { token, password: OTHER })).status).toBe(status)
  // A clock that is set back does not revive an expired link.
  world.instance.clock.advance(-wait)
  expect(await newBrowser(world.instance).post("/auth/reset", { token, password: OTHER })).toMatchObject({
    status: 422,
    code: "token_invalid",
  })
})

test("a newer link invalidates the older one, and only one of simultaneous uses succeeds", async () => {
  await using world = await start()
  const { instance } = world
  const [first, second] = [await askedToken(world), await askedToken(world)]
  expect(await newBrowser(instance).post("/auth/reset", { token: first, password: OTHER })).toMatchObject({
    status: 422,
    code: "token_invalid",
  })
  const answers = await Promise.all(
    [1, 2, 3, 4].map((i) => newBrowser(instance).post("/auth/reset", { token: second, password: `${OTHER} ${i}` })),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([204, 422, 422, 422])
})

test("sends at most five emails an hour per account and twenty per client address, without revealing it", async () => {
  await using world = await start()
  const { instance, server } = world
  for (let i = 0; i < 8; i++) expect((await newBrowser(instance).post("/auth/forgot", { email: ADA.email })).status).toBe(202)
  expect(await mails(instance, server)).toHaveLength(5)
  instance.clock.advance(3_600_000)
  const one = newBrowser(instance)
  for (let i = 0; i < 20; i++) expect((await one.post("/auth/forgot", { email: `u${i}@example.org` })).status).toBe(202)
  expect((await one.post("/auth/forgot", { email: ADA.email })).status).toBe(202)
  expect(await mails(instance, server)).toHaveLength(5)
  await newBrowser(instance).post("/auth/forgot", { email: ADA.email })
  expect(await mails(instance, server)).toHaveLength(6)
})

test.each<[string, string, Record<string, string>]>([
  ["a foreign host from the proxy", "http://localhost", { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https" }],
  ["a Forwarded header", "http://localhost", { forwarded: "host=evil.example" }],
  ["the URL of another origin", "http://localhost", { referer: "https://evil.example/", "x-original-url": "https://evil.example" }],
  ["the name of the machine", "http://localhost:31337", {}],
])("builds links from the base URL, not from %s", async (_, host, headers) => {
  await using world = await start()
  const { instance, server } = world
  const browser = browserOf(instance, "192.0.2.1", host)
  expect((await browser.post("/auth/forgot", { email: ADA.email }, headers)).status).toBe(202)
  const [mail] = await mails(instance, server)
  expect(linkIn(mail!.text)).toStartWith(`${BASE}/reset/`)
  expect(mail!.raw).not.toContain("evil.example")
  expect(mail!.raw).not.toContain("31337")
})

test("under a foreign host no request is answered, so no email is sent", async () => {
  await using world = await start()
  const { instance, server } = world
  const browser = browserOf(instance, "192.0.2.1", "http://evil.example")
  expect(await browser.post("/auth/forgot", { email: ADA.email })).toMatchObject({ status: 421, code: "misdirected_request" })
  expect(await mails(instance, server)).toEqual([])
})

test("a reset keeps the second factor, ends pending sign-ins, and removes links to organizations' providers", async () => {
  await using world = await start()
  const { instance } = world
  const { catalog } = instance.app.instance
  await catalog.script(`
    update users set totp_sealed = x'00' where id = 1;
    insert into oidc_providers (id, organization_id, name, issuer, client_id, scopes, created_at) values ('acme', 2, 'A', 'https://a.example', 'c', 'openid', 0);
    insert into oidc_identities (user_id, provider, subject, email_at_link, created_at) values (1, 'acme', 's', 'ada@example.org', 0), (1, 'oidc', 's', 'ada@example.org', 0);`)
  const { ticket } = (await login(newBrowser(instance), ADA.password)).body
  const token = await askedToken(world)
  await newBrowser(instance).post("/auth/reset", { token, password: OTHER })
  expect(await newBrowser(instance).post("/auth/mfa", { ticket, code: "000000" })).toMatchObject({ status: 401, code: "ticket_invalid" })
  expect((await login(newBrowser(instance), OTHER)).body).toMatchObject({ mfa_required: true })
  expect(await catalog.all(sql`select provider from oidc_identities`)).toEqual([{ provider: "oidc" }])
})

test("the address changes when the signed-in user confirms the new one", async () => {
  await using world = await start()
  const { instance, server, ada } = world
  expect((await ada.post("/me/email", { email: "Ada@New.example" })).status).toBe(202)
  const [confirm, warning] = await mails(instance, server)
  expect([confirm!.to, warning!.to]).toEqual([["Ada@new.example"], [ADA.email]])
  expect(linkIn(confirm!.text)).toStartWith(`${BASE}/confirm-email/`)
  expect(linkIn(warning!.text)).toStartWith(`${BASE}/undo-email/`)
  expect((await ada.get("/me")).body.user).toMatchObject({ email: ADA.email, email_verified: false })
  expect(await ada.post("/me/email/confirm", { token: tokenIn(warning!.text) })).toMatchObject({ status: 422, code: "token_invalid" })
  expect((await ada.post("/me/email/confirm", { token: tokenIn(confirm!.text) })).status).toBe(204)
  expect((await ada.get("/me")).body.user).toMatchObject({ email: "Ada@New.example", email_verified: true })
  expect(await ada.post("/me/email/confirm", { token: tokenIn(confirm!.text) })).toMatchObject({ status: 422, code: "token_invalid" })
  expect((await login(newBrowser(instance), ADA.password, "ada@new.example")).status).toBe(200)
})

test("the old address can undo the change within three days, which signs everyone out", async () => {
  await using world = await start()
  const { instance, server, ada } = world
  await ada.post("/me/email", { email: "eve@evil.example" })
  const [confirm, warning] = [...(await mails(instance, server))]
  await ada.post("/me/email/confirm", { token: tokenIn(confirm!.text) })
  // An attacker requests a third address to get rid of the undo link.
  await ada.post("/me/email", { email: "eve@third.example" })
  const third = (await mails(instance, server)).find(({ to }) => to[0] === "eve@third.example")!
  instance.clock.advance(72 * 3_600_000 - 1)
  expect((await newBrowser(instance).post("/auth/email/undo", { token: tokenIn(warning!.text) })).status).toBe(204)
  expect((await ada.get("/me")).status).toBe(401)
  expect((await login(newBrowser(instance), ADA.password)).body.user).toMatchObject({ email: ADA.email })
  const again = newBrowser(instance)
  await login(again, ADA.password)
  expect(await again.post("/me/email/confirm", { token: tokenIn(third.text) })).toMatchObject({ status: 422, code: "token_invalid" })
  expect(await newBrowser(instance).post("/auth/email/undo", { token: tokenIn(warning!.text) })).toMatchObject({
    status: 422,
    code: "token_invalid",
  })
})

test("an attacker cannot undo the undo", async () => {
  await using world = await start()
  const { instance, server, ada } = world
  await ada.post("/me/email", { email: "eve@evil.example" })
  const [confirm, warning] = [...(await mails(instance, server))]
  await ada.post("/me/email/confirm", { token: tokenIn(confirm!.text) })
  await ada.post("/me/email", { email: "eve@third.example" })
  const warned = (await mails(instance, server)).filter(({ to, text }) => to[0] === "eve@evil.example" && text.includes("/undo-email/"))
  const undo = async (text: string) => newBrowser(instance).post("/auth/email/undo", { token: tokenIn(text) })
  expect((await undo(warning!.text)).status).toBe(204)
  expect(await undo(warned.at(-1)!.text)).toMatchObject({ status: 422, code: "token_invalid" })
  expect((await login(newBrowser(instance), ADA.password)).body.user).toMatchObject({ email: ADA.email })
})

test("rejects an undo link older than 72 hours", async () => {
  await using world = await start()
  const { instance, server, ada } = world
  await ada.post("/me/email", { email: "new@example.org" })
  const [, warning] = await mails(instance, server)
  instance.clock.advance(72 * 3_600_000)
  expect(await newBrowser(instance).post("/auth/email/undo", { token: tokenIn(warning!.text) })).toMatchObject({
    status: 422,
    code: "token_invalid",
  })
})

test("an address in use receives the same response; the email explains it, and nothing changes", async () => {
  await using world = await start()
  const { instance, server, ada } = world
  await instance.app.instance.catalog.script(
    "insert into users (email, email_key, name, is_instance_admin, created_at) values ('bob@example.org', 'bob@example.org', 'Bob', 0, 0)",
  )
  const answer = await ada.post("/me/email", { email: "BOB@example.org" })
  expect([answer.status, answer.body.text]).toEqual([202, ""])
  const [mail, ...others] = await mails(instance, server)
  expect(mail).toMatchObject({ to: ["BOB@example.org"] })
  expect(mail!.text).not.toContain("http")
  expect(others).toEqual([])
  expect(await ada.post("/me/email", { email: "no address" })).toMatchObject({ status: 422 })
})

test("confirming the current address verifies it, and removes links to organizations' providers", async () => {
  await using world = await start()
  const { instance, server, ada } = world
  const { catalog } = instance.app.instance
  await catalog.script(`
    insert into oidc_providers (id, organization_id, name, issuer, client_id, scopes, created_at) values ('acme', 2, 'A', 'https://a.example', 'c', 'openid', 0);
    insert into oidc_identities (user_id, provider, subject, email_at_link, created_at) values (1, 'acme', 's', 'ada@example.org', 0)`)
  await ada.post("/me/email", { email: ADA.email })
  const sent = await mails(instance, server)
  expect(sent).toHaveLength(1)
  expect((await ada.post("/me/email/confirm", { token: tokenIn(sent[0]!.text) })).status).toBe(204)
  expect((await ada.get("/me")).body.user).toMatchObject({ email: ADA.email, email_verified: true })
  expect(await catalog.all(sql`select id from oidc_identities`)).toEqual([])
})

test("without a mail server, an address cannot change and a reset sends nothing", async () => {
  await using instance = await startInstance()
  const ada = await setUp(instance)
  expect(await ada.post("/me/email", { email: "new@example.org" })).toMatchObject({ status: 409, code: "mail_unavailable" })
  expect((await ada.post("/auth/forgot", { email: ADA.email })).status).toBe(202)
  await instance.app.instance.accounts.background.settled()
  expect(await instance.app.instance.catalog.all(sql`select hash from one_time_tokens`)).toEqual([])
})

test("sends an email when a recovery code is used", async () => {
  await using world = await start()
  const { instance, server, ada } = world
  const { codes, keep } = await makeCodes(instance)
  await instance.app.instance.catalog.transaction(async (statements) => {
    await statements.run(sql`update users set totp_sealed = x'00' where id = 1`)
    await keep(statements, 1)
  })
  const { ticket } = (await login(newBrowser(instance), ADA.password)).body
  expect((await newBrowser(instance).post("/auth/mfa", { ticket, recovery_code: codes[0] })).body).toMatchObject({ recovery_codes_left: 9 })
  const [mail] = await mails(instance, server)
  expect(mail!.headers.get("subject")).toBe("A recovery code was used")
  expect(mail!.text).toContain("9 recovery codes left")
  expect((await ada.get("/me")).status).toBe(200)
})

/** Creates codes the way the account's own service does. */
async function makeCodes(instance: TestInstance) {
  const { createRecoveryCodes } = await import("../../../../src/services/sign-in/second-factors.ts")
  const random = (count: number) => crypto.getRandomValues(new Uint8Array(count))
  const { catalog, accounts } = instance.app.instance
  return createRecoveryCodes({ catalog, clock: instance.clock, random, passwords: accounts.passwords }).make()
}
