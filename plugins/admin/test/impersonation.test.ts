import { expect, test } from "bun:test"
import { actionsOf, type ConsoleInstance, startConsole } from "./console.ts"

const reason = { reason: "Ticket 7" }

/** Applies the cookies of an answer to a browser's cookies. */
function cookiesAfter(headers: Headers, before: string): string {
  const jar = new Map(before.split("; ").map((pair) => pair.split(/=(.*)/s).slice(0, 2) as [string, string]))
  for (const line of headers.getSetCookie()) {
    const [name, value] = line.split(";")[0]!.split(/=(.*)/s) as [string, string]
    if (/max-age=0/i.test(line)) jar.delete(name)
    else jar.set(name, value)
  }
  return [...jar].map(([name, value]) => `${name}=${value}`).join("; ")
}

async function actAs(console: ConsoleInstance, id: number, body: object = reason): Promise<string> {
  const answer = await console.send("POST", `/users/${id}/impersonate`, body)
  expect(answer).toMatchObject({ status: 200, body: { user: { id } } })
  return cookiesAfter(answer.headers, console.cookie)
}
const me = async ({ instance }: ConsoleInstance, cookie: string) => instance.api.get("/api/private/me", undefined, { cookie })

test("an administrator impersonates a user, sees the status and returns to their own session", async () => {
  await using console = await startConsole()
  const viewer = await console.person({ role: "viewer" })
  const jar = await actAs(console, viewer.id)
  const { body } = await me(console, jar)
  expect(body).toMatchObject({
    user: { id: viewer.id, is_instance_admin: false },
    organizations: [{ role: "viewer" }],
    impersonation: { mode: "read_only", expires_at: "2026-11-21T12:30:00.000Z" },
  })
  // The permissions are those of the user.
  expect(await console.get("/users", jar)).toMatchObject({ status: 403, body: { code: "forbidden" } })
  const back = await console.send("POST", "/impersonation/stop", undefined, { cookie: jar })
  expect(back).toMatchObject({ status: 200, body: { user: { id: console.adminId } } })
  const own = cookiesAfter(back.headers, jar)
  expect((await me(console, own)).body).toMatchObject({ user: { id: console.adminId, is_instance_admin: true } })
  expect(((await me(console, own)).body as { impersonation?: object }).impersonation).toBeUndefined()
  // The impersonated session has ended, even for a saved cookie.
  expect((await me(console, jar.split("; ").find((pair) => pair.startsWith("sid="))!)).status).toBe(401)
  expect(await actionsOf(console)).toEqual(["admin.user.impersonate", "admin.user.impersonate-end"])
})

test("audits both users for an impersonated action", async () => {
  await using console = await startConsole()
  const instance = console.instance
  await console.send("PATCH", "/settings", { changes: { impersonation: "full" } })
  const owner = await console.person({ role: "owner" })
  const jar = await actAs(console, owner.id, { ...reason, mode: "full" })
  const renamed = await instance.api.send("PATCH", "/api/private/organizations/1", { name: "Renamed" }, undefined, { cookie: jar })
  expect(renamed.status).toBe(200)
  const [row] = await instance.app.memberships.auditList.list({}, undefined, 1)
  expect(row).toMatchObject({ actor_id: owner.id, actor_email: owner.email, impersonator_id: console.adminId })
  expect(row!.impersonator_email).toContain("@example.com")
})

test.each([
  ["rename the organization in read-only mode", "read_only", "PATCH", "/api/private/organizations/1", { name: "X" }],
  ["change the password in full mode", "full", "POST", "/api/private/me/password", { current: "a", password: "correct horse battery" }],
  ["change the email address in full mode", "full", "POST", "/api/private/me/email", { email: "x@example.org" }],
  ["add a second factor in full mode", "full", "POST", "/api/private/me/totp/start", undefined],
  ["add a passkey in full mode", "full", "POST", "/api/private/me/passkeys", {}],
  ["end sessions in full mode", "full", "POST", "/api/private/me/sessions/revoke-others", undefined],
  [
    "create an API key in full mode",
    "full",
    "POST",
    "/api/private/organizations/1/api-keys",
    { name: "K", scopes: ["stats:read"], site_access: "all" },
  ],
  [
    "invite a member in full mode",
    "full",
    "POST",
    "/api/private/organizations/1/members/invite",
    { email: "x@example.org", role: "viewer" },
  ],
  ["delete the account in full mode", "full", "DELETE", "/api/private/me", undefined],
  ["delete a site in full mode", "full", "DELETE", "/api/private/sites/1", undefined],
  ["reset a site in full mode", "full", "POST", "/api/private/sites/1/reset", { confirm: "Shop" }],
  ["erase data in full mode", "full", "POST", "/api/private/sites/1/erase", { period: "all", confirm: "x" }],
] as const)("an impersonating administrator cannot %s", async (_, mode, method, path, body) => {
  await using console = await startConsole()
  await console.send("PATCH", "/settings", { changes: { impersonation: "full" } })
  const owner = await console.person({ role: "owner" })
  const cookie = await actAs(console, owner.id, { ...reason, mode })
  expect(await console.instance.api.send(method, path, body, undefined, { cookie })).toMatchObject({
    status: 403,
    body: { code: "impersonation_read_only" },
  })
})

test.each(["read_only", "full"] as const)("impersonation in mode %s cannot export raw data", async (mode) => {
  await using console = await startConsole()
  const { api } = console.instance
  await console.send("PATCH", "/settings", { changes: { impersonation: "full" } })
  const owner = await console.person({ role: "owner" })
  const packed = await api.post("/api/private/sites/1/takeout", {}, undefined, { cookie: owner.cookie })
  const { id } = packed.body as { id: number }
  await console.instance.runJobs()
  const cookie = await actAs(console, owner.id, { ...reason, mode })
  const get = (path: string, by = cookie) => api.get(`/api/private/sites/1${path}`, undefined, { cookie: by })
  const raw = ["/export?type=events&period=today", "/export?type=visits&period=today", `/takeout/${id}/file`]
  for (const path of raw) {
    expect(await get(path)).toMatchObject({ status: 403, body: { code: "impersonation_read_only" } })
    expect((await get(path, owner.cookie)).status).toBe(200)
  }
  expect(await api.post("/api/private/sites/1/takeout", {}, undefined, { cookie })).toMatchObject({ status: 403 })
  // Data shown on screens can be exported.
  expect((await get("/export?type=page&period=today")).status).toBe(200)
})

test.each([
  ["another instance administrator", { isInstanceAdmin: true }, reason, 403, "forbidden"],
  ["in full mode if only read-only is allowed", {}, { ...reason, mode: "full" }, 403, "forbidden"],
  ["without a reason", {}, {}, 422, "validation_failed"],
  ["for too short a time", {}, { ...reason, minutes: 4 }, 422, "validation_failed"],
  ["for too long a time", {}, { ...reason, minutes: 61 }, 422, "validation_failed"],
] as const)("rejects impersonation: %s", async (_, as, body, status, code) => {
  await using console = await startConsole()
  const { id } = await console.person(as)
  const answer = await console.send("POST", `/users/${id}/impersonate`, body)
  expect(answer).toMatchObject({ status, body: { code } })
  expect(answer.headers.getSetCookie()).toEqual([])
})

test("rejects impersonation of a disabled user, while it is disabled, or without a recent confirmation of identity", async () => {
  await using console = await startConsole()
  const { id } = await console.person()
  const stale = await console.instance.signIn({ isInstanceAdmin: true, provedAt: console.instance.clock.now() - 11 * 60_000 })
  expect(await console.send("POST", `/users/${id}/impersonate`, reason, { cookie: stale })).toMatchObject({
    body: { code: "reauth_required" },
  })
  await console.send("PATCH", "/settings", { changes: { impersonation: "off" } })
  expect(await console.send("POST", `/users/${id}/impersonate`, reason)).toMatchObject({ status: 403, body: { code: "forbidden" } })
  await console.send("PATCH", "/settings", { changes: { impersonation: null } })
  await console.send("POST", `/users/${id}/disable`)
  expect(await console.send("POST", `/users/${id}/impersonate`, reason)).toMatchObject({ status: 409, body: { code: "invalid_state" } })
})

test.each([
  ["its time is over", async ({ instance }: ConsoleInstance) => instance.clock.advance(5 * 60_000)],
  ["the user is disabled", async (console: ConsoleInstance, id: number) => console.send("POST", `/users/${id}/disable`)],
  [
    "the user becomes an instance admin",
    async (console: ConsoleInstance, id: number) => console.send("PATCH", `/users/${id}`, { is_instance_admin: true }),
  ],
  [
    "the admin loses the flag",
    async (console: ConsoleInstance) => {
      const other = await console.instance.signIn({ isInstanceAdmin: true })
      await console.send("PATCH", `/users/${console.adminId}`, { is_instance_admin: false }, { cookie: other })
    },
  ],
  [
    "the admin is disabled",
    async (console: ConsoleInstance) => {
      const other = await console.instance.signIn({ isInstanceAdmin: true })
      await console.send("POST", `/users/${console.adminId}/disable`, undefined, { cookie: other })
    },
  ],
] as const)("it ends when %s", async (_, happen) => {
  await using console = await startConsole()
  const { id } = await console.person({ role: "viewer" })
  const jar = await actAs(console, id, { ...reason, minutes: 5 })
  expect((await me(console, jar)).status).toBe(200)
  await happen(console, id)
  expect((await me(console, jar)).status).toBe(401)
})

test("an administrator can return after the impersonation expired", async () => {
  await using console = await startConsole()
  const { id } = await console.person({ role: "viewer" })
  const jar = await actAs(console, id, { ...reason, minutes: 5 })
  console.instance.clock.advance(6 * 60_000)
  const back = await console.send("POST", "/impersonation/stop", undefined, { cookie: jar })
  expect(back).toMatchObject({ status: 200, body: { user: { id: console.adminId } } })
  // Without an own session, none is created.
  const none = await console.send("POST", "/impersonation/stop", undefined, { cookie: "sid=x; own-sid=y" })
  expect(none).toMatchObject({ status: 200, body: { user: null } })
})

test("refuses to stop impersonating for a user who impersonates no one, and leaves the session alone", async () => {
  await using console = await startConsole()
  const { cookie, id } = await console.person({ role: "viewer" })
  for (const own of [cookie, console.cookie]) {
    const answer = await console.send("POST", "/impersonation/stop", undefined, { cookie: own })
    expect(answer).toMatchObject({ status: 409, body: { code: "invalid_state" } })
    expect(answer.headers.getSetCookie()).toEqual([])
    expect((await me(console, own)).status).toBe(200)
  }
  // A forgotten cookie of an earlier impersonation does not change who is signed in.
  const waiting = (await actAs(console, id)).split("; ").find((pair) => pair.startsWith("own-sid="))!
  const both = await console.send("POST", "/impersonation/stop", undefined, { cookie: `${cookie}; ${waiting}` })
  expect(both).toMatchObject({ status: 409, body: { code: "invalid_state" } })
  expect(both.headers.getSetCookie()).toEqual([])
  // Without any session there is nothing to end and no cookie to clear.
  const nobody = await console.send("POST", "/impersonation/stop", undefined, { cookie: "theme=dark" })
  expect(nobody).toMatchObject({ status: 200, body: { user: null } })
})

test("stopping an impersonation does not restore a session that has ended", async () => {
  await using console = await startConsole()
  const { id } = await console.person({ role: "viewer" })
  const jar = await actAs(console, id)
  const other = await console.instance.signIn({ isInstanceAdmin: true })
  await console.send("POST", `/users/${console.adminId}/sign-out`, undefined, { cookie: other })
  const back = await console.send("POST", "/impersonation/stop", undefined, { cookie: jar })
  expect(back).toMatchObject({ status: 200, body: { user: null } })
})
