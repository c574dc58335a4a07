import { expect, test } from "bun:test"
import type { PreviewResponse } from "../responses.ts"
import { simpleAnalytics, startImports } from "./kit.ts"
import { segmentsOf } from "./stores.ts"

const VISITORS = ["date,visitors,pageviews,bounces,visits,visit_duration", "2026-10-01,10,25,4,12,600", "2026-10-02,8,20,2,9,500"].join(
  "\n",
)
const PAGES = [
  "date,hostname,page,visitors,pageviews,visits",
  "2026-10-01,shop.example,/,9,15,10",
  "2026-10-01,shop.example,/pricing,5,10,6",
  "2026-10-02,shop.example,/,8,20,9",
].join("\n")
const EXPORT = {
  source: "plausible",
  files: [
    { name: "imported_visitors_20261001_20261002.csv", content: VISITORS },
    { name: "imported_pages_20261001_20261002.csv", content: PAGES },
  ],
}

interface Series {
  points: { time: string; imported?: boolean }[]
}

test("imported totals are added to reports that one table can answer, and undone completely", async () => {
  await using stage = await startImports()
  const { instance } = stage
  const preview = (await stage.post("/preview", EXPORT)).body as PreviewResponse
  expect(preview).toMatchObject({
    totals: { visitors: 18, visits: 21, pageviews: 45 },
    rows: { read: 5, accepted: 5 },
    overlap: { days_total: 2, days_effective: 2 },
  })
  const done = await stage.run({ ...EXPORT, preview_hash: preview.preview_hash })
  expect(done).toMatchObject({ state: "completed", kind: "aggregate", totals: preview.totals, rows: { imported: 5 } })
  const stats = (path: string) => instance.api.get(`/api/public/v1/sites/1/stats/${path}`, instance.statsKey)
  expect(await stats("summary?period=all")).toMatchObject({
    body: { metrics: { visitors: 18, visits: 21, pageviews: 45 }, imports: { included: true, import_ids: [done.id] } },
  })
  expect(await stats("breakdown?period=all&dimension=page&metrics=pageviews")).toMatchObject({
    body: {
      rows: [
        { value: "/", pageviews: 35 },
        { value: "/pricing", pageviews: 10 },
      ],
    },
  })
  await stage.post(`/${done.id}/undo`)
  await instance.runJobs()
  expect(segmentsOf(instance)).toEqual([])
  expect(await stats("summary?period=all")).toMatchObject({ body: { metrics: { visitors: 0, pageviews: 0 } } })
})

test("only the chosen tables and days are imported", async () => {
  await using stage = await startImports()
  const options = { tables: ["imported_visitors"], from: "2026-10-02" }
  expect(await stage.run({ ...EXPORT, options })).toMatchObject({
    ...{ state: "completed", totals: { visitors: 8, pageviews: 20 }, date_start: "2026-10-02", days_effective: 1 },
  })
  expect(new Set(segmentsOf(stage.instance).map(({ kind }) => kind))).toEqual(new Set(["imported_visitors"]))
})

test("totals and events of two products exclude each other by day", async () => {
  await using stage = await startImports()
  await stage.run(EXPORT)
  const rows = ["2026-10-02", "2026-10-03"].map((day) => ({ at: `${day}T10:00:00Z`, path: "/", session: day }))
  const events = await stage.run({ source: "simple_analytics", files: [{ name: "export.csv", content: simpleAnalytics(rows) }] })
  expect(events.days).toMatchObject([
    { from: "2026-10-02", state: "masked", masked_by: 1 },
    { from: "2026-10-03", state: "effective" },
  ])
})

test("a time series marks the days of an import, and values, properties and retention know its totals", async () => {
  await using stage = await startImports()
  const { instance } = stage
  const events = "date,name,link_url,path,visitors,events\n2026-10-02,Download,https://a.example/x.pdf,,2,3"
  const { id } = await stage.run({
    source: "plausible",
    files: [...EXPORT.files, { name: "imported_custom_events_20261001_20261002.csv", content: events }],
  })
  const range = "from=2026-09-30&to=2026-10-03"
  const stats = (path: string) => instance.api.get(`/api/public/v1/sites/1/stats/${path}&${range}`, instance.statsKey)
  const marks = async (path: string) => ((await stats(path)).body as Series).points.map(({ time, imported }) => [time, imported])
  expect(await marks("timeseries?metrics=visitors")).toEqual([
    ["2026-09-30", undefined],
    ["2026-10-01", true],
    ["2026-10-02", true],
    ["2026-10-03", undefined],
  ])
  expect((await marks("timeseries?metrics=visitors&imports=false")).flatMap(([, imported]) => imported ?? [])).toEqual([])
  const site = (path: string) => instance.api.send("GET", `/api/private/sites/1${path}`, undefined, undefined, stage.headers)
  expect((await site(`/stats/values?dimension=page&q=pri&${range}`)).body).toEqual({ data: [{ value: "/pricing", visitors: 5 }] })
  expect((await site(`/stats/properties?${range}`)).body).toMatchObject({
    data: [{ property: "url", events: 3, values: [{ value: "https://a.example/x.pdf", visitors: 2, events: 3 }] }],
    imports: { included: true, import_ids: [id] },
  })
  expect((await site("/retention-preview?days=50")).body).toMatchObject({ cutoff_day: "2026-10-02", events: 0, imported_days: 1 })
  expect((await site("/retention-preview?days=60")).body).not.toHaveProperty("imported_days")
})
