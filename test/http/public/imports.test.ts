import { afterAll, beforeAll, expect, test } from "bun:test"
import type { NewEvent } from "../../../src/domain/event.ts"
import { TRAITS, type VisitTraits } from "../../../src/domain/visit.ts"
import { startInstance, type TestInstance } from "../../kit.ts"
import { archiveLines, archiveOf } from "../../plugin/archive.ts"
import { showImports } from "../../visible-imports.ts"
import { type Person, signedIn } from "../private/person.ts"

/** Imported totals of October, one import of visits in September, and native visits of today (2026-11-21). */
let instance: TestInstance
let editor: Person
beforeAll(async () => {
  instance = await startInstance({ now: "2026-11-21T12:00:00Z" })
  const { events, goals } = instance.app.instance
  await goals.create(instance.site, { kind: "event", value: "Signup" })
  const totals = { siteId: 1, importId: 7 }
  const five = { visitors: 10, pageviews: 30, visits: 12, bounces: 3, visit_duration: 600 }
  await events.importTotals(totals, "imported_visitors", [
    { day: "2026-10-01", texts: {}, counts: five },
    { day: "2026-10-02", texts: {}, counts: five },
    { day: "2026-10-03", texts: {}, counts: five },
  ])
  await events.importTotals(totals, "imported_pages", [
    { day: "2026-10-01", texts: { page: "/old", hostname: "shop.example" }, counts: { visitors: 4, pageviews: 9 } },
  ])
  await events.importTotals(totals, "imported_custom_events", [
    { day: "2026-10-01", hour: 5, texts: { name: "Signup", link_url: "https://a.example/" }, counts: { visitors: 2, events: 3 } },
  ])
  await events.importVisits({ siteId: 1, importId: 8 }, [
    { visitor: "a", traits: NO_TRAITS, events: [view("2026-09-10T10:00:00Z")], day: "x" },
  ])
  await showImports(instance, SHOWN)
  await instance.collect({ n: "pageview", u: "https://shop.example/new", d: "shop.example" })
  editor = await signedIn(instance, { role: "editor" })
})
afterAll(() => instance[Symbol.asyncDispose]())

// The third day of October is masked.
const SHOWN = [
  { id: 7, days: [["2026-10-01", "2026-10-02"]] as const },
  { id: 8, days: [["2026-09-10", "2026-09-10"]] as const },
]
// Every trait is named.
const NO_TRAITS = Object.fromEntries(TRAITS.map((trait) => [trait, ""])) as Record<keyof VisitTraits, string>
const view = (at: string): NewEvent => ({
  ...{ at: Date.parse(at), name: "pageview", page: "/", hostname: "shop.example", title: "", interactive: true, props: [] },
})

const SITE = "/api/public/v1/sites/1"
const get = async (path: string) => (await instance.api.get(`${SITE}/${path}`, instance.key)).body as Record<string, unknown>
const OCTOBER = "from=2026-10-01&to=2026-10-31"
const day = (number: number) => `from=2026-10-0${number}&to=2026-10-0${number}`

test("a summary adds imported totals and says so; imports=false leaves them out", async () => {
  expect(await get(`stats/summary?${OCTOBER}`)).toMatchObject({
    metrics: { visitors: 20, visits: 24, pageviews: 60, views_per_visit: 2.5, bounce_rate: 25, visit_duration: 50, events: 63 },
    imports: { included: true, import_ids: [7] },
    visitors_estimated: true,
  })
  const one = await get(`stats/summary?${day(1)}`)
  expect(one).toMatchObject({ metrics: { visitors: 10 }, imports: { included: true, import_ids: [7] } })
  expect(one).not.toHaveProperty("visitors_estimated")
  expect(await get(`stats/summary?${OCTOBER}&imports=false`)).toMatchObject({
    metrics: { visitors: 0 },
    imports: { included: false, reason: "disabled", message: "Imported totals are not included: they were not requested." },
  })
})

test.each([
  ["unsupported_filters", `stats/breakdown?dimension=title&${OCTOBER}`],
  ["unsupported_filters", `stats/breakdown?dimension=language&${OCTOBER}`],
  ["unsupported_interval", `stats/timeseries?interval=hour&${OCTOBER}`],
  ["unsupported_metric", `stats/summary?metrics=engaged_time&${OCTOBER}`],
  ["unsupported_timezone", `stats/summary?timezone=UTC&${OCTOBER}`],
  ["none_in_range", "stats/summary?period=7d"],
])("names the reason %s", async (reason, path) => {
  const { imports } = await get(path)
  expect(imports).toEqual({ included: false, reason, message: expect.stringMatching(/^Imported totals are not included: [^.]+\.$/) })
})

test("a comparison with imported days names the import", async () => {
  const report = await get("stats/summary?from=2026-11-20&to=2026-11-21&compare=custom&compare_from=2026-10-01&compare_to=2026-10-02")
  expect(report).toMatchObject({
    metrics: { visitors: 1 },
    comparison: { metrics: { visitors: 20 } },
    imports: { included: true, import_ids: [7] },
    visitors_estimated: true,
  })
})

test("the goals report counts imported events, and a funnel says that it does not", async () => {
  expect(await get(`stats/goals?${OCTOBER}`)).toMatchObject({
    goals: [{ visitors: 2, conversions: 3, conversion_rate: 10 }],
    imports: { included: true, import_ids: [7] },
  })
  const steps = [
    { type: "page", value: "/old" },
    { type: "event", value: "Signup" },
  ]
  const funnel = (from: string, to: string) => editor.post("/sites/1/stats/funnel", { steps, from, to })
  expect((await funnel("2026-10-01", "2026-10-31")).body).toMatchObject({
    entered: 0,
    imports: { included: false, reason: "unsupported_filters" },
  })
  expect((await funnel("2026-09-01", "2026-10-31")).body).toMatchObject({
    imports: { included: true, import_ids: [8], reason: "unsupported_filters", message: expect.stringContaining("Some imported totals") },
  })
  const journeys = await editor.post("/sites/1/stats/journeys", { start: { page: "/" }, from: "2026-10-01", to: "2026-10-31" })
  expect(journeys.body).toMatchObject({ imports: { included: false, reason: "unsupported_filters" } })
  const busy = await editor.get(`/sites/1/stats/busy-hours?${OCTOBER}`)
  expect(busy.body).toMatchObject({ imports: { included: false, reason: "unsupported_interval" } })
})

test("the array form adds imported totals only if they are included", async () => {
  const ask = async (include: object, metrics = ["visitors"]) => {
    const body = { site_id: 1, metrics, date_range: ["2026-10-01", "2026-10-31"], include }
    return (await instance.api.post("/api/public/v1/query", body, instance.key)).body
  }
  expect(await ask({ imports: true })).toMatchObject({
    results: [{ metrics: [20] }],
    meta: { imports_included: true, imports: { included: true, import_ids: [7] }, visitors_estimated: true },
    query: { include: { imports: true } },
  })
  expect(await ask({ imports: true }, ["engaged_time"])).toMatchObject({
    meta: {
      imports_included: false,
      imports_skip_reason: "unsupported_metric",
      imports_warning: "Imported totals are not included: they do not have all metrics of this report.",
    },
  })
  const without = (await ask({})) as { meta: object }
  expect(without).toMatchObject({ results: [{ metrics: [0] }], meta: { imports: { included: false, reason: "disabled" } } })
  expect(without.meta).not.toHaveProperty("imports_included")
})

test("all time begins with the first imported day, as does the site in lists", async () => {
  expect(await get("stats/summary?period=all")).toMatchObject({
    range: { from: "2026-09-10" },
    metrics: { visitors: 22 },
    imports: { included: true, import_ids: [7, 8] },
  })
  const first = "2026-09-09T22:00:00Z"
  expect(await get("")).toMatchObject({ first_event_at: first })
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "get_summary", arguments: { site_id: 1, period: "all" } } }
  const answer = await instance.api.post("/api/public/v1/mcp", call, instance.key, { accept: "application/json" })
  expect(answer.body).toMatchObject({
    result: { structuredContent: { range: { from: "2026-09-10" }, imports: { included: true }, visitors_estimated: true } },
  })
  const sites = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "list_sites", arguments: {} } }
  expect((await instance.api.post("/api/public/v1/mcp", sites, instance.key)).body).toMatchObject({
    result: { structuredContent: { sites: [{ first_event_at: first }] } },
  })
})

test("exports contain imported totals, and JSON says which imports", async () => {
  const exported = (query: string) => get(`export?format=json&${OCTOBER}&${query}`)
  const imports = { included: true, import_ids: [7] }
  expect(await exported("type=page")).toMatchObject({ imports, data: [{ value: "/old", visitors: 4, pageviews: 9 }] })
  expect(await exported("type=goals")).toMatchObject({ imports, data: [{ visitors: 2, conversions: 3 }] })
  expect(await exported("type=timeseries&interval=month")).toMatchObject({ imports, visitors_estimated: true, data: [{ visitors: 20 }] })
  expect(await exported("type=page&imports=false")).toMatchObject({ imports: { included: false, reason: "disabled" }, data: [] })
  expect(await exported("type=visits")).toMatchObject({ imports: { included: false, reason: "unsupported_filters" }, data: [] })
  const csv = await instance.api.get(`${SITE}/export?type=page&${OCTOBER}`, instance.key)
  expect(csv.body).toBe('value,label,visitors,pageviews,share\r\n"/old",,4,9,20\r\n')
})

test("the archive of the site has the visible totals, one row per line", async () => {
  const lines = archiveLines((await archiveOf(instance))["imported.ndjson"])
  const five = { visitors: 10, pageviews: 30, visits: 12, bounces: 3, visit_duration: 600 }
  const timezone = "Europe/Berlin"
  expect(lines).toEqual([
    { kind: "imported_visitors", day: "2026-10-01", timezone, ...five },
    { kind: "imported_visitors", day: "2026-10-02", timezone, ...five },
    { kind: "imported_pages", day: "2026-10-01", timezone, page: "/old", hostname: "shop.example", visitors: 4, pageviews: 9 },
    {
      kind: "imported_custom_events",
      day: "2026-10-01",
      hour: 5,
      timezone,
      name: "Signup",
      link_url: "https://a.example/",
      visitors: 2,
      events: 3,
    },
  ])
})

test("a site without imports has no facts about imports", async () => {
  await showImports(instance, [])
  for (const path of [`stats/summary?${OCTOBER}`, `stats/goals?${OCTOBER}`, `export?type=page&format=json&${OCTOBER}`])
    expect(await get(path)).not.toHaveProperty("imports")
  expect(await get("stats/summary?period=all")).toMatchObject({ range: { from: "2026-11-21" } })
  await showImports(instance, SHOWN)
})
