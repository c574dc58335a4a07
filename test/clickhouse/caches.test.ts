/** What one node changes, as another one answers. What a node keeps in memory is renewed by the task of each second that `polled` stands for. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { listen, open } from "../http/private/stats/live-stream.ts"
import { startInstance, type TestInstance } from "../kit.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../store/clickhouse/server.ts"

setDefaultTimeout(180_000)

describe.skipIf(!hasClickhouse())("another node", () => {
  let running: TestServer
  let one: TestInstance
  let two: TestInstance
  let cookie: string
  beforeAll(async () => {
    running = await startClickhouse()
    one = await startInstance({ clickhouse: running.server, hasRowServer: true })
    two = await startInstance({ clickhouse: running.server, joining: one })
    cookie = await one.signIn({ role: "owner", isInstanceAdmin: true })
  })
  afterAll(async () => {
    await two[Symbol.asyncDispose]()
    await one[Symbol.asyncDispose]()
    await running[Symbol.asyncDispose]()
  })

  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await one.api.send(method, `/api/private${path}`, body, undefined, { cookie })
    expect([path, answer.status < 300, answer.body]).toEqual([path, true, answer.body])
    return answer.body as { id: number; slug: string; url: string }
  }
  const polled = () => two.app.instance.changes!.poll()
  const dropped = async (url: string) => {
    const { headers, status } = await two.collect({ n: "pageview", u: url, d: "shop.example" })
    expect(status).toBe(202)
    return headers.get("x-plausible-dropped") === "1"
  }
  const statusOf = async (path: string) => (await two.fetch(new Request(`http://localhost${path}`, { redirect: "manual" }))).status

  test("accepts events of a host as soon as the site has it, and drops what a shield names", async () => {
    expect(await dropped("https://new.example/")).toBe(true)
    await one.app.instance.sites.update(1, { hosts: ["shop.example", "new.example"] })
    await polled()
    expect(await dropped("https://new.example/")).toBe(false)
    const { id } = await send("POST", "/sites/1/shields", { kind: "page", value: "/secret" })
    await polled()
    expect(await dropped("https://shop.example/secret")).toBe(true)
    await send("DELETE", `/sites/1/shields/${id}`)
    await polled()
    expect(await dropped("https://shop.example/secret")).toBe(false)
  })

  test("redirects along a short link until it is deleted", async () => {
    const { id, slug } = await send("POST", "/sites/1/links", { destination: "https://shop.example/spring", slug: "spring" })
    await polled()
    expect([slug, await statusOf("/l/spring")]).toEqual(["spring", 302])
    await send("DELETE", `/sites/1/links/${id}`)
    await polled()
    expect(await statusOf("/l/spring")).not.toBe(302)
  })

  test("refuses a revoked API key at once", async () => {
    const path = "/api/public/v1/sites/1/stats/realtime"
    const { key, secret } = await one.app.instance.keys.create(1, {
      name: "Reader",
      scopes: ["stats:read"],
      site_access: "all",
      site_ids: null,
    })
    expect((await two.api.get(path, secret)).status).toBe(200)
    await one.app.instance.keys.revoke(1, key.id)
    expect((await two.api.get(path, secret)).status).toBe(401)
  })

  test("signs a user out at once, and ends their live stream", async () => {
    const cookie = await one.signIn({ role: "viewer" })
    const status = async () => (await two.api.get("/api/private/sites/1/drops", undefined, { cookie })).status
    expect(await status()).toBe(200)
    const live = listen(await open(two, cookie))
    const { sessions, catalog } = one.app.instance
    const [session] = (await sessions.list(2)).toSorted((a, b) => b.id - a.id)
    await catalog.transaction((statements) => sessions.revoke(statements, session!.id))
    expect(await status()).toBe(401)
    expect(await live.ended(10_000)).toBe(true)
  })

  test("shows a dashboard and a shared view as they are now", async () => {
    const share = await send("POST", "/sites/1/shares", { name: "All" })
    const shown = async () => (await two.fetch(new Request(`http://localhost/api/share/s/${share.slug}`))).status
    expect(await shown()).toBe(200)
    await send("DELETE", `/sites/1/shares/${share.id}`)
    expect(await shown()).toBe(404)
    const board = await send("POST", "/sites/1/dashboards", { name: "Mine" })
    const boards = async () => {
      const { body } = await two.api.get("/api/private/sites/1/dashboards", undefined, { cookie })
      return (body as { data: { name: string }[] }).data.map(({ name }) => name)
    }
    expect(await boards()).toContain("Mine")
    await send("DELETE", `/sites/1/dashboards/${board.id}`)
    expect(await boards()).not.toContain("Mine")
  })
})
