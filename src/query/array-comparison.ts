import { type Static, Type as t } from "@sinclair/typebox"
import { readPair } from "./array-range.ts"
import { type Comparison, comparedRange, comparedSoFar } from "./compare.ts"
import type { Faults } from "./faults.ts"
import type { LocalRange, Moment } from "./period.ts"

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

/** The range that each row is compared over (api.md 7.5, metrics.md 9.2). Undefined when something is at fault. */
export function readArrayComparison(given: Comparisons, base: LocalRange, moment: Moment, faults: Faults): LocalRange | undefined {
  const comparison = readMode(given, moment, faults)
  if (!comparison) return undefined
  const compared = comparedRange(base, comparison)
  return given.match_time_of_day ? comparedSoFar(compared, base, moment.now) : compared
}

function readMode({ mode, date_range, match_day_of_week }: Comparisons, moment: Moment, faults: Faults): Comparison | undefined {
  const matchWeekday = match_day_of_week ?? false
  if (mode !== "custom") {
    if (date_range !== undefined) return faults.refuse(POINTER, "unsupported_combination", "goes with mode custom only")
    return { mode: mode === "year_over_year" ? "previous_year" : mode, matchWeekday }
  }
  if (date_range === undefined) return faults.refuse(POINTER, "invalid_range", "is required with mode custom")
  const pair = readPair(date_range, POINTER, moment, faults)
  if (!pair) return undefined
  const { range, from, to, hours } = pair.range
  if (hours) return { mode: "custom_hours", range, matchWeekday }
  return { mode: "custom", from: Temporal.PlainDate.from(from), to: Temporal.PlainDate.from(to), matchWeekday }
}
