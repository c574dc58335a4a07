import type { ApiKey } from "../../domain/key.ts"
import { PLAUSIBLE } from "../../domain/limits.ts"
import type { Metric } from "../../domain/metric.ts"
import { parseDay } from "../../domain/moment.ts"
import type { AnswerRow, AnswerValue, QueryAnswer } from "../../domain/query-answer.ts"
import { countOf, isRelativePeriod } from "../../domain/relative-period.ts"
import { ArgumentReader, refuseArguments } from "../../query/parse/arguments.ts"
import { asParameterFaults, type QueryForm } from "./query-form.ts"

/**
 * Plausible's stats API v1. Each request becomes a query in the array form, which has the same properties and metrics, and its answer
 * gets the shape that clients of version 1 expect. Faults name the parameters that they sent.
 */
export interface PlausibleV1 {
  /** Returns the number of current visitors. */
  visitors(key: ApiKey, given: Given, signal?: AbortSignal): Promise<number>
  aggregate(key: ApiKey, given: Given, signal?: AbortSignal): Promise<PlausibleAggregate>
  timeseries(key: ApiKey, given: Given, signal?: AbortSignal): Promise<PlausibleRows>
  breakdown(key: ApiKey, given: Given, signal?: AbortSignal): Promise<PlausibleRows>
}

type Given = Record<string, unknown>

export interface PlausibleAggregate {
  results: Record<string, { value: number | null; change?: number | null }>
  /** Why imported totals are not included. */
  warning?: string
}
export interface PlausibleRows {
  results: Record<string, string | number | null>[]
  warning?: string
}

export const PLAUSIBLE_METRICS = [
  "visitors",
  "visits",
  "pageviews",
  "views_per_visit",
  "bounce_rate",
  "visit_duration",
  "events",
  "conversion_rate",
  "time_on_page",
] as const satisfies readonly Metric[]
type PlausibleMetric = (typeof PLAUSIBLE_METRICS)[number]

/** Parameters that all reports with a range accept. */
const COMMON = ["site_id", "period", "date", "metrics", "filters", "with_imported"]

export function createPlausibleV1({ answer }: Pick<QueryForm, "answer">): PlausibleV1 {
  /** Runs a query. Its faults become faults of the parameters. `parameters` are those that differ between the reports. */
  const run = (key: ApiKey, body: object, parameters: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<QueryAnswer> =>
    answer(key, body, signal).catch((thrown) => {
      throw asParameterFaults(thrown, { ...PARAMETERS, ...parameters })
    })

  return {
    async visitors(key, given, signal) {
      const reader = new ArgumentReader(given, ["site_id"])
      refuseArguments(reader, "text")
      const body = { ...siteOf(reader), metrics: ["visitors"], date_range: "realtime" }
      const { results } = await run(key, body, {}, signal)
      return numberOf(results[0]?.metrics[0]) ?? 0
    },
    async aggregate(key, given, signal) {
      const reader = new ArgumentReader(listed(given), [...COMMON, "compare"])
      const { body, metrics, dateName } = readCommon(reader)
      const isCompared = reader.choice("compare", ["previous_period"]) !== undefined
      refuseArguments(reader, "text")
      const include = { ...body.include, ...(isCompared && { comparisons: { mode: "previous_period" } }) }
      const found = await run(key, { ...body, include }, { date_range: dateName }, signal)
      const [row] = found.results
      const results = metrics.map((metric, i) => [metric, totalOf(metric, row, i)] as const)
      return { results: Object.fromEntries(results), ...warningOf(found) }
    },
    async timeseries(key, given, signal) {
      const reader = new ArgumentReader(listed(given), [...COMMON, "interval"])
      const { body, metrics, period, dateName } = readCommon(reader)
      const interval = reader.choice("interval", ["day", "date", "month", "hour"]) ?? usualInterval(period)
      refuseArguments(reader, "text")
      const query = {
        ...body,
        dimensions: [`time:${interval === "date" ? "day" : interval}`],
        include: { ...body.include, time_labels: true },
      }
      const found = await run(key, query, { date_range: dateName, dimensions: "interval" }, signal)
      const rows = new Map(found.results.map((row) => [row.dimensions[0], row]))
      const results = found.meta.time_labels!.map((date) => ({ date, ...pointOf(metrics, rows.get(date)) })) // they were requested
      return { results, ...warningOf(found) }
    },
    async breakdown(key, given, signal) {
      const reader = new ArgumentReader(listed(given), [...COMMON, "property", "limit", "page"])
      const { body, metrics, dateName } = readCommon(reader)
      const property = readProperty(reader)
      const limit = reader.integer("limit", { min: 1, max: PLAUSIBLE.rows }) ?? PLAUSIBLE.usualRows
      const page = reader.integer("page", { min: 1, max: PLAUSIBLE.pages }) ?? 1
      refuseArguments(reader, "text")
      const asked = metrics.map((metric) => (metric === "conversion_rate" && !isByGoal(property) ? "group_conversion_rate" : metric))
      // Rows are never ordered by the time on a page.
      const first = asked.find((metric) => metric !== "time_on_page")
      const query = {
        ...body,
        metrics: first === undefined ? [...asked, "visitors"] : asked,
        dimensions: [property],
        order_by: [[first ?? "visitors", "desc"]],
        pagination: { limit, offset: (page - 1) * limit },
      }
      const found = await run(key, query, { date_range: dateName, dimensions: "property" }, signal)
      const name = property.slice(property.startsWith(PROPS) ? PROPS.length : property.indexOf(":") + 1)
      const results = found.results.map((row) => ({ [name]: shownKey(property, row.dimensions[0]!), ...pointOf(metrics, row) }))
      return { results, ...warningOf(found) }
    },
  }
}

const PROPS = "event:props:"
/** Rates of goals and properties are shares of all visitors; others of the visitors of the row. */
const isByGoal = (property: string): boolean => property === "event:goal" || property.startsWith(PROPS)

const listed = ({ metrics, ...given }: Given): Given =>
  typeof metrics === "string" ? { ...given, metrics: metrics.split(",") } : { ...given, ...(metrics !== undefined && { metrics }) }

/** Reads the parameters of all reports with a range. `dateName` is the parameter to which faults of the range belong. */
function readCommon(reader: ArgumentReader) {
  const period = readPeriod(reader)
  const metrics = reader.choices("metrics", PLAUSIBLE_METRICS, { min: 1, max: PLAUSIBLE_METRICS.length }) ?? ["visitors" as const]
  const date_range = readDates(reader, period)
  const filters = readFilters(reader)
  const imports = reader.choice("with_imported", ["true", "false"]) === "true"
  const include = imports ? { imports } : {}
  return {
    body: { ...siteOf(reader), metrics, date_range, filters, include },
    metrics,
    period,
    dateName: reader.has("date") ? "date" : "period",
  }
}

/** A site is named by its host; its id works, too. A missing one is a fault of the query. */
const siteOf = (reader: ArgumentReader): { site_id?: unknown } => (reader.has("site_id") ? { site_id: reader.raw("site_id") } : {})

const NAMED = ["day", "month", "year", "custom"] as const
const USUAL = "30d"

function readPeriod(reader: ArgumentReader): string {
  const period = reader.has("period") ? reader.raw("period") : USUAL
  if (NAMED.some((name) => name === period) || (isRelativePeriod(period) && countOf(period))) return String(period)
  const detail = `period must be one of: ${NAMED.join(", ")}, or a number of days or months, such as 7d or 12mo.`
  reader.refuse({ pointer: "/period", code: "invalid_choice", detail })
  return USUAL
}

const usualInterval = (period: string): string => (period === "day" ? "hour" : period === "year" || period.endsWith("mo") ? "month" : "day")

/** Reads the days of a period. They end with `date`, or with today. */
function readDates(reader: ArgumentReader, period: string): string | [string, string] {
  if (period === "custom") return readCustomDates(reader)
  const date = reader.day("date")
  if (!date) return period
  const month = date.with({ day: 1 })
  const endOfMonth = month.add({ months: 1 }).subtract({ days: 1 })
  const year = date.with({ month: 1, day: 1 })
  const { count, unit } = (isRelativePeriod(period) && countOf(period)) || { count: 1, unit: period === "month" ? "months" : "days" }
  if (period === "year") return days(year, year.add({ years: 1 }).subtract({ days: 1 }))
  return unit === "days" ? days(date.subtract({ days: count - 1 }), date) : days(month.subtract({ months: count - 1 }), endOfMonth)
}

const days = (from: Temporal.PlainDate, to: Temporal.PlainDate): [string, string] => [from.toString(), to.toString()]

function readCustomDates(reader: ArgumentReader): [string, string] {
  const ends = String(reader.raw("date") ?? "").split(",")
  const [from, to] = ends.map((end) => parseDay(end.trim()))
  if (from && to && ends.length === 2) return days(from, to)
  const code = reader.has("date") ? "invalid_date" : "required"
  reader.refuse({ pointer: "/date", code, detail: "date must be two days such as 2026-11-01,2026-11-30 with period=custom." })
  return ["", ""]
}

function readProperty(reader: ArgumentReader): string {
  const property = reader.text("property", { min: 1, max: PLAUSIBLE.propertyChars })
  if (!reader.has("property")) reader.refuse({ pointer: "/property", code: "required", detail: "property is required." })
  else if (property !== undefined && !/^(event|visit):/.test(property))
    reader.refuse({
      pointer: "/property",
      code: "invalid_choice",
      detail: "property must be a property such as visit:source or event:page.",
    })
  return property ?? ""
}

/**
 * Parses filters such as `visit:source==Google|Twitter;event:page!=/blog*`. All conditions must match. `|` separates alternatives unless
 * a backslash precedes it, and `*` stands for any characters, except in the names of goals.
 */
function readFilters(reader: ArgumentReader): [string, string, string[]][] {
  const text = reader.text("filters", { min: 0, max: PLAUSIBLE.filterChars })
  if (!text) return []
  return text.split(";").flatMap((condition) => {
    const at = condition.search(/[=!]=/)
    const property = condition.slice(0, Math.max(0, at)).trim()
    if (!/^(event|visit):./.test(property)) {
      const detail = "filters must be conditions such as visit:source==Google;event:page!=/blog*."
      reader.refuse({ pointer: "/filters", code: "invalid_type", detail })
      return []
    }
    const [operator, values] = [condition.slice(at, at + 2), condition.slice(at + 2)]
    const clauses = values.split(/(?<!\\)\|/).map((value) => value.replaceAll("\\|", "|").trim())
    const isPattern = property !== "event:goal" && clauses.some((clause) => clause.includes("*"))
    const name = operator === "==" ? (isPattern ? "matches_wildcard" : "is") : isPattern ? "matches_wildcard_not" : "is_not"
    return [[name, property, isPattern ? clauses.map((clause) => clause.replace(/\*+/g, "*")) : clauses]] as [string, string, string[]][]
  })
}

/** Parameters to which faults of a query belong, unless the report says otherwise. */
const PARAMETERS: Readonly<Record<string, string>> = { pagination: "page", include: "with_imported", order_by: "metrics" }

const warningOf = ({ meta }: QueryAnswer): { warning?: string } =>
  meta.imports_included === false && meta.imports_skip_reason !== "none_in_range" && meta.imports_warning !== undefined
    ? { warning: meta.imports_warning }
    : {}

const numberOf = (value: AnswerValue | undefined): number | null => (typeof value === "number" ? value : null)

/** Metrics without a value in a time bucket without visits. */
const UNMEASURED: readonly PlausibleMetric[] = ["bounce_rate", "visit_duration", "time_on_page"]

function pointOf(metrics: readonly PlausibleMetric[], row: AnswerRow | undefined): Record<string, number | null> {
  const valueAt = (metric: PlausibleMetric, i: number) => (row ? numberOf(row.metrics[i]) : UNMEASURED.includes(metric) ? null : 0)
  return Object.fromEntries(metrics.map((metric, i) => [metric, valueAt(metric, i)]))
}

function totalOf(metric: PlausibleMetric, row: AnswerRow | undefined, i: number): { value: number | null; change?: number | null } {
  const value = numberOf(row?.metrics[i])
  return row?.comparison ? { value, change: changeOf(metric, value, numberOf(row.comparison.metrics[i])) } : { value }
}

/** Returns the change as version 1 defines it: points for rates, otherwise whole percent, and 100 for anything after nothing. */
function changeOf(metric: PlausibleMetric, value: number | null, before: number | null): number | null {
  if (value === null || before === null) return null
  if (metric === "bounce_rate" || metric === "conversion_rate") return Math.round((value - before) * 10) / 10
  if (before === 0) return value > 0 ? 100 : 0
  return Math.round(((value - before) / before) * 100)
}

/** Returns the value of a row. Cities are GeoNames ids, which are numbers, where the database of places has them. */
const shownKey = (property: string, value: string): string | number =>
  property === "visit:city" && /^[1-9]\d{0,14}$/.test(value) ? Number(value) : value
