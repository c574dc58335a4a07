import { expect, test } from "bun:test"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { signedIn } from "../person.ts"
import { listen, open } from "./live-stream.ts"

const script = (instance: TestInstance, referer: string) =>
  instance.fetch(new Request("http://localhost/js/script.js", { headers: { referer } }))

test("announces new events within two seconds, without identifying the visitor", async () => {
  await using instance = await startInstance()
  const person = await signedIn(instance, { role: "viewer" })
  const response = await open(instance, person.cookie)
  expect(response.headers.get("content-type")).toStartWith("text/event-stream")
  const live = listen(response)
  expect(await live.seen("current_visitors")).toBe(true)
  expect(live.messages).toEqual([{ event: "current_visitors", data: { at: "2026-11-21T12:00:00Z", visitors: 0 } }])
  await script(instance, "https://shop.example/page")
  expect(await live.seen("script_seen")).toBe(true)
  await instance.collect(
    { n: "Signup", u: "https://shop.example/x?utm_source=mail", p: { email: "ann@example.com" } },
    { address: "203.0.113.77" },
  )
  expect(await live.seen("event")).toBe(true)
  expect(live.messages.at(-1)).toEqual({
    event: "event",
    data: {
      at: "2026-11-21T12:00:00Z",
      name: "Signup",
      page: "/x",
      hostname: "shop.example",
      source: "mail",
      country: "",
      device: "Desktop",
      browser: "Chrome",
    },
  })
  await instance.collect({ n: "pageview", d: instance.site.tracking_id, u: "https://foo.dev/" })
  expect(await live.seen("host_refused")).toBe(true)
  expect(live.messages.at(-1)).toEqual({ event: "host_refused", data: { at: "2026-11-21T12:00:00Z", hostname: "foo.dev" } })
  expect(JSON.stringify(live.messages)).not.toMatch(/203\.0\.113|ann@example/)
  expect(live.messages.filter(({ event }) => event === "event")).toHaveLength(1)
  await live.close()
})

test("announces a dropped event with its reason, even if the page's snippet names another site or none", async () => {
  await using instance = await startInstance()
  const person = await signedIn(instance, { role: "owner" })
  const second = await person.post("/organizations/1/sites", { name: "Second", hosts: ["second.example"] })
  const live = listen(await open(instance, person.cookie))
  const dropped = () => live.messages.filter(({ event }) => event === "event_dropped").map(({ data }) => data)
  const at = "2026-11-21T12:00:00Z"
  await instance.collect({ n: "pageview", u: "https://shop.example/" }, { headers: { "user-agent": "Googlebot/2.1" } })
  expect(await live.seen("event_dropped")).toBe(true)
  expect(dropped()).toEqual([{ at, hostname: "shop.example", reason: "bot" }])
  await instance.collect({ n: "pageview", d: "00000000-0000-4000-8000-000000000000", u: "https://shop.example/" })
  await instance.collect({ n: "pageview", d: (second.body as { tracking_id: string }).tracking_id, u: "https://shop.example/" })
  const unknown = { at, hostname: "shop.example", reason: "unknown_site" }
  expect(dropped().slice(1)).toEqual([unknown, unknown])
  expect(live.messages.some(({ event }) => event === "host_refused")).toBe(false)
  await live.close()
})

test("announces a script on a local host only to the user at the same address", async () => {
  await using instance = await startInstance()
  const person = await signedIn(instance, { role: "owner" })
  const from = (address: string, path: string, headers: Record<string, string>) =>
    instance.app.fetch(new Request(`http://localhost${path}`, { headers }), { requestIP: () => ({ address }) })
  const here = listen(await from("203.0.113.7", "/api/private/sites/1/live", { cookie: person.cookie }))
  const elsewhere = listen(await from("198.51.100.9", "/api/private/sites/1/live", { cookie: person.cookie }))
  await from("203.0.113.7", "/js/script.js", { referer: "http://localhost:3000/" })
  expect(await here.seen("script_seen")).toBe(true)
  expect(here.messages.find(({ event }) => event === "script_seen")?.data).toEqual({ at: "2026-11-21T12:00:00Z", hostname: "localhost" })
  expect(await elsewhere.seen("script_seen", 200)).toBe(false)
  await here.close()
  await elsewhere.close()
})

test("immediately announces a script that was seen before the stream was opened", async () => {
  await using instance = await startInstance()
  const person = await signedIn(instance, { role: "viewer" })
  await script(instance, "https://elsewhere.example/")
  await script(instance, "https://www.shop.example/")
  instance.clock.advance(60_000)
  const live = listen(await open(instance, person.cookie))
  expect(await live.seen("script_seen")).toBe(true)
  expect(live.messages.find(({ event }) => event === "script_seen")).toEqual({
    event: "script_seen",
    data: { at: "2026-11-21T12:00:00Z", hostname: "www.shop.example" },
  })
  await live.close()
})

test("does not announce events of other sites, and updates the current visitors", async () => {
  await using instance = await startInstance()
  const owner = await signedIn(instance, { role: "owner" })
  await owner.post("/organizations/1/sites", { name: "Second", hosts: ["second.example"] })
  const live = listen(await open(instance, owner.cookie))
  await instance.collect({ n: "pageview", u: "https://second.example/" })
  await instance.collect({ n: "pageview", u: "https://shop.example/" })
  expect(await live.seen("event")).toBe(true)
  expect(live.messages.filter(({ event }) => event === "event")).toMatchObject([{ data: { hostname: "shop.example" } }])
  const counted = () => live.messages.filter(({ event }) => event === "current_visitors").at(-1)?.data.visitors
  for (let i = 0; i < 60 && counted() !== 1; i++) await Bun.sleep(100)
  expect(counted()).toBe(1)
  await live.close()
}, 10_000)

test("ends with the session, and with the right to see the site", async () => {
  await using instance = await startInstance()
  const person = await signedIn(instance, { role: "viewer" })
  const member = await signedIn(instance, { role: "viewer" })
  const [one, other] = [listen(await open(instance, person.cookie)), listen(await open(instance, member.cookie))]
  expect(await one.seen("current_visitors")).toBe(true)
  const { user } = (await person.get("/me")).body as { user: { id: number } }
  const { user: left } = (await member.get("/me")).body as { user: { id: number } }
  const { catalog, sessions } = instance.app.instance
  await catalog.transaction((statements) => sessions.revokeAll(statements, user.id))
  await catalog.script(`delete from memberships where user_id = ${left.id}`)
  expect(await one.ended(2_000)).toBe(true)
  expect(await other.ended(2_000)).toBe(true)
})

test("a user can open five streams", async () => {
  await using instance = await startInstance()
  const person = await signedIn(instance, { role: "viewer" })
  const windows = await Promise.all(Array.from({ length: 5 }, () => open(instance, person.cookie)))
  expect((await open(instance, person.cookie)).status).toBe(429)
  await Promise.all(windows.map((response) => response.body!.cancel()))
  const again = await open(instance, person.cookie)
  expect(again.status).toBe(200)
  await again.body!.cancel()
  expect((await open(instance, person.cookie, "/api/private/sites/9/live")).status).toBe(404)
})
