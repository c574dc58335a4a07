import { QUERY } from "../domain/limits.ts"
import { parseDay, parseInstant } from "../domain/moment.ts"
import { PERIODS, type Period } from "../domain/period.ts"
import type { Range } from "../domain/query.ts"
import { type Faults, readList } from "./faults.ts"
import { dayStart, daysRange, hoursRange, type LocalRange, type Moment, periodRange, today, zoned } from "./period.ts"
import { clippedDays, type RangeFault } from "./range-bounds.ts"

/** The last five minutes, this moment included. */
const REALTIME_MS = 300_000
const NAMES = ["day", "realtime", ...PERIODS]

export interface ArrayRange {
  range: LocalRange
  /** Its end lay after today. */
  clipped: boolean
  isRealtime: boolean
}

/** `date_range`: a name, two days, or two instants (api.md 7.1). */
export function readDateRange(value: unknown, moment: Moment, faults: Faults): ArrayRange | undefined {
  if (value === undefined) return faults.refuse("/date_range", "required", "is required")
  if (Array.isArray(value)) {
    const pair = readPair(value, "/date_range", moment, faults)
    return pair && { ...pair, isRealtime: false }
  }
  if (typeof value !== "string") return faults.refuse("/date_range", "invalid_type", "must be a name or a pair of days or of instants")
  if (value === "realtime") return { range: lastMinutes(moment), clipped: false, isRealtime: true }
  const period = PERIODS.find((name) => name === (value === "day" ? ("today" satisfies Period) : value))
  if (!period) return faults.refuse("/date_range", "invalid_choice", `must be of: ${NAMES.join(", ")}, or a pair`, NAMES)
  return { range: periodRange(period, moment), clipped: false, isRealtime: false }
}

/** Two days or two instants, both included: days whole, instants to the second. */
export function readPair(
  value: unknown,
  pointer: string,
  moment: Moment,
  faults: Faults,
): { range: LocalRange; clipped: boolean } | undefined {
  const pair = readList(value, pointer, { min: 2, max: 2 }, faults)
  const [first, last] = pair?.map((end, i) => readEnd(end, `${pointer}/${i}`, faults)) ?? []
  if (first === undefined || last === undefined) return undefined
  const refuse = (fault: RangeFault) => faults.refuse(pointer, "invalid_range", SAYS[fault])
  if (typeof first === "number" && typeof last === "number") {
    const span = instantsBetween(first, last, moment)
    return typeof span === "string" ? refuse(span) : { range: hoursRange(span.range, moment.timezone), clipped: span.clipped }
  }
  if (typeof first === "number" || typeof last === "number") {
    return faults.refuse(pointer, "invalid_range", "must have two days or two instants")
  }
  const days = clippedDays(first, last, moment)
  return typeof days === "string" ? refuse(days) : { range: daysRange(days.from, days.to, moment.timezone), clipped: days.clipped }
}

const SAYS: Record<RangeFault, string> = {
  reversed: "must not begin after it ends",
  future: "must not begin in the future",
  long: `has at most ${QUERY.rangeYears} years`,
}

const lastMinutes = ({ now, timezone }: Moment): LocalRange => hoursRange({ from: now - REALTIME_MS + 1, to: now + 1 }, timezone)

function readEnd(value: unknown, pointer: string, faults: Faults): Temporal.PlainDate | number | undefined {
  if (typeof value !== "string") return faults.refuse(pointer, "invalid_type", "must be a text")
  const says = "must be a day of the calendar, YYYY-MM-DD, or an instant of RFC 3339 with its offset"
  return parseDay(value) ?? parseInstant(value) ?? faults.refuse(pointer, "invalid_date", says)
}

/** Parts of a second are left out. What lies behind today is left out as of days. */
function instantsBetween(first: number, last: number, moment: Moment): { range: Range; clipped: boolean } | RangeFault {
  const [from, to] = [wholeSeconds(first), wholeSeconds(last) + 1_000]
  const end = dayStart(today(moment).add({ days: 1 }), moment.timezone)
  const range = { from, to: Math.min(to, end) }
  if (first > last) return "reversed"
  if (from > moment.now) return "future"
  const longest = zoned(from, moment.timezone).add({ years: QUERY.rangeYears })
  return longest.epochMilliseconds < range.to ? "long" : { range, clipped: to > end }
}

const wholeSeconds = (at: number): number => Math.floor(at / 1_000) * 1_000
