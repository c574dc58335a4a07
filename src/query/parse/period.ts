import { QUERY } from "../../domain/limits.ts"
import type { Period } from "../../domain/period.ts"
import type { Interval, Range } from "../../domain/query.ts"
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
export function periodRange(period: Period, moment: Moment): LocalRange {
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

function periodDays(period: Exclude<Period, "24h">, day: Temporal.PlainDate, { firstAt, timezone }: Moment): Days {
  const back = (days: number): Days => ({ from: day.subtract({ days }), to: day })
  const month = day.with({ day: 1 })
  switch (period) {
    case "today":
      return back(0)
    case "yesterday":
      return { from: day.subtract({ days: 1 }), to: day.subtract({ days: 1 }) }
    case "month":
      return { from: month, to: day }
    case "last_month":
      return { from: month.subtract({ months: 1 }), to: month.subtract({ days: 1 }) }
    case "year":
      return { from: day.with({ month: 1, day: 1 }), to: day }
    case "6mo":
      return { from: month.subtract({ months: 5 }), to: day }
    case "12mo":
      return { from: month.subtract({ months: 11 }), to: day }
    case "all":
      return { from: earlier(day, firstAt === undefined ? day : localDay(firstAt, timezone)), to: day }
    default:
      return back(Number.parseInt(period, 10) - 1)
  }
}

const earlier = (a: Temporal.PlainDate, b: Temporal.PlainDate): Temporal.PlainDate => (Temporal.PlainDate.compare(a, b) <= 0 ? a : b)

/** Returns the current hour and the 23 before it on the local clock. A clock change can shorten one of them. */
function last24Hours({ now, timezone }: Moment): LocalRange {
  const { edges, wholeTo } = bucketsOf({ from: now - 26 * 3_600_000, to: now + 1 }, "hour", timezone)
  return hoursRange({ from: edges[edges.length - 25]!, to: wholeTo }, timezone)
}

/** Two days, both inclusive, the last one no later than today. */
export interface ClippedDays {
  from: Temporal.PlainDate
  to: Temporal.PlainDate
  /** Whether the last day was after today. */
  clipped: boolean
}

/** Why two days are not a range: wrong order, start in the future, or too long. */
export type RangeFault = "reversed" | "future" | "long"

/** Checks a range of days and clips it to today (metrics.md 9.1). Used by both forms of a query. */
export function clippedDays(from: Temporal.PlainDate, to: Temporal.PlainDate, moment: Moment): ClippedDays | RangeFault {
  const day = today(moment)
  const clipped = Temporal.PlainDate.compare(to, day) > 0
  const last = clipped ? day : to
  if (Temporal.PlainDate.compare(from, to) > 0) return "reversed"
  if (Temporal.PlainDate.compare(from, day) > 0) return "future"
  return Temporal.PlainDate.compare(from.add({ years: QUERY.rangeYears }), last) <= 0 ? "long" : { from, to: last, clipped }
}

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
