import { daysRange, hoursRange, type LocalRange, zoned } from "./period.ts"
import { roundedRatio } from "./round.ts"

export const COMPARISONS = ["none", "previous_period", "previous_year", "custom"] as const

/** What a range is compared with. `matchWeekday` moves the compared range back by 0 to 6 days, to the same weekday. */
export type Comparison = { matchWeekday: boolean } & (
  | { mode: "previous_period" | "previous_year" }
  | { mode: "custom"; from: Temporal.PlainDate; to: Temporal.PlainDate }
)

/**
 * The range that another one is compared with (metrics.md section 9.2): whole days, however much of today has passed.
 * A range of hours is compared with as many hours; against days of one's own choice it is compared with whole days.
 */
export function comparedRange(base: LocalRange, comparison: Comparison): LocalRange {
  if (base.hours && comparison.mode !== "custom") return comparedHours(base, comparison.mode, comparison.matchWeekday)
  const [first, last] = [Temporal.PlainDate.from(base.from), Temporal.PlainDate.from(base.to)]
  const { from, to } = comparedDays(first, last, comparison)
  const back = { days: comparison.matchWeekday ? daysBackTo(first.dayOfWeek, from.dayOfWeek) : 0 }
  return daysRange(from.subtract(back), to.subtract(back), base.timezone)
}

/** Percent with one decimal, of the values as shown; undefined when there was nothing before. */
export function changePercent(value: number, before: number): number | undefined {
  if (before === 0) return undefined
  const [now, old] = [Math.round(value * 1000), Math.round(before * 1000)] // whole numbers: a half is then a half
  // Thousandths of the ratio are tenths of a percent; times 100 beforehand, large revenues would no longer be exact.
  return Math.round(roundedRatio(Math.sign(old) * (now - old), Math.abs(old), 3) * 1000) / 10
}

function comparedDays(first: Temporal.PlainDate, last: Temporal.PlainDate, comparison: Comparison) {
  if (comparison.mode === "custom") return { from: comparison.from, to: comparison.to }
  // 29 February becomes 28: Temporal keeps the day within the month.
  if (comparison.mode === "previous_year") return { from: first.subtract({ years: 1 }), to: last.subtract({ years: 1 }) }
  const to = first.subtract({ days: 1 })
  return { from: to.subtract({ days: first.until(last).days }), to }
}

function comparedHours({ range, timezone }: LocalRange, mode: "previous_period" | "previous_year", matchWeekday: boolean): LocalRange {
  const length = range.to - range.from
  const start = zoned(range.from, timezone)
  const moved = mode === "previous_year" ? start.subtract({ years: 1 }) : zoned(range.from - length, timezone)
  const from = moved.subtract({ days: matchWeekday ? daysBackTo(start.dayOfWeek, moved.dayOfWeek) : 0 }).epochMilliseconds
  return hoursRange({ from, to: from + length }, timezone)
}

const daysBackTo = (wanted: number, weekday: number): number => (weekday - wanted + 7) % 7
