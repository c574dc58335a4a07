import { expect, test } from "bun:test"
import { LISTENING } from "../../src/http/server.ts"
import { startInstance } from "../kit.ts"

/** Names of the members of an integration, as the chapter on integrations lists them. */
const MEMBERS = ["id", "kind", "name", "category", "status", "connected", "account_label", "config", "secret", "last_ok_at", "last_error"]
const MORE = ["next_run_at", "can_manage", "scope", "version"]

test("GET …/integrations answers a signed-in editor, who sees what admins have connected and can't change it", async () => {
  await using chat = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("ok") })
  await using instance = await startInstance({
    settings: { allow_http_webhooks: "true", allow_private_webhooks: "127.0.0.0/8", outbound_ports: `443,${chat.port}` },
  })
  await using server = Bun.serve({
    ...LISTENING,
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, peers) => instance.app.fetch(request, peers),
  })
  const path = "/api/private/sites/1/integrations"
  const admin = await instance.signIn({ role: "admin" })
  const secret = `http://127.0.0.1:${chat.port}/a-secret-topic-0001`
  const connected = await instance.api.send("POST", `${path}/ntfy/connect`, { url: secret }, undefined, { cookie: admin })
  expect(connected.status).toBe(201)

  const editor = await instance.signIn({ role: "editor" })
  const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers: { cookie: editor } })
  expect(answer.status).toBe(200)
  const text = await answer.text()
  const { data, available } = JSON.parse(text)
  expect(data).toHaveLength(1)
  expect(Object.keys(data[0])).toEqual(expect.arrayContaining([...MEMBERS, ...MORE]))
  expect(data[0]).toMatchObject({ kind: "ntfy", status: "ok", connected: true, can_manage: false, scope: "site", last_error: null })
  expect(available.map(({ kind }: { kind: string }) => kind)).toEqual(
    expect.arrayContaining(["slack", "discord", "teams", "mattermost", "ntfy", "telegram"]),
  )
  expect(text).not.toContain("a-secret-topic")

  const changed = await instance.api.send("PATCH", `${path}/${data[0].id}`, { name: "Other" }, undefined, { cookie: editor })
  expect(changed.status).toBe(403)
  const viewer = await instance.signIn({ role: "viewer" })
  expect((await fetch(`http://127.0.0.1:${server.port}${path}`, { headers: { cookie: viewer } })).status).toBe(403)
  expect((await fetch(`http://127.0.0.1:${server.port}${path}`)).status).toBe(401)
})
