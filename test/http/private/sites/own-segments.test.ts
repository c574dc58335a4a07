import { afterAll, beforeAll, expect, test } from "bun:test"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { type Person, signedIn } from "../person.ts"

let instance: TestInstance
let owner: Person
let other: Person
/** The owner's personal segment: visits by email. */
let segment: number

beforeAll(async () => {
  instance = await startInstance({ now: "2026-11-21T11:00:00Z" })
  for (const [i, source] of ["mail", "mail", "ads"].entries()) {
    const at = (n: string, page: string) =>
      instance.collect({ n, u: `https://shop.example${page}?utm_source=${source}`, p: { plan: source } }, { address: `203.0.113.${i}` })
    await at("pageview", "/")
    await at("pageview", "/pricing")
    await at("Buy", "/pricing")
    instance.clock.advance(60_000)
  }
  owner = await signedIn(instance, { role: "admin" })
  other = await signedIn(instance, { role: "admin" })
  const made = await owner.post("/sites/1/segments", { name: "By mail", filters: [{ dimension: "source", values: ["mail"] }] })
  segment = (made.body as unknown as { id: number }).id
  await instance.app.instance.goals.create(instance.site, { kind: "event", value: "Buy" })
})
afterAll(() => instance[Symbol.asyncDispose]())

const filters = () => [{ dimension: "segment", operator: "is", values: [String(segment)] }]
const ranged = () => `period=today&filters=${encodeURIComponent(JSON.stringify(filters()))}`
const STEPS = [
  { type: "page", value: "/" },
  { type: "event", value: "Buy" },
]

type Ask = (person: Person) => Promise<{ status: number; body: unknown }>
const get =
  (path: string): Ask =>
  (person) =>
    person.get(`/sites/1/${path}${ranged()}`)
const post =
  (path: string, more: object): Ask =>
  (person) =>
    person.post(`/sites/1/${path}`, { period: "today", filters: filters(), ...more })

/** Every request that accepts filters, with its result for the two visits by email. */
const REQUESTS: [name: string, ask: Ask, says: object][] = [
  ["summary", get("stats/summary?"), { metrics: { visitors: 2 } }],
  ["timeseries", get("stats/timeseries?metrics=visits&interval=day&"), { points: [{ visits: 2 }] }],
  ["breakdown", get("stats/breakdown?dimension=page&limit=1&"), { rows: [{ value: "/", visitors: 2 }] }],
  ["goals", get("stats/goals?"), { goals: [{ name: "Buy", visitors: 2 }] }],
  ["values", get("stats/values?dimension=source&"), { data: [{ value: "mail", visitors: 2 }] }],
  ["events", get("stats/events?"), { rows: [{ value: "Buy", visitors: 2 }] }],
  ["properties", get("stats/properties?"), { data: [{ property: "plan", values: [{ value: "mail", visitors: 2 }] }] }],
  ["busy hours", get("stats/busy-hours?"), { range: { from: "2026-11-21" } }],
  ["journeys", post("stats/journeys", { start: { page: "/" } }), { sample_visits: 2, edges: [{ from: "/", to: "/pricing", visits: 2 }] }],
  ["funnel", post("stats/funnel", { steps: STEPS }), { entered: 2, completed: 2 }],
  ["erasure preview", post("erase/preview", {}), { visits: 2 }],
]

test.each(REQUESTS)("%s accepts a personal segment only from its owner", async (_, ask, says) => {
  expect(await ask(owner)).toMatchObject({ status: 200, body: says })
  const refused = await ask(other)
  expect(refused).toMatchObject({ body: { errors: [{ pointer: expect.stringContaining("/filters"), code: "invalid_choice" }] } })
  expect([400, 422]).toContain(refused.status)
})

test("a batch applies it to each report", async () => {
  const queries = [
    { id: "a", report: "summary", period: "today", filters: filters() },
    { id: "b", report: "breakdown", dimension: "source", period: "today", filters: filters() },
  ]
  const ask = async (person: Person) => (await person.post("/sites/1/stats/batch", { queries })).body as unknown as { results: object }
  expect((await ask(owner)).results).toMatchObject({
    a: { data: { metrics: { visitors: 2 } } },
    b: { data: { rows: [{ value: "mail" }] } },
  })
  expect((await ask(other)).results).toMatchObject({ a: { status: 422 }, b: { status: 422 } })
})

test("an export can be filtered by it; a takeout and a goal definition cannot", async () => {
  const csv = await owner.get(`/sites/1/export?type=source&format=csv&${ranged()}`)
  expect(csv.status).toBe(200)
  expect(String(csv.body)).toContain("mail")
  expect(String(csv.body)).not.toContain("ads")
  expect(await other.get(`/sites/1/export?type=source&format=csv&${ranged()}`)).toMatchObject({ status: 400 })
})

test("API keys, shared views and their locked filters cannot use it", async () => {
  const key = await instance.api.get(`/api/public/v1/sites/1/stats/summary?${ranged()}`, instance.key)
  expect(key).toMatchObject({ status: 400, body: { errors: [{ code: "invalid_choice" }] } })
  const share = { name: "For all", sections: ["summary"], allow_filters: true, allow_range: true }
  expect(await owner.post("/sites/1/shares", { ...share, locked_filters: filters() })).toMatchObject({
    status: 422,
    body: { errors: [{ code: "invalid_choice" }] },
  })
})
