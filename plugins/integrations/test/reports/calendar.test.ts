import { expect, test } from "bun:test"
import { lastDue, nextDue } from "../../reports/calendar.ts"

const at = (text: string) => Date.parse(text)

test.each([
  ["daily", 7, "Europe/Berlin", "2026-11-21T06:00:00Z", "2026-11-20", "2026-11-20"],
  ["weekly", 7, "Europe/Berlin", "2026-11-16T06:00:00Z", "2026-11-09", "2026-11-15"],
  ["monthly", 7, "Europe/Berlin", "2026-11-01T06:00:00Z", "2026-10-01", "2026-10-31"],
  ["daily", 0, "America/New_York", "2026-11-21T05:00:00Z", "2026-11-20", "2026-11-20"],
  ["daily", 23, "Asia/Kathmandu", "2026-11-20T17:15:00Z", "2026-11-19", "2026-11-19"],
] as const)("a %s report at %d o'clock in %s was last due at %s", (kind, hour, zone, due, from, to) => {
  const last = lastDue({ kind, hour }, zone, at("2026-11-21T12:00:00Z"))
  expect({ at: new Date(last.at).toISOString(), from: last.period.from, to: last.period.to }).toEqual({
    at: new Date(due).toISOString(),
    from,
    to,
  })
})

test.each([
  // Berlin skips 2:00 to 3:00 on 29 March 2026, and has 2:00 twice on 25 October.
  ["a skipped hour", 2, "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"],
  ["a repeated hour", 2, "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:00:00Z"],
  // Lord Howe skips half an hour on 4 October 2026.
  ["a skipped half hour", 2, "Australia/Lord_Howe", "2026-10-03T12:00:00Z", "2026-10-03T15:30:00Z"],
  // Santiago begins 6 September 2026 at 1:00.
  ["a day without midnight", 0, "America/Santiago", "2026-09-05T12:00:00Z", "2026-09-06T04:00:00Z"],
])("%s is due at the next time that exists", (_, hour, zone, after, due) => {
  expect(new Date(nextDue({ kind: "daily", hour }, zone, at(after))).toISOString()).toBe(new Date(due).toISOString())
})
