import type { Period } from "../domain/period.ts"
import type { Range } from "../domain/query.ts"
import { bucketsOf } from "./buckets.ts"

/** A resolved range with the local days it covers, both included. `hours`: it is cut to whole hours inside them (`24h`). */
export interface LocalRange {
  range: Range
  from: string
  to: string
  timezone: string
  hours: boolean
}

/** The moment and place of asking. */
export interface Moment {
  now: number
  timezone: string
  /** The site's first event, epoch ms; what `all` begins with. */
  firstAt?: number | undefined
}

/** The range a period stands for at this moment. `today` is the whole local day, its hours to come included. */
export function periodRange(period: Period, moment: Moment): LocalRange {
  if (period === "24h") return last24Hours(moment)
  const { from, to } = periodDays(period, today(moment), moment)
  return daysRange(from, to, moment.timezone)
}

/** Whole local days, both included. A day where midnight does not exist begins with its first instant. */
export function daysRange(from: Temporal.PlainDate, to: Temporal.PlainDate, timezone: string): LocalRange {
  const range = { from: dayStart(from, timezone), to: dayStart(to.add({ days: 1 }), timezone) }
  return { range, from: from.toString(), to: to.toString(), timezone, hours: false }
}

/** A range of hours, with the local days of its first and last instant. */
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

/** The current hour and the 23 before it, counted as hours on the local clock: a change of the clocks may shorten one. */
function last24Hours({ now, timezone }: Moment): LocalRange {
  const { edges, wholeTo } = bucketsOf({ from: now - 26 * 3_600_000, to: now + 1 }, "hour", timezone)
  return hoursRange({ from: edges[edges.length - 25]!, to: wholeTo }, timezone)
}
