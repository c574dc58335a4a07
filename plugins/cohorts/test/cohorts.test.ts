import { describe, expect, test } from "bun:test"
import type { CohortResponse, EvaluationResponse } from "../responses.ts"
import { type Deed, runErasures, startPeople, THREE_BUYERS } from "./kit.ts"

/** A sign-up on 1 March at 23:50, and a purchase on a later day, for three people. Carl has not bought anything. */
const DEEDS: Deed[] = [
  { user: "ann", at: "2026-03-01T22:50:00Z", did: "signup" },
  { user: "ann", at: "2026-03-08T20:00:00Z", did: "purchase" },
  { user: "bob", at: "2026-03-01T22:50:00Z", did: "signup" },
  { user: "bob", at: "2026-03-09T08:00:00Z", did: "purchase" },
  { user: "carl", at: "2026-03-01T22:50:00Z", did: "signup" },
]
/** Signed up, and did not purchase within 7 days of it. */
const NOT_BOUGHT = {
  conditions: [
    { type: "event", value: "signup" },
    { type: "event", value: "purchase", negate: true, window: { type: "after", condition: 0, days: 7 } },
  ],
}
const SIGNED_UP = { conditions: [{ type: "event", value: "signup" }] }

const created = (body: unknown) => body as CohortResponse // the response of the route

describe("people who signed up and did not purchase within 7 days", () => {
  test.each([
    ["2026-03-07", { size: 0, pending: 3 }],
    ["2026-03-08", { size: 2, pending: 0 }],
    ["2026-03-19", { size: 2, pending: 0 }],
  ])("as of %s", async (as_of, expected) => {
    await using stage = await startPeople({ now: "2026-03-20T12:00:00Z" })
    await stage.record(DEEDS)
    const { status, body } = await stage.post("/cohorts/evaluate", { definition: NOT_BOUGHT, as_of, trend_days: 0 })
    expect(status).toBe(200)
    expect(body).toMatchObject(expected)
  })
})

test("an evaluation counts, compares, breaks down and shows earlier days", async () => {
  await using stage = await startPeople({ now: "2026-03-20T12:00:00Z" })
  await stage.record([...DEEDS, { user: "dora", at: "2026-03-19T10:00:00Z", did: "/" }])
  const { status, body } = await stage.post("/cohorts/evaluate", {
    definition: { conditions: [{ type: "event", value: "purchase" }] },
    compare_to: "all",
    breakdown: ["device"],
    trend_days: 13,
  })
  expect(status).toBe(200)
  const answer = body as EvaluationResponse
  expect(answer).toMatchObject({ size: 2, pending: 0, people_total: 4, share_of_people: 50, compared: { size: 4, people: 2 } })
  expect(answer.trend.slice(0, 3)).toEqual([
    { day: "2026-03-08", size: 1 },
    { day: "2026-03-09", size: 2 },
    { day: "2026-03-10", size: 2 },
  ])
  expect(answer.breakdown).toEqual([{ dimension: "device", rows: [{ value: "Desktop", people: 2, share: 100, share_of_all: 100 }] }])
})

test("a cohort is created, changed, deleted and restored", async () => {
  await using stage = await startPeople()
  await stage.record(THREE_BUYERS)
  const { status, body, headers } = await stage.post("/cohorts", {
    name: "  Buyers ",
    definition: { conditions: [{ type: "event", value: "purchase" }] },
  })
  expect(status).toBe(201)
  expect(headers.get("location")).toBe("/api/private/sites/1/cohorts/1")
  expect(created(body)).toMatchObject({ id: 1, name: "Buyers", kind: "dynamic", size: null, broken: false, version: 1 })
  expect((await stage.post("/cohorts/1/refresh")).body).toMatchObject({ size: 3, pending: 0, version: 1 })
  expect((await stage.send("PATCH", "/cohorts/1", { description: "They bought something.", version: 1 })).body).toMatchObject({
    version: 2,
  })
  expect(await stage.send("PATCH", "/cohorts/1", { name: "Others", version: 1 })).toMatchObject({
    status: 409,
    body: { code: "version_conflict", current: { version: 2 } },
  })
  expect(await stage.post("/cohorts", { name: "BUYERS", definition: SIGNED_UP })).toMatchObject({
    status: 409,
    body: { code: "cohort_exists", existing_id: 1 },
  })
  expect((await stage.send("DELETE", "/cohorts/1")).status).toBe(204)
  expect((await stage.get("/cohorts/1")).body).toMatchObject({ code: "cohort_not_found" })
  expect((await stage.post("/cohorts", { name: "Buyers", definition: SIGNED_UP })).status).toBe(201)
  expect(await stage.post("/cohorts/1/restore")).toMatchObject({ status: 409, body: { code: "cohort_exists" } })
  expect((await stage.send("PATCH", "/cohorts/2", { name: "Signed up" })).status).toBe(200)
  expect(await stage.post("/cohorts/1/restore")).toMatchObject({ status: 200, body: { name: "Buyers" } })
})

test("cohorts that others refer to are deleted only with force, and break them", async () => {
  await using stage = await startPeople()
  await stage.post("/cohorts", { name: "Signed up", definition: SIGNED_UP })
  await stage.post("/cohorts", { name: "Again", definition: { conditions: [{ type: "cohort", cohort_id: 1 }] } })
  expect(await stage.send("DELETE", "/cohorts/1")).toMatchObject({
    status: 409,
    body: { code: "in_use", used_by: [{ type: "cohort", id: 2, name: "Again" }] },
  })
  expect((await stage.send("DELETE", "/cohorts/1?force=true")).status).toBe(204)
  expect((await stage.get("/cohorts/2")).body).toMatchObject({ broken: true })
  const { status, body } = await stage.post("/cohorts/evaluate", { cohort_id: 2 })
  expect({ status, body }).toMatchObject({
    status: 422,
    body: { code: "broken_reference", errors: [{ pointer: "/definition/conditions/0/cohort_id" }] },
  })
})

test("a cohort cannot contain itself, directly or through others", async () => {
  await using stage = await startPeople()
  await stage.post("/cohorts", { name: "One", definition: SIGNED_UP })
  await stage.post("/cohorts", { name: "Two", definition: { conditions: [{ type: "cohort", cohort_id: 1 }] } })
  for (const cohort_id of [1, 2]) {
    const answer = await stage.send("PATCH", "/cohorts/1", { definition: { conditions: [{ type: "cohort", cohort_id }] } })
    expect(answer).toMatchObject({ status: 422, body: { code: "cohort_cycle" } })
  }
})

test.each([
  ["in the event store", false],
  ["on a server", true],
])("a frozen cohort keeps its people %s while the original changes, and its definition cannot change", async (_, hasRowServer) => {
  await using stage = await startPeople({ hasRowServer })
  await stage.record(THREE_BUYERS)
  await stage.post("/cohorts", { name: "Buyers", definition: { conditions: [{ type: "event", value: "purchase" }] } })
  const { status, body } = await stage.post("/cohorts/1/freeze", { name: "Buyers of October" })
  expect(status).toBe(201)
  expect(created(body)).toMatchObject({ id: 2, kind: "static" })
  await stage.record([{ user: "dora", at: "2026-10-12T10:00:00Z", did: "purchase" }])
  const sizeOf = async (cohort_id: number) =>
    ((await stage.post("/cohorts/evaluate", { cohort_id, trend_days: 0 })).body as EvaluationResponse).size
  expect([await sizeOf(1), await sizeOf(2)]).toEqual([4, 3])
  expect((await stage.get("/cohorts/2")).body).toMatchObject({ size: 3 })
  expect(await stage.send("PATCH", "/cohorts/2", { definition: SIGNED_UP })).toMatchObject({ status: 409, body: { code: "static_cohort" } })
  const members = (await stage.get("/cohorts/2/members?sort=first_seen&count=true")).body as { data: { label: string }[]; total: number }
  expect({ labels: members.data.map(({ label }) => label).sort(), total: members.total }).toEqual({
    labels: ["ann", "bob", "carl"],
    total: 3,
  })
})

test("a viewer sees no size of a small cohort, and no person", async () => {
  await using stage = await startPeople()
  await stage.record(THREE_BUYERS)
  await stage.post("/cohorts", { name: "Buyers", definition: { conditions: [{ type: "event", value: "purchase" }] } })
  await stage.post("/cohorts/1/refresh")
  expect((await stage.get("/cohorts/1", stage.viewer)).body).toMatchObject({ size: null })
  expect((await stage.post("/cohorts/evaluate", { cohort_id: 1 }, stage.viewer)).body).toMatchObject({
    size: null,
    people_total: null,
    suppressed: { below: 5 },
  })
  for (const path of ["/cohorts/1/members", "/power-users", "/power-users/0011223344556677", "/people/0011223344556677/export"])
    expect(await stage.get(path, stage.viewer)).toMatchObject({
      status: 403,
      body: { code: "forbidden", required_permission: "people:read" },
    })
})

test("a person is listed, shown with visits, exported and erased", async () => {
  await using stage = await startPeople()
  await stage.record([...THREE_BUYERS, { user: "ann", at: "2026-10-19T10:00:00Z", did: "/pricing" }])
  const { data } = (await stage.get("/power-users?sort=last_seen")).body as {
    data: { person: string; label: string; active_days: number }[]
  }
  expect(data[0]).toMatchObject({ label: "ann", active_days: 2 })
  const token = data[0]!.person
  expect((await stage.get(`/power-users/${token}`)).body).toMatchObject({
    label: "ann",
    kind: "user",
    recent: { data: [{ entry_page: "/pricing" }, {}], has_more: false },
  })
  expect((await stage.get(`/people/${token}/export`)).headers.get("content-type")).toBe("application/zip")
  expect(await stage.get("/power-users/0011223344556677")).toMatchObject({ status: 404, body: { code: "person_not_found" } })
  const known = await stage.post("/people/erase", { user_id: "ann", confirm: true })
  const unknown = await stage.post("/people/erase", { user_id: "nobody", confirm: true })
  expect([known.status, unknown.status]).toEqual([202, 202])
  const { id: _, requested_at: __, ...first } = known.body as Record<string, unknown>
  const { id: ___, requested_at: ____, ...second } = unknown.body as Record<string, unknown>
  expect(first).toEqual(second)
  await runErasures(stage)
  expect((await stage.get("/people/erasures/1")).body).toMatchObject({ state: "done", found: { visits: 2, events: 2 } })
  expect((await stage.get("/people/erasures/2")).body).toMatchObject({ state: "done", found: { visits: 0, events: 0 } })
  expect((await stage.get(`/power-users/${token}`)).status).toBe(404)
})

test("a cohort is a filter in reports, unless its size is hidden from the reader", async () => {
  await using stage = await startPeople()
  await stage.record([...THREE_BUYERS, ...["dora", "emil", "fritz"].map((user) => ({ user, at: "2026-10-11T10:00:00Z", did: "/" }))])
  await stage.post("/cohorts", { name: "Buyers", definition: { conditions: [{ type: "event", value: "purchase" }] } })
  const summary = (operator: string) =>
    `/stats/summary?period=30d&filters=${encodeURIComponent(JSON.stringify([{ dimension: "cohort", operator, values: [1] }]))}`
  expect(await stage.get(summary("is"))).toMatchObject({ status: 200, body: { metrics: { visitors: 3 } } })
  expect(await stage.get(summary("is_not"))).toMatchObject({ status: 200, body: { metrics: { visitors: 3 } } })
  expect(await stage.get(summary("is"), stage.viewer)).toMatchObject({ status: 400, body: { errors: [{ code: "invalid_choice" }] } })
  await stage.record(["gina", "hans", "ida"].map((user) => ({ user, at: "2026-10-12T10:00:00Z", did: "purchase" })))
  stage.instance.clock.advance(601_000)
  expect(await stage.get(summary("is"), stage.viewer)).toMatchObject({ status: 400 })
  await stage.record(["jana", "karl"].map((user) => ({ user, at: "2026-10-13T10:00:00Z", did: "/" })))
  stage.instance.clock.advance(601_000)
  expect(await stage.get(summary("is"), stage.viewer)).toMatchObject({ status: 200, body: { metrics: { visitors: 6 } } })
})
