import { expect, test } from "bun:test"
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
  const payload = { api_key_id: id, name: "Ends", scopes: ["stats:read"], expires_at: Date.parse(expires_at) }
  expect((await publishedEvents(instance)).slice(before)).toEqual(
    ["created", "expiring", "expiring", "revoked"].map((verb) => [`api_key.${verb}`, 1, payload]),
  )
})
