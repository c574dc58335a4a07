import { afterAll, beforeAll, expect, test } from "bun:test"
import type { WebVitals, WebVitalsBreakdown } from "../../../../src/domain/web-vitals.ts"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { type Person, signedIn } from "../person.ts"

let instance: TestInstance
let viewer: Person

const DESKTOP = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
const PHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1"
/** Largest contentful paints in milliseconds by page and device. */
const LOADS = [
  ["/", DESKTOP, [1_000, 1_200, 1_400, 4_500]],
  ["/", PHONE, [3_000, 5_000]],
  ["/pricing", DESKTOP, [800]],
] as const

beforeAll(async () => {
  instance = await startInstance({ now: "2026-11-21T11:00:00Z" })
  let visitor = 0
  for (const [page, agent, loads] of LOADS)
    for (const lcp of loads) {
      const sent = { address: `203.0.113.${++visitor}`, headers: { "user-agent": agent } }
      const u = `https://shop.example${page}`
      await instance.collect({ n: "pageview", u }, sent)
      const f = { lcp, fcp: lcp / 2, ttfb: 100, cls: 0.02, ...(agent === PHONE && { inp: 300 }) }
      await instance.collect({ n: "vitals", u, f }, sent)
    }
  // A page that is not measured.
  await instance.collect({ n: "pageview", u: "https://shop.example/about" }, { address: "203.0.113.200" })
  instance.app.collector.flush()
  viewer = await signedIn(instance, { role: "viewer" })
})
afterAll(() => instance[Symbol.asyncDispose]())

const STATS = "/sites/1/stats"
async function ask<Answer>(path: string): Promise<Answer> {
  const { status, body } = await viewer.get(`${STATS}${path}`)
  expect({ status, body: status === 200 ? undefined : body }).toEqual({ status: 200, body: undefined })
  return body as Answer
}
/** Nearest rank: the smallest value that at least three quarters of the values do not exceed. */
const p75 = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.ceil((values.length * 3) / 4) - 1]!

test("reports each measure at the 75th percentile, and how many page loads were measured", async () => {
  const all = LOADS.flatMap(([, , loads]) => loads)
  expect(await ask<WebVitals>("/web-vitals?period=today&compare=previous_period")).toMatchObject({
    percentile: 75,
    measured_loads: 7,
    metrics: { lcp: p75(all), fcp: p75(all) / 2, ttfb: 100, cls: 0.02, inp: 300 },
    comparison: { metrics: {} },
  })
  const { metrics } = await ask<WebVitals>("/web-vitals?period=today&metrics=lcp,cls")
  expect(metrics).toEqual({ lcp: p75(all), cls: 0.02 })
})

test("reports them by page and device, those with the most measured page loads first", async () => {
  const pages = await ask<WebVitalsBreakdown>("/web-vitals-breakdown?period=today")
  const home = [1_000, 1_200, 1_400, 4_500, 3_000, 5_000]
  expect(pages).toMatchObject({ dimension: "page", has_more: false })
  expect(pages.rows.map(({ value, measured_loads, lcp, inp }) => ({ value, measured_loads, lcp, inp }))).toEqual([
    { value: "/", measured_loads: 6, lcp: p75(home), inp: 300 },
    { value: "/pricing", measured_loads: 1, lcp: 800, inp: undefined },
  ])
  const devices = await ask<WebVitalsBreakdown>("/web-vitals-breakdown?period=today&dimension=device&sort=lcp")
  expect(devices.rows.map(({ value, lcp }) => [value, lcp])).toEqual([
    ["Mobile", 5_000],
    ["Desktop", p75([1_000, 1_200, 1_400, 4_500, 800])],
  ])
})

test("reads rows page by page, and applies filters", async () => {
  const first = await ask<WebVitalsBreakdown>("/web-vitals-breakdown?period=today&limit=1")
  expect([first.rows.map(({ value }) => value), first.has_more]).toEqual([["/"], true])
  const second = await ask<WebVitalsBreakdown>("/web-vitals-breakdown?period=today&limit=1&offset=1")
  expect([second.rows.map(({ value }) => value), second.has_more]).toEqual([["/pricing"], false])
  const filters = encodeURIComponent(JSON.stringify([{ dimension: "device", values: ["Mobile"] }]))
  expect(await ask<WebVitals>(`/web-vitals?period=today&filters=${filters}`)).toMatchObject({ measured_loads: 2, metrics: { lcp: 5_000 } })
})

test("several reports fit in one request, with the same numbers", async () => {
  const { body } = await viewer.post(`${STATS}/batch`, {
    queries: [
      { id: "total", report: "web-vitals", period: "today" },
      { id: "pages", report: "web-vitals-breakdown", dimension: "page", period: "today" },
    ],
  })
  const { results } = body as { results: Record<string, { data: unknown }> }
  expect(results.total!.data).toEqual(await ask("/web-vitals?period=today"))
  expect(results.pages!.data).toEqual(await ask("/web-vitals-breakdown?period=today"))
})

test.each([
  ["/web-vitals?metrics=speed", "/metrics"],
  ["/web-vitals-breakdown?dimension=goal", "/dimension"],
  ["/web-vitals-breakdown?sort=visitors", "/sort"],
  ["/web-vitals-breakdown?limit=0", "/limit"],
])("rejects %s", async (path, pointer) => {
  expect(await viewer.get(`${STATS}${path}`)).toMatchObject({ status: 400, body: { code: "invalid_query", errors: [{ pointer }] } })
})
