import { expect, test } from "bun:test"
import { type Comparison, changePercent, comparedRange } from "../../../src/query/parse/compare.ts"
import { daysRange, hoursRange, periodRange } from "../../../src/query/parse/period.ts"

const day = (text: string) => Temporal.PlainDate.from(text)
const custom = (from: string, to: string, matchWeekday = false): Comparison => ({
  mode: "custom",
  from: day(from),
  to: day(to),
  matchWeekday,
})
const previous: Comparison = { mode: "previous_period", matchWeekday: false }
const yearBefore: Comparison = { mode: "previous_year", matchWeekday: false }

test.each<[string, [string, string], Comparison, [string, string]]>([
  ["a week with the week before", ["2026-11-15", "2026-11-21"], previous, ["2026-11-08", "2026-11-14"]],
  ["a day with the day before", ["2026-03-01", "2026-03-01"], previous, ["2026-02-28", "2026-02-28"]],
  ["a month with the same number of days before it", ["2026-03-01", "2026-03-31"], previous, ["2026-01-29", "2026-02-28"]],
  ["a range with the same dates a year earlier", ["2026-11-15", "2026-11-21"], yearBefore, ["2025-11-15", "2025-11-21"]],
  ["29 February with 28 February", ["2024-02-29", "2024-02-29"], yearBefore, ["2023-02-28", "2023-02-28"]],
  ["February of a leap year with February", ["2024-02-01", "2024-02-29"], yearBefore, ["2023-02-01", "2023-02-28"]],
  ["a range with custom dates", ["2026-11-15", "2026-11-21"], custom("2026-01-01", "2026-01-31"), ["2026-01-01", "2026-01-31"]],
  // Sunday 2026-11-15. Ten days before it is Thursday 2026-11-05, moved back to Sunday 2026-11-01.
  ["ten days, moved to the same weekday", ["2026-11-15", "2026-11-24"], { ...previous, matchWeekday: true }, ["2026-11-01", "2026-11-10"]],
  [
    "a week, which already starts on the same weekday",
    ["2026-11-15", "2026-11-21"],
    { ...previous, matchWeekday: true },
    ["2026-11-08", "2026-11-14"],
  ],
  // 16 November, a Monday in 2026, was a Sunday in 2025: moved six days back, never one day forward.
  [
    "the same dates a year earlier, moved to the same weekday",
    ["2026-11-16", "2026-11-22"],
    { ...yearBefore, matchWeekday: true },
    ["2025-11-10", "2025-11-16"],
  ],
  [
    "custom dates, moved to the same weekday",
    ["2026-11-16", "2026-11-16"],
    custom("2026-01-07", "2026-01-09", true),
    ["2026-01-05", "2026-01-07"],
  ],
])("compares %s", (_, [from, to], comparison, expected) => {
  const compared = comparedRange(daysRange(day(from), day(to), "UTC"), comparison)
  expect([compared.from, compared.to]).toEqual(expected)
})

test("compares whole local days, regardless of their length", () => {
  const compared = comparedRange(daysRange(day("2026-10-26"), day("2026-10-26"), "Europe/Berlin"), previous)
  expect(compared.range).toEqual({ from: Date.parse("2026-10-24T22:00:00Z"), to: Date.parse("2026-10-25T23:00:00Z") })
})

test.each<[string, Comparison, string, string]>([
  ["the 24 hours before", previous, "2026-11-19T12:00:00Z", "2026-11-20T12:00:00Z"],
  ["the same hours a year earlier", yearBefore, "2025-11-20T12:00:00Z", "2025-11-21T12:00:00Z"],
  ["the same weekday", { ...previous, matchWeekday: true }, "2026-11-13T12:00:00Z", "2026-11-14T12:00:00Z"],
])("compares 24h with %s", (_, comparison, from, to) => {
  const range = periodRange("24h", { now: Date.parse("2026-11-21T11:20:00Z"), timezone: "UTC" })
  expect(comparedRange(range, comparison)).toEqual(hoursRange({ from: Date.parse(from), to: Date.parse(to) }, "UTC"))
})

test.each([
  [812, 723, 12.3],
  [41.2, 43, -4.2],
  [5, 5, 0],
  [0, 4, -100],
  [5, 0, undefined],
  [0, 0, undefined],
  [-10, -20, -50],
  [3.5, 10_000_000_000, -100],
  [0.0003, 0.0001, 200],
  [0.0001, 0.0003, -66.7],
  [90_000_000_000_000, 70_000_000_000_000, 28.6],
])("computes the change to %p from %p", (value, before, expected) => {
  expect(changePercent(value, before)).toBe(expected)
})
