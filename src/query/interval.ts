import { QUERY } from "../domain/limits.ts"
import type { Interval } from "../domain/query.ts"
import type { ArgumentReader } from "./arguments.ts"
import type { LocalRange } from "./period.ts"

const CHOICES = ["hour", "day", "week", "month"] as const

/** The interval asked for; without one the one that fits the range. Refused when it makes more points than allowed. */
export function readInterval(reader: ArgumentReader, range: LocalRange | undefined): Interval | undefined {
  const chosen = reader.choice("interval", ["auto", ...CHOICES]) ?? "auto"
  if (range === undefined) return undefined
  if (chosen === "auto") return fittingInterval(range)
  const fits = coarserInterval(range, chosen)
  if (fits === undefined) return chosen
  const detail = `At most ${QUERY.points} points: use interval=${fits}.`
  const allowed = CHOICES.filter((interval) => points(range, interval) <= QUERY.points)
  reader.refuse({ pointer: "/interval", code: "too_many_points", detail, allowed })
  return undefined
}

/** The interval to use instead of one that makes more points than allowed, minutes of more than a day; undefined when it fits. */
export function coarserInterval(range: LocalRange, chosen: Interval): Interval | undefined {
  const isTooFine = chosen === "minute" ? range.range.to - range.range.from > DAY_MS : points(range, chosen) > QUERY.points
  return isTooFine ? CHOICES.find((interval) => points(range, interval) <= QUERY.points) : undefined
}

const DAY_MS = 86_400_000

/** Up to 2 days hour, up to 120 days day, up to 2 years week, else month. */
export function fittingInterval(range: LocalRange): Interval {
  const [from, to] = [Temporal.PlainDate.from(range.from), Temporal.PlainDate.from(range.to)]
  const days = dayCount(range)
  if (days <= 2) return "hour"
  if (days <= 120) return "day"
  return Temporal.PlainDate.compare(from.add({ years: 2 }), to) > 0 ? "week" : "month"
}

/** How many buckets, counted without making them: hours of ten years would be many. */
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
