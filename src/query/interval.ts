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
  if (points(range, chosen) <= QUERY.points) return chosen
  const fits = CHOICES.find((interval) => points(range, interval) <= QUERY.points)
  const detail = `At most ${QUERY.points} points: use interval=${fits}.`
  reader.refuse({ pointer: "/interval", code: "too_many_points", detail })
  return undefined
}

/** Up to 2 days hour, up to 120 days day, up to 2 years week, else month. */
function fittingInterval(range: LocalRange): Interval {
  const [from, to] = [Temporal.PlainDate.from(range.from), Temporal.PlainDate.from(range.to)]
  const days = dayCount(range)
  if (days <= 2) return "hour"
  if (days <= 120) return "day"
  return Temporal.PlainDate.compare(from.add({ years: 2 }), to) > 0 ? "week" : "month"
}

/** How many buckets, counted without making them: hours of ten years would be many. */
function points(range: LocalRange, interval: (typeof CHOICES)[number]): number {
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
