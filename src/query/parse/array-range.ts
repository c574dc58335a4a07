import { type Static, Type as t } from "@sinclair/typebox"
import { QUERY } from "../../domain/limits.ts"
import { isRelativePeriod, PERIOD_CHOICES, PERIOD_NAMES } from "../../domain/relative-period.ts"
import { type Comparison, comparedRange, comparedSoFar, customComparison } from "./compare.ts"
import { type Faults, readList } from "./faults.ts"
import {
  type ClippedRange,
  END_FORMS,
  type End,
  hoursRange,
  isLongPeriod,
  type LocalRange,
  type Moment,
  parseEnd,
  periodRange,
  type RangeFault,
  rangeBetween,
} from "./period.ts"

/** Length of the range `realtime`: five minutes up to and including now. */
const REALTIME_MS = 300_000
const NAMES = ["day", "realtime", ...PERIOD_NAMES]

export interface ArrayRange extends ClippedRange {
  isRealtime: boolean
}

/** Reads `date_range`: a named period, two days, or two instants (api.md 7.1). */
export function readDateRange(value: unknown, moment: Moment, faults: Faults): ArrayRange | undefined {
  if (value === undefined) return faults.refuse("/date_range", "required", "is required")
  if (Array.isArray(value)) {
    const pair = readPair(value, "/date_range", moment, faults)
    return pair && { ...pair, isRealtime: false }
  }
  if (typeof value !== "string") return faults.refuse("/date_range", "invalid_type", "must be a name or a pair of days or of times")
  if (value === "realtime") return { range: lastMinutes(moment), clipped: false, isRealtime: true }
  const period = value === "day" ? "today" : value
  if (!isRelativePeriod(period))
    return faults.refuse("/date_range", "invalid_choice", `must be one of: day, realtime, ${PERIOD_CHOICES}, or a pair`, NAMES)
  const range = periodRange(period, moment)
  if (isLongPeriod(period, range)) return faults.refuse("/date_range", "invalid_range", RANGE_FAULT_TEXTS.long)
  return { range, clipped: false, isRealtime: false }
}

/** Reads two days or two times, both inclusive: whole days, or times to the second. */
export function readPair(value: unknown, pointer: string, moment: Moment, faults: Faults): ClippedRange | undefined {
  const pair = readList(value, pointer, { min: 2, max: 2 }, faults)
  const [first, last] = pair?.map((end, i) => readEnd(end, `${pointer}/${i}`, moment, faults)) ?? []
  if (first === undefined || last === undefined) return undefined
  const range = rangeBetween(first, last, moment)
  return typeof range === "string" ? faults.refuse(pointer, "invalid_range", RANGE_FAULT_TEXTS[range]) : range
}

const RANGE_FAULT_TEXTS: Record<RangeFault, string> = {
  mixed: "must have two days or two times",
  reversed: "must not start after it ends",
  future: "must not start in the future",
  long: `must cover at most ${QUERY.rangeYears} years`,
}

const lastMinutes = ({ now, timezone }: Moment): LocalRange => hoursRange({ from: now - REALTIME_MS + 1, to: now + 1 }, timezone)

function readEnd(value: unknown, pointer: string, { timezone }: Moment, faults: Faults): End | undefined {
  if (typeof value !== "string") return faults.refuse(pointer, "invalid_type", "must be a string")
  return parseEnd(value, timezone) ?? faults.refuse(pointer, "invalid_date", `must be ${END_FORMS}`)
}

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
  return pair && customComparison(pair.range, matchWeekday)
}
