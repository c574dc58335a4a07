import { expect, test } from "bun:test"
import { actionsOf, startConsole } from "./console.ts"

interface Setting {
  key: string
  value: unknown
  default: unknown
  source: string
  editable: boolean
  secret?: { set: boolean }
}
const named = (body: unknown, key: string) => (body as { data: Setting[] }).data.find((setting) => setting.key === key)

test("shows the source of every setting and no secret", async () => {
  await using console = await startConsole({ settings: { registration: "closed", private_rate: "99", smtp_host: "127.0.0.1" } })
  const { body } = await console.get("/settings")
  expect(named(body, "registration")).toMatchObject({ value: "closed", default: "invite", source: "env", editable: false })
  expect(named(body, "require_mfa")).toMatchObject({ value: "none", source: "default", editable: true })
  expect(named(body, "private_rate")).toMatchObject({ value: 99, default: 50, source: "env", editable: false })
  expect(named(body, "secret_key")).toMatchObject({ value: null, secret: { set: false }, editable: false })
  expect(named(body, "key_max_days")).toMatchObject({ value: null, default: null })
})

test("changes a setting with immediate effect, and resets it to its default", async () => {
  await using console = await startConsole()
  const changed = await console.send("PATCH", "/settings", { changes: { session_idle_days: 2 } })
  expect(changed.status).toBe(200)
  expect(named(changed.body, "session_idle_days")).toMatchObject({ value: 2, source: "db" })
  const { cookie } = await console.person()
  const { body } = await console.instance.api.get("/api/private/auth/session", undefined, { cookie })
  expect(body).toMatchObject({ idle_expires_at: expect.stringContaining("2026-11-23T12:00:00") })
  const back = await console.send("PATCH", "/settings", { changes: { session_idle_days: null } })
  expect(named(back.body, "session_idle_days")).toMatchObject({ value: 7, source: "default" })
  expect(await actionsOf(console)).toEqual(["admin.setting.update", "admin.setting.update"])
})

test.each([
  ["that the environment sets", { registration: "invite" }, 409, "set_elsewhere"],
  ["that only the configuration can set", { port: 1 }, 409, "set_elsewhere"],
  ["that does not exist", { colour: "red" }, 404, "setting_not_found"],
  ["to a value of another type", { session_idle_days: "7" }, 422, "validation_failed"],
  ["to a value out of range", { session_idle_days: 0 }, 422, "validation_failed"],
  ["to an unknown choice", { require_mfa: "some" }, 422, "validation_failed"],
  ["to a registration mode that is not implemented", { registration: "open" }, 422, "validation_failed"],
] as const)("refuses to change a setting %s", async (_, changes, status, code) => {
  await using console = await startConsole({ settings: code === "set_elsewhere" ? { registration: "closed" } : {} })
  const answer = await console.send("PATCH", "/settings", { changes: { ...changes, share_min_group: 9 } })
  expect(answer).toMatchObject({ status, body: { code } })
  // The changes are atomic.
  expect(named((await console.get("/settings")).body, "share_min_group")).toMatchObject({ value: 5, source: "default" })
})

test("settings share one version, and an outdated one changes nothing", async () => {
  await using console = await startConsole()
  const first = await console.get("/settings")
  expect({ etag: first.headers.get("etag"), version: (first.body as { version: number }).version }).toEqual({ etag: '"1"', version: 1 })
  const change = (days: number, version?: number, tag?: string) =>
    console.send(
      "PATCH",
      "/settings",
      { changes: { session_idle_days: days }, ...(version && { version }) },
      { headers: tag ? { "if-match": tag } : {} },
    )
  expect(await change(2, 1)).toMatchObject({ status: 200, body: { version: 2 } })
  const stale = await change(3, 1)
  expect(stale).toMatchObject({ status: 409, body: { code: "version_conflict", current: { version: 2 } } })
  expect(named((stale.body as { current: unknown }).current, "session_idle_days")).toMatchObject({ value: 2 })
  expect(await change(3, undefined, '"1"')).toMatchObject({ status: 412, body: { code: "precondition_failed" } })
  // Of two concurrent changes to the same version, one is rejected.
  const both = await Promise.all([change(4, 2), change(5, 2)])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
  expect(await change(6)).toMatchObject({ status: 200, body: { version: 4 } })
  expect(await console.send("PATCH", "/settings", { changes: {}, version: "1" })).toMatchObject({ status: 422 })
})

/** Starts a mail server on loopback that requires a password. */
function mailServer() {
  const heard: string[] = []
  const server = Bun.listen<{ inLetter: boolean; rest: string }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        socket.data = { inLetter: false, rest: "" }
        socket.write("220 mail.test ready\r\n")
      },
      data(socket, bytes) {
        const lines = (socket.data.rest + bytes.toString()).split("\r\n")
        socket.data.rest = lines.pop()!
        for (const line of lines) answer(socket, line)
      },
    },
  })
  function answer(socket: { data: { inLetter: boolean }; write(text: string): unknown }, line: string): void {
    heard.push(line)
    if (socket.data.inLetter) {
      if (line !== ".") return
      socket.data.inLetter = false
      socket.write("250 queued as 7\r\n")
    } else if (/^EHLO/.test(line)) socket.write("250-mail.test\r\n250 AUTH PLAIN\r\n")
    else if (/^AUTH/.test(line)) socket.write(line.endsWith(btoa("\0joe\0s3cret-pass")) ? "235 welcome\r\n" : "535 no\r\n")
    else if (/^RCPT TO:<nobody/.test(line)) socket.write("550 nobody is here\r\n")
    else if (/^DATA/.test(line)) {
      socket.data.inLetter = true
      socket.write("354 go on\r\n")
    } else if (/^QUIT/.test(line)) socket.write("221 bye\r\n")
    else socket.write("250 ok\r\n")
  }
  return { heard, port: server.port, [Symbol.dispose]: () => server.stop(true) }
}

const settingsFor = (port: number) => ({
  smtp_host: "127.0.0.1",
  smtp_port: String(port),
  smtp_security: "none",
  smtp_user: "joe",
  smtp_password: "s3cret-pass",
  mail_from: "stats@example.org",
})

test("a test email shows the whole SMTP dialogue without the password", async () => {
  using server = mailServer()
  await using console = await startConsole({ settings: settingsFor(server.port) })
  const { status, body } = await console.send("POST", "/settings/smtp/test", { to: "ann@example.org" })
  expect(status).toBe(200)
  const { ok, steps } = body as { ok: boolean; steps: { name: string; sent: string; received: string }[] }
  expect(ok).toBe(true)
  expect(steps.map(({ name }) => name)).toEqual(expect.arrayContaining(["greeting", "ehlo", "auth", "mail", "rcpt", "data"]))
  expect(steps.find(({ name }) => name === "rcpt")).toMatchObject({ sent: "RCPT TO:<ann@example.org>", received: "250 ok" })
  expect(JSON.stringify(body)).not.toContain("s3cret-pass")
  expect(JSON.stringify(body)).not.toContain(btoa("\0joe\0s3cret-pass"))
  expect(server.heard).toContain("Subject: Footfall test email")
})

test("shows a mail server's rejection verbatim", async () => {
  using server = mailServer()
  await using console = await startConsole({ settings: settingsFor(server.port) })
  const { body } = await console.send("POST", "/settings/smtp/test", { to: "nobody@example.org" })
  expect(body).toMatchObject({ ok: false })
  expect(JSON.stringify(body)).toContain("550 nobody is here")
  expect(await console.send("POST", "/settings/smtp/test", { to: "x" })).toMatchObject({ status: 422 })
})

test("rejects a test email without a mail server", async () => {
  await using console = await startConsole()
  expect(await console.send("POST", "/settings/smtp/test", { to: "a@b.example" })).toMatchObject({
    status: 409,
    body: { code: "mail_unavailable" },
  })
})

test("disables and enables plugins, except the console itself", async () => {
  await using console = await startConsole()
  expect((await console.get("/plugins")).body).toMatchObject({
    data: expect.arrayContaining([{ id: "admin", title: "Administration", enabled: true, version: 1, schema: [], tables: [], rows: 0 }]),
  })
  expect(await console.send("PATCH", "/plugins", { id: "admin", enabled: false })).toMatchObject({
    status: 409,
    body: { code: "invalid_state" },
  })
  expect(await console.send("PATCH", "/features", { changes: { admin: false } })).toMatchObject({
    status: 409,
    body: { code: "invalid_state" },
  })
  expect(await console.send("PATCH", "/features", { changes: { nothing: false } })).toMatchObject({ status: 422 })
  expect(await console.send("PATCH", "/plugins", { id: "nothing", enabled: false })).toMatchObject({ status: 404 })
  expect(await console.send("PATCH", "/plugins", { id: "admin", enabled: true, version: 7 })).toMatchObject({
    status: 409,
    body: { code: "version_conflict" },
  })
  expect((await console.get("/features")).body).toMatchObject({ data: expect.arrayContaining(["admin"]) })
})

/** Serves a provider's metadata and keys on loopback. */
function provider(metadata: (issuer: string) => object, keys: unknown = { keys: [{ kty: "RSA" }] }) {
  const server: Bun.Server<undefined> = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => Response.json(url.endsWith("/keys") ? keys : metadata(issuer)),
  })
  const issuer = `http://127.0.0.1:${server.port}`
  return { issuer, [Symbol.dispose]: () => void server.stop(true) }
}
const whole = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/auth`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/keys`,
  id_token_signing_alg_values_supported: ["RS256"],
  claims_supported: ["sub", "email"],
})

test.each([
  ["complete metadata", whole, undefined, true, "OK"],
  ["a different issuer", (issuer: string) => ({ ...whole(issuer), issuer: "https://other.example" }), undefined, false, "another issuer"],
  [
    "a missing token endpoint",
    (issuer: string) => ({ ...whole(issuer), token_endpoint: undefined }),
    undefined,
    false,
    "no token_endpoint",
  ],
  [
    "signatures with a shared secret",
    (issuer: string) => ({ ...whole(issuer), id_token_signing_alg_values_supported: ["HS256"] }),
    undefined,
    false,
    "HS256",
  ],
  ["missing keys", whole, { keys: [] }, false, "no key"],
] as const)("tests an identity provider with %s", async (_, metadata, keys, ok, message) => {
  using server = provider(metadata, keys)
  await using console = await startConsole({ settings: { oidc_issuer: server.issuer, oidc_client_id: "footfall" } })
  const { status, body } = await console.send("POST", "/settings/oidc/test", { provider: "oidc" })
  expect(status).toBe(200)
  expect(body).toMatchObject({ ok })
  const { steps, claims } = body as { steps: { detail: string }[]; claims: { name: string; needed: boolean; offered: boolean | null }[] }
  expect(steps.at(-1)!.detail).toContain(message)
  if (ok) expect(claims).toContainEqual({ name: "email_verified", needed: true, offered: false })
  expect(await console.send("POST", "/settings/oidc/test", { provider: "nobody" })).toMatchObject({
    status: 404,
    body: { code: "provider_not_found" },
  })
})
