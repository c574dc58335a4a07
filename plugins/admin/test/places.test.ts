import { expect, test } from "bun:test"
import { instantText } from "#plugin"
import { actionsOf, type ConsoleInstance, startConsole } from "./console.ts"

const view = (path: string) => ({ n: "pageview", u: `https://shop.example${path}`, d: "shop.example" })
const rows = async (console: ConsoleInstance, path: string) => ((await console.get(path)).body as { data: Record<string, unknown>[] }).data

test("lists organizations with their members, sites and event counts", async () => {
  await using console = await startConsole()
  await console.instance.collect(view("/"))
  await console.send("POST", "/organizations", { name: "Mill" })
  expect(await rows(console, "/organizations")).toMatchObject([
    { id: 1, name: "Shop", members: 1, owners: 1, sites: 1, keys: 4, events_30d: 1, version: 1 },
    { id: 2, name: "Mill", members: 0, sites: 0, keys: 0, events_30d: 0 },
  ])
  expect(await rows(console, "/organizations?q=mil")).toMatchObject([{ id: 2 }])
  expect(await actionsOf(console)).toEqual(["admin.organization.create"])
})

test("renames an organization, and deletes it with its name as confirmation", async () => {
  await using console = await startConsole()
  expect(await console.send("PATCH", "/organizations/1", { name: "Mill", version: 1 })).toMatchObject({
    status: 200,
    body: { name: "Mill", version: 2 },
  })
  expect(await console.send("PATCH", "/organizations/1", { name: "X", version: 1 })).toMatchObject({
    status: 409,
    body: { code: "version_conflict", current: { name: "Mill" } },
  })
  expect(await console.send("DELETE", "/organizations/1", { confirm: "Shop" })).toMatchObject({ status: 422 })
  expect(await console.send("DELETE", "/organizations/1", { confirm: "Mill" })).toMatchObject({ status: 202 })
  expect(await console.get("/organizations/1")).toMatchObject({ status: 404, body: { code: "organization_not_found" } })
  expect((await console.instance.api.get("/api/public/v1/sites", console.instance.key)).status).toBe(401)
})

test("an instance administrator appoints owners and removes members, but not the last owner", async () => {
  await using console = await startConsole()
  const { id, email } = await console.person()
  expect(await console.send("PUT", `/organizations/1/members/${id}`, { role: "owner" })).toMatchObject({
    status: 200,
    body: { user: { id, email }, role: "owner" },
  })
  expect(await console.send("DELETE", `/organizations/1/members/${console.adminId}`)).toMatchObject({ status: 204 })
  expect(await console.send("DELETE", `/organizations/1/members/${id}`)).toMatchObject({ status: 409, body: { code: "last_owner" } })
  expect(await console.send("PUT", `/organizations/1/members/${id}`, { role: "viewer" })).toMatchObject({
    status: 409,
    body: { code: "last_owner" },
  })
  expect(await console.send("PUT", `/organizations/1/members/${console.adminId}`, { role: "guest" })).toMatchObject({ status: 422 })
  expect(await console.send("PUT", "/organizations/1/members/999", { role: "viewer" })).toMatchObject({
    status: 404,
    body: { code: "user_not_found" },
  })
  expect(await rows(console, "/organizations/1/members")).toMatchObject([{ user: { id }, role: "owner" }])
})

test("lists sites with counts and sizes, but no visitor data", async () => {
  await using console = await startConsole()
  await console.instance.collect(view("/secret-page"))
  await console.instance.collect(view("/secret-page"), { address: "198.51.100.8" })
  const answer = await console.get("/sites")
  expect(answer.body).toMatchObject({
    data: [
      {
        id: 1,
        name: "Shop",
        hosts: ["shop.example"],
        organization: { id: 1, name: "Shop" },
        events_24h: 2,
        events_30d: 2,
        last_event_at: "2026-11-21T12:00:00Z",
        retention_days: null,
      },
    ],
  })
  expect(JSON.stringify(answer.body)).not.toContain("secret-page")
  expect(await rows(console, "/sites?q=nothing")).toEqual([])
  expect(await rows(console, "/sites?organization=1&sort=events_30d")).toMatchObject([{ id: 1 }])
  expect(await console.get("/sites?sort=secret")).toMatchObject({ status: 400 })
})

test("a list by size continues from its cursor", async () => {
  await using console = await startConsole()
  for (let i = 2; i <= 5; i++) await console.instance.app.instance.sites.create(1, { name: `Site ${i}`, hosts: [`s${i}.example`] })
  await console.instance.collect(view("/"))
  const seen: unknown[] = []
  for (let cursor = ""; ; ) {
    const { data, next_cursor } = (await console.get(`/sites?sort=events_30d&limit=2${cursor}`)).body as {
      data: { id: number }[]
      next_cursor: string | null
    }
    seen.push(...data.map(({ id }) => id))
    if (next_cursor === null) break
    cursor = `&cursor=${next_cursor}`
  }
  expect(seen).toEqual([1, 2, 3, 4, 5])
})

test("moves a site to another organization, and reports and detaches what does not fit there", async () => {
  await using console = await startConsole()
  const { api, key } = console.instance
  await console.send("POST", "/organizations", { name: "Mill" })
  const listed = await console.instance.makeKey(["stats:read"], [1])
  const editor = await console.person({ role: "guest", siteRole: "editor" })
  expect(await console.send("POST", "/sites/1/transfer", { organization_id: 99 })).toMatchObject({ status: 422 })
  const moved = await console.send("POST", "/sites/1/transfer", { organization_id: 2 })
  expect(moved).toMatchObject({
    status: 200,
    body: {
      site: { id: 1, organization: { id: 2, name: "Mill" } },
      detached: { api_keys: [{ name: "1 scopes" }], site_members: [{ user_id: editor.id, role: "editor" }] },
    },
  })
  const summary = "/api/public/v1/sites/1/stats/summary?period=today"
  expect((await api.get(summary, listed)).status).toBe(404)
  expect((await api.get(summary, key)).status).toBe(404)
  expect((await api.get("/api/private/me", undefined, { cookie: editor.cookie })).body).toMatchObject({ sites: [] })
})

test("restores a deleted site within 30 days, but not later", async () => {
  await using console = await startConsole()
  expect(await console.send("DELETE", "/sites/1")).toMatchObject({ status: 204 })
  expect(await rows(console, "/sites")).toMatchObject([{ id: 1, deleted_at: "2026-11-21T12:00:00Z" }])
  expect(await console.send("DELETE", "/sites/1")).toMatchObject({ status: 404, body: { code: "site_not_found" } })
  expect(await console.send("POST", "/sites/1/restore")).toMatchObject({ status: 200, body: { id: 1 } })
  expect(await console.send("POST", "/sites/1/restore")).toMatchObject({ status: 404 })
  await console.send("DELETE", "/sites/1")
  console.instance.clock.advance(30 * 86_400_000 + 1)
  const cookie = await console.instance.signIn({ isInstanceAdmin: true })
  expect(await console.send("POST", "/sites/1/restore", undefined, { cookie })).toMatchObject({
    status: 404,
    body: { code: "site_not_found" },
  })
  expect(await actionsOf(console)).toEqual(["admin.site.delete", "admin.site.restore", "admin.site.delete"])
})

test("shows only the last characters of API keys, and revokes them immediately", async () => {
  await using console = await startConsole()
  const { api, key } = console.instance
  const keys = await rows(console, "/api-keys")
  expect(keys.length).toBe(4)
  expect(keys[0]).toMatchObject({
    id: 1,
    organization: { id: 1 },
    prefix: key.slice(0, 11),
    last4: key.slice(-4),
    state: "active",
    site_ids: null,
  })
  expect(JSON.stringify(keys)).not.toContain(key.slice(12, 40))
  expect((await api.get("/api/public/v1/sites", key)).status).toBe(200)
  expect(await console.send("POST", "/api-keys/1/revoke")).toMatchObject({ status: 200, body: { state: "revoked" } })
  expect((await api.get("/api/public/v1/sites", key)).status).toBe(401)
  expect(await console.send("POST", "/api-keys/99/revoke")).toMatchObject({ status: 404, body: { code: "api_key_not_found" } })
})

test("filters API keys by state, also in combination with a search", async () => {
  await using console = await startConsole()
  const { app, clock } = console.instance
  const facts = { scopes: ["stats:read" as const], site_access: "all" as const }
  const short = await app.instance.keys.create(1, { ...facts, name: "Short", expires_at: instantText(clock.now() + 60_000) })
  await console.send("POST", "/api-keys/2/revoke")
  clock.advance(60_000)
  const listed = async (query: string) => (await rows(console, `/api-keys${query}`)).map(({ id, state }) => [id, state])
  const active = [1, 3, 4].map((id) => [id, "active"])
  expect(await listed("?state=active")).toEqual(active)
  expect(await listed("?state=expired")).toEqual([[short.key.id, "expired"]])
  expect(await listed("?state=revoked")).toEqual([[2, "revoked"]])
  expect(await listed("?state=revoked&q=short")).toEqual([])
  expect(await listed("?state=expired&q=short")).toHaveLength(1)
  expect(await console.get("/api-keys?state=gone")).toMatchObject({ status: 400, body: { code: "invalid_query" } })
  // A cursor is valid only for its own state.
  const { next_cursor } = (await console.get("/api-keys?state=active&limit=1")).body as { next_cursor: string }
  expect(await listed(`?state=active&cursor=${next_cursor}`)).toEqual(active.slice(1))
  expect(await console.get(`/api-keys?state=revoked&cursor=${next_cursor}`)).toMatchObject({ body: { code: "invalid_cursor" } })
})

test("searches API keys, invitations and sessions by substring, case-insensitively", async () => {
  await using console = await startConsole()
  const { app } = console.instance
  const [shop] = await app.instance.organizations.list()
  const viewer = await console.person({ role: "viewer" })
  await app.memberships.invitations.create(shop!, { email: "Zoë@Mill.example", role: "editor" }, "instance")
  await app.memberships.invitations.create(shop!, { email: "new@example.org", role: "editor" }, "instance")
  const ids = async (path: string) => (await rows(console, path)).map(({ id }) => id)
  const q = (text: string) => `?q=${encodeURIComponent(text)}`
  const keys = await rows(console, "/api-keys")
  const { id, name, prefix, last4 } = keys[1] as { id: number; name: string; prefix: string; last4: string }

  expect(await ids(`/invitations${q("ZOË@mill")}`)).toEqual([1])
  expect(await ids(`/invitations${q("sHOP")}`)).toEqual([1, 2])
  expect(await ids(`/api-keys${q(prefix.toUpperCase())}`)).toEqual([id])
  expect(await ids(`/api-keys${q(last4)}`)).toContain(id)
  expect(await ids(`/api-keys${q(name.toUpperCase())}`)).toContain(id)
  const sessions = await rows(console, `/sessions${q(viewer.email.toUpperCase())}`)
  expect(sessions).toMatchObject([{ user: { id: viewer.id } }])
  expect(await ids(`/sessions${q("chrome ON")}`)).toHaveLength(2)
  expect(await ids(`/sessions${q("chrome")}&user=${viewer.id}`)).toEqual([sessions[0]!.id])
  for (const list of ["api-keys", "invitations", "sessions"]) {
    expect(await rows(console, `/${list}${q("' or 1=1 --")}`)).toEqual([])
    expect(await rows(console, `/${list}${q("%")}`)).toEqual([])
    expect((await rows(console, `/${list}?q=`)).length).toBeGreaterThan(1)
    expect(await console.get(`/${list}${q("x".repeat(201))}`)).toMatchObject({ status: 400, body: { code: "invalid_query" } })
  }
  // A cursor is valid only for its own search.
  const { next_cursor } = (await console.get("/api-keys?q=shop&limit=1")).body as { next_cursor: string }
  expect(await ids(`/api-keys?q=shop&limit=1&cursor=${next_cursor}`)).toEqual([keys[1]!.id])
  expect(await console.get(`/api-keys?q=mill&limit=1&cursor=${next_cursor}`)).toMatchObject({
    status: 400,
    body: { code: "invalid_cursor" },
  })
})

test("lists and ends the sessions of all users", async () => {
  await using console = await startConsole()
  const viewer = await console.person({ role: "viewer" })
  const sessions = await rows(console, "/sessions")
  expect(sessions.map(({ user, current }) => [user, current])).toMatchObject([
    [{ id: console.adminId }, true],
    [{ id: viewer.id, email: viewer.email }, false],
  ])
  expect(await console.send("DELETE", `/sessions/${sessions[1]!.id}`)).toMatchObject({ status: 204 })
  expect(await console.send("DELETE", `/sessions/${sessions[1]!.id}`)).toMatchObject({ status: 404, body: { code: "session_not_found" } })
  expect((await console.instance.api.get("/api/private/me", undefined, { cookie: viewer.cookie })).status).toBe(401)
})

test("lists and withdraws the pending invitations of all organizations", async () => {
  await using console = await startConsole()
  const { instance, memberships } = console.instance.app
  const [shop] = await instance.organizations.list()
  await memberships.invitations.create(shop!, { email: "new@example.org", role: "editor" }, "instance")
  expect(await rows(console, "/invitations")).toMatchObject([
    { id: 1, organization: { id: 1, name: "Shop" }, email: "new@example.org", role: "editor", has_account: false },
  ])
  expect(await console.send("DELETE", "/invitations/1")).toMatchObject({ status: 204 })
  expect(await rows(console, "/invitations")).toEqual([])
  expect(await console.send("DELETE", "/invitations/1")).toMatchObject({ status: 404, body: { code: "invitation_not_found" } })
})
