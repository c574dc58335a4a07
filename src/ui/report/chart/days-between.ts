import type { Timeseries } from "../../../domain/report.ts"
import type { SiteAddress } from "../../../domain/site-address.ts"
import { addDays, addMonths } from "../data/ranges.ts"

type Buckets = Pick<Timeseries, "points" | "interval" | "range">

/**
 * Returns the days of the buckets from one point to another, within the range of the report. Undefined if that is the whole range, such as
 * for the hours of one day.
 */
export function daysBetween({ points, interval, range }: Buckets, from: number, to: number) {
  const [first, last] = [points[from], points[to]].map((point) => point?.time.slice(0, 10))
  if (first === undefined || last === undefined) return undefined
  const days = { from: first, to: [lastDayOf(last, interval), range.to].sort()[0]! }
  return days.from === range.from && days.to === range.to ? undefined : days
}

/**
 * Returns the change of the address that shows the visits of the hours from one point to another. Undefined for points of other lengths.
 */
export function hoursBetween({ points, interval }: Buckets, from: number, to: number): Partial<SiteAddress> | undefined {
  const [first, last] = [points[from]?.time, points[to]?.time]
  if (interval !== "hour" || first === undefined || last === undefined) return undefined
  const [start, end] = [first, last].map((time) => Number(time.slice(11, 13)))
  return { period: "custom", from: first.slice(0, 10), to: last.slice(0, 10), cards: { hours: `${start}-${end}` } }
}

/** Returns the last day of the bucket that starts on a day. Weeks start on Monday; the first bucket of a range may be shorter. */
function lastDayOf(day: string, interval: string): string {
  if (interval === "week") return addDays(day, (7 - new Date(`${day}T12:00:00Z`).getUTCDay()) % 7)
  return interval === "month" ? addDays(addMonths(`${day.slice(0, 8)}01`, 1), -1) : day
}
