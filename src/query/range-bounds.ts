import { QUERY } from "../domain/limits.ts"
import { type Moment, today } from "./period.ts"

/** Two days, both included, the last one no later than today. */
export interface ClippedDays {
  from: Temporal.PlainDate
  to: Temporal.PlainDate
  /** The last day given lay after today. */
  clipped: boolean
}

/** Why two ends make no range: in the wrong order, begins in the future, too long. */
export type RangeFault = "reversed" | "future" | "long"

/** What a range of days may be (metrics.md 9.1), however it was written. */
export function clippedDays(from: Temporal.PlainDate, to: Temporal.PlainDate, moment: Moment): ClippedDays | RangeFault {
  const day = today(moment)
  const clipped = Temporal.PlainDate.compare(to, day) > 0
  const last = clipped ? day : to
  if (Temporal.PlainDate.compare(from, to) > 0) return "reversed"
  if (Temporal.PlainDate.compare(from, day) > 0) return "future"
  return Temporal.PlainDate.compare(from.add({ years: QUERY.rangeYears }), last) <= 0 ? "long" : { from, to: last, clipped }
}
