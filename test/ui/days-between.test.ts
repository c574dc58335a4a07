import { expect, test } from "bun:test"
import { daysBetween, hoursBetween } from "../../src/ui/report/chart/days-between.ts"

/** Points of a chart that start at these times. The range has the days of the report. */
const chart = (interval: "hour" | "day" | "week" | "month", range: { from: string; to: string }, ...times: string[]) =>
  ({ interval, range, points: times.map((time) => ({ time })) }) as unknown as Parameters<typeof daysBetween>[0] // only the times are read

const MARCH = { from: "2026-03-03", to: "2026-03-20" }

test("a point of days opens its day, and a selection the days from its first to its last point", () => {
  const days = chart("day", MARCH, "2026-03-03", "2026-03-04", "2026-03-05")
  expect(daysBetween(days, 1, 1)).toEqual({ from: "2026-03-04", to: "2026-03-04" })
  expect(daysBetween(days, 0, 2)).toEqual({ from: "2026-03-03", to: "2026-03-05" })
})

test("a week ends on Sunday, also a first one that begins later, and never after the range", () => {
  const weeks = chart("week", MARCH, "2026-03-03", "2026-03-09", "2026-03-16")
  expect(daysBetween(weeks, 0, 0)).toEqual({ from: "2026-03-03", to: "2026-03-08" })
  expect(daysBetween(weeks, 1, 1)).toEqual({ from: "2026-03-09", to: "2026-03-15" })
  expect(daysBetween(weeks, 2, 2)).toEqual({ from: "2026-03-16", to: "2026-03-20" })
})

test("a month ends on its last day, also in a leap year", () => {
  const months = chart("month", { from: "2028-01-15", to: "2028-04-30" }, "2028-01-15", "2028-02-01", "2028-03-01")
  expect(daysBetween(months, 0, 0)).toEqual({ from: "2028-01-15", to: "2028-01-31" })
  expect(daysBetween(months, 1, 1)).toEqual({ from: "2028-02-01", to: "2028-02-29" })
})

test("what is the whole range already, such as the hours of one day, opens nothing", () => {
  const day = { from: "2026-03-03", to: "2026-03-03" }
  expect(daysBetween(chart("hour", day, "2026-03-03T10:00", "2026-03-03T11:00"), 0, 1)).toBeUndefined()
  expect(daysBetween(chart("day", MARCH, "2026-03-03"), 5, 5)).toBeUndefined()
})

test("hours open the visits that began in them, and other points none", () => {
  const day = { from: "2026-03-03", to: "2026-03-04" }
  const hours = chart("hour", day, "2026-03-03T23:00:00+01:00", "2026-03-04T00:00:00+01:00")
  expect(hoursBetween(hours, 0, 0)).toEqual({ period: "custom", from: "2026-03-03", to: "2026-03-03", cards: { hours: "23-23" } })
  expect(hoursBetween(hours, 0, 1)).toEqual({ period: "custom", from: "2026-03-03", to: "2026-03-04", cards: { hours: "23-0" } })
  expect(hoursBetween(chart("day", MARCH, "2026-03-03"), 0, 0)).toBeUndefined()
})
