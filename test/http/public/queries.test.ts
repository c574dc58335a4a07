import { afterAll, beforeAll, expect, test } from "bun:test"
import { AppError } from "../../../src/domain/error.ts"
import { settleAll } from "../../../src/http/settled.ts"
import { memoryLog, startInstance, type TestInstance } from "../../kit.ts"

let instance: TestInstance
beforeAll(async () => {
  instance = await startInstance({ now: "2026-11-21T12:00:00Z" })
  const { app, collect, site } = instance
  await app.instance.sites.create(site.organization_id, { name: "Docs", hosts: ["docs.example"] })
  const other = await app.instance.organizations.create({ name: "Other" })
  await app.instance.sites.create(other.id, { name: "Foreign", hosts: ["foreign.example"] })
  await collect({ n: "pageview", u: "https://shop.example/a", d: site.tracking_id })
})
afterAll(() => instance[Symbol.asyncDispose]())

interface Result {
  status: number
  data?: object
  problem?: { code: string; request_id: string; type: string; errors?: object[] }
}
const ask = async (queries: unknown, key = instance.statsKey) => {
  const answer = await instance.api.post("/api/public/v1/queries", { queries }, key, { "x-request-id": "mine" })
  return { status: answer.status, body: answer.body as { results: Result[]; code: string; errors: { pointer: string; code: string }[] } }
}
const query = (more: object = {}) => ({ site_id: 1, metrics: ["visitors"], date_range: "day", ...more })

test("each result is that of the query alone, in the order of the queries", async () => {
  const queries = [query(), query({ dimensions: ["event:page"] }), query({ site_id: "docs.example" })]
  const { status, body } = await ask(queries)
  expect(status).toBe(200)
  const alone = await Promise.all(
    queries.map(async (one) => (await instance.api.post("/api/public/v1/query", one, instance.statsKey)).body),
  )
  expect(body.results).toEqual(alone.map((data) => ({ status: 200, data: data as object })))
})

test("a query that fails does not affect the others", async () => {
  const { status, body } = await ask([
    query({ metrics: ["users"] }),
    query(),
    query({ site_id: "foreign.example" }),
    query({ site_id: 99 }),
    5,
  ])
  expect(status).toBe(200)
  const [first, second, third, fourth, fifth] = body.results
  expect(first).toMatchObject({
    status: 422,
    problem: { code: "validation_failed", request_id: "mine", errors: [{ pointer: "/metrics/0" }] },
  })
  expect(second).toMatchObject({ status: 200, data: { results: [{ metrics: [1] }] } })
  expect(third).toMatchObject({ status: 404, problem: { code: "site_not_found" } })
  expect(fourth).toEqual(third!)
  expect(fifth).toMatchObject({ status: 422 })
})

test("20 queries are allowed, and they count as one request", async () => {
  const left = async (queries: unknown[]) => {
    const { headers } = await instance.api.post("/api/public/v1/queries", { queries }, instance.statsKey)
    return Number(headers.get("x-ratelimit-remaining"))
  }
  const many = Array.from({ length: 20 }, () => query())
  const [before, after] = [await left([query()]), await left(many)]
  expect(before - after).toBe(1)
  expect((await ask(many)).body.results.map(({ status }) => status)).toEqual(many.map(() => 200))
  expect(await ask([...many, query()])).toMatchObject({ status: 422, body: { errors: [{ pointer: "/queries", code: "too_many" }] } })
})

test.each<[string, unknown, string]>([
  ["no query", [], "/queries too_few"],
  ["no list", 5, "/queries invalid_type"],
  ["nothing", undefined, "/queries required"],
])("refuses %s", async (_, queries, fault) => {
  const { status, body } = await ask(queries)
  expect([status, ...body.errors.map(({ pointer, code }) => `${pointer} ${code}`)]).toEqual([422, fault])
})

test("needs the scope of queries", async () => {
  expect(await ask([query()], instance.eventsKey)).toMatchObject({ status: 403, body: { code: "insufficient_scope" } })
})

test("all share one time limit, after which the rest fail as too slow", async () => {
  const cancelled = (signal: AbortSignal) =>
    new Promise<object>((_, reject) => signal.addEventListener("abort", () => reject(new AppError("unavailable", "cancelled"))))
  const run = (item: string, signal: AbortSignal) => (item === "fast" ? Promise.resolve({}) : cancelled(signal))
  const request = new Request("http://localhost/")
  const options = { baseUrl: "", log: memoryLog(), timeoutMs: 50 }
  const results = await settleAll(["fast", "slow", "slow", "slow", "slow", "never begun"], run, options, { request, set: { headers: {} } })
  expect(results.map((result) => ("problem" in result ? result.problem.code : result.status))).toEqual([
    200,
    ...Array(5).fill("query_timeout"),
  ])
})
