import { QUERY } from "../../domain/limits.ts"
import { parseDay, parseInstant, parseLocalTime } from "../../domain/moment.ts"
import type { Interval, Range } from "../../domain/query.ts"
import { countOf, type RelativePeriod } from "../../domain/relative-period.ts"
import type { ArgumentReader } from "./arguments.ts"
import { bucketsOf } from "./buckets.ts"

/** A resolved range with its first and last local day, both inclusive. `hours`: the range covers whole hours within those days (`24h`). */
export interface LocalRange {
  range: Range
  from: string
  to: string
  timezone: string
  hours: boolean
}

/** The time and zone in which a query is resolved. */
export interface Moment {
  now: number
  timezone: string
  /** Epoch ms of the first event of the site, at which the period `all` starts. */
  firstAt?: number | undefined
}

/** Returns the range of a period. `today` is the whole local day, including the hours to come. */
export function periodRange(period: RelativePeriod, moment: Moment): LocalRange {
  if (period === "24h") return last24Hours(moment)
  const { from, to } = periodDays(period, today(moment), moment)
  return daysRange(from, to, moment.timezone)
}

/** Returns the range of whole local days, both inclusive. A day without midnight starts at its first instant. */
export function daysRange(from: Temporal.PlainDate, to: Temporal.PlainDate, timezone: string): LocalRange {
  const range = { from: dayStart(from, timezone), to: dayStart(to.add({ days: 1 }), timezone) }
  return { range, from: from.toString(), to: to.toString(), timezone, hours: false }
}

/** Returns a range of hours with the local days of its first and last instant. */
export function hoursRange(range: Range, timezone: string): LocalRange {
  const [from, to] = [localDay(range.from, timezone), localDay(range.to - 1, timezone)]
  return { range, from: from.toString(), to: to.toString(), timezone, hours: true }
}

export const dayStart = (day: Temporal.PlainDate, timezone: string): number => day.toZonedDateTime(timezone).epochMilliseconds

export const localDay = (at: number, timezone: string): Temporal.PlainDate => zoned(at, timezone).toPlainDate()

export const zoned = (at: number, timezone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone)

export const today = ({ now, timezone }: Moment): Temporal.PlainDate => localDay(now, timezone)

interface Days {
  from: Temporal.PlainDate
  to: Temporal.PlainDate
}

function periodDays(period: Exclude<RelativePeriod, "24h">, day: Temporal.PlainDate, { firstAt, timezone }: Moment): Days {
  const month = day.with({ day: 1 })
  const week = day.subtract({ days: day.dayOfWeek - 1 })
  const counted = countOf(period)
  if (counted?.unit === "days") return { from: day.subtract({ days: counted.count - 1 }), to: day }
  if (counted) return { from: month.subtract({ months: counted.count - 1 }), to: day }
  switch (period) {
    case "yesterday":
      return { from: day.subtract({ days: 1 }), to: day.subtract({ days: 1 }) }
    case "last_week":
      return { from: week.subtract({ weeks: 1 }), to: week.subtract({ days: 1 }) }
    case "month":
      return { from: month, to: day }
    case "last_month":
      return { from: month.subtract({ months: 1 }), to: month.subtract({ days: 1 }) }
    case "year":
      return { from: day.with({ month: 1, day: 1 }), to: day }
    case "all":
      return { from: earlier(day, firstAt === undefined ? day : localDay(firstAt, timezone)), to: day }
    default:
      return { from: day, to: day }
  }
}

const earlier = (a: Temporal.PlainDate, b: Temporal.PlainDate): Temporal.PlainDate => (Temporal.PlainDate.compare(a, b) <= 0 ? a : b)

/** Returns the current hour and the 23 before it on the local clock. A clock change can shorten one of them. */
function last24Hours({ now, timezone }: Moment): LocalRange {
  const { edges, wholeTo } = bucketsOf({ from: now - 26 * 3_600_000, to: now + 1 }, "hour", timezone)
  return hoursRange({ from: edges[edges.length - 25]!, to: wholeTo }, timezone)
}

/** Start or end of a range as it was sent: a local day, or an instant in epoch milliseconds. */
export type End = Temporal.PlainDate | number

/** Parses a day, an RFC 3339 time, or a local time without an offset. Returns undefined for anything else. */
export const parseEnd = (text: string, timezone: string): End | undefined =>
  parseDay(text) ?? parseInstant(text) ?? parseLocalTime(text, timezone)

export const END_FORMS = "a calendar date, YYYY-MM-DD, or a time, such as 2026-11-20T08:00:00 or 2026-11-20T08:00:00Z"

/** Two days, both inclusive, the last one no later than today. */
export interface ClippedDays {
  from: Temporal.PlainDate
  to: Temporal.PlainDate
  /** Whether the last day was after today. */
  clipped: boolean
}

/** Why two days are not a range: wrong order, start in the future, or too long. */
export type DaysFault = "reversed" | "future" | "long"

/** Checks a range of days and clips it to today (metrics.md 9.1). Used by both forms of a query. */
export function clippedDays(from: Temporal.PlainDate, to: Temporal.PlainDate, moment: Moment): ClippedDays | DaysFault {
  const day = today(moment)
  const clipped = Temporal.PlainDate.compare(to, day) > 0
  const last = clipped ? day : to
  if (Temporal.PlainDate.compare(from, to) > 0) return "reversed"
  if (Temporal.PlainDate.compare(from, day) > 0) return "future"
  return isTooLong(from, last) ? "long" : { from, to: last, clipped }
}

/** A resolved range, and whether its end was after today and was clipped. */
export interface ClippedRange {
  range: LocalRange
  clipped: boolean
}

/** Why two ends are not a range: as for days, or one of them is a day and the other one a time. */
export type RangeFault = DaysFault | "mixed"

/** Returns the range between two days or two times, both inclusive, times to the second. Its end is clipped to the end of today. */
export function rangeBetween(first: End, last: End, moment: Moment): ClippedRange | RangeFault {
  if (typeof first === "number") return typeof last === "number" ? instantsBetween(first, last, moment) : "mixed"
  if (typeof last === "number") return "mixed"
  const days = clippedDays(first, last, moment)
  return typeof days === "string" ? days : { range: daysRange(days.from, days.to, moment.timezone), clipped: days.clipped }
}

function instantsBetween(first: number, last: number, moment: Moment): ClippedRange | RangeFault {
  const [from, to] = [wholeSeconds(first), wholeSeconds(last) + 1_000]
  const end = dayStart(today(moment).add({ days: 1 }), moment.timezone)
  const range = { from, to: Math.min(to, end) }
  if (first > last) return "reversed"
  if (from > moment.now) return "future"
  const longest = zoned(from, moment.timezone).add({ years: QUERY.rangeYears })
  return longest.epochMilliseconds < range.to ? "long" : { range: hoursRange(range, moment.timezone), clipped: to > end }
}

const wholeSeconds = (at: number): number => Math.floor(at / 1_000) * 1_000

const isTooLong = (from: Temporal.PlainDate, to: Temporal.PlainDate): boolean =>
  Temporal.PlainDate.compare(from.add({ years: QUERY.rangeYears }), to) <= 0

/** Returns whether a period such as `9999d` covers more days than a range may have. The data decides how long `all` is. */
export const isLongPeriod = (period: RelativePeriod, { from, to }: LocalRange): boolean =>
  countOf(period) !== undefined && isTooLong(Temporal.PlainDate.from(from), Temporal.PlainDate.from(to))

const CHOICES = ["hour", "day", "week", "month"] as const

/** Reads the interval, by default the one that fits the range. Refuses an interval that produces more points than allowed. */
export function readInterval(reader: ArgumentReader, range: LocalRange | undefined): Interval | undefined {
  const chosen = reader.choice("interval", ["auto", ...CHOICES]) ?? "auto"
  if (range === undefined) return undefined
  if (chosen === "auto") return fittingInterval(range)
  const fits = coarserInterval(range, chosen)
  if (fits === undefined) return chosen
  const detail = `At most ${QUERY.points} points are allowed: use interval=${fits}.`
  const allowed = CHOICES.filter((interval) => points(range, interval) <= QUERY.points)
  reader.refuse({ pointer: "/interval", code: "too_many_points", detail, allowed })
  return undefined
}

/** Returns a coarser interval when the chosen one produces more points than allowed or is minutes over more than a day. Undefined when it fits. */
export function coarserInterval(range: LocalRange, chosen: Interval): Interval | undefined {
  const isTooFine = chosen === "minute" ? range.range.to - range.range.from > DAY_MS : points(range, chosen) > QUERY.points
  return isTooFine ? CHOICES.find((interval) => points(range, interval) <= QUERY.points) : undefined
}

const DAY_MS = 86_400_000

/** Returns the interval that fits a range: hour up to 2 days, day up to 120 days, week up to 2 years, otherwise month. */
export function fittingInterval(range: LocalRange): Interval {
  const [from, to] = [Temporal.PlainDate.from(range.from), Temporal.PlainDate.from(range.to)]
  const days = dayCount(range)
  if (days <= 2) return "hour"
  if (days <= 120) return "day"
  return Temporal.PlainDate.compare(from.add({ years: 2 }), to) > 0 ? "week" : "month"
}

/** Returns the number of buckets without creating them, because ten years have many hours. */
function points(range: LocalRange, interval: Exclude<Interval, "minute">): number {
  const [from, to] = [Temporal.PlainDate.from(range.from), Temporal.PlainDate.from(range.to)]
  switch (interval) {
    case "hour":
      return Math.ceil((range.range.to - range.range.from) / 3_600_000)
    case "day":
      return dayCount(range)
    case "week":
      return Math.ceil((from.dayOfWeek - 1 + dayCount(range)) / 7)
    case "month":
      return (to.year - from.year) * 12 + to.month - from.month + 1
  }
}

const dayCount = ({ from, to }: LocalRange): number => Temporal.PlainDate.from(from).until(to).days + 1
