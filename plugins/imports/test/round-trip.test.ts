import { expect, test } from "bun:test"
import { join } from "node:path"
import { bySize, type TestInstance, temporaryFolder } from "#plugin/test"
import type { PreviewResponse } from "../responses.ts"
import type { ImportStage } from "./kit.ts"
import { define, importHistory, openSite, recordTraffic, SITE } from "./whole-site.ts"

const DAY_MS = 86_400_000
const DIMENSIONS = `page title entry_page exit_page hostname source referrer channel utm_source utm_medium utm_campaign utm_term utm_content
  country region city device size browser browser_version os os_version language event goal`.split(/\s+/)
const RANGES = [
  "from=2026-10-01&to=2026-11-19",
  "from=2026-10-01&to=2026-10-31",
  "from=2026-11-17&to=2026-11-19",
  "from=2026-10-06&to=2026-10-06",
]
const FILTERS = [
  [],
  [{ dimension: "page", operator: "starts_with", values: ["/blog"] }],
  [{ dimension: "device", operator: "is", values: ["Mobile"] }],
  [{ dimension: "event", operator: "is", values: ["Signup"] }],
  [{ dimension: "property", property: "plan", operator: "is", values: ["-free", "pro"] }],
  [{ dimension: "segment", values: ["1"] }],
]
const ASKED_FILTERS = bySize({ check: FILTERS.slice(0, 2), full: FILTERS, release: FILTERS }).map(
  (filters) => `&filters=${encodeURIComponent(JSON.stringify(filters))}`,
)
const METRICS = [
  "visitors,visits,pageviews,events,views_per_visit",
  "bounce_rate,visit_duration,engaged_time,conversions,conversion_rate,revenue",
]
const QUERIES = [
  { metrics: ["lcp_p75", "inp_p75", "cls_p75", "fcp_p75", "ttfb_p75", "total_revenue", "average_revenue"] },
  { metrics: ["visitors", "events"], dimensions: ["visit:click_id_type", "event:name"] },
  { metrics: ["visitors", "time_on_page_median"], dimensions: ["event:page"] },
]

/** Returns the reports of a site by their addresses: each route of the dashboard, and the query form with all metrics. */
async function reportsOf({ instance }: ImportStage): Promise<Map<string, { status: number; body: unknown }>> {
  const reports = new Map<string, { status: number; body: unknown }>()
  let headers = {}
  const ask = async (method: "GET" | "POST", path: string, body?: object, key?: string) => {
    const answer = await instance.api.send(method, path, body, key, key ? {} : headers)
    reports.set(`${method} ${path} ${JSON.stringify(body) ?? ""}`, { status: answer.status, body: figuresIn(answer.body) })
  }
  for (const range of RANGES) {
    for (const filter of ASKED_FILTERS) {
      // A session may send 300 requests in a minute, and the clock stands still.
      headers = { cookie: await instance.signIn({ role: "admin" }) }
      for (const metrics of METRICS) await ask("GET", `${SITE}/stats/summary?${range}${filter}&metrics=${metrics}`)
      for (const interval of ["day", "week", "month"]) await ask("GET", `${SITE}/stats/timeseries?${range}${filter}&interval=${interval}`)
      for (const dimension of DIMENSIONS) await ask("GET", `${SITE}/stats/breakdown?${range}${filter}&dimension=${dimension}`)
      for (const key of ["plan", "author", "order_id", "url"])
        await ask("GET", `${SITE}/stats/breakdown?${range}${filter}&dimension=property&property=${key}`)
      for (const name of ["goals", "busy-hours", "campaigns"]) await ask("GET", `${SITE}/stats/${name}?${range}${filter}`)
    }
    for (const event of ["", "&event=Signup", "&event=Purchase"]) await ask("GET", `${SITE}/stats/properties?${range}${event}`)
    await ask("GET", `${SITE}/stats/events?${range}`)
    await ask("GET", `${SITE}/stats/breakdown?${range}&dimension=page&metrics=visitors,pageviews,time_on_page,scroll_depth,exit_rate`)
    await ask("GET", `${SITE}/stats/values?${range}&dimension=page&q=b`)
    const [from, to] = range.split("&").map((part) => part.split("=")[1]!)
    await ask("POST", `${SITE}/stats/funnel`, { from, to, funnel_id: 1 })
    await ask("POST", `${SITE}/stats/journeys`, { from, to, start: { page: "/" }, steps: 3, events: true })
    const query = { site_id: 1, date_range: [from, to], include: { imports: true, total_rows: true } }
    for (const asked of QUERIES) await ask("POST", "/api/public/v1/query", { ...query, ...asked }, instance.statsKey)
  }
  for (const range of RANGES.slice(-2)) await ask("GET", `${SITE}/stats/timeseries?${range}&interval=hour`)
  return reports
}

const NOT_FIGURES = ["imported", "imports", "imports_included", "imports_skip_reason", "imports_warning", "request_id"]

/** Leaves out which imports are part of an answer: in the copy, all visits are those of an import. */
function figuresIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(figuresIn)
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).filter(([name]) => !NOT_FIGURES.includes(name))
  return Object.fromEntries(entries.map(([name, inner]) => [name, figuresIn(inner)]))
}

async function archiveIn(folder: string, { app }: TestInstance): Promise<{ name: string; content_base64: string }> {
  const path = join(folder, "shop.zip")
  await app.operations["site.export"]({ id: "1", path })
  return { name: "shop.zip", content_base64: Buffer.from(await Bun.file(path).bytes()).toString("base64") }
}

test("a site that is exported and imported into an empty one answers every report of closed days as before", async () => {
  using folder = temporaryFolder()
  await using original = await openSite()
  await using copy = await openSite()
  await recordTraffic(original)
  await define(original)
  await importHistory(original)
  const now = Date.parse("2026-11-21T12:00:00Z")
  for (const { instance } of [original, copy]) instance.clock.advance(now - instance.clock.now())
  await original.instance.app.instance.events.seal(now + DAY_MS, true)

  const input = { source: "footfall", files: [await archiveIn(folder.path, original.instance)], options: { create_definitions: true } }
  const preview = (await copy.post("/preview", input)).body as PreviewResponse
  const done = await copy.run({ ...input, preview_hash: preview.preview_hash })
  expect(done).toMatchObject({ state: "completed", kind: "mixed", totals: preview.totals, rows: { rejected: 0, skipped: 0 } })
  expect(done.created_objects.map(({ type }) => type)).toEqual(["goal", "goal", "goal", "goal", "funnel", "segment", "annotation"])

  const [before, after] = [await reportsOf(original), await reportsOf(copy)]
  const different = [...before].filter(([name, report]) => !Bun.deepEquals(report, after.get(name))).map(([name]) => name)
  const refused = [...before].filter(([, { status }]) => status !== 200).map(([name]) => name)
  expect({ different, refused }).toEqual({ different: [], refused: [] })
}, 120_000)
