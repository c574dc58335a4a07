import { type Static, Type as t } from "@sinclair/typebox"
import { QUERY } from "../../domain/limits.ts"
import { parseDay, parseInstant } from "../../domain/moment.ts"
import { PERIODS, type Period } from "../../domain/period.ts"
import type { Range } from "../../domain/query.ts"
import { type Comparison, comparedRange, comparedSoFar } from "./compare.ts"
import { type Faults, readList } from "./faults.ts"
import {
  clippedDays,
  dayStart,
  daysRange,
  hoursRange,
  type LocalRange,
  type Moment,
  periodRange,
  type RangeFault,
  today,
  zoned,
} from "./period.ts"

/** Length of the range `realtime`: five minutes up to and including now. */
const REALTIME_MS = 300_000
const NAMES = ["day", "realtime", ...PERIODS]

export interface ArrayRange {
  range: LocalRange
  /** Whether the end was after today and was clipped. */
  clipped: boolean
  isRealtime: boolean
}

/** Reads `date_range`: a named period, two days, or two instants (api.md 7.1). */
export function readDateRange(value: unknown, moment: Moment, faults: Faults): ArrayRange | undefined {
  if (value === undefined) return faults.refuse("/date_range", "required", "is required")
  if (Array.isArray(value)) {
    const pair = readPair(value, "/date_range", moment, faults)
    return pair && { ...pair, isRealtime: false }
  }
  if (typeof value !== "string") return faults.refuse("/date_range", "invalid_type", "must be a name or a pair of days or of instants")
  if (value === "realtime") return { range: lastMinutes(moment), clipped: false, isRealtime: true }
  const period = PERIODS.find((name) => name === (value === "day" ? ("today" satisfies Period) : value))
  if (!period) return faults.refuse("/date_range", "invalid_choice", `must be one of: ${NAMES.join(", ")}, or a pair`, NAMES)
  return { range: periodRange(period, moment), clipped: false, isRealtime: false }
}

/** Reads two days or two instants, both inclusive: whole days, or instants to the second. */
export function readPair(
  value: unknown,
  pointer: string,
  moment: Moment,
  faults: Faults,
): { range: LocalRange; clipped: boolean } | undefined {
  const pair = readList(value, pointer, { min: 2, max: 2 }, faults)
  const [first, last] = pair?.map((end, i) => readEnd(end, `${pointer}/${i}`, faults)) ?? []
  if (first === undefined || last === undefined) return undefined
  const refuse = (fault: RangeFault) => faults.refuse(pointer, "invalid_range", RANGE_FAULT_TEXTS[fault])
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

const RANGE_FAULT_TEXTS: Record<RangeFault, string> = {
  reversed: "must not start after it ends",
  future: "must not start in the future",
  long: `must cover at most ${QUERY.rangeYears} years`,
}

const lastMinutes = ({ now, timezone }: Moment): LocalRange => hoursRange({ from: now - REALTIME_MS + 1, to: now + 1 }, timezone)

function readEnd(value: unknown, pointer: string, faults: Faults): Temporal.PlainDate | number | undefined {
  if (typeof value !== "string") return faults.refuse(pointer, "invalid_type", "must be a string")
  const detail = "must be a calendar date, YYYY-MM-DD, or an RFC 3339 instant with an offset"
  return parseDay(value) ?? parseInstant(value) ?? faults.refuse(pointer, "invalid_date", detail)
}

/** Returns the range between two instants in whole seconds, clipped to the end of today. */
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

export const Comparisons = t.Object(
  {
    mode: t.Union([t.Literal("previous_period"), t.Literal("year_over_year"), t.Literal("custom")]),
    date_range: t.Optional(t.Unknown()),
    match_day_of_week: t.Optional(t.Boolean()),
    match_time_of_day: t.Optional(t.Boolean()),
  },
  { additionalProperties: false },
)
export type Comparisons = Static<typeof Comparisons>

const POINTER = "/include/comparisons/date_range"

/** Reads the range that each row is compared with (api.md 7.5, metrics.md 9.2). Returns undefined when it is invalid. */
export function readArrayComparison(given: Comparisons, base: LocalRange, moment: Moment, faults: Faults): LocalRange | undefined {
  const comparison = readMode(given, moment, faults)
  if (!comparison) return undefined
  const compared = comparedRange(base, comparison)
  return given.match_time_of_day ? comparedSoFar(compared, base, moment.now) : compared
}

function readMode({ mode, date_range, match_day_of_week }: Comparisons, moment: Moment, faults: Faults): Comparison | undefined {
  const matchWeekday = match_day_of_week ?? false
  if (mode !== "custom") {
    if (date_range !== undefined) return faults.refuse(POINTER, "unsupported_combination", "is only allowed with mode custom")
    return { mode: mode === "year_over_year" ? "previous_year" : mode, matchWeekday }
  }
  if (date_range === undefined) return faults.refuse(POINTER, "invalid_range", "is required with mode custom")
  const pair = readPair(date_range, POINTER, moment, faults)
  if (!pair) return undefined
  const { range, from, to, hours } = pair.range
  if (hours) return { mode: "custom_hours", range, matchWeekday }
  return { mode: "custom", from: Temporal.PlainDate.from(from), to: Temporal.PlainDate.from(to), matchWeekday }
}
