import { type Dimension, dimensionFacts } from "../../domain/dimension.ts"
import { QUERY } from "../../domain/limits.ts"
import type { FlatMetric } from "../../domain/metric.ts"
import { type CodeNames, countryName } from "../../domain/place-names.ts"
import type { Key, Row } from "../../domain/query.ts"
import { visibleText } from "../../domain/text.ts"
import { zoned } from "../parse/period.ts"

/** A value of a dimension in the flat form. */
interface ShownValue {
  value: string
  /** Name of the value, if the value is a code. */
  label?: string
  /** Present when the value was cut. */
  truncated?: true
}

interface ValueOptions {
  /** Number of characters to which a value is cut. */
  maxChars?: number
  /** Names of the dimension's codes. Not needed for countries. */
  names?: CodeNames | undefined
}

/** Returns a value of a dimension. The missing value is `(none)`, or `Direct` for sources and referrers. */
export function shownValue(dimension: Dimension, key: Key, { maxChars = QUERY.shownValueChars, names }: ValueOptions = {}): ShownValue {
  if (key === null) return { value: dimensionFacts(dimension).missing[0] }
  const clean = visibleText(String(key))
  const value = clean.length > maxChars ? clean.slice(0, maxChars).replace(/[\ud800-\udbff]$/, "") : clean
  const label = dimension === "country" ? countryName(value) : names?.get(value)
  return { value, ...(label !== undefined && { label }), ...(value.length < clean.length && { truncated: true }) }
}

/** Returns the values of a row by name. Values that were not measured are left out, but missing revenue is 0. `decimals` is that of the currency. */
export function shownMetrics<Name extends FlatMetric | "share">(
  names: readonly Name[],
  values: readonly (number | null)[],
  decimals: number,
): Partial<Record<Name, number>> {
  const shown = names.map((name, i) => [name, shownMetric(name, values[i] ?? null, decimals)] as const)
  // The names are the keys.
  return Object.fromEntries(shown.filter(([, value]) => value !== null)) as Partial<Record<Name, number>>
}

function shownMetric(name: string, value: number | null, decimals: number): number | null {
  if (name !== "revenue") return value
  return (value ?? 0) / 10 ** decimals
}

const DAYS = 7
const HOURS = 24

/** Sums hours into a week: by weekday from Monday and hour of the day. An hour that a clock change repeats is added to the same cell. */
export function foldHours(rows: readonly Row[], timezone: string): number[][] {
  const grid = Array.from({ length: DAYS }, () => new Array<number>(HOURS).fill(0))
  for (const { keys, values } of rows) {
    const local = zoned(Number(keys[0]), timezone)
    const day = grid[local.dayOfWeek - 1]!
    day[local.hour] = day[local.hour]! + (values[0] ?? 0)
  }
  return grid
}
