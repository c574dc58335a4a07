import { afterAll, beforeAll, expect, test } from "bun:test"
import type { EngagementResponse, HistogramResponse, LeaderResponse, RetentionResponse } from "../responses.ts"
import { type PeopleStage, startPeople } from "./kit.ts"

/** Six people bought something on 19 October, three others only looked. The cohorts 1 to 4 are the buyers, and three that are refused. */
let stage: PeopleStage
beforeAll(async () => {
  stage = await startPeople()
  const on = (did: string, names: string) => [...names].map((user) => ({ user, at: "2026-10-19T10:00:00Z", did }))
  await stage.record([...on("purchase", "abcdef"), ...on("/", "ghi")])
  const goal = (await stage.post("/goals", { kind: "event", value: "purchase" })).body as { id: number }
  for (const [name, condition] of [
    ["Buyers", { type: "event", value: "purchase" }],
    ["Broken", { type: "goal", goal_id: goal.id }],
    ["Lookers", { type: "page", value: "/" }],
    ["Revenue", { type: "revenue", operator: "gte", amount: "1", currency: "EUR" }],
  ] as const)
    expect(await stage.post("/cohorts", { name, definition: { conditions: [condition] } })).toMatchObject({ status: 201 })
  expect(await stage.send("DELETE", `/goals/${goal.id}`)).toMatchObject({ status: 204 })
})
afterAll(() => stage[Symbol.asyncDispose]())

const named = (id: number, operator = "is") => [{ dimension: "cohort", operator, values: [id] }]
const parameter = (id: number, operator?: string) => `filters=${encodeURIComponent(JSON.stringify(named(id, operator)))}`
const day = { cohort_by: "day", periods: 1, from: "2026-10-19", to: "2026-10-19" }

test("all reports on people count those of a cohort that a filter names", async () => {
  for (const [operator, count] of [
    ["is", 6],
    ["is_not", 3],
  ] as const) {
    const { rows } = (await stage.post("/retention", { ...day, filters: named(1, operator) })).body as RetentionResponse
    expect(rows[0]!.size).toBe(count)
    expect(((await stage.get(`/power-users/histogram?${parameter(1, operator)}`)).body as HistogramResponse).people).toBe(count)
    const { data } = (await stage.get(`/power-users?${parameter(1, operator)}`)).body as { data: LeaderResponse[] }
    expect(data).toHaveLength(count)
    const { points } = (await stage.get(`/engagement?from=2026-10-19&to=2026-10-19&${parameter(1, operator)}`)).body as EngagementResponse
    expect(points[0]!.dau).toBe(count)
  }
})

test.each([
  ["one that does not exist", 99, "admin", 422, 400, { errors: [{ pointer: "/filters/0/values", code: "invalid_choice" }] }],
  ["a broken one", 2, "admin", 422, 422, { code: "broken_reference", errors: [{ pointer: "/filters/0/values" }] }],
  ["one whose size is hidden", 3, "viewer", 422, 400, { errors: [{ pointer: "/filters/0/values", code: "invalid_choice" }] }],
  ["one that looks at revenue which they may not see", 4, "viewer", 422, 400, { errors: [{ code: "invalid_choice" }] }],
] as const)("a filter cannot name %s", async (_, id, who, inBody, inQuery, body) => {
  await stage.instance.app.instance.catalog.script("update memberships set denies_json = '[\"revenue:read\"]' where role = 'viewer'")
  expect(await stage.post("/retention", { ...day, filters: named(id) }, stage[who])).toMatchObject({ status: inBody, body })
  for (const path of ["/power-users/histogram", "/engagement"])
    expect(await stage.get(`${path}?${parameter(id)}`, stage[who])).toMatchObject({ status: inQuery, body })
})

test("a report on a cohort with a deleted goal is refused, whichever way it is named", async () => {
  const refused = { status: 422, body: { code: "broken_reference" } }
  expect(await stage.post("/retention", { cohort_id: 2 })).toMatchObject(refused)
  expect(await stage.get("/power-users/histogram?cohort_id=2")).toMatchObject(refused)
  expect(await stage.post("/cohorts/evaluate", { cohort_id: 2 })).toMatchObject(refused)
  expect((await stage.get("/cohorts/2")).body).toMatchObject({ broken: true })
})
