import type { Range } from "../../src/domain/query.ts"
import type { RelativePeriod } from "../../src/domain/relative-period.ts"
import type { Comparison } from "../../src/query/parse/compare.ts"
import { bucketStarts, dayRange, daysBetween, localDate, plusDays, weekday, yearBefore } from "./days.ts"

export interface Days {
  from: string
  to: string
}

const HOUR = 3_600_000
const firstOfMonth = (date: string) => `${date.slice(0, 7)}-01`
const monthsBefore = (date: string, months: number) => {
  let first = firstOfMonth(date)
  for (let i = 0; i < months; i++) first = firstOfMonth(plusDays(first, -1))
  return first
}

/** Returns the local days of a period, following the table of metrics.md 9.1. */
export function periodDays(period: Exclude<RelativePeriod, "24h" | "all">, now: number, zone: string): Days {
  const today = localDate(now, zone)
  const monday = plusDays(today, 1 - weekday(today))
  const named: Readonly<Record<string, Days>> = {
    today: { from: today, to: today },
    yesterday: { from: plusDays(today, -1), to: plusDays(today, -1) },
    last_week: { from: plusDays(monday, -7), to: plusDays(monday, -1) },
    month: { from: firstOfMonth(today), to: today },
    year: { from: `${today.slice(0, 4)}-01-01`, to: today },
    last_month: { from: monthsBefore(today, 1), to: plusDays(firstOfMonth(today), -1) },
  }
  const count = Number.parseInt(period, 10)
  return named[period] ?? { from: period.endsWith("mo") ? monthsBefore(today, count - 1) : plusDays(today, 1 - count), to: today }
}

/** "The current hour and the 23 before it", where an hour is a row of a timeseries. */
export function last24Hours(now: number, zone: string): Range {
  const starts = bucketStarts({ from: now - 30 * HOUR, to: now + 3 * HOUR }, "hour", zone)
  const current = starts.findLastIndex((start) => start <= now)
  return { from: starts[current - 23]!, to: starts[current + 1]! }
}

/** Returns the days of the comparison (metrics.md 9.2). */
export function comparedDays({ from, to }: Days, comparison: Exclude<Comparison, { mode: "custom_hours" }>): Days {
  const moved = {
    previous_period: () => ({ from: plusDays(from, -1 - daysBetween(from, to)), to: plusDays(from, -1) }),
    previous_year: () => ({ from: yearBefore(from), to: yearBefore(to) }),
    custom: () => (comparison.mode === "custom" ? { from: comparison.from.toString(), to: comparison.to.toString() } : { from, to }),
  }[comparison.mode]()
  // "Moves back by 0 to 6 days, never forward, so that it starts on the same weekday."
  let back = 0
  while (comparison.matchWeekday && weekday(plusDays(moved.from, -back)) !== weekday(from)) back++
  return { from: plusDays(moved.from, -back), to: plusDays(moved.to, -back) }
}

export const rangeOf = ({ from, to }: Days, zone: string): Range => dayRange(from, to, zone)
