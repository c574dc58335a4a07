import { afterAll, beforeAll, expect, test } from "bun:test"
import type { SiteThings } from "../../../src/services/definitions/site-things.ts"
import { sql } from "../../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../../kit.ts"

let instance: TestInstance
beforeAll(async () => {
  instance = await startInstance({ settings: { api_rate_limit: "0" } })
})
afterAll(() => instance[Symbol.asyncDispose]())

const GOALS = "/api/public/v1/sites/1/goals"
const under = (key: string) => ({ "idempotency-key": key })
const goal = (value: string) => ({ kind: "event", value })

async function goalsNamed(name: string): Promise<number> {
  const rules = instance.app.instance.goals.rules(1)
  return rules.filter((rule) => rule.name === name).length
}

test("without the header, equal requests create two resources", async () => {
  const { api, key } = instance
  const site = { name: "Twice", hosts: ["twice.example"] }
  const [first, second] = [await api.post("/api/public/v1/sites", site, key), await api.post("/api/public/v1/sites", site, key)]
  expect([first.status, second.status]).toEqual([201, 201])
  expect((first.body as { id: number }).id).not.toBe((second.body as { id: number }).id)
})

test("a repeated request receives the first response, even after the resource has changed", async () => {
  const { api, key } = instance
  const first = await api.post(GOALS, goal("again"), key, under("a-1"))
  expect(first.status).toBe(201)
  expect(first.headers.has("idempotency-replayed")).toBe(false)
  await api.send("PATCH", first.headers.get("location")!, { name: "Changed" }, key)
  const second = await api.post(GOALS, goal("again"), key, under("a-1"))
  expect(second).toMatchObject({ status: 201, body: first.body as object })
  for (const name of ["location", "etag"]) expect(second.headers.get(name)).toBe(first.headers.get(name))
  expect(second.headers.get("idempotency-replayed")).toBe("true")
  // A trailing slash does not change the path.
  expect((await api.post(`${GOALS}/`, goal("again"), key, under("a-1"))).headers.get("idempotency-replayed")).toBe("true")
})

test("rejects another body with the same key, even if it differs only in its bytes", async () => {
  const { api, key } = instance
  await api.post(GOALS, '{"kind":"event","value":"bytes"}', key, under("b-1"))
  for (const body of ['{"kind":"event", "value":"bytes"}', '{"kind":"event","value":"other"}'])
    expect(await api.post(GOALS, body, key, under("b-1"))).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } })
})

test("an idempotency key belongs to the API key, method and path", async () => {
  const { api, key, goalsKey, app } = instance
  const other = await app.instance.sites.create(1, { name: "Scope", hosts: ["scope.example"] })
  for (const [path, token] of [
    [GOALS, key],
    [GOALS, goalsKey],
    [`/api/public/v1/sites/${other.id}/goals`, key],
  ] as const) {
    const answer = await api.post(path, goal(`scope ${path} ${token === key}`), token, under("c-1"))
    expect(answer.headers.has("idempotency-replayed")).toBe(false)
    expect(answer.status).toBe(201)
  }
})

test("of simultaneous requests with one key, only one creates the resource", async () => {
  const { api, key } = instance
  const answers = await Promise.all(Array.from({ length: 30 }, () => api.post(GOALS, goal("parallel"), key, under("d-1"))))
  const codes = answers.map(({ status, body, headers }) =>
    status === 201 ? (headers.has("idempotency-replayed") ? "replayed" : "made") : (body as { code: string }).code,
  )
  expect(codes.filter((code) => code === "made")).toHaveLength(1)
  expect(codes.filter((code) => !["made", "replayed", "idempotency_in_progress"].includes(code))).toEqual([])
  for (const { status, headers } of answers) if (status === 409) expect(headers.get("retry-after")).toBe("1")
  expect(await goalsNamed("parallel")).toBe(1)
})

test("stores responses to invalid content, but not to failures of the service", async () => {
  const { api, key, app } = instance
  const bad = await api.post(GOALS, { kind: "page", value: "x" }, key, under("e-1"))
  const again = await api.post(GOALS, { kind: "page", value: "x" }, key, under("e-1"))
  const { request_id: one, ...first } = bad.body as Record<string, unknown>
  const { request_id: two, ...second } = again.body as Record<string, unknown>
  expect(second).toEqual(first)
  expect(one).not.toBe(two)
  expect(again.headers.get("x-request-id")).toBe(two as string)
  expect([bad.status, again.status, again.headers.get("idempotency-replayed")]).toEqual([422, 422, "true"])

  await api.post(GOALS, goal("taken"), key)
  const taken = await api.post(GOALS, goal("taken"), key, under("e-2"))
  const { existing_id } = taken.body as { existing_id: number }
  await api.send("DELETE", `${GOALS}/${existing_id}`, undefined, key)
  expect(await api.post(GOALS, goal("taken"), key, under("e-2"))).toMatchObject({ status: 409, body: { existing_id } })

  // The store fails in the middle of the first attempt: nothing is created or stored, and the next attempt succeeds.
  const goals: SiteThings<unknown> = app.instance.goals
  const { create } = goals
  goals.create = async (site, body, alongside) =>
    create(site, body, async (statements, change) => {
      await alongside?.(statements, change)
      throw new Error("the disk is gone")
    })
  expect((await api.post(GOALS, goal("failing"), key, under("e-3"))).status).toBe(500)
  expect(await goalsNamed("failing")).toBe(0)
  goals.create = create
  instance.log.lines.length = 0
  const made = await api.post(GOALS, goal("failing"), key, under("e-3"))
  expect([made.status, made.headers.has("idempotency-replayed")]).toEqual([201, false])
})

test("stores responses for exactly 24 hours", async () => {
  const { api, key, clock, app } = instance
  await api.post(GOALS, goal("a day"), key, under("f-1"))
  clock.advance(24 * 3_600_000 - 1)
  expect((await api.post(GOALS, goal("a day"), key, under("f-1"))).headers.get("idempotency-replayed")).toBe("true")
  clock.advance(1)
  expect(await api.post(GOALS, goal("a day"), key, under("f-1"))).toMatchObject({ status: 409, body: { code: "goal_exists" } })
  for (let i = 0; i < 5; i++) await api.post(GOALS, goal(`later ${i}`), key, under(`f-${i + 2}`))
  const old = await app.instance.catalog.get<{ n: number }>(sql`
    select count(*) as n from idempotent_answers where created_at <= ${clock.now() - 24 * 3_600_000}`)
  expect(old).toEqual({ n: 0 })
})

test.each([
  ["", 400],
  ["a b", 400],
  ["ä", 400],
  ["x".repeat(256), 400],
  ["~".repeat(255), 201],
])("Idempotency-Key %p answers %d", async (name, status) => {
  const { api, key } = instance
  // Headers consist of bytes; other than ASCII they are read as Latin-1.
  const answer = await api.post(GOALS, goal(`key ${status} ${name.length}`), key, under(name))
  expect(answer.status).toBe(status)
  if (status === 400) expect(answer.body).toMatchObject({ code: "invalid_header" })
})
