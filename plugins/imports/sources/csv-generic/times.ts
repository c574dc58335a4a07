import { clockOf, dateOf, type FromLocal, parseTime } from "../times.ts"

/** The formats of times in delimited files of unknown origin. */

export const TIME_FORMATS = ["auto", "iso", "unix", "unix_ms", "YYYYMMDD", "dd/MM/yyyy HH:mm", "MM/dd/yyyy HH:mm"] as const
export type TimeFormat = (typeof TIME_FORMATS)[number]

export type DateOrder = "day_first" | "month_first"

/** Two numbers and a year, with a time or without. Dots separate dates in which the day comes first; other separators say nothing. */
const NUMERIC = /^(\d{1,2})([/.-])(\d{1,2})([/.-])(\d{4})(?:[ ,T]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(?: ?([ap])\.?m\.?)?)?$/i
const UNIX = /^-?\d{1,11}(?:\.\d{1,9})?$/
const UNIX_MS = /^-?\d{1,14}$/
const COMPACT = /^(\d{4})(\d{2})(\d{2})$/
const SLASHED_YEAR = /^(\d{4})\/(\d{2})\/(\d{2})/

/** Returns the order of day and month that a time shows, "unknown" if both are possible, or undefined if it is not such a time. */
export function orderShownBy(text: string): DateOrder | "unknown" | undefined {
  const [, first, separator, second, other] = NUMERIC.exec(text.trim()) ?? []
  if (first === undefined || separator !== other) return undefined
  if (separator === "." || Number(first) > 12) return "day_first"
  return Number(second) > 12 ? "month_first" : "unknown"
}

/**
 * Returns the function that parses the times of a column into epoch milliseconds, or undefined for a value of another format. With the
 * format `auto` and times whose order of day and month is open, `order` decides.
 */
export function timeParser(format: TimeFormat, local: FromLocal, order?: DateOrder): (text: string) => number | undefined {
  switch (format) {
    case "iso":
      return (text) => iso(text.trim(), local)
    case "unix":
      return (text) => (UNIX.test(text.trim()) ? Math.round(Number(text) * 1_000) : undefined)
    case "unix_ms":
      return (text) => (UNIX_MS.test(text.trim()) ? Number(text) : undefined)
    case "YYYYMMDD":
      return (text) => compact(text.trim(), local)
    case "dd/MM/yyyy HH:mm":
      return (text) => numeric(text.trim(), local, "day_first")
    case "MM/dd/yyyy HH:mm":
      return (text) => numeric(text.trim(), local, "month_first")
    case "auto":
      return (text) => detected(text.trim(), local, order)
  }
}

const iso = (text: string, local: FromLocal): number | undefined => parseTime(text, local) ?? slashedYear(text, local)

const slashedYear = (text: string, local: FromLocal): number | undefined =>
  SLASHED_YEAR.test(text) ? parseTime(text.replace(SLASHED_YEAR, "$1-$2-$3"), local) : undefined

function compact(text: string, local: FromLocal): number | undefined {
  const [, year, month, day] = COMPACT.exec(text) ?? []
  const date = dateOf(Number(year), Number(month), Number(day))
  return date === undefined ? undefined : local(date)
}

function numeric(text: string, local: FromLocal, order: DateOrder): number | undefined {
  const [, first, separator, second, other, year, hour = "0", minute = "0", seconds = "0", half] = NUMERIC.exec(text) ?? []
  if (year === undefined || separator !== other) return undefined
  const [day, month] = order === "day_first" ? [Number(first), Number(second)] : [Number(second), Number(first)]
  const date = dateOf(Number(year), month, day)
  const clock = clockOf(hourOf(Number(hour), half), Number(minute), Number(seconds))
  return date === undefined || clock === undefined ? undefined : local(date + clock)
}

function hourOf(hour: number, half: string | undefined): number {
  if (half === undefined) return hour
  if (hour < 1 || hour > 12) return Number.NaN
  return (hour % 12) + (half.toLowerCase() === "p" ? 12 : 0)
}

/** Numbers are distinguished by their length: 8 digits are a day, 9 or 10 seconds, 12 or 13 milliseconds. */
function detected(text: string, local: FromLocal, order: DateOrder | undefined): number | undefined {
  if (/^\d{8}$/.test(text)) return compact(text, local)
  if (/^\d{9,10}(?:\.\d{1,9})?$/.test(text)) return Math.round(Number(text) * 1_000)
  if (/^\d{12,13}$/.test(text)) return Number(text)
  const time = iso(text, local)
  if (time !== undefined) return time
  const shown = orderShownBy(text)
  if (shown === undefined) return undefined
  const used = text.includes(".") && shown === "day_first" && /^\d{1,2}\./.test(text) ? "day_first" : order
  return used === undefined ? undefined : numeric(text, local, used)
}
