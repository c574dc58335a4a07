import { expect, test } from "bun:test"
import { programPlugins } from "#plugin/test"
import { widget } from "./kit.ts"
import { type DataStage, startVisits } from "./visits.ts"

const METRICS = ["visitors", "visits", "pageviews", "views_per_visit", "bounce_rate", "visit_duration", "engaged_time", "conversions"]
const RANGE = "period=28d"

/** Compares a dashboard of one figure per metric, with their courses, and a chart of two metrics with the routes of the reports. */
async function expectOwnReports(stage: DataStage, query: string, fields: object): Promise<void> {
  const id = await stage.board(
    [
      ...METRICS.map((metric) => widget("metric", { metric, compare: "previous_period" })),
      widget("timeseries", { metrics: ["visitors", "engaged_time"], compare: "previous_period" }),
    ],
    { range: { period: "28d" }, ...fields },
  )
  const report = async (path: string): Promise<object> => (await stage.get(`/stats/${path}&${RANGE}${query}`)).body as object
  const shown = (answer: object) => ("metrics" in answer || "points" in answer ? answer : "refused")
  const results = await stage.dataOf(id)
  const answers = results.map((result) => (result.status === "ok" ? result.data : "refused"))
  expect(answers as unknown[]).toEqual([
    ...(await Promise.all(METRICS.map(async (metric) => shown(await report(`summary?metrics=${metric}&compare=previous_period`))))),
    shown(await report("timeseries?metrics=visitors,engaged_time&compare=previous_period")),
  ])
  for (const [i, metric] of METRICS.entries()) {
    const result = results[i]!
    if (result.status !== "ok") continue
    const { interval, points } = (await report(`timeseries?metrics=${metric}`)) as { interval: string; points: object[] }
    expect(result.meta).toMatchObject({ sparkline: { interval, points } })
  }
}

const filtered = (dimension: string, value: string) => {
  const filters = [{ dimension, values: [value] }]
  return [`&filters=${encodeURIComponent(JSON.stringify(filters))}`, { filters }] as const
}

test("figures that are computed together are those of each report alone", async () => {
  await using stage = await startVisits()
  await stage.post("/goals", { kind: "event", value: "signup", name: "Signed up" })
  await expectOwnReports(stage, "", {})
  await expectOwnReports(stage, ...filtered("page", "/pricing"))
  // Some metrics cannot be broken down by event. They are refused alone.
  await expectOwnReports(stage, ...filtered("event", "signup"))
})

test("imported totals are part of the figures that they have, whatever the other figures are", async () => {
  await using stage = await startVisits(programPlugins.filter(({ id }) => id === "imports"))
  const visitors = ["date,visitors,pageviews,bounces,visits,visit_duration", "2026-10-30,10,25,4,12,600"].join("\n")
  const pages = ["date,hostname,page,visitors,pageviews,visits", "2026-10-30,shop.example,/pricing,5,10,6"].join("\n")
  const files = [
    { name: "imported_visitors_20261030_20261030.csv", content: visitors },
    { name: "imported_pages_20261030_20261030.csv", content: pages },
  ]
  expect(await stage.post("/imports", { source: "plausible", files })).toMatchObject({ status: 202 })
  await stage.instance.runJobs()
  expect((await stage.get(`/stats/summary?metrics=visitors&${RANGE}`)).body).toMatchObject({ imports: { included: true } })
  expect((await stage.get(`/stats/summary?metrics=engaged_time&${RANGE}`)).body).toMatchObject({ imports: { included: false } })
  await expectOwnReports(stage, "", {})
  await expectOwnReports(stage, ...filtered("page", "/pricing"))
})
