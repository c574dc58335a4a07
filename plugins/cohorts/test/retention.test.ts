import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { RetentionResponse } from "../responses.ts"
import { type Deed, type PeopleStage, startPeople } from "./kit.ts"

/** The example of the specification: A starts on the 6th and returns on the 15th, B on the 11th and 12th, C starts on the 14th. */
const THREE: Deed[] = [
  { user: "A", at: "2026-10-06T10:00:00Z", did: "/" },
  { user: "A", at: "2026-10-15T10:00:00Z", did: "/" },
  { user: "B", at: "2026-10-11T10:00:00Z", did: "/" },
  { user: "B", at: "2026-10-12T10:00:00Z", did: "/" },
  { user: "C", at: "2026-10-14T10:00:00Z", did: "/" },
]

const cellsOf = ({ rows }: RetentionResponse, cohort: string) =>
  rows.find((row) => row.cohort === cohort)!.cells.map(({ count, state }) => (state === "complete" ? count : `${count} ${state}`))

test("three people on fixed days give every cell by hand", async () => {
  await using stage = await startPeople()
  await stage.record(THREE)
  const { status, body } = await stage.post("/retention", { cohort_by: "week", periods: 3, from: "2026-10-05", to: "2026-10-21" })
  expect(status).toBe(200)
  const report = body as RetentionResponse
  expect(report.rows.map(({ cohort, size }) => [cohort, size])).toEqual([
    ["2026-10-05", 2],
    ["2026-10-12", 1],
    ["2026-10-19", 0],
  ])
  expect(cellsOf(report, "2026-10-05")).toEqual([2, 2, "0 partial"])
  expect(cellsOf(report, "2026-10-12")).toEqual([1, "0 partial", "null future"])
  expect(report.average[1]).toEqual({ period: 1, rate: 100, based_on_people: 2 })
  expect(report.identity).toMatchObject({ mode: "identified", horizon_days: null, coverage: 100, restricted: true })
})

const signedUp = { type: "event", value: "signup" }
const bought = { type: "event", value: "purchase" }

test("in daily mode the answer says for how many days people must be recognized", async () => {
  await using stage = await startPeople({ mode: "daily" })
  await stage.record(THREE)
  const refused = { code: "identity_insufficient", mode: "daily", horizon_days: 1, options: ["shorten_window", "switch_mode"] }
  for (const [body, needed_days] of [
    [{}, 14],
    [{ cohort_by: "day", periods: 2, from: "2026-10-20", to: "2026-10-20" }, 2],
    // Period 0 is within a day, but says nothing about the days after it.
    [{ cohort_by: "day", periods: 2, from: "2026-10-20", to: "2026-10-20", start: signedUp, return: bought }, 2],
    [{ cohort_by: "day", periods: 1, from: "2026-10-19", to: "2026-10-21", start: signedUp, return: bought }, 3],
  ] as const)
    expect(await stage.post("/retention", body)).toMatchObject({ status: 422, body: { ...refused, needed_days } })
  const today = { cohort_by: "day", periods: 1, from: "2026-10-21", to: "2026-10-21" }
  expect(await stage.post("/retention", today)).toMatchObject({ status: 200, body: { rows: [{ cells: [{ state: "partial" }] }] } })
})

test("in monthly mode the cells of the same month are known, and no other", async () => {
  await using stage = await startPeople({ mode: "monthly", now: "2026-09-29T10:00:00Z" })
  const { clock } = stage.instance
  const waitUntil = (time: string) => clock.advance(Date.parse(time) - clock.now())
  // One browser, which has a new id in November.
  for (const at of ["2026-10-30T10:00:00Z", "2026-11-02T10:00:00Z", "2026-11-10T10:00:00Z"]) {
    waitUntil(at)
    await stage.record([{ user: "not sent", at, did: "/" }])
  }
  waitUntil("2026-12-09T12:00:00Z")
  const owner = { cookie: await stage.instance.signIn({ role: "owner" }) } // the session from October has ended
  const body = { cohort_by: "week", periods: 6, from: "2026-10-26", to: "2026-11-02" }
  const { rows, identity } = (await stage.post("/retention", body, owner)).body as RetentionResponse
  const unobservable = "null unobservable"
  expect(rows.map(({ cohort, size }) => [cohort, size])).toEqual([
    ["2026-10-26", 1],
    ["2026-11-02", 1],
  ])
  expect(cellsOf({ rows } as RetentionResponse, "2026-10-26")).toEqual([1, ...Array(5).fill(unobservable)])
  expect(cellsOf({ rows } as RetentionResponse, "2026-11-02")).toEqual([1, 1, 0, 0, unobservable, unobservable])
  expect(identity).toMatchObject({ mode: "monthly", horizon_days: 31, restricted: false, boundary_days: ["2026-11-01"] })
})

test("identified people are followed from one event to another, day by day", async () => {
  await using stage = await startPeople()
  const on = (day: string, did: string, names: string) => [...names].map((user) => ({ user, at: `2026-10-${day}T10:00:00Z`, did }))
  await stage.record([...on("19", "signup", "abc"), ...on("20", "purchase", "ab"), ...on("21", "purchase", "c")])
  const body = { cohort_by: "day", periods: 4, from: "2026-10-19", to: "2026-10-19", start: signedUp, return: bought }
  const report = (await stage.post("/retention", body)).body as RetentionResponse
  expect(cellsOf(report, "2026-10-19")).toEqual([0, 2, "1 partial", "null future"])
})

test("a viewer sees neither small cohorts nor their cells", async () => {
  await using stage = await startPeople()
  await stage.record(THREE)
  const { body } = await stage.post("/retention", { periods: 3, from: "2026-10-05", to: "2026-10-21" }, stage.viewer)
  const { rows, average, suppressed } = body as RetentionResponse
  expect(rows.map(({ size }) => size)).toEqual([null, null, 0])
  expect(rows.flatMap(({ cells }) => cells.map(({ count }) => count)).filter((count) => count !== null && count > 0)).toEqual([])
  expect(average.every(({ based_on_people }) => based_on_people === 0)).toBe(true)
  expect(suppressed.below).toBe(5)
  expect(suppressed.groups).toBeGreaterThan(0)
})

test("what a filter, a cohort or a return leaves out is no small group that a viewer can see", async () => {
  await using stage = await startPeople()
  const on = (day: string, did: string, names: string) => [...names].map((user) => ({ user, at: `2026-10-${day}T10:00:00Z`, did }))
  await stage.record([
    ...on("06", "/", "abcdefghij"),
    ...on("07", "/pricing", "kl"),
    ...on("14", "/", "abcdefgh"),
    // A week of other people, so that the cohort as a whole leaves out more than two.
    ...on("13", "/", "mnopqr"),
    ...on("13", "/pricing", "stuvw"),
  ])
  const week = { periods: 2, from: "2026-10-05", to: "2026-10-11" }
  const rowOf = async (body: object, as = stage.viewer) => {
    const { size, cells } = ((await stage.post("/retention", { ...week, ...body }, as)).body as RetentionResponse).rows[0]!
    return [size, cells[1]!.count]
  }
  const entry = (...values: string[]) => ({ dimension: "entry_page", operator: "is", values })
  expect([await rowOf({}, stage.admin), await rowOf({})]).toEqual([
    [12, 8],
    // Four did not return.
    [12, null],
  ])
  for (const filters of [[entry("/")], [entry("/"), entry("/")], [entry("/"), entry("/", "/other")]]) {
    expect(await rowOf({ filters }, stage.admin)).toEqual([10, 8])
    expect(await rowOf({ filters })).toEqual([null, null])
  }
  await stage.post("/cohorts", { name: "Home", definition: { conditions: [{ type: "page", value: "/" }] } })
  expect(await stage.post("/cohorts/1/refresh", undefined, stage.viewer)).toMatchObject({ body: { size: 16 } })
  expect(await rowOf({ cohort_id: 1 }, stage.admin)).toEqual([10, 8])
  expect(await rowOf({ cohort_id: 1 })).toEqual([null, null])
  const named = { dimension: "cohort", operator: "is", values: [1] }
  expect(await rowOf({ filters: [named] }, stage.admin)).toEqual([10, 8])
  expect(await rowOf({ filters: [named] })).toEqual([null, null])
})

describe("the body of the report", () => {
  let stage: PeopleStage
  beforeAll(async () => {
    stage = await startPeople()
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  test.each([
    [{ cohort_by: "year" }, "/cohort_by", "invalid_choice"],
    [{ cohort_by: "month", periods: 37 }, "/periods", "out_of_range"],
    [{ measured: "elapsed" }, "/measured", "unsupported_combination"],
    [{ start: { type: "event" } }, "/start/value", "required"],
    [{ start: { type: "goal", goal_id: 9 } }, "/start/goal_id", "broken_reference"],
    [{ breakdown: "page" }, "/breakdown", "invalid_choice"],
    [{ from: "2026-10-01" }, "/to", "required"],
    [{ from: "2026-10-09", to: "2026-10-01" }, "/from", "invalid_range"],
    [{ cohort_by: "day", from: "2020-01-01", to: "2026-10-01" }, "/from", "too_many_points"],
    [{ filters: [{ dimension: "mood", values: ["good"] }] }, "/filters/0/dimension", "invalid_choice"],
    [{ filters: {} }, "/filters", "invalid_type"],
    [{ weeks: 3 }, "/weeks", "unknown_field"],
  ])("%j is refused at %s", async (body, pointer, code) => {
    const answer = await stage.post("/retention", body)
    expect(answer.status).toBe(422)
    expect((answer.body as { errors: object[] }).errors).toContainEqual(expect.objectContaining({ pointer, code }))
  })
})
