/** Ranges and comparisons of dashboards, widgets and requests: their form in bodies, and the arguments of reports that they become. */
import { Type as t } from "@sinclair/typebox"
import { clippedDays, type Fault, fault, isObject, PERIODS, parseDay, type Site } from "#plugin"
import { type BoardRange, type Compare, INTERVALS } from "./board.ts"

const day = (description: string) => t.String({ format: "date", description })
export const CompareInput = t.Unsafe<Compare>(
  t.Union(
    [
      t.Union([t.Literal("none"), t.Literal("previous_period"), t.Literal("previous_year")]),
      t.Object({ from: day("First compared day."), to: day("Last compared day.") }, { additionalProperties: false }),
    ],
    { description: "Range to compare with: `none`, `previous_period`, `previous_year`, or two days." },
  ),
)
export const RangeInput = t.Unsafe<BoardRange>(
  t.Object(
    {
      period: t.Optional(t.String({ enum: [...PERIODS], description: "Named period. Excludes `from` and `to`." })),
      from: t.Optional(day("First day. Requires `to`.")),
      to: t.Optional(day("Last day, inclusive. A day in the future means today.")),
      compare: t.Optional(CompareInput),
      interval: t.Optional(t.String({ enum: [...INTERVALS], description: "Length of a point over time. Default: `auto`." })),
    },
    { additionalProperties: false, description: "Range of days: a named period, or two days." },
  ),
)

/** Time and zone in which days are checked. */
export interface Today {
  now: number
  timezone: string
}

export const todayOf = ({ timezone }: Pick<Site, "timezone">, now: number): Today => ({ now, timezone })

const FIELDS = ["period", "from", "to", "compare", "interval"]

/** Reads a range. Faults are added to `faults`; the result is then unspecified. */
export function readRange(value: unknown, pointer: string, today: Today, faults: Fault[]): BoardRange {
  if (!isObject(value)) {
    faults.push(fault(pointer, "invalid_type", "must be an object"))
    return {}
  }
  const range: BoardRange = {}
  refuseUnknown(value, FIELDS, pointer, faults)
  const { period, from, to, compare, interval } = value
  if (period !== undefined) {
    if (readChoice(period, PERIODS, `${pointer}/period`, faults)) range.period = String(period)
    if (from !== undefined || to !== undefined)
      faults.push(fault(`${pointer}/period`, "unsupported_combination", "cannot be combined with from and to"))
  } else if (from !== undefined || to !== undefined) Object.assign(range, readDays(value, pointer, today, faults))
  else faults.push(fault(`${pointer}/period`, "required", "is required, or from and to"))
  if (compare !== undefined) range.compare = readCompare(compare, `${pointer}/compare`, today, faults)
  if (interval !== undefined && readChoice(interval, INTERVALS, `${pointer}/interval`, faults))
    range.interval = interval as NonNullable<BoardRange["interval"]> // one of them, as just checked
  return range
}

const COMPARISONS = ["none", "previous_period", "previous_year"] as const

/** Reads a comparison. Faults are added to `faults`; the result is then unspecified. */
export function readCompare(value: unknown, pointer: string, today: Today, faults: Fault[]): Compare {
  if (isObject(value)) {
    refuseUnknown(value, ["from", "to"], pointer, faults)
    return readDays(value, pointer, today, faults)
  }
  const choice = COMPARISONS.find((one) => one === value)
  if (!choice) readChoice(value, COMPARISONS, pointer, faults)
  return choice ?? "none"
}

function readDays(value: Record<string, unknown>, pointer: string, today: Today, faults: Fault[]): { from: string; to: string } {
  const read = (name: "from" | "to") => {
    const given = value[name]
    const parsed = typeof given === "string" ? parseDay(given) : undefined
    const code = given === undefined ? "required" : typeof given === "string" ? "invalid_date" : "invalid_type"
    if (!parsed) faults.push(fault(`${pointer}/${name}`, code, "must be a calendar date, YYYY-MM-DD"))
    return parsed
  }
  const [from, to] = [read("from"), read("to")]
  if (!from || !to) return { from: "", to: "" }
  const days = clippedDays(from, to, today)
  if (typeof days === "string") faults.push(fault(`${pointer}/from`, "invalid_range", RANGE_FAULTS[days]))
  // A last day in the future is kept as sent: it is clipped to the day on which the dashboard is opened.
  return { from: from.toString(), to: to.toString() }
}

const RANGE_FAULTS = {
  reversed: "must not be after to",
  future: "must not be after today",
  long: "must be at most ten years before to",
} as const

export function readChoice(value: unknown, choices: readonly string[], pointer: string, faults: Fault[]): boolean {
  if (choices.some((choice) => choice === value)) return true
  const code = typeof value === "string" ? "invalid_choice" : "invalid_type"
  faults.push(fault(pointer, code, `must be one of: ${choices.join(", ")}`, choices))
  return false
}

export function refuseUnknown(value: Record<string, unknown>, known: readonly string[], pointer: string, faults: Fault[]): void {
  for (const name of Object.keys(value).slice(0, 100))
    if (!known.includes(name)) faults.push(fault(`${pointer}/${name}`, "unknown_field", "is not a known field"))
}

/** The ranges that apply to a widget, the strongest first: those of the widget, of the request and of the dashboard. */
export type RangeSource = { range?: BoardRange | undefined; compare?: Compare | undefined } | undefined

/** Returns the range and the comparison that win. */
export function winningRange(sources: readonly RangeSource[]): { range: BoardRange; compare: Compare } {
  const range = sources.find((source) => source?.range)?.range ?? { period: "28d" }
  const compare = sources.map((source) => source?.compare ?? source?.range?.compare).find((one) => one !== undefined) ?? "none"
  return { range, compare }
}

/** Returns the arguments of a report for a range. */
export const rangeArguments = ({ period, from, to }: BoardRange): Record<string, unknown> =>
  period === undefined ? { from, to } : { period }

export const compareArguments = (compare: Compare): Record<string, unknown> => {
  if (compare === "none") return {}
  return typeof compare === "string" ? { compare } : { compare: "custom", compare_from: compare.from, compare_to: compare.to }
}
