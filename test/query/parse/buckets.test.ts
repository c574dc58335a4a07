import { expect, test } from "bun:test"
import type { Interval } from "../../../src/domain/query.ts"
import { bucketsOf, flatLabel, isPartial, queryLabel } from "../../../src/query/parse/buckets.ts"

const at = (text: string) => Date.parse(text)
const buckets = (from: string, to: string, interval: Interval, timezone: string) =>
  bucketsOf({ from: at(from), to: at(to) }, interval, timezone)

/** Returns label and length in hours of each bucket. */
function shown(from: string, to: string, interval: Interval, timezone: string): string[] {
  const { edges } = buckets(from, to, interval, timezone)
  return Array.from(edges.slice(0, -1), (edge, i) => `${queryLabel(edge, interval, timezone)} ${(edges[i + 1]! - edge) / 3_600_000}`)
}

test.each<[string, string, string, Interval, string, string[]]>([
  ["a day of 25 hours", "2026-10-24T22:00Z", "2026-10-26T23:00Z", "day", "Europe/Berlin", ["2026-10-25 25", "2026-10-26 24"]],
  ["a day of 23 hours", "2026-03-28T23:00Z", "2026-03-30T22:00Z", "day", "Europe/Berlin", ["2026-03-29 23", "2026-03-30 24"]],
  ["a day of 23.5 hours", "2026-10-03T13:30Z", "2026-10-05T13:00Z", "day", "Australia/Lord_Howe", ["2026-10-04 23.5", "2026-10-05 24"]],
  ["a day of 24.5 hours", "2026-04-04T13:00Z", "2026-04-06T13:30Z", "day", "Australia/Lord_Howe", ["2026-04-05 24.5", "2026-04-06 24"]],
  ["a day without midnight", "2026-04-23T22:00Z", "2026-04-25T21:00Z", "day", "Africa/Cairo", ["2026-04-24 23", "2026-04-25 24"]],
  ["a skipped date", "2011-12-29T10:00Z", "2011-12-31T10:00Z", "day", "Pacific/Apia", ["2011-12-29 24", "2011-12-31 24"]],
  [
    "a repeated hour",
    "2026-10-25T00:00Z",
    "2026-10-25T03:00Z",
    "hour",
    "Europe/Berlin",
    ["2026-10-25 02:00:00 1", "2026-10-25 02:00:00+01:00 1", "2026-10-25 03:00:00 1"],
  ],
  ["a skipped hour", "2026-03-29T00:00Z", "2026-03-29T02:00Z", "hour", "Europe/Berlin", ["2026-03-29 01:00:00 1", "2026-03-29 03:00:00 1"]],
  [
    "a repeated half hour",
    "2026-04-04T14:00Z",
    "2026-04-04T16:30Z",
    "hour",
    "Australia/Lord_Howe",
    ["2026-04-05 01:00:00 1", "2026-04-05 01:00:00+10:30 0.5", "2026-04-05 02:00:00 1"],
  ],
  [
    "hours in a zone with an offset of 45 minutes",
    "2026-01-01T00:00Z",
    "2026-01-01T02:00Z",
    "hour",
    "Asia/Kathmandu",
    ["2026-01-01 05:00:00 0.25", "2026-01-01 06:00:00 1", "2026-01-01 07:00:00 0.75"],
  ],
  [
    "weeks from Monday, the first one partial",
    "2026-11-18T00:00Z",
    "2026-11-30T00:00Z",
    "week",
    "UTC",
    ["2026-11-18 120", "2026-11-23 168"],
  ],
  ["months, the last one partial", "2026-01-01T00:00Z", "2026-02-11T00:00Z", "month", "UTC", ["2026-01-01 744", "2026-02-01 240"]],
  [
    "minutes",
    "2026-01-01T10:00:30Z",
    "2026-01-01T10:02:00Z",
    "minute",
    "UTC",
    [`2026-01-01 10:00:00 ${30 / 3600}`, `2026-01-01 10:01:00 ${60 / 3600}`],
  ],
])("splits %s", (_, from, to, interval, timezone, expected) => {
  expect(shown(from, to, interval, timezone)).toEqual(expected)
})

test.each<[string, Interval, string, string]>([
  ["2026-10-25T01:00Z", "hour", "Europe/Berlin", "2026-10-25T02:00:00+01:00"],
  ["2026-10-25T00:00Z", "hour", "Europe/Berlin", "2026-10-25T02:00:00+02:00"],
  ["2026-10-24T22:00Z", "day", "Europe/Berlin", "2026-10-25"],
  ["2026-01-01T00:00Z", "hour", "Asia/Kathmandu", "2026-01-01T05:00:00+05:45"],
])("formats %s, by %s in %s, as %s", (instant, interval, timezone, expected) => {
  expect(flatLabel(at(instant), interval, timezone)).toBe(expected)
})

test("marks buckets as partial when they are cut by the range or not yet over", () => {
  const weeks = buckets("2026-11-04T00:00Z", "2026-11-26T00:00Z", "week", "UTC")
  const partial = (now: string) => [0, 1, 2, 3].map((index) => isPartial(weeks, index, at(now)))
  expect(partial("2026-12-01T00:00Z")).toEqual([true, false, false, true])
  expect(partial("2026-11-22T12:00Z")).toEqual([true, false, true, true])
})
