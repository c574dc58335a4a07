import { afterAll, beforeAll, expect, test } from "bun:test"
import { startInstance, type TestInstance } from "../../kit.ts"

/** Noon of a Saturday in UTC, 13:00 in Berlin. Each page was opened once, at the local time in its path. */
const NOW = "2026-11-21T12:00:00Z"
const PAGES = ["2026-11-21T08:00:00", "2026-11-21T06:59:59", "2026-11-12T12:00:00", "2026-11-08T00:00:00", "2026-11-07T23:59:59"]
const OLDER = ["2026-09-01T00:00:00", "2026-08-31T23:59:59"]
const SITE = "/api/public/v1/sites/1"

let instance: TestInstance
beforeAll(async () => {
  instance = await startInstance({ now: NOW })
  const events = [...PAGES, ...OLDER].map((time) => ({
    name: "pageview",
    url: `https://shop.example/${time}`,
    timestamp: Temporal.PlainDateTime.from(time).toZonedDateTime("Europe/Berlin").epochMilliseconds,
  }))
  const sent = await instance.api.post(`${SITE}/events`, { events }, instance.eventsKey)
  expect(sent.body).toMatchObject({ accepted: 7 })
})
afterAll(() => instance[Symbol.asyncDispose]())

/** Returns the pages that a request finds, each with one pageview, by every way to ask for a range. */
const WAYS: Readonly<Record<string, (range: Range) => Promise<string[]>>> = {
  "the REST report": async (range) => {
    const { rows } = await get(`stats/breakdown?dimension=page&metrics=pageviews&limit=1000&${new URLSearchParams(flat(range))}`)
    return rows.map(({ value }: { value: string }) => value)
  },
  "the MCP tool": async (range) => {
    const params = {
      name: "get_breakdown",
      arguments: { site_id: 1, dimension: "page", metrics: ["pageviews"], limit: 1_000, ...flat(range) },
    }
    const { body } = await instance.api.post(
      "/api/public/v1/mcp",
      { jsonrpc: "2.0", id: 1, method: "tools/call", params },
      instance.statsKey,
    )
    const { result } = body as { result: { structuredContent: { rows: { value: string }[] } } }
    return result.structuredContent.rows.map(({ value }) => value)
  },
  "the query form": async (date_range) => {
    const query = { site_id: 1, metrics: ["pageviews"], dimensions: ["event:page"], date_range }
    const { results } = (await instance.api.post("/api/public/v1/query", query, instance.statsKey)).body as {
      results: { dimensions: string[] }[]
    }
    return results.map(({ dimensions }) => dimensions[0]!)
  },
  "the export of events": async (range) => {
    const { data } = await get(`export?type=events&format=json&${new URLSearchParams(flat(range))}`)
    return data.map(({ page }: { page: string }) => page)
  },
}

type Range = string | [string, string]
const flat = (range: Range): Record<string, string> => (typeof range === "string" ? { period: range } : { from: range[0], to: range[1] })
// The members that are read depend on the path.
// biome-ignore lint/suspicious/noExplicitAny: JSON of several shapes
const get = async (path: string): Promise<any> => (await instance.api.get(`${SITE}/${path}`, instance.key)).body

const pages = (...times: string[]) => times.map((time) => `/${time}`).sort()

for (const [way, found] of Object.entries(WAYS))
  test.each<[Range, string[]]>([
    ["today", pages(...PAGES.slice(0, 2))],
    ["yesterday", []],
    ["10d", pages(...PAGES.slice(0, 3))],
    ["14d", pages(...PAGES.slice(0, 4))],
    ["last_week", pages(PAGES[2]!)],
    ["3mo", pages(...PAGES, OLDER[0]!)],
    [["2026-11-21T08:00", "2026-11-21T09:00"], pages(PAGES[0]!)],
    [["2026-11-21T00:00:00", "2026-11-21T06:59:59"], pages(PAGES[1]!)],
    [["2026-11-21T07:00:00Z", "2026-11-21T08:00:00+01:00"], pages(PAGES[0]!)],
    [["2026-11-07T23:59:59", "2026-11-08T00:00:00"], pages(PAGES[3]!, PAGES[4]!)],
  ])(`${way} accepts %j`, async (range, expected) => {
    expect((await found(range)).sort()).toEqual(expected)
  })

test("a report names the times of its range, and its chart is cut off there", async () => {
  const report = await get("stats/timeseries?from=2026-11-21T06:30&to=2026-11-21T09:29:59&metrics=pageviews")
  expect(report).toMatchObject({
    range: { from: "2026-11-21", to: "2026-11-21", from_time: "2026-11-21T05:30:00Z", to_time: "2026-11-21T08:30:00Z" },
    interval: "hour",
    points: [
      { time: "2026-11-21T06:00:00+01:00", partial: true, pageviews: 1 },
      { time: "2026-11-21T07:00:00+01:00", pageviews: 0 },
      { time: "2026-11-21T08:00:00+01:00", pageviews: 1 },
      { time: "2026-11-21T09:00:00+01:00", partial: true, pageviews: 0 },
    ],
  })
})

test("a breakdown has up to 1,000 rows", async () => {
  const events = Array.from({ length: 1_000 }, (_, i) => ({ name: "pageview", url: `https://shop.example/many/${i}` }))
  await instance.api.post(`${SITE}/events`, { events }, instance.eventsKey)
  const many = encodeURIComponent('[{"dimension":"page","operator":"starts_with","values":["/many/"]}]')
  const report = await get(`stats/breakdown?period=today&dimension=page&limit=1000&filters=${many}`)
  expect([report.rows.length, report.total_rows, report.has_more]).toEqual([1_000, 1_000, false])
  const refused = await instance.api.get(`${SITE}/stats/breakdown?dimension=page&limit=1001`, instance.statsKey)
  expect(refused).toMatchObject({ status: 400, body: { errors: [{ pointer: "/limit", allowed: { min: 1, max: 1_000 } }] } })
})
