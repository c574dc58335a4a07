import { expect, test } from "bun:test"
import type { RetentionResponse } from "../responses.ts"
import { type Deed, startPeople } from "./kit.ts"

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

test("in daily mode the answer says for how many days people must be recognized", async () => {
  await using stage = await startPeople({ mode: "daily" })
  await stage.record(THREE)
  const { status, body } = await stage.post("/retention", {})
  expect(status).toBe(422)
  expect(body).toMatchObject({ code: "identity_insufficient", mode: "daily", horizon_days: 1, options: ["shorten_window", "switch_mode"] })
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
  await using stage = await startPeople()
  const answer = await stage.post("/retention", body)
  expect(answer.status).toBe(422)
  expect((answer.body as { errors: object[] }).errors).toContainEqual(expect.objectContaining({ pointer, code }))
})
