import { type Dimension, dimensionFacts } from "../../domain/dimension.ts"
import { QUERY } from "../../domain/limits.ts"
import type { FlatMetric } from "../../domain/metric.ts"
import { type CodeNames, countryName } from "../../domain/place-names.ts"
import type { Key, Row } from "../../domain/query.ts"
import { visibleText } from "../../domain/text.ts"
import { zoned } from "../parse/period.ts"

/** A value of a dimension as the flat form shows it. */
interface ShownValue {
  value: string
  /** A readable name, where the value is a code. */
  label?: string
  /** The value was longer and is cut. */
  truncated?: true
}

interface Shown {
  /** Characters to which a value is cut. */
  most?: number
  /** Of the dimension's codes, but for countries. */
  names?: CodeNames | undefined
}

/** The missing value is `(none)`, of source and referrer `Direct`. */
export function shownValue(dimension: Dimension, key: Key, { most = QUERY.shownValueChars, names }: Shown = {}): ShownValue {
  if (key === null) return { value: dimensionFacts(dimension).missing[0] }
  const clean = visibleText(String(key))
  const value = clean.length > most ? clean.slice(0, most).replace(/[\ud800-\udbff]$/, "") : clean
  const label = dimension === "country" ? countryName(value) : names?.get(value)
  return { value, ...(label !== undefined && { label }), ...(value.length < clean.length && { truncated: true }) }
}

/** The values of a row by name. What was not measured is left out; no revenue is 0. `decimals` are those of the currency. */
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

/** Hours by their start, folded into a week: by weekday from Monday and hour of the day. An hour that comes twice counts in one cell. */
export function foldHours(rows: readonly Row[], timezone: string): number[][] {
  const grid = Array.from({ length: DAYS }, () => new Array<number>(HOURS).fill(0))
  for (const { keys, values } of rows) {
    const local = zoned(Number(keys[0]), timezone)
    const day = grid[local.dayOfWeek - 1]!
    day[local.hour] = day[local.hour]! + (values[0] ?? 0)
  }
  return grid
}
