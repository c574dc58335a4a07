import { expect, test } from "bun:test"
import { sql } from "../../../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { type SmtpServer, smtpServer } from "../../../services/mail/smtp-server.ts"
import { ADA, type Browser, browserOf, setUp } from "../browser.ts"

const BASE = "https://stats.example.org"
const OTHER = "another fine password"

/** Ada on an instance with a mail server. */
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

/** What an answer did not wait for is done, and the mails have arrived. */
async function mails(instance: TestInstance, server: SmtpServer) {
  await instance.app.instance.accounts.background.settled()
  await instance.app.instance.accounts.mail.deliver()
  return server.mails
}

const linkIn = (text: string): string => /https?:\/\/\S+/.exec(text)![0]
const tokenIn = (text: string): string => linkIn(text).split("/").at(-1)!

let network = 0
const stranger = (instance: TestInstance): Browser => browserOf(instance, `192.0.${network++}.1`)
const login = (browser: Browser, password: string, email = ADA.email) => browser.post("/auth/login", { email, password })

async function askedToken({ instance, server }: { instance: TestInstance; server: SmtpServer }): Promise<string> {
  expect((await stranger(instance).post("/auth/forgot", { email: ADA.email })).status).toBe(202)
  return tokenIn((await mails(instance, server)).at(-1)!.text)
}

test("a link by mail gives a new password; it works once and signs nobody in", async () => {
  await using world = await start()
  const { instance, ada, server } = world
  const token = await askedToken(world)
  expect(server.mails[0]).toMatchObject({ to: [ADA.email] })
  expect(linkIn(server.mails[0]!.text)).toBe(`${BASE}/reset/${token}`)
  const browser = stranger(instance)
  expect((await browser.post("/auth/reset", { token, password: "short" })).body.errors[0]).toMatchObject({
    pointer: "/password",
    code: "too_short",
  })
  const done = await browser.post("/auth/reset", { token, password: OTHER })
  expect(done.status).toBe(204)
  expect(done.headers.getSetCookie()).toEqual([])
  expect(await browser.post("/auth/reset", { token, password: OTHER })).toMatchObject({ status: 422, code: "token_invalid" })
  // Every session has ended, the old password is none any more, and the address is known to be theirs.
  expect((await ada.get("/me")).status).toBe(401)
  expect((await login(stranger(instance), ADA.password)).status).toBe(401)
  expect((await login(stranger(instance), OTHER)).body.user).toMatchObject({ email_verified: true })
  expect((await mails(instance, server)).at(-1)!.headers.get("subject")).toBe("Your password was changed")
})

test("an unknown, a disabled and a known address are answered alike, and at once", async () => {
  await using world = await start()
  const { instance, server } = world
  await instance.app.instance.catalog.script(
    "insert into users (email, email_key, name, is_instance_admin, status, created_at) values ('off@example.org', 'off@example.org', 'Off', 0, 'disabled', 0)",
  )
  for (const email of ["nobody@example.org", "off@example.org", "no address", ADA.email.toUpperCase()]) {
    const answer = await stranger(instance).post("/auth/forgot", { email })
    expect([answer.status, answer.body.text]).toEqual([202, ""])
  }
  expect((await mails(instance, server)).map(({ to }) => to)).toEqual([[ADA.email]])
  expect(await stranger(instance).post("/auth/forgot", {})).toMatchObject({ status: 422 })
})

test.each<[string, number, number]>([
  ["within an hour", 3_600_000 - 1, 204],
  ["after an hour", 3_600_000, 422],
])("a link used %s", async (_, wait, status) => {
  await using world = await start()
  const token = await askedToken(world)
  world.instance.clock.advance(wait)
  expect((await stranger(world.instance).post("/auth/reset", { token, password: OTHER })).status).toBe(status)
  // A clock that is set back does not revive what has expired.
  world.instance.clock.advance(-wait)
  expect(await stranger(world.instance).post("/auth/reset", { token, password: OTHER })).toMatchObject({
    status: 422,
    code: "token_invalid",
  })
})

test("a newer link voids the older one, and of parallel uses one counts", async () => {
  await using world = await start()
  const { instance } = world
  const [first, second] = [await askedToken(world), await askedToken(world)]
  expect(await stranger(instance).post("/auth/reset", { token: first, password: OTHER })).toMatchObject({
    status: 422,
    code: "token_invalid",
  })
  const answers = await Promise.all(
    [1, 2, 3, 4].map((i) => stranger(instance).post("/auth/reset", { token: second, password: `${OTHER} ${i}` })),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([204, 422, 422, 422])
})

test("five mails an hour for an account, twenty an hour from an address, without a word of it", async () => {
  await using world = await start()
  const { instance, server } = world
  for (let i = 0; i < 8; i++) expect((await stranger(instance).post("/auth/forgot", { email: ADA.email })).status).toBe(202)
  expect(await mails(instance, server)).toHaveLength(5)
  instance.clock.advance(3_600_000)
  const one = stranger(instance)
  for (let i = 0; i < 20; i++) expect((await one.post("/auth/forgot", { email: `u${i}@example.org` })).status).toBe(202)
  expect((await one.post("/auth/forgot", { email: ADA.email })).status).toBe(202)
  expect(await mails(instance, server)).toHaveLength(5)
  await stranger(instance).post("/auth/forgot", { email: ADA.email })
  expect(await mails(instance, server)).toHaveLength(6)
})

test.each<[string, string, Record<string, string>]>([
  ["a foreign host of the proxy", "http://localhost", { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https" }],
  ["a forwarded header", "http://localhost", { forwarded: "host=evil.example" }],
  ["another origin's address", "http://localhost", { referer: "https://evil.example/", "x-original-url": "https://evil.example" }],
  ["the machine's own name", "http://localhost:31337", {}],
])("a link is built from the base address, not from %s", async (_, host, headers) => {
  await using world = await start()
  const { instance, server } = world
  const browser = browserOf(instance, "192.0.2.1", host)
  expect((await browser.post("/auth/forgot", { email: ADA.email }, headers)).status).toBe(202)
  const [mail] = await mails(instance, server)
  expect(linkIn(mail!.text)).toStartWith(`${BASE}/reset/`)
  expect(mail!.raw).not.toContain("evil.example")
  expect(mail!.raw).not.toContain("31337")
})

test("under a host that is not ours nothing is answered, so nothing is mailed", async () => {
  await using world = await start()
  const { instance, server } = world
  const browser = browserOf(instance, "192.0.2.1", "http://evil.example")
  expect(await browser.post("/auth/forgot", { email: ADA.email })).toMatchObject({ status: 421, code: "misdirected_request" })
  expect(await mails(instance, server)).toEqual([])
})

test("a reset does not skip the second factor, ends open sign-ins, and takes away links of organizations' providers", async () => {
  await using world = await start()
  const { instance } = world
  const { catalog } = instance.app.instance
  await catalog.script(`
    update users set totp_sealed = x'00' where id = 1;
    insert into oidc_providers (id, organization_id, name, issuer, client_id, scopes, created_at) values ('acme', 2, 'A', 'https://a.example', 'c', 'openid', 0);
    insert into oidc_identities (user_id, provider, subject, email_at_link, created_at) values (1, 'acme', 's', 'ada@example.org', 0), (1, 'oidc', 's', 'ada@example.org', 0);`)
  const { ticket } = (await login(stranger(instance), ADA.password)).body
  const token = await askedToken(world)
  await stranger(instance).post("/auth/reset", { token, password: OTHER })
  expect(await stranger(instance).post("/auth/mfa", { ticket, code: "000000" })).toMatchObject({ status: 401, code: "ticket_invalid" })
  expect((await login(stranger(instance), OTHER)).body).toMatchObject({ mfa_required: true })
  expect(await catalog.all(sql`select provider from oidc_identities`)).toEqual([{ provider: "oidc" }])
})

test("the address changes when the new one is confirmed, by the one who is signed in", async () => {
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
  expect((await login(stranger(instance), ADA.password, "ada@new.example")).status).toBe(200)
})

test("the old address can undo it for three days; then everybody is signed out", async () => {
  await using world = await start()
  const { instance, server, ada } = world
  await ada.post("/me/email", { email: "eve@evil.example" })
  const [confirm, warning] = [...(await mails(instance, server))]
  await ada.post("/me/email/confirm", { token: tokenIn(confirm!.text) })
  // Whoever took the account over asks for a third address, to be rid of the warning's link.
  await ada.post("/me/email", { email: "eve@third.example" })
  const third = (await mails(instance, server)).find(({ to }) => to[0] === "eve@third.example")!
  instance.clock.advance(72 * 3_600_000 - 1)
  expect((await stranger(instance).post("/auth/email/undo", { token: tokenIn(warning!.text) })).status).toBe(204)
  expect((await ada.get("/me")).status).toBe(401)
  expect((await login(stranger(instance), ADA.password)).body.user).toMatchObject({ email: ADA.email })
  const again = stranger(instance)
  await login(again, ADA.password)
  expect(await again.post("/me/email/confirm", { token: tokenIn(third.text) })).toMatchObject({ status: 422, code: "token_invalid" })
  expect(await stranger(instance).post("/auth/email/undo", { token: tokenIn(warning!.text) })).toMatchObject({
    status: 422,
    code: "token_invalid",
  })
})

test("whoever took an account over cannot undo the undo", async () => {
  await using world = await start()
  const { instance, server, ada } = world
  await ada.post("/me/email", { email: "eve@evil.example" })
  const [confirm, warning] = [...(await mails(instance, server))]
  await ada.post("/me/email/confirm", { token: tokenIn(confirm!.text) })
  await ada.post("/me/email", { email: "eve@third.example" })
  const warned = (await mails(instance, server)).filter(({ to, text }) => to[0] === "eve@evil.example" && text.includes("/undo-email/"))
  const undo = async (text: string) => stranger(instance).post("/auth/email/undo", { token: tokenIn(text) })
  expect((await undo(warning!.text)).status).toBe(204)
  expect(await undo(warned.at(-1)!.text)).toMatchObject({ status: 422, code: "token_invalid" })
  expect((await login(stranger(instance), ADA.password)).body.user).toMatchObject({ email: ADA.email })
})

test("an undo of more than three days ago is none", async () => {
  await using world = await start()
  const { instance, server, ada } = world
  await ada.post("/me/email", { email: "new@example.org" })
  const [, warning] = await mails(instance, server)
  instance.clock.advance(72 * 3_600_000)
  expect(await stranger(instance).post("/auth/email/undo", { token: tokenIn(warning!.text) })).toMatchObject({
    status: 422,
    code: "token_invalid",
  })
})

test("an address that somebody has is answered alike; the mail says so, and nothing changes", async () => {
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

test("the own address confirms itself, and organizations' providers lose their links", async () => {
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

test("without a mail server an address cannot change, and forgetting a password sends nothing", async () => {
  await using instance = await startInstance()
  const ada = await setUp(instance)
  expect(await ada.post("/me/email", { email: "new@example.org" })).toMatchObject({ status: 409, code: "mail_unavailable" })
  expect((await ada.post("/auth/forgot", { email: ADA.email })).status).toBe(202)
  await instance.app.instance.accounts.background.settled()
  expect(await instance.app.instance.catalog.all(sql`select hash from one_time_tokens`)).toEqual([])
})

test("the use of a recovery code is mailed", async () => {
  await using world = await start()
  const { instance, server, ada } = world
  const { codes, keep } = await makeCodes(instance)
  await instance.app.instance.catalog.transaction(async (statements) => {
    await statements.run(sql`update users set totp_sealed = x'00' where id = 1`)
    await keep(statements, 1)
  })
  const { ticket } = (await login(stranger(instance), ADA.password)).body
  expect((await stranger(instance).post("/auth/mfa", { ticket, recovery_code: codes[0] })).body).toMatchObject({ recovery_codes_left: 9 })
  const [mail] = await mails(instance, server)
  expect(mail!.headers.get("subject")).toBe("A recovery code was used")
  expect(mail!.text).toContain("9 recovery codes left")
  expect((await ada.get("/me")).status).toBe(200)
})

/** Made as the own account makes them. */
async function makeCodes(instance: TestInstance) {
  const { createRecoveryCodes } = await import("../../../../src/services/sign-in/recovery-codes.ts")
  const random = (count: number) => crypto.getRandomValues(new Uint8Array(count))
  const { catalog, accounts } = instance.app.instance
  return createRecoveryCodes({ catalog, clock: instance.clock, random, passwords: accounts.passwords }).make()
}
