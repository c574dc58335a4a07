import { afterAll, beforeAll, expect, test } from "bun:test"
import { startInstance, type TestInstance } from "../../../kit.ts"

let instance: TestInstance
beforeAll(async () => {
  instance = await startInstance({ settings: { base_url: "http://stats.example.org", allowed_hosts: "stats.local" } })
})
afterAll(() => instance[Symbol.asyncDispose]())

const ME = "/api/private/me"
const get = (headers: Record<string, string>, host = "stats.example.org", path = ME) =>
  instance.fetch(new Request(`http://${host}${path}`, { headers }))

test("until the instance is set up, a route answers setup_required", async () => {
  expect(await instance.api.get(ME)).toMatchObject({ status: 503, body: { code: "setup_required" } })
})

test("a signed-in user sees all of their permissions", async () => {
  const cookie = await instance.signIn({ role: "editor" })
  const { status, body } = await instance.api.get(ME, undefined, { cookie })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    user: { is_instance_admin: false, mfa: { totp: false, passkeys: 0, recovery_codes_left: 0 } },
    organizations: [{ id: 1, name: "Shop", role: "editor", permissions: [] }],
    sites: [{ id: 1, name: "Shop", organization_id: 1, role: "editor" }],
  })
  const [site] = (body as { sites: { permissions: string[] }[] }).sites
  expect(site!.permissions).toContain("goals:write")
  expect(site!.permissions).not.toContain("site:write")
})

test("a session is read only from the signed cookie", async () => {
  const cookie = await instance.signIn({ role: "viewer" })
  const [, value] = cookie.split("=")
  expect((await get({ cookie })).status).toBe(200)
  for (const odd of ["", "sid=", `sid=${value}x`, `sid=${decodeURIComponent(value!).split(".")[0]}`, `__Host-sid=${value}`, "sid=%E0%A4%A"])
    expect((await get({ cookie: odd })).status).toBe(401)
  expect((await get({ authorization: `Bearer ${instance.key}` })).status).toBe(401)
  expect((await get({ authorization: `Bearer ${decodeURIComponent(value!)}` })).status).toBe(401)
  // A session gives no access to the public API.
  const answer = await get({ cookie }, "stats.example.org", "/api/public/v1/key")
  expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([401, "missing_api_key"])
})

test.each([
  ["stats.example.org", 200],
  ["stats.example.org:8080", 200],
  ["stats.local", 200],
  ["localhost", 200],
  ["127.0.0.1:3000", 200],
  ["[::1]", 200],
  ["evil.example", 421],
  ["stats.example.org.evil.example", 421],
  ["192.0.2.1", 421],
  ["a", 421],
])("under the host %s, answers %d", async (host, status) => {
  const cookie = await instance.signIn({ role: "viewer" })
  expect((await get({ cookie }, host)).status).toBe(status)
})

test("a session ends after seven idle days, after thirty days in total, and when it is revoked", async () => {
  const { clock, app } = instance
  const DAY = 86_400_000
  const idle = await instance.signIn({ role: "viewer" })
  clock.advance(7 * DAY - 1)
  expect((await get({ cookie: idle })).status).toBe(200)
  clock.advance(7 * DAY)
  expect((await get({ cookie: idle })).status).toBe(401)

  const busy = await instance.signIn({ role: "viewer" })
  for (let day = 0; day < 29; day++) {
    clock.advance(DAY)
    expect((await get({ cookie: busy })).status).toBe(200)
  }
  clock.advance(DAY)
  expect((await get({ cookie: busy })).status).toBe(401)

  const ended = await instance.signIn({ role: "viewer" })
  const { user } = (await (await get({ cookie: ended })).json()) as { user: { id: number } }
  await app.instance.catalog.transaction((statements) => app.instance.sessions.revokeAll(statements, user.id))
  expect((await get({ cookie: ended })).status).toBe(401)
})
