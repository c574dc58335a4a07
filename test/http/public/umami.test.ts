import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { BROWSER, startInstance, type TestInstance } from "../../kit.ts"

/** Requests of Umami's documentation of its statistics, with the shapes of its responses. */

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0"
/** The id that the site had in Umami. */
const WEBSITE = "86d4095c-a2a8-4fc8-9521-103e858e2b41"
const DAY_MS = 86_400_000
const START = Date.parse("2026-11-20T23:00:00Z")
const RANGE = `startAt=${START}&endAt=${START + DAY_MS - 1}`

let instance: TestInstance
beforeAll(async () => {
  instance = await startInstance({ now: "2026-11-21T12:00:00Z" })
  const { api, app, site, eventsKey } = instance
  await app.instance.sites.configure(site.id, { compat_ids: { umami: [WEBSITE] } })
  const view = (time: string, path: string, more: object = {}) => ({
    ...{ name: "pageview", url: `https://shop.example${path}`, timestamp: time, ip: "203.0.113.1", user_agent: BROWSER },
    ...more,
  })
  const events = [
    view("2026-11-21T08:00:00Z", "/"),
    view("2026-11-21T08:02:03Z", "/pricing"),
    { ...view("2026-11-21T08:02:03Z", "/pricing"), name: "Signup" },
    view("2026-11-21T09:00:00Z", "/", { ip: "203.0.113.2", user_agent: FIREFOX, referrer: "https://news.ycombinator.com/" }),
    view("2026-11-20T09:00:00Z", "/", { ip: "203.0.113.3" }),
  ]
  expect((await api.post("/api/public/v1/sites/1/events", { events }, eventsKey)).body).toMatchObject({ accepted: 5 })
})
afterAll(() => instance[Symbol.asyncDispose]())

const ask = (path: string, key: string | undefined = instance.statsKey, website: string | number = WEBSITE) =>
  instance.api.get(`/api/websites/${website}/${path}`, key)
const bodyOf = async (path: string) => {
  const { status, body } = await ask(path)
  expect({ status, body }).toMatchObject({ status: 200 })
  return body
}

test("stats are sums, with those of the range in front", async () => {
  expect(await bodyOf(`stats?${RANGE}`)).toEqual({
    ...{ pageviews: 3, visitors: 2, visits: 2, bounces: 1, totaltime: 123 },
    comparison: { pageviews: 1, visitors: 1, visits: 1, bounces: 1, totaltime: 0 },
  })
})

test("pageviews and sessions are by time bucket, in UTC", async () => {
  expect(await bodyOf(`pageviews?${RANGE}&unit=hour&timezone=Europe/Berlin`)).toEqual({
    pageviews: [
      { x: "2026-11-21T08:00:00Z", y: 2 },
      { x: "2026-11-21T09:00:00Z", y: 1 },
    ],
    sessions: [
      { x: "2026-11-21T08:00:00Z", y: 1 },
      { x: "2026-11-21T09:00:00Z", y: 1 },
    ],
  })
  expect(await bodyOf(`pageviews?${RANGE}&unit=day&timezone=Europe/Berlin&compare=prev`)).toEqual({
    pageviews: [{ x: "2026-11-20T23:00:00Z", y: 3 }],
    sessions: [{ x: "2026-11-20T23:00:00Z", y: 2 }],
    compare: { pageviews: [{ x: "2026-11-19T23:00:00Z", y: 1 }], sessions: [{ x: "2026-11-19T23:00:00Z", y: 1 }] },
  })
})

describe("metrics", () => {
  test.each<[string, unknown]>([
    [
      "os",
      [
        { x: "Linux", y: 1 },
        { x: "Windows", y: 1 },
      ],
    ],
    [
      "browser",
      [
        { x: "Chrome", y: 1 },
        { x: "Firefox", y: 1 },
      ],
    ],
    [
      "path",
      [
        { x: "/", y: 2 },
        { x: "/pricing", y: 1 },
      ],
    ],
    [
      "url",
      [
        { x: "/", y: 2 },
        { x: "/pricing", y: 1 },
      ],
    ],
    ["entry", [{ x: "/", y: 2 }]],
    [
      "exit",
      [
        { x: "/", y: 1 },
        { x: "/pricing", y: 1 },
      ],
    ],
    ["hostname", [{ x: "shop.example", y: 2 }]],
    ["event", [{ x: "Signup", y: 1 }]],
    [
      "domain",
      [
        { x: "", y: 1 },
        { x: "Hacker News", y: 1 },
      ],
    ],
    ["path&limit=1&offset=1", [{ x: "/pricing", y: 1 }]],
    ["path&os=linux", [{ x: "/", y: 1 }]],
    ["os&path=/pricing", [{ x: "Windows", y: 1 }]],
    ["os&event=Signup", [{ x: "Windows", y: 1 }]],
    ["path&browser=Edge", []],
  ])("%s", async (type, rows) => {
    expect(await bodyOf(`metrics?${RANGE}&type=${type}`)).toEqual(rows)
  })
})

test("active counts the visitors of the last five minutes", async () => {
  expect(await bodyOf("active")).toEqual({ visitors: 0 })
  await instance.collect({ n: "pageview", u: "https://shop.example/", d: instance.site.tracking_id })
  expect(await bodyOf("active")).toEqual({ visitors: 1 })
})

test("the website is named by its id in Umami, its tracking id, its id or its host", async () => {
  for (const name of [WEBSITE.toUpperCase(), instance.site.tracking_id, 1, "shop.example"])
    expect(await ask("active", instance.statsKey, name)).toMatchObject({ status: 200 })
  expect(await ask("active", instance.statsKey, "99999999-9999-4999-8999-999999999999")).toMatchObject({ status: 404 })
  const elsewhere = await instance.makeKey(["stats:read"], [])
  expect(await ask("active", elsewhere)).toMatchObject({ status: 404, body: { code: "site_not_found" } })
})

test("the key is also read from Umami's own header, at these paths only", async () => {
  const own = { "x-umami-api-key": instance.statsKey }
  expect(await instance.api.get(`/api/websites/${WEBSITE}/active`, undefined, own)).toMatchObject({ status: 200 })
  expect(await instance.api.get(`/api/websites/${WEBSITE}/active`, undefined, { "x-umami-api-key": "x" })).toMatchObject({
    status: 401,
    body: { code: "invalid_api_key" },
  })
  expect(await instance.api.get("/api/public/v1/key", undefined, own)).toMatchObject({ status: 401, body: { code: "missing_api_key" } })
  expect(await ask("active", instance.eventsKey)).toMatchObject({ status: 403 })
})

test.each<[string, string[]]>([
  ["stats", ["/startAt required", "/endAt required"]],
  [`stats?startAt=x&endAt=${START}`, ["/startAt invalid_type"]],
  [`stats?startAt=${START + 1_000}&endAt=${START}`, ["/startAt invalid_range"]],
  [`stats?startAt=${START + 9 * DAY_MS}&endAt=${START + 10 * DAY_MS}`, ["/startAt invalid_range"]],
  [`stats?${RANGE}&timezone=Mars/Base`, ["/timezone invalid_timezone"]],
  [`stats?${RANGE}&tag=x`, ["/tag unknown_field"]],
  [`stats?${RANGE}&segment=7`, ["/filters invalid_choice"]],
  [`pageviews?startAt=${START - 40 * DAY_MS}&endAt=${START}&unit=minute`, ["/unit too_many_points"]],
  [`pageviews?${RANGE}&unit=week`, ["/unit invalid_choice"]],
  [`metrics?${RANGE}`, ["/type required"]],
  [`metrics?${RANGE}&type=mood`, ["/type invalid_choice"]],
  [`metrics?${RANGE}&type=os&limit=1001`, ["/limit out_of_range"]],
  ["active?x=1", ["/x unknown_field"]],
])("refuses %s", async (path, faults) => {
  const { status, body } = await ask(path)
  const { code, errors } = body as { code: string; errors: { pointer: string; code: string }[] }
  expect([status, code, errors.map((one) => `${one.pointer} ${one.code}`)]).toEqual([400, "invalid_query", faults])
})
