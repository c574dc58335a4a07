import { expect, test } from "bun:test"
import { parseDay } from "../../../src/domain/moment.ts"
import { PERIODS } from "../../../src/domain/period.ts"
import { isRelativePeriod, type RelativePeriod } from "../../../src/domain/relative-period.ts"
import { type LocalRange, periodRange } from "../../../src/query/parse/period.ts"

const shown = ({ range, from, to, hours }: LocalRange) => [
  from,
  to,
  new Date(range.from).toISOString(),
  new Date(range.to).toISOString(),
  hours,
]
const ask = (period: RelativePeriod, now: string, timezone: string, firstAt?: string) =>
  shown(periodRange(period, { now: Date.parse(now), timezone, firstAt: firstAt === undefined ? undefined : Date.parse(firstAt) }))

// Saturday noon in Berlin (winter time, UTC+1).
test.each<[RelativePeriod, string, string, string, string]>([
  ["today", "2026-11-21", "2026-11-21", "2026-11-20T23:00:00.000Z", "2026-11-21T23:00:00.000Z"],
  ["yesterday", "2026-11-20", "2026-11-20", "2026-11-19T23:00:00.000Z", "2026-11-20T23:00:00.000Z"],
  ["7d", "2026-11-15", "2026-11-21", "2026-11-14T23:00:00.000Z", "2026-11-21T23:00:00.000Z"],
  ["28d", "2026-10-25", "2026-11-21", "2026-10-24T22:00:00.000Z", "2026-11-21T23:00:00.000Z"],
  ["30d", "2026-10-23", "2026-11-21", "2026-10-22T22:00:00.000Z", "2026-11-21T23:00:00.000Z"],
  ["90d", "2026-08-24", "2026-11-21", "2026-08-23T22:00:00.000Z", "2026-11-21T23:00:00.000Z"],
  ["91d", "2026-08-23", "2026-11-21", "2026-08-22T22:00:00.000Z", "2026-11-21T23:00:00.000Z"],
  ["month", "2026-11-01", "2026-11-21", "2026-10-31T23:00:00.000Z", "2026-11-21T23:00:00.000Z"],
  ["1d", "2026-11-21", "2026-11-21", "2026-11-20T23:00:00.000Z", "2026-11-21T23:00:00.000Z"],
  ["14d", "2026-11-08", "2026-11-21", "2026-11-07T23:00:00.000Z", "2026-11-21T23:00:00.000Z"],
  ["1mo", "2026-11-01", "2026-11-21", "2026-10-31T23:00:00.000Z", "2026-11-21T23:00:00.000Z"],
  ["3mo", "2026-09-01", "2026-11-21", "2026-08-31T22:00:00.000Z", "2026-11-21T23:00:00.000Z"],
  ["last_week", "2026-11-09", "2026-11-15", "2026-11-08T23:00:00.000Z", "2026-11-15T23:00:00.000Z"],
  ["last_month", "2026-10-01", "2026-10-31", "2026-09-30T22:00:00.000Z", "2026-10-31T23:00:00.000Z"],
  ["6mo", "2026-06-01", "2026-11-21", "2026-05-31T22:00:00.000Z", "2026-11-21T23:00:00.000Z"],
  ["12mo", "2025-12-01", "2026-11-21", "2025-11-30T23:00:00.000Z", "2026-11-21T23:00:00.000Z"],
  ["year", "2026-01-01", "2026-11-21", "2025-12-31T23:00:00.000Z", "2026-11-21T23:00:00.000Z"],
])("resolves %s in Berlin", (period, from, to, start, end) => {
  expect(ask(period, "2026-11-21T11:00:00Z", "Europe/Berlin")).toEqual([from, to, start, end, false])
})

test.each<[string, RelativePeriod, string, string, string, string, string, string]>([
  [
    "a day of 23 hours",
    "today",
    "2026-03-29T10:00:00Z",
    "Europe/Berlin",
    "2026-03-29",
    "2026-03-29",
    "2026-03-28T23:00",
    "2026-03-29T22:00",
  ],
  [
    "a day of 25 hours",
    "today",
    "2026-10-25T10:00:00Z",
    "Europe/Berlin",
    "2026-10-25",
    "2026-10-25",
    "2026-10-24T22:00",
    "2026-10-25T23:00",
  ],
  [
    "a day without midnight",
    "today",
    "2026-03-08T12:00:00Z",
    "America/Havana",
    "2026-03-08",
    "2026-03-08",
    "2026-03-08T05:00",
    "2026-03-09T04:00",
  ],
  ["a half-hour zone", "today", "2026-11-21T11:00:00Z", "Asia/Kolkata", "2026-11-21", "2026-11-21", "2026-11-20T18:30", "2026-11-21T18:30"],
  [
    "a zone ahead of UTC at the year's end",
    "year",
    "2026-12-31T12:00:00Z",
    "Pacific/Auckland",
    "2027-01-01",
    "2027-01-01",
    "2026-12-31T11:00",
    "2027-01-01T11:00",
  ],
  [
    "a zone behind UTC at the year's end",
    "month",
    "2027-01-01T03:00:00Z",
    "America/New_York",
    "2026-12-01",
    "2026-12-31",
    "2026-12-01T05:00",
    "2027-01-01T05:00",
  ],
  [
    "last month in January",
    "last_month",
    "2027-01-15T12:00:00Z",
    "UTC",
    "2026-12-01",
    "2026-12-31",
    "2026-12-01T00:00",
    "2027-01-01T00:00",
  ],
  [
    "six months back from the 31st",
    "6mo",
    "2026-08-31T12:00:00Z",
    "UTC",
    "2026-03-01",
    "2026-08-31",
    "2026-03-01T00:00",
    "2026-09-01T00:00",
  ],
])("resolves %s", (_, period, now, timezone, from, to, start, end) => {
  expect(ask(period, now, timezone)).toEqual([from, to, `${start}:00.000Z`, `${end}:00.000Z`, false])
})

test.each<[string, string, string, string, string, string, string]>([
  ["an ordinary day", "2026-11-21T11:20:30Z", "UTC", "2026-11-20", "2026-11-21", "2026-11-20T12:00", "2026-11-21T12:00"],
  ["the first moment of an hour", "2026-11-21T11:00:00Z", "UTC", "2026-11-20", "2026-11-21", "2026-11-20T12:00", "2026-11-21T12:00"],
  ["a half-hour zone", "2026-11-21T11:20:00Z", "Asia/Kolkata", "2026-11-20", "2026-11-21", "2026-11-20T11:30", "2026-11-21T11:30"],
  ["the repeated hour", "2026-10-25T01:30:00Z", "Europe/Berlin", "2026-10-24", "2026-10-25", "2026-10-24T02:00", "2026-10-25T02:00"],
  // 01:00–02:00 is followed by 01:30–02:00 at another offset: one of the 24 hours is half an hour long.
  [
    "a clock change by half an hour",
    "2026-04-04T15:10:00Z",
    "Australia/Lord_Howe",
    "2026-04-04",
    "2026-04-05",
    "2026-04-03T16:00",
    "2026-04-04T15:30",
  ],
])("resolves 24h on %s", (_, now, timezone, from, to, start, end) => {
  expect(ask("24h", now, timezone)).toEqual([from, to, `${start}:00.000Z`, `${end}:00.000Z`, true])
})

test.each<[string, string | undefined, string, string]>([
  ["begins with the first event", "2024-05-06T22:30:00Z", "2024-05-07", "2024-05-06T22:00:00.000Z"],
  ["is today without data", undefined, "2026-11-21", "2026-11-20T23:00:00.000Z"],
  ["is today when the first event lies ahead of the clock", "2026-11-22T12:00:00Z", "2026-11-21", "2026-11-20T23:00:00.000Z"],
])("the period all %s", (_, first, from, start) => {
  expect(ask("all", "2026-11-21T11:00:00Z", "Europe/Berlin", first)).toEqual([from, "2026-11-21", start, "2026-11-21T23:00:00.000Z", false])
})

test.each(["2026-02-30", "2025-02-29", "2026-13-01", "2026-00-10", "2026-1-1", "20261121", "2026-11-21T00:00", " 2026-11-21", "", "today"])(
  "rejects the date %p",
  (text) => {
    expect(parseDay(text)).toBeUndefined()
  },
)

test("accepts a leap day", () => {
  expect(parseDay("2024-02-29")?.toString()).toBe("2024-02-29")
})

test.each([
  ["a Monday", "2026-11-23T12:00:00Z", "2026-11-16", "2026-11-22"],
  ["a Sunday", "2026-11-22T12:00:00Z", "2026-11-09", "2026-11-15"],
  ["a week over a new year", "2027-01-04T12:00:00Z", "2026-12-28", "2027-01-03"],
])("last_week is Monday to Sunday of the week before %s", (_, now, from, to) => {
  expect(ask("last_week", now, "UTC").slice(0, 2)).toEqual([from, to])
})

test("all periods of the dashboard are relative periods of the API", () => {
  expect(PERIODS.filter((period) => !isRelativePeriod(period))).toEqual([])
})
