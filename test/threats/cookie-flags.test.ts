import { expect, test } from "bun:test"
import { ADA, browserOf } from "../http/private/browser.ts"
import { identityProvider } from "../http/private/sign-in/identity-provider.ts"
import { startInstance } from "../kit.ts"

/** Threat `cookie-flags`: every cookie that the server sets or clears. */

const BASE = "https://stats.example.org"
/** The address that a proxy requests after terminating TLS. */
const BEHIND = "http://stats.example.org"
const COMMON = ["HttpOnly", "Path=/", "SameSite=Lax", "Secure"]

test("over HTTPS, every cookie is host-bound, HttpOnly and SameSite=Lax", async () => {
  await using provider = identityProvider({ now: () => Date.parse("2026-11-21T12:00:00Z") })
  await using instance = await startInstance({
    settings: {
      base_url: BASE,
      oidc_issuer: provider.issuer,
      oidc_client_id: provider.clientId,
      oidc_client_secret: provider.clientSecret,
    },
  })
  const browser = browserOf(instance, "198.51.100.7", BEHIND)
  const lines: string[] = []
  const keep = <Answer extends { status: number; headers: Headers }>(answer: Answer): Answer => {
    lines.push(...answer.headers.getSetCookie())
    return answer
  }
  const { token } = instance.app.instance.accounts.setup.token.begin(() => {})
  expect(keep(await browser.post("/setup", { token, ...ADA })).status).toBe(201)
  expect(keep(await browser.send("PATCH", "/me", { theme: "dark" })).status).toBe(200)
  expect(keep(await browser.send("GET", "sites")).status).toBe(200)
  const made = keep(await browser.post("/sites/1/shares", { name: "Board", password: "correct horse" }))
  expect(made.status).toBe(201)
  const guest = browserOf(instance, "198.51.100.8", BEHIND)
  expect(keep(await guest.send("POST", `api/share/s/${made.body.slug}/unlock`, { password: "correct horse" })).status).toBe(204)
  expect(keep(await guest.get("/auth/oidc/oidc/start")).status).toBe(303)
  expect(keep(await guest.get("/auth/oidc/oidc/callback?state=x&code=y")).status).toBe(303)
  expect(keep(await browser.post("/auth/logout", {})).status).toBe(204)
  expect(keep(await browser.post("/auth/login", { email: ADA.email, password: ADA.password })).status).toBe(200)

  const names = new Set(lines.map((line) => line.split("=")[0]!.replace(/-\d+$/, "-<id>")))
  expect([...names].sort()).toEqual(["__Host-oidc", "__Host-sid", "__Host-theme", "__Host-unlock-<id>"])
  for (const line of lines) {
    const [, ...attributes] = line.split("; ")
    const plain = attributes.filter((attribute) => !/^(Max-Age=\d+|Expires=.*)$/.test(attribute))
    expect({ line, plain: plain.sort() }).toEqual({ line, plain: COMMON })
  }
})
