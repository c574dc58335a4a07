import type { Range } from "../domain/query.ts"
import { daysRange, hoursRange, type LocalRange, zoned } from "./period.ts"
import { roundedRatio } from "./round.ts"

/** What a range is compared with. `matchWeekday` moves the compared range back by 0 to 6 days, to the same weekday. */
export type Comparison = { matchWeekday: boolean } & (
  | { mode: "previous_period" | "previous_year" }
  | { mode: "custom"; from: Temporal.PlainDate; to: Temporal.PlainDate }
  | { mode: "custom_hours"; range: Range }
)

/**
 * The range that another one is compared with (metrics.md section 9.2): whole days, however much of today has passed.
 * A range of hours is compared with as many hours; against days of one's own choice it is compared with whole days.
 */
export function comparedRange(base: LocalRange, comparison: Comparison): LocalRange {
  if (comparison.mode === "custom_hours" || (base.hours && comparison.mode !== "custom")) return comparedHours(base, comparison)
  const [first, last] = [Temporal.PlainDate.from(base.from), Temporal.PlainDate.from(base.to)]
  const { from, to } = comparedDays(first, last, comparison)
  const back = { days: comparison.matchWeekday ? daysBackTo(first.dayOfWeek, from.dayOfWeek) : 0 }
  return daysRange(from.subtract(back), to.subtract(back), base.timezone)
}

/**
 * As much of the compared range as has passed of the other one: of days up to the same local time of the last one, of hours
 * as long. All of it when the other range is over.
 */
export function comparedSoFar(compared: LocalRange, base: LocalRange, now: number): LocalRange {
  if (now >= base.range.to) return compared
  const end = base.hours ? compared.range.from + now - base.range.from : sameTime(compared, now)
  // What happens at this very moment is in both.
  return { ...compared, range: { from: compared.range.from, to: Math.min(compared.range.to, end + 1) }, hours: true }
}

function sameTime({ to, timezone }: LocalRange, now: number): number {
  const plainTime = zoned(now, timezone).toPlainTime()
  return Temporal.PlainDate.from(to).toZonedDateTime({ timeZone: timezone, plainTime }).epochMilliseconds
}

/** Percent with one decimal, of the values as shown; undefined when there was nothing before. */
export function changePercent(value: number, before: number): number | undefined {
  if (before === 0) return undefined
  const [now, old] = [Math.round(value * 1000), Math.round(before * 1000)] // whole numbers: a half is then a half
  // Thousandths of the ratio are tenths of a percent; times 100 beforehand, large revenues would no longer be exact.
  return Math.round(roundedRatio(Math.sign(old) * (now - old), Math.abs(old), 3) * 1000) / 10
}

function comparedDays(first: Temporal.PlainDate, last: Temporal.PlainDate, comparison: Exclude<Comparison, { mode: "custom_hours" }>) {
  if (comparison.mode === "custom") return { from: comparison.from, to: comparison.to }
  // 29 February becomes 28: Temporal keeps the day within the month.
  if (comparison.mode === "previous_year") return { from: first.subtract({ years: 1 }), to: last.subtract({ years: 1 }) }
  const to = first.subtract({ days: 1 })
  return { from: to.subtract({ days: first.until(last).days }), to }
}

function comparedHours({ range, timezone }: LocalRange, comparison: Exclude<Comparison, { mode: "custom" }>): LocalRange {
  const start = zoned(range.from, timezone)
  const { from, to } = hoursBefore(range, start, comparison)
  const moved = zoned(from, timezone)
  const back = { days: comparison.matchWeekday ? daysBackTo(start.dayOfWeek, moved.dayOfWeek) : 0 }
  const first = moved.subtract(back).epochMilliseconds
  return hoursRange({ from: first, to: first + to - from }, timezone)
}

function hoursBefore(range: Range, start: Temporal.ZonedDateTime, comparison: Exclude<Comparison, { mode: "custom" }>): Range {
  if (comparison.mode === "custom_hours") return comparison.range
  const length = range.to - range.from
  const from = comparison.mode === "previous_year" ? start.subtract({ years: 1 }).epochMilliseconds : range.from - length
  return { from, to: from + length }
}

const daysBackTo = (wanted: number, weekday: number): number => (weekday - wanted + 7) % 7
