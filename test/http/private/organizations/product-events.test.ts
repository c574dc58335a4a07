import { expect, test } from "bun:test"
import { Value } from "@sinclair/typebox/value"
import { CORE_EVENTS, type CoreEvent } from "../../../../src/domain/product-event.ts"
import { listOutbox } from "../../../../src/store/catalog/outbox.ts"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { newUser, ORGANIZATION } from "../people.ts"

const DAY = 86_400_000

/** Returns the published events in order. */
async function publishedEvents({ app }: TestInstance) {
  const rows = await listOutbox(app.instance.catalog, { after: 0, limit: 100 })
  return rows.map(({ event, organization_id, payload }) => [event, organization_id, payload])
}

test("invitations, joins and leaves are published in the same transaction, without an address", async () => {
  await using instance = await startInstance({ plugins: [] })
  const { api, app } = instance
  const owner = await newUser(instance, { role: "owner" })
  const leaver = await newUser(instance, { role: "editor" })
  const before = (await publishedEvents(instance)).length
  const { body: invited } = await owner.send("POST", `${ORGANIZATION}/members/invite`, { email: "new@example.com", role: "viewer" })
  // A rejected invitation publishes nothing.
  expect((await owner.send("POST", `${ORGANIZATION}/members/invite`, { email: leaver.email, role: "viewer" })).status).toBe(409)
  const path = `/api/private/invitations/${invited.link.split("/").at(-1)}/accept`
  expect((await api.post(path, { name: "New", password: "a fine long password" })).status).toBe(200)
  const joined = (await owner.get(`${ORGANIZATION}/members?q=new@example.com`)).body.data[0].user.id
  expect((await owner.send("DELETE", `${ORGANIZATION}/members/${joined}`)).status).toBe(204)
  expect((await leaver.send("POST", "/api/private/me/leave", { organization_id: 1 })).status).toBe(204)
  expect((await owner.send("POST", "/api/private/me/leave", { organization_id: 1 })).status).toBe(409)
  expect((await publishedEvents(instance)).slice(before)).toEqual([
    ["member.invited", 1, { invitation_id: invited.id, role: "viewer" }],
    ["member.joined", 1, { user_id: joined, role: "viewer" }],
    ["member.removed", 1, { user_id: joined, role: "viewer" }],
    ["member.removed", 1, { user_id: leaver.id, role: "editor" }],
  ])
  expect(JSON.stringify(await listOutbox(app.instance.catalog, { after: 0, limit: 100 }))).not.toContain("@example.com")
})

test("publishes the creation, upcoming expiry and revocation of keys, with or without emails", async () => {
  await using instance = await startInstance({ plugins: [] })
  const { app, clock } = instance
  const owner = await newUser(instance, { role: "owner" })
  const before = (await publishedEvents(instance)).length
  const expires_at = new Date(clock.now() + 20 * DAY).toISOString()
  const body = { name: "Ends", scopes: ["stats:read"], site_access: "all", expires_at }
  const { id } = (await owner.send("POST", `${ORGANIZATION}/api-keys`, body)).body
  const announce = app.memberships.tasks.find(({ name }) => name === "announce-ending-keys")!
  const run = () => announce.run(new AbortController().signal)
  await run()
  clock.advance(6 * DAY)
  await run()
  await run()
  clock.advance(11 * DAY)
  await run()
  for (let i = 0; i < 2; i++) await app.instance.keys.revoke(1, id)
  const payload = { api_key_id: id, name: "Ends", scopes: ["stats:read"], expires_at: "2026-12-11T12:00:00Z" }
  expect((await publishedEvents(instance)).slice(before)).toEqual(
    ["created", "expiring", "expiring", "revoked"].map((verb) => [`api_key.${verb}`, 1, payload]),
  )
})

test("changes of sites, goals and funnels are published by every interface, with the payload of their schema", async () => {
  await using instance = await startInstance({ plugins: [] })
  const { app, api, key } = instance
  const owner = await newUser(instance, { role: "owner", provedAt: instance.clock.now() })
  const before = (await publishedEvents(instance)).length
  const v1 = "/api/public/v1/sites"
  const own = `/api/private/sites`
  const signup = { kind: "event", value: "signup" }
  const steps = [
    { type: "page", value: "/" },
    { type: "event", value: "signup" },
  ]
  const blog = { name: "Blog", hosts: ["blog.example"], timezone: "UTC" }
  // The public API.
  const { id: second } = (await api.post(v1, blog, key)).body as { id: number }
  expect((await api.send("PATCH", `${v1}/${second}`, { name: "Diary" }, key)).status).toBe(200)
  expect((await api.send("PATCH", `${v1}/${second}`, { name: "Diary" }, key)).status).toBe(200)
  const { id: goal } = (await api.post(`${v1}/${second}/goals`, signup, key)).body as { id: number }
  expect((await api.post(`${v1}/${second}/goals`, signup, key)).status).toBe(409)
  expect((await api.post(`${v1}/${second}/funnels`, { name: "Way in", steps }, key)).status).toBe(201)
  expect((await api.send("DELETE", `${v1}/${second}/goals/${goal}`, undefined, key)).status).toBe(204)
  // The private API.
  expect(await owner.send("PATCH", `${own}/1/settings`, { min_group: 7, timezone: "UTC" })).toMatchObject({ status: 200 })
  expect((await owner.send("POST", `${own}/1/goals`, { kind: "page", value: "/thanks", name: "Order" })).status).toBe(201)
  expect((await owner.send("POST", `${own}/1/funnels`, { name: "Way in", steps })).status).toBe(201)
  expect((await owner.send("DELETE", `${own}/${second}`)).status).toBe(204)
  expect((await owner.send("POST", `${own}/${second}/restore`)).status).toBe(200)
  // The command line.
  const shell = { name: "Shell", hosts: ["shell.example"] }
  const { site } = await app.operations["site.create"]({ organization: "1", site: shell })

  const diary = { site_id: second, name: "Diary", hosts: ["blog.example"], timezone: "UTC" }
  const published = (await publishedEvents(instance)).slice(before)
  expect(published).toEqual([
    ["site.created", 1, { ...diary, name: "Blog", reason: "created" }],
    ["site.updated", 1, { ...diary, changed: ["name"] }],
    ["goal.created", 1, { goal_id: goal, name: "signup", kind: "event", value: "signup" }],
    ["funnel.created", 1, { funnel_id: 1, name: "Way in", steps: 2 }],
    ["goal.deleted", 1, { goal_id: goal, name: "signup", kind: "event", value: "signup" }],
    ["site.updated", 1, { site_id: 1, name: "Shop", hosts: ["shop.example"], timezone: "UTC", changed: ["timezone", "min_group"] }],
    ["goal.created", 1, { goal_id: goal + 1, name: "Order", kind: "page", value: "/thanks" }],
    ["funnel.created", 1, { funnel_id: 2, name: "Way in", steps: 2 }],
    ["site.deleted", 1, { ...diary, reason: "deleted" }],
    ["site.created", 1, { ...diary, reason: "restored" }],
    ["site.created", 1, { site_id: site.id, name: "Shell", hosts: ["shell.example"], timezone: "UTC", reason: "created" }],
  ])
  for (const [event, , payload] of published) expect(Value.Check(CORE_EVENTS[event as CoreEvent].payload, payload)).toBe(true)
})

test("a site that moves to another organization leaves one and joins the other", async () => {
  await using instance = await startInstance({ plugins: [] })
  const { organizations, sites } = instance.app.instance
  const other = await organizations.create({ name: "Other" })
  const before = (await publishedEvents(instance)).length
  await sites.transfer(1, other.id, 1)
  await organizations.remove(other.id, { confirm: "Other" }, null)
  const shop = { site_id: 1, name: "Shop", hosts: ["shop.example"], timezone: "Europe/Berlin" }
  expect((await publishedEvents(instance)).slice(before)).toEqual([
    ["site.deleted", 1, { ...shop, reason: "transferred" }],
    ["site.created", other.id, { ...shop, reason: "transferred" }],
    ["site.deleted", other.id, { ...shop, reason: "deleted" }],
  ])
})
