import { expect, test } from "bun:test"
import { changeOf, partialText, startedPoints } from "../../src/ui/report/chart/points.ts"

const range = { from: "2026-11-22", to: "2026-11-22", timezone: "Europe/Berlin", includes_today: true }
const hours = ["00", "01", "02"].map((hour) => ({ time: `2026-11-22T${hour}:00:00+01:00`, partial: true }))
const at = (time: string): number => Date.parse(time)

test("omits future hours of the current day", () => {
  const points = [{ time: "2026-11-21T23:00:00+01:00" }, ...hours]
  expect(startedPoints({ points }, at("2026-11-22T00:10:00+01:00"))).toBe(2)
  expect(startedPoints({ points }, at("2026-11-22T02:00:00+01:00"))).toBe(4)
})

test("shows complete points even if the browser's clock is slow, and days as the server reports them", () => {
  expect(startedPoints({ points: [{ time: "2026-11-21T23:00:00+01:00" }, ...hours] }, at("2026-11-21T12:00:00+01:00"))).toBe(1)
  expect(startedPoints({ points: [{ time: "2026-11-21" }, { time: "2026-11-22", partial: true }] }, at("2026-11-21T23:30:00Z"))).toBe(2)
})

test("explains partial points", () => {
  const weeks = [{ time: "2026-11-01", partial: true }, { time: "2026-11-02" }, { time: "2026-11-16", partial: true }]
  expect(weeks.map((_, index) => partialText({ points: weeks, range }, index))).toEqual([
    "partly outside the period",
    undefined,
    "in progress",
  ])
  const past = { ...range, includes_today: false }
  expect(partialText({ points: weeks, range: past }, 2)).toBe("partly outside the period")
})

test.each([
  ["grows", 812, 723, 12.3],
  ["grows by a quarter of a percent", 4_010, 4_000, 0.3],
  ["falls by a quarter of a percent, rounded like an increase", 3_990, 4_000, -0.3],
  ["falls further below 0", -20, -10, -100],
  ["grows from below 0", -10, -20, 50],
  ["is unchanged", 5, 5, 0],
  ["grows from 0", 5, 0, undefined],
])("a chart point that %s shows the same change as the API", (_, value, before, expected) => {
  expect(changeOf({ revenue: value }, { revenue: before }, "revenue")).toBe(expected)
})
