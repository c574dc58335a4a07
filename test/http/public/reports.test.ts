import { afterAll, beforeAll, expect, test } from "bun:test"
import { startInstance, type TestInstance } from "../../kit.ts"

const PUBLIC = "/api/public/v1/sites/1/stats"
const PRIVATE = "/api/private/sites/1/stats"
let instance: TestInstance
let viewer: { cookie: string }

beforeAll(async () => {
  instance = await startInstance({ now: "2026-11-21T12:00:00Z" })
  const { collect, clock, signIn } = instance
  const at = (path: string, more: object = {}) => ({ n: "pageview", u: `https://shop.example${path}`, d: "shop.example", ...more })
  for (const [path, address] of [
    ["/pricing", "198.51.100.7"],
    ["/signup", "198.51.100.7"],
    ["/pricing", "198.51.100.8"],
  ] as const) {
    await collect(at(path), { address })
    clock.advance(1_000)
  }
  await collect(at("/pricing", { n: "vitals", f: { lcp: 1200, inp: 80, fcp: 700, ttfb: 150, cls: 0.05 } }))
  await collect(at("/pricing"), { headers: { "user-agent": "Googlebot/2.1 (+http://www.google.com/bot.html)" } })
  viewer = { cookie: await signIn({ role: "admin" }) }
})
afterAll(() => instance[Symbol.asyncDispose]())

test.each([
  ["/busy-hours?period=7d", `${PRIVATE}/busy-hours?period=7d`],
  ["/web-vitals?period=7d&metrics=lcp,cls", `${PRIVATE}/web-vitals?period=7d&metrics=lcp,cls`],
  ["/web-vitals/breakdown?period=7d&dimension=page", `${PRIVATE}/web-vitals-breakdown?period=7d&dimension=page`],
  ["/drops?period=7d", "/api/private/sites/1/drops?period=7d"],
])("%s is the report of the dashboard", async (path, twin) => {
  const { api, statsKey } = instance
  const shown = await api.get(PUBLIC + path, statsKey)
  expect(shown.status).toBe(200)
  expect(shown.body).toEqual((await api.get(twin, undefined, viewer)).body as object)
})

test("the reports have the figures of the traffic", async () => {
  const { api, statsKey } = instance
  const body = async (path: string) => (await api.get(PUBLIC + path, statsKey)).body
  const { grid } = (await body("/busy-hours?period=7d")) as { grid: number[][] }
  // The 21st of November 2026 is a Saturday, and it is 13:00 in Berlin.
  expect(grid[5]![13]).toBe(2)
  expect(grid.flat().reduce((sum, visits) => sum + visits, 0)).toBe(2)
  expect(await body("/web-vitals?period=7d")).toMatchObject({ measured_loads: 1, metrics: { lcp: 1200, cls: 0.05 } })
  const { rows } = (await body("/drops?period=7d")) as { rows: { reason: string; total: number }[] }
  expect(rows.find(({ reason }) => reason === "bot")).toMatchObject({ total: 1, counts: [0, 0, 0, 0, 0, 0, 1] })
})

test("journeys begin at a page, and a filter chooses their visits", async () => {
  const { api, statsKey } = instance
  const question = { start: { page: "/pricing" }, steps: 2, period: "7d" }
  const answer = await api.post(`${PUBLIC}/journeys`, question, statsKey)
  expect(answer).toMatchObject({ status: 200, body: { sample_visits: 2, sparse: true } })
  expect(answer.body).toEqual((await api.post(`${PRIVATE}/journeys`, question, undefined, viewer)).body as object)
  const filters = [{ dimension: "page", values: ["/signup"] }]
  expect(await api.post(`${PUBLIC}/journeys`, { ...question, filters }, statsKey)).toMatchObject({ body: { sample_visits: 1 } })
})

test.each([
  ["a report with an unknown argument", "GET", "/busy-hours?colour=red", undefined, 400, "/colour"],
  ["web vitals with an unknown measure", "GET", "/web-vitals?metrics=fid", undefined, 400, "/metrics"],
  ["drops with filters", "GET", "/drops?filters=[]", undefined, 400, "/filters"],
  ["journeys without an end", "POST", "/journeys", { period: "7d" }, 422, "/start"],
  ["journeys with an unknown period", "POST", "/journeys", { start: { page: "/" }, period: "soon" }, 422, "/period"],
  ["journeys that are a list", "POST", "/journeys", [], 422, ""],
] as const)("rejects %s", async (_, method, path, body, status, pointer) => {
  const { api, statsKey } = instance
  expect(await api.send(method, PUBLIC + path, body, statsKey)).toMatchObject({ status, body: { errors: [{ pointer }] } })
})
