import { roundedRatio } from "../../domain/metric.ts"
import type { Range } from "../../domain/query.ts"
import { daysRange, hoursRange, type LocalRange, zoned } from "./period.ts"

/** The mode of a comparison. `matchWeekday` moves the compared range back by 0 to 6 days to the same weekday. */
export type Comparison = { matchWeekday: boolean } & (
  | { mode: "previous_period" | "previous_year" }
  | { mode: "custom"; from: Temporal.PlainDate; to: Temporal.PlainDate }
  | { mode: "custom_hours"; range: Range }
)

/** Returns the comparison with a range that the caller chose: two days, or two times. */
export function customComparison({ range, from, to, hours }: LocalRange, matchWeekday: boolean): Comparison {
  if (hours) return { mode: "custom_hours", range, matchWeekday }
  return { mode: "custom", from: Temporal.PlainDate.from(from), to: Temporal.PlainDate.from(to), matchWeekday }
}

/**
 * Returns the range that another one is compared with (metrics.md section 9.2): whole days, however much of today has passed.
 * A range of hours is compared with as many hours, but with whole days when the caller chose the days.
 */
export function comparedRange(base: LocalRange, comparison: Comparison): LocalRange {
  if (comparison.mode === "custom_hours" || (base.hours && comparison.mode !== "custom")) return comparedHours(base, comparison)
  const [first, last] = [Temporal.PlainDate.from(base.from), Temporal.PlainDate.from(base.to)]
  const { from, to } = comparedDays(first, last, comparison)
  const back = { days: comparison.matchWeekday ? daysBackTo(first.dayOfWeek, from.dayOfWeek) : 0 }
  return daysRange(from.subtract(back), to.subtract(back), base.timezone)
}

/**
 * Returns the part of the compared range that corresponds to the elapsed part of the base range: days up to the same local time
 * on the last day, hours for the same length. Returns all of it once the base range has ended.
 */
export function comparedSoFar(compared: LocalRange, base: LocalRange, now: number): LocalRange {
  if (now >= base.range.to) return compared
  const end = base.hours ? compared.range.from + now - base.range.from : sameTime(compared, now)
  // Events at exactly this moment belong to both ranges.
  return { ...compared, range: { from: compared.range.from, to: Math.min(compared.range.to, end + 1) }, hours: true }
}

function sameTime({ to, timezone }: LocalRange, now: number): number {
  const plainTime = zoned(now, timezone).toPlainTime()
  return Temporal.PlainDate.from(to).toZonedDateTime({ timeZone: timezone, plainTime }).epochMilliseconds
}

/** Decimals of displayed values. Some currencies have four. */
const SHOWN_DECIMALS = 4

/** Returns the change in percent with one decimal, or undefined when the earlier value is 0. */
export function changePercent(value: number, before: number): number | undefined {
  if (before === 0) return undefined
  const unit = 10 ** SHOWN_DECIMALS
  const [now, old] = [Math.round(value * unit), Math.round(before * unit)] // whole numbers, so that halves are exact
  // Thousandths of the ratio are tenths of a percent. Multiplying by 100 first would make large revenues inexact.
  return Math.round(roundedRatio(Math.sign(old) * (now - old), Math.abs(old), 3) * 1000) / 10
}

function comparedDays(first: Temporal.PlainDate, last: Temporal.PlainDate, comparison: Exclude<Comparison, { mode: "custom_hours" }>) {
  if (comparison.mode === "custom") return { from: comparison.from, to: comparison.to }
  // 29 February becomes 28 February, because Temporal limits the day to the month.
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
