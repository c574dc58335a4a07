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
