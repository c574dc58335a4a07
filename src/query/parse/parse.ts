/**
 * Parses the flat form of a query (api.md section 6), which REST, MCP and the address bar of the dashboard send. All faults are
 * reported at once.
 */
import { type Dimension, FLAT_DIMENSIONS } from "../../domain/dimension.ts"
import type { Filter } from "../../domain/filter.ts"
import { QUERY } from "../../domain/limits.ts"
import { FLAT_METRICS, type FlatMetric } from "../../domain/metric.ts"
import { parseTimezone } from "../../domain/moment.ts"
import { COMPARISONS } from "../../domain/period.ts"
import type { Interval } from "../../domain/query.ts"
import { isRelativePeriod, PERIOD_CHOICES, type RelativePeriod } from "../../domain/relative-period.ts"
import { fault } from "../../domain/shape.ts"
import { ArgumentReader, type Form, fromQueryString, refuseArguments } from "./arguments.ts"
import { HIDDEN, type Hiding } from "./array-dimensions.ts"
import type { SavedFilters } from "./array-filters.ts"
import { refuseCombinations } from "./combinations.ts"
import { comparedRange, customComparison } from "./compare.ts"
import { readFilters } from "./flat-filters.ts"
import {
  type ClippedRange,
  isLongPeriod,
  type LocalRange,
  type Moment,
  periodRange,
  type RangeFault,
  rangeBetween,
  readInterval,
} from "./period.ts"

const RANGED = ["period", "from", "to", "timezone", "filters", "imports"]
const COMPARED = ["compare", "compare_from", "compare_to", "match_weekday"]
const ARGUMENTS = {
  summary: [...RANGED, ...COMPARED, "metrics"],
  timeseries: [...RANGED, ...COMPARED, "metrics", "interval"],
  breakdown: ["dimension", "property", ...RANGED, "metrics", "sort", "order", "limit", "offset"],
  goals: RANGED,
  funnel: RANGED,
  compared_funnel: [...RANGED, ...COMPARED],
  vitals: [...RANGED, ...COMPARED],
  /** Queries about visits, which have further arguments of their own. */
  visits: RANGED,
  /** The list of recorded visits, in which imports have no part. */
  visit_list: RANGED.filter((name) => name !== "imports"),
  days: ["period", "from", "to"],
} as const
export type Report = keyof typeof ARGUMENTS

/** A parsed query of the flat form, with limits checked and defaults filled in. */
export interface ParsedQuery {
  report: Report
  range: LocalRange
  /** Whether `to` was after today and was clipped. */
  clipped: boolean
  compared?: LocalRange
  /** Whether imported totals are added where they fit. */
  imports: boolean
  metrics: readonly FlatMetric[]
  /** Whether revenue was left out of the default metrics, because the caller may not see it. */
  omitsRevenue?: boolean
  filter?: Filter
  filtered: readonly Dimension[]
  /** Minimum number of visitors of a row by value. Smaller rows are left out. */
  minVisitors?: number
  /** Only for timeseries. */
  interval?: Interval
  /** Only for breakdowns. */
  dimension?: Dimension
  property?: string
  sort: FlatMetric
  descending: boolean
  limit: number
  offset: number
}

const DEFAULT_METRICS: Record<Report, readonly FlatMetric[]> = {
  summary: ["visitors", "visits", "pageviews", "views_per_visit", "bounce_rate", "visit_duration", "events"],
  timeseries: ["visitors", "pageviews"],
  breakdown: ["visitors", "pageviews"],
  goals: ["visitors", "conversions", "conversion_rate", "revenue"],
  funnel: [],
  compared_funnel: [],
  vitals: [],
  visits: [],
  visit_list: [],
  days: [],
}
const DEFAULT_METRICS_BY: Partial<Record<Dimension, readonly FlatMetric[]>> = {
  event: ["visitors", "events", "conversion_rate"],
  goal: ["visitors", "conversions", "conversion_rate"],
}

/** Options by which callers differ. */
export interface ParseOptions {
  /** What the caller may name. Default: no segments and cohorts, and everything that reveals revenue. */
  saved?: SavedFilters
  /** Whether breakdowns accept the arguments of a comparison. */
  comparesRows?: boolean
  /** Minimum number of visitors that is shown as a separate row. */
  minVisitors?: number | undefined
}

/** Parses a query. The argument `timezone` overrides the zone of the site in `moment`. Throws all faults at once. */
export function parseQuery(
  report: Report,
  given: Record<string, unknown>,
  moment: Moment,
  form: Form,
  options: ParseOptions = {},
): ParsedQuery {
  const known = report === "breakdown" && options.comparesRows ? [...ARGUMENTS[report], ...COMPARED] : ARGUMENTS[report]
  const reader = new ArgumentReader(form === "text" ? fromQueryString(given) : given, known)
  const parsed = readQuery(report, reader, moment, options)
  refuseArguments(reader, form)
  // It is undefined only when there are faults, and those were thrown above.
  return parsed!
}

/** Parses the arguments of the realtime report, which has no range and no filters. */
export function parseRealtime(given: Record<string, unknown>, form: Form): { limit: number } {
  const reader = new ArgumentReader(given, ["limit"])
  const limit = reader.integer("limit", { min: 1, max: QUERY.realtimeLimit }) ?? 10
  refuseArguments(reader, form)
  return { limit }
}

function readQuery(report: Report, reader: ArgumentReader, site: Moment, options: ParseOptions): ParsedQuery | undefined {
  const saved: SavedFilters = options.saved ?? (() => undefined)
  const grouping = report === "breakdown" ? readGrouping(reader, saved) : {}
  const moment = { ...site, timezone: readTimezone(reader) ?? site.timezone }
  const chosen = readRange(reader, moment)
  const { filter, dimensions: filtered } = readFilters(reader, saved)
  const imports = reader.boolean("imports") ?? true
  const compared = chosen && readComparison(reader, chosen.range, moment)
  const { metrics, omitsRevenue } = readMetrics(reader, report, grouping.dimension, saved.hides !== undefined)
  const interval = report === "timeseries" ? readInterval(reader, chosen?.range) : undefined
  const page = readPage(reader, metrics)
  refuseCombinations(reader, { report, metrics, filtered, dimension: grouping.dimension })
  if (!chosen) return undefined
  const { minVisitors } = options
  return {
    report,
    ...chosen,
    imports,
    metrics,
    ...(omitsRevenue && { omitsRevenue }),
    filtered,
    ...grouping,
    ...page,
    ...defined({ filter, compared, interval, minVisitors }),
  }
}

function readGrouping(reader: ArgumentReader, { hides }: Hiding): { dimension?: Dimension; property?: string } {
  const dimension = reader.choice("dimension", FLAT_DIMENSIONS)
  const property = reader.text("property", { min: 1, max: QUERY.propertyChars })
  if (!reader.has("dimension"))
    reader.refuse({ pointer: "/dimension", code: "required", detail: "A dimension is required.", allowed: FLAT_DIMENSIONS })
  if (dimension === "property" && !reader.has("property")) {
    reader.refuse({ pointer: "/property", code: "required", detail: "The property key is required." })
  }
  if (dimension !== undefined && dimension !== "property" && reader.has("property")) {
    reader.refuse({ pointer: "/property", code: "unsupported_combination", detail: "property is only allowed with dimension=property." })
  }
  if (property !== undefined && hides?.(property)) reader.refuse(fault("/property", HIDDEN.code, HIDDEN.detail))
  return defined({ dimension, property })
}

function readTimezone(reader: ArgumentReader): string | undefined {
  const text = reader.text("timezone", { min: 0, max: 64 })
  if (text === undefined) return undefined
  const zone = parseTimezone(text)
  if (zone === undefined)
    reader.refuse({ pointer: "/timezone", code: "invalid_timezone", detail: "timezone must be an IANA time zone, such as Europe/Berlin." })
  return zone
}

function readRange(reader: ArgumentReader, moment: Moment): ClippedRange | undefined {
  const period = readPeriod(reader)
  if (reader.has("from") || reader.has("to")) return readEnds(reader, ["from", "to"], moment)
  const range = periodRange(period, moment)
  if (isLongPeriod(period, range)) return reader.refuse({ pointer: "/period", code: "invalid_range", detail: TOO_LONG })
  return { range, clipped: false }
}

const USUAL_PERIOD = "30d"

function readPeriod(reader: ArgumentReader): RelativePeriod {
  const period = reader.has("period") ? reader.raw("period") : USUAL_PERIOD
  if (isRelativePeriod(period)) return period
  reader.refuse({ pointer: "/period", code: "invalid_choice", detail: `period must be one of: ${PERIOD_CHOICES}.` })
  return USUAL_PERIOD
}

/** Reads two days or two times, both inclusive, and clips the last one to today. */
function readEnds(reader: ArgumentReader, [first, last]: readonly [string, string], moment: Moment): ClippedRange | undefined {
  const [from, to] = [reader.end(first, moment.timezone), reader.end(last, moment.timezone)]
  const refuse = (name: string, detail: string) => reader.refuse({ pointer: `/${name}`, code: "invalid_range", detail })
  for (const name of [first, last]) if (!reader.has(name)) refuse(name, `Give ${first} and ${last} together.`)
  if (from === undefined || to === undefined) return undefined
  const range = rangeBetween(from, to, moment)
  return typeof range === "string" ? refuse(first, rangeFaultText(range, first, last)) : range
}

const TOO_LONG = `A range can cover at most ${QUERY.rangeYears} years.`

function rangeFaultText(fault: RangeFault, first: string, last: string): string {
  switch (fault) {
    case "mixed":
      return `${first} and ${last} must both be days or both be times.`
    case "reversed":
      return `${first} must not be after ${last}.`
    case "future":
      return `${first} must not be in the future.`
    case "long":
      return TOO_LONG
  }
}

function readComparison(reader: ArgumentReader, range: LocalRange, moment: Moment): LocalRange | undefined {
  const mode = reader.choice("compare", COMPARISONS) ?? "none"
  const matchWeekday = reader.boolean("match_weekday") ?? false
  const named = ["compare_from", "compare_to"].filter((name) => reader.has(name))
  if (mode === "custom") {
    const ends = readEnds(reader, ["compare_from", "compare_to"], moment)
    return ends && comparedRange(range, customComparison(ends.range, matchWeekday))
  }
  for (const name of named) {
    reader.refuse({ pointer: `/${name}`, code: "unsupported_combination", detail: `${name} is only allowed with compare=custom.` })
  }
  return mode === "none" ? undefined : comparedRange(range, { mode, matchWeekday })
}

function readMetrics(
  reader: ArgumentReader,
  report: Report,
  dimension: Dimension | undefined,
  hidesRevenue: boolean,
): { metrics: readonly FlatMetric[]; omitsRevenue: boolean } {
  const defaults = (dimension && DEFAULT_METRICS_BY[dimension]) ?? DEFAULT_METRICS[report]
  const metrics = reader.choices("metrics", FLAT_METRICS, { min: 1, max: QUERY.flatMetrics })
  if (hidesRevenue && metrics?.includes("revenue")) reader.refuse(fault("/metrics", HIDDEN.code, HIDDEN.detail))
  const shown = (metrics ?? defaults).filter((metric) => metric !== "revenue" || !hidesRevenue)
  return { metrics: shown, omitsRevenue: metrics === undefined && shown.length < defaults.length }
}

function readPage(reader: ArgumentReader, metrics: readonly FlatMetric[]) {
  return {
    sort: reader.choice("sort", metrics) ?? metrics[0] ?? "visitors",
    descending: reader.choice("order", ["desc", "asc"]) !== "asc",
    limit: reader.integer("limit", { min: 1, max: QUERY.breakdownLimit }) ?? 10,
    offset: reader.integer("offset", { min: 0, max: QUERY.breakdownOffset }) ?? 0,
  }
}

/** Returns the members without those that are undefined, so that optional members are absent. */
function defined<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  // The entries are a subset of those of `members`, as the type states.
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
