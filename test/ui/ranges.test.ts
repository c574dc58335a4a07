import { describe, expect, test } from "bun:test"
import { addMonths, fittingIntervals, lengthOf, rangeOf, stepped, todayIn } from "../../src/ui/report/data/ranges.ts"
import { placesOf } from "../../src/ui/report/notes.ts"

const TODAY = "2026-11-21"

test.each([
  ["today", "2026-11-21", "2026-11-21"],
  ["yesterday", "2026-11-20", "2026-11-20"],
  ["7d", "2026-11-15", "2026-11-21"],
  ["28d", "2026-10-25", "2026-11-21"],
  ["month", "2026-11-01", "2026-11-21"],
  ["last_month", "2026-10-01", "2026-10-31"],
  ["year", "2026-01-01", "2026-11-21"],
  ["6mo", "2026-06-01", "2026-11-21"],
  ["12mo", "2025-12-01", "2026-11-21"],
  ["all", "2024-03-05", "2026-11-21"],
] as const)("%s is %s to %s", (period, from, to) => {
  expect(rangeOf({ period }, TODAY, "2024-03-05")).toEqual({ from, to })
})

describe("a step by the length of the period", () => {
  test.each([
    ["back from 28 days", { period: "28d" }, -1, { period: "custom", from: "2026-09-27", to: "2026-10-24" }],
    ["back to 28 days", { period: "custom", from: "2026-09-27", to: "2026-10-24" }, 1, { period: "28d" }],
    ["back from today", { period: "today" }, -1, { period: "yesterday" }],
    ["back from the current month", { period: "month" }, -1, { period: "last_month" }],
    ["back from last month", { period: "last_month" }, -1, { period: "custom", from: "2026-09-01", to: "2026-09-30" }],
    ["forward from a whole month", { period: "custom", from: "2026-09-01", to: "2026-09-30" }, 1, { period: "last_month" }],
    ["forward from last month", { period: "last_month" }, 1, { period: "month" }],
    ["back from the year", { period: "year" }, -1, { period: "custom", from: "2025-01-01", to: "2025-12-31" }],
    ["forward from yesterday", { period: "yesterday" }, 1, { period: "today" }],
  ] as const)("%s", (_, address, direction, expected) => {
    expect(stepped(address, direction, TODAY)).toEqual(expected)
  })

  test("prefers months to days where both fit", () => {
    expect(stepped({ period: "custom", from: "2026-10-01", to: "2026-10-31" }, 1, "2026-11-30")).toEqual({ period: "month" })
  })

  test("never leads into the future, and does not exist for all time", () => {
    expect(stepped({ period: "28d" }, 1, TODAY)).toBeUndefined()
    expect(stepped({ period: "24h" }, 1, TODAY)).toBeUndefined()
    expect(stepped({ period: "all" }, -1, TODAY)).toBeUndefined()
  })
})

test("clamps the last day of a month to a shorter month", () => {
  expect(addMonths("2026-03-31", -1)).toBe("2026-02-28")
  expect(addMonths("2024-01-31", 1)).toBe("2024-02-29")
})

test("determines today in the given time zone", () => {
  const at = Date.parse("2026-11-21T23:30:00Z")
  expect(todayIn("Europe/Berlin", at)).toBe("2026-11-22")
  expect(todayIn("America/New_York", at)).toBe("2026-11-21")
})

test.each([
  [1, ["auto", "hour"]],
  [28, ["auto", "hour", "day", "week"]],
  [91, ["auto", "day", "week", "month"]],
  [1_000, ["auto", "week", "month"]],
])("a range of %i days offers the intervals %p", (days, intervals) => {
  expect(fittingIntervals(days)).toEqual(intervals as ReturnType<typeof fittingIntervals>)
})

test("the length of a range includes both ends, also across clock changes", () => {
  expect(lengthOf({ from: "2026-10-25", to: "2026-10-25" })).toBe(1)
  expect(lengthOf({ from: "2026-03-01", to: "2026-03-31" })).toBe(31)
})

describe("notes are placed at", () => {
  const note = (at: string, day = at) => ({ at, day })
  test("their day or week, and omitted before the first point", () => {
    const weeks = [{ time: "2026-11-02" }, { time: "2026-11-09" }, { time: "2026-11-16" }]
    expect(placesOf(weeks, [note("2026-11-09"), note("2026-11-15"), note("2026-11-01"), note("2026-11-30")])).toEqual([1, 1, undefined, 2])
  })
  test("the first hour of their day or their own hour", () => {
    const hours = ["00", "01", "02"].map((hour) => ({ time: `2026-11-21T${hour}:00:00+01:00` }))
    expect(placesOf(hours, [note("2026-11-21"), note("2026-11-21T00:30:00Z", "2026-11-21")])).toEqual([0, 1])
  })
})
