import { afterAll, beforeAll, expect, test } from "bun:test"
import { join } from "node:path"
import { createAuthenticator } from "../http/private/sign-in/authenticator.ts"
import { identityProvider } from "../http/private/sign-in/identity-provider.ts"
import { smtpServer } from "../services/mail/smtp-server.ts"
import { compiledAlone } from "./build.ts"

let compiled: ReturnType<typeof compiledAlone>
beforeAll(() => {
  compiled = compiledAlone()
}, 120_000)
afterAll(() => compiled.remove())

const ADA = { email: "ada@example.org", password: "a fine long password", name: "Ada", organization: "Acme" }

/** Creates a minimal browser: one cookie per name, paths below `/api/private`. */
function browserAt(address: string) {
  const cookies = new Map<string, string>()
  return async (method: string, path: string, body?: unknown) => {
    const headers = {
      cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
      ...(body !== undefined && { "content-type": "application/json" }),
    }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(`${address}/api/private${path}`, { method, headers, redirect: "manual", ...sent })
    for (const line of response.headers.getSetCookie()) cookies.set(line.split("=")[0]!, line.split(";")[0]!.slice(line.indexOf("=") + 1))
    const text = await response.text()
    // biome-ignore lint/suspicious/noExplicitAny: each step knows the shape of its answer.
    return { status: response.status, location: response.headers.get("location"), body: (text === "" ? {} : JSON.parse(text)) as any }
  }
}

// Verifies that lazily loaded modules are in the file and work there.
test("the compiled file signs users in by passkey and by identity provider, and sends emails", async () => {
  await using mail = await smtpServer()
  await using provider = identityProvider({ now: Date.now })
  const settings = {
    FOOTFALL_SMTP_HOST: "127.0.0.1",
    FOOTFALL_SMTP_PORT: String(mail.port),
    FOOTFALL_SMTP_SECURITY: "none",
    FOOTFALL_OIDC_ISSUER: provider.issuer,
    FOOTFALL_OIDC_CLIENT_ID: provider.clientId,
    FOOTFALL_OIDC_CLIENT_SECRET: provider.clientSecret,
    FOOTFALL_OIDC_JIT: "1",
    FOOTFALL_OIDC_ALLOWED_DOMAINS: "example.org",
  }
  const words = [
    "serve",
    "--data-dir",
    join(compiled.folder, "accounts"),
    "--host",
    "127.0.0.1",
    "--port",
    "0",
    "--json",
    "--log-level",
    "error",
  ]
  const server = Bun.spawn([...compiled.command, ...words], { stdout: "pipe", stderr: "inherit", env: { ...process.env, ...settings } })
  try {
    const { address, setup } = JSON.parse(await firstObject(server.stdout))
    const ada = browserAt(address)
    expect(await ada("POST", "/setup", { token: setup.token, ...ADA, password: "123qweasdzxc" })).toMatchObject({ status: 422 })
    expect(await ada("POST", "/setup", { token: setup.token, ...ADA })).toMatchObject({ status: 201 })
    expect(await ada("POST", "/me/totp/start", {})).toMatchObject({ status: 200, body: { qr_svg: expect.stringContaining("<svg") } })

    const device = createAuthenticator(address, "EdDSA")
    const begun = (await ada("POST", "/me/passkeys", {})).body
    const added = await ada("POST", "/me/passkeys", { challenge_id: begun.challenge_id, response: device.create(begun.options) })
    expect(added).toMatchObject({ status: 201, body: { algorithm: "EdDSA" } })
    const other = browserAt(address)
    const options = (await other("POST", "/auth/passkey/options", {})).body
    expect(
      await other("POST", "/auth/passkey/verify", { challenge_id: options.challenge_id, response: device.get(options.options) }),
    ).toMatchObject({ status: 200 })

    const eve = browserAt(address)
    const there = (await eve("GET", "/auth/oidc/oidc/start")).location!
    const back = provider.signIn(there, { sub: "eve", email: "eve@example.org", email_verified: true })
    expect(await eve("GET", back.pathname.replace("/api/private", "") + back.search)).toMatchObject({ status: 303, location: "/" })
    expect((await eve("GET", "/me")).body.user.email).toBe("eve@example.org")

    expect((await other("POST", "/auth/forgot", { email: ADA.email })).status).toBe(202)
    for (let wait = 0; mail.mails.length === 0 && wait < 100; wait++) await Bun.sleep(50)
    expect(mail.mails[0]?.text).toContain(`${address}/reset/`)
  } finally {
    server.kill("SIGTERM")
    await server.exited
  }
}, 60_000)

async function firstObject(output: ReadableStream<Uint8Array>): Promise<string> {
  let text = ""
  for await (const piece of output) {
    text += Buffer.from(piece).toString()
    if (text.endsWith("}\n")) break
  }
  return text
}
