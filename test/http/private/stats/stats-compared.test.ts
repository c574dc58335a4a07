import { afterAll, beforeAll, expect, test } from "bun:test"
import { batchAnswer } from "../../../../src/http/private/stats/batch.ts"
import { createInsights } from "../../../../src/services/stats/insights.ts"
import { createStats } from "../../../../src/services/stats/stats.ts"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { type Person, signedIn } from "../person.ts"

let instance: TestInstance
let viewer: Person

/** Two visitors by email and one by ads on the 20th; one by email and three by search on the 21st. */
beforeAll(async () => {
  instance = await startInstance({ now: "2026-11-20T11:00:00Z" })
  const visit = async (address: string, source: string, pages: string[]) => {
    for (const page of pages) {
      await instance.collect({ n: "pageview", u: `https://shop.example${page}?utm_source=${source}` }, { address })
      instance.clock.advance(10_000)
    }
  }
  await visit("203.0.113.1", "mail", ["/", "/pricing"])
  await visit("203.0.113.2", "mail", ["/"])
  await visit("203.0.113.3", "ads", ["/"])
  await instance.collect({ n: "engagement", u: "https://shop.example/", e: 9_000, sd: 50 }, { address: "203.0.113.3" })
  instance.clock.advance(86_400_000)
  await visit("203.0.113.1", "mail", ["/"])
  for (const host of [4, 5, 6]) await visit(`203.0.113.${host}`, "search", ["/pricing"])
  instance.app.collector.flush()
  viewer = await signedIn(instance, { role: "viewer" })
})
afterAll(() => instance[Symbol.asyncDispose]())

const STATS = "/sites/1/stats"
const TODAY = "period=today&compare=previous_period"

test("compares each row of a breakdown with the same value in the other range", async () => {
  const { body } = await viewer.get(`${STATS}/breakdown?dimension=source&metrics=visitors,pageviews&${TODAY}`)
  expect(body).toMatchObject({
    rows: [
      {
        value: "search",
        visitors: 3,
        pageviews: 3,
        share: 75,
        comparison: { metrics: { visitors: 0, pageviews: 0, share: 0 }, change_percent: {} },
      },
      {
        value: "mail",
        visitors: 1,
        pageviews: 1,
        share: 25,
        comparison: { metrics: { visitors: 2, pageviews: 3, share: 66.7 }, change_percent: { visitors: -50, pageviews: -66.7 } },
      },
    ],
    // A value that occurred only in the other range is not a row.
    total_rows: 2,
    comparison: { range: { from: "2026-11-20", to: "2026-11-20", timezone: "Europe/Berlin", includes_today: false } },
  })
  const { body: second } = await viewer.get(`${STATS}/breakdown?dimension=source&limit=1&offset=1&metrics=visitors&${TODAY}`)
  expect(second).toMatchObject({ rows: [{ value: "mail", visitors: 1, comparison: { metrics: { visitors: 2 } } }] })
})

test("has no value if nothing was measured in the other range, and zero if a page was not visited", async () => {
  const { body } = await viewer.get(`${STATS}/breakdown?dimension=page&metrics=visitors,time_on_page&${TODAY}&sort=visitors`)
  const { rows } = body as unknown as { rows: Record<string, unknown>[] }
  expect(rows.map(({ value, visitors, comparison }) => [value, visitors, comparison])).toEqual([
    ["/pricing", 3, { metrics: { visitors: 1, share: 33.3 }, change_percent: { visitors: 200 } }],
    ["/", 1, { metrics: { visitors: 3, time_on_page: 3, share: 100 }, change_percent: { visitors: -66.7 } }],
  ])
})

test("compares event names too, and omits comparisons that were not requested", async () => {
  await instance.collect({ n: "Buy", u: "https://shop.example/" }, { address: "203.0.113.1" })
  instance.app.collector.flush()
  expect((await viewer.get(`${STATS}/events?${TODAY}`)).body).toMatchObject({
    rows: [{ value: "Buy", visitors: 1, comparison: { metrics: { visitors: 0, events: 0 }, change_percent: {} } }],
  })
  const plain = "breakdown?dimension=source&period=today"
  const { body: open } = await instance.api.get(`/api/public/v1/sites/1/stats/${plain}`, instance.key)
  expect((await viewer.get(`${STATS}/${plain}`)).body).toEqual(open as never)
})

test("the public API does not compare rows", async () => {
  const answer = await instance.api.get(`/api/public/v1/sites/1/stats/breakdown?dimension=source&${TODAY}`, instance.key)
  expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: "/compare", code: "unknown_field" }] } })
})

// An organization has 8 running and 32 queued reports; if each comparison took two, half of these would be rejected.
test("a comparison counts as one report: forty at once are answered", async () => {
  const reports = ["summary?", "timeseries?", "breakdown?dimension=page&"]
  const asked = Array.from({ length: 40 }, (_, i) => viewer.get(`${STATS}/${reports[i % 3]}period=7d&compare=previous_period`))
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(Array(40).fill(200))
})

test("simultaneous batches of several users wait for each other without rejections", async () => {
  const queries = Array.from({ length: 20 }, (_, i) => ({
    id: `${i}`,
    ...[{ report: "summary" }, { report: "timeseries" }, { report: "breakdown", dimension: "page" }][i % 3],
    period: "7d",
    filters: [{ dimension: "page", operator: "is_not", values: [`/${i}`] }],
  }))
  const batches = await Promise.all(Array.from({ length: 8 }, () => viewer.post(`${STATS}/batch`, { queries })))
  const results = batches.flatMap(({ body }) => Object.values((body as unknown as { results: Record<string, { status: number }> }).results))
  expect(results.map(({ status }) => status)).toEqual(Array(160).fill(200))
})

test("the reports of a batch share the time limit of one", async () => {
  const { app, clock } = instance
  const given = { ...app.instance, engine: app.engine, clock }
  const stats = createStats(given)
  const insights = createInsights({ ...given, stats })
  const queries = Array.from({ length: 9 }, (_, i) => ({ id: `${i}`, report: "summary", period: "7d", timezone: ZONES[i]! }))
  const options = { stats, insights, baseUrl: "", log: instance.log, timeoutMs: 0 }
  const reportOptions = { form: "json" as const }
  const { results } = await batchAnswer(options, {
    site: instance.site,
    reportOptions,
    body: { queries },
    set: { headers: {} },
    request: new Request("http://localhost/"),
  })
  const failed = Object.values(results).filter(({ status }) => status !== 200)
  expect(failed.length).toBeGreaterThan(0)
  for (const { problem } of failed) expect(problem).toMatchObject({ status: 503, code: "query_timeout" })
})

const ZONES = [
  "UTC",
  "Europe/Berlin",
  "Asia/Tokyo",
  "America/New_York",
  "Asia/Kolkata",
  "Africa/Cairo",
  "Asia/Dubai",
  "Europe/Paris",
  "Asia/Seoul",
]

test("a funnel of all values and of the other range are one query each", async () => {
  const steps = [
    { type: "page", value: "/" },
    { type: "page", value: "/pricing" },
  ]
  const { body } = await viewer.post(`${STATS}/funnel`, {
    steps,
    from: "2026-11-20",
    to: "2026-11-20",
    compare: "custom",
    compare_from: "2026-11-21",
    compare_to: "2026-11-21",
    breakdown: "source",
  })
  expect(body).toMatchObject({
    entered: 3,
    completed: 1,
    comparison: { entered: 1, completed: 0, change_percent: { entered: 200 } },
    breakdown: {
      rows: [
        { value: "mail", entered: 2, completed: 1 },
        { value: "ads", entered: 1, completed: 0 },
      ],
    },
  })
})
