import { afterAll, beforeAll, expect, test } from "bun:test"
import { startInstance, type TestInstance } from "../../kit.ts"

/** Hits of servers, as GoatCounter's documentation sends them. */

const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0"
let instance: TestInstance
let key: string
beforeAll(async () => {
  instance = await startInstance({ now: "2026-11-21T12:00:00Z" })
  const { sites } = instance.app.instance
  await sites.create(1, { name: "Docs", hosts: ["docs.example"] })
  key = await instance.makeKey(["events:write", "stats:read"], [1])
})
afterAll(() => instance[Symbol.asyncDispose]())

const count = (body: unknown, path = "/api/v0/count", secret = key) => instance.api.post(path, body, secret)

/** Returns pageviews, visitors or other metrics by a dimension, today. */
async function rowsOf(dimension: string, metric = "pageviews", filter?: string): Promise<Record<string, number>> {
  const filters = filter === undefined ? [] : [["contains", "event:page", [filter]]]
  const body = { site_id: 1, metrics: [metric], date_range: "day", dimensions: [dimension], filters }
  const { results } = (await instance.api.post("/api/public/v1/query", body, key)).body as {
    results: { dimensions: string[]; metrics: number[] }[]
  }
  return Object.fromEntries(results.map(({ dimensions, metrics }) => [dimensions[0]!, metrics[0]!]))
}

test("the documented example is counted", async () => {
  const answer = await count({ no_sessions: true, hits: [{ path: "/one" }, { path: "/two" }] })
  expect(answer).toMatchObject({ status: 202, body: { status: "ok" } })
  expect(await rowsOf("event:page")).toEqual({ "/one": 1, "/two": 1 })
})

test("title, referrer, campaign, time and visitor are those of the hit", async () => {
  const visitor = { ip: "203.0.113.1", user_agent: BROWSER }
  const hits = [
    {
      path: "/full",
      title: "Full",
      ref: "https://news.ycombinator.com/item",
      query: "?utm_campaign=spring",
      size: [1920, 1080, 1],
      ...visitor,
    },
    { path: "full/more", created_at: "2026-11-21T12:00:00Z", location: "NL", ...visitor },
  ]
  expect(await count({ hits })).toMatchObject({ status: 202 })
  expect(await rowsOf("event:page", "pageviews", "/full")).toEqual({ "/full": 1, "/full/more": 1 })
  expect(await rowsOf("visit:source", "visitors", "/full")).toEqual({ "Hacker News": 1 })
  expect(await rowsOf("visit:utm_campaign", "visitors", "/full")).toEqual({ spring: 1 })
  expect(await rowsOf("event:title", "pageviews", "/full")).toMatchObject({ Full: 1 })
})

test("an event has the page of its path, if that is one", async () => {
  const hits = [
    { path: "signup", event: true },
    { path: "/pricing#signup", event: true },
    { path: "https://shop.example/checkout", event: true },
  ]
  expect(await count({ no_sessions: true, hits })).toMatchObject({ status: 202 })
  expect(await rowsOf("event:page", "events", "/pricing")).toEqual({ "/pricing": 1 })
  expect(await rowsOf("event:name", "events", "/checkout")).toEqual({ "https://shop.example/checkout": 1 })
})

test("a script's event has the page of its path rather than that of the referrer", async () => {
  const send = (p: string) =>
    instance.fetch(
      new Request(`http://localhost/count?p=${encodeURIComponent(p)}&e=true&site=shop.example`, {
        headers: { "user-agent": BROWSER, referer: "https://shop.example/" },
      }),
      "203.0.113.77",
    )
  expect((await send("/from-payload")).status).toBe(200)
  expect((await send("plain")).status).toBe(200)
  expect(await rowsOf("event:page", "events", "/from-payload")).toEqual({ "/from-payload": 1 })
  expect(await rowsOf("event:name", "events")).toMatchObject({ plain: 1 })
})

test("hits of one session are one visitor, and their rest is not lost", async () => {
  const hit = (path: string, session: string) => ({ path: `/session/${path}`, session })
  expect(await count({ hits: [hit("a", "one"), hit("b", "one"), hit("a", "two")] })).toMatchObject({ status: 202 })
  expect(await rowsOf("event:page", "visitors", "/session")).toEqual({ "/session/a": 2, "/session/b": 1 })
})

test("invalid hits are named by index, and the others are counted", async () => {
  const hits = [
    { path: "/mixed/good", session: "x" },
    { path: "/mixed/nobody" },
    { session: "x" },
    5,
    { path: "/mixed/late", session: "x", created_at: "yesterday" },
    { path: "/mixed/address", user_agent: BROWSER, ip: "300.1.1.1" },
  ]
  const { status, body } = await count({ hits })
  const { code, errors } = body as { code: string; errors: { pointer: string; code: string }[] }
  expect([status, code, errors.map((one) => `${one.pointer} ${one.code}`)]).toEqual([
    400,
    "invalid_event",
    ["/hits/1 required", "/hits/2 required", "/hits/3 invalid_type", "/hits/4 invalid_timestamp", "/hits/5 invalid_type"],
  ])
  expect(await rowsOf("event:page", "pageviews", "/mixed")).toEqual({ "/mixed/good": 1 })
})

test("hits that the rules of the site drop are listed in a header", async () => {
  const hits = [
    { path: "/dropped", session: "x" },
    { path: "/dropped", session: "x", bot: 150 },
    { path: "/dropped", ip: "203.0.113.5", user_agent: "Googlebot/2.1 (+http://www.google.com/bot.html)" },
  ]
  const answer = await count({ hits })
  expect([answer.status, answer.headers.get("x-goatcounter-filter")]).toEqual([202, "1, 2"])
  expect(await rowsOf("event:page", "pageviews", "/dropped")).toEqual({ "/dropped": 1 })
})

test("a key with several sites names one", async () => {
  const hits = [{ path: "/named" }]
  expect(await count({ no_sessions: true, hits }, "/api/v0/count", instance.eventsKey)).toMatchObject({
    status: 400,
    body: { code: "invalid_query", errors: [{ pointer: "/site", code: "required" }] },
  })
  expect(await count({ no_sessions: true, hits }, "/api/v0/count?site=docs.example", instance.eventsKey)).toMatchObject({ status: 202 })
  expect(await count({ no_sessions: true, hits }, "/api/v0/count?site=docs.example")).toMatchObject({ status: 404 })
  expect(await count({ no_sessions: true, hits }, "/api/v0/count", instance.statsKey)).toMatchObject({ status: 403 })
})

test.each<[string, unknown, number]>([
  ["no hits", {}, 422],
  ["an empty list", { hits: [] }, 422],
  ["501 hits", { hits: Array.from({ length: 501 }, () => ({ path: "/" })) }, 422],
  ["no JSON", "{", 400],
])("refuses %s", async (_, body, status) => {
  expect((await count(body)).status).toBe(status)
})
