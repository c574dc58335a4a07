import { type Static, Type as t } from "@sinclair/typebox"
import type { Filter } from "../../domain/filter.ts"
import { QUERY } from "../../domain/limits.ts"
import { METRICS, type Metric } from "../../domain/metric.ts"
import { parseTimezone } from "../../domain/moment.ts"
import type { Query } from "../../domain/query.ts"
import { escaped, inspect } from "../../domain/shape.ts"
import { normalizeText } from "../../domain/text.ts"
import { type ArrayDimension, HIDDEN, intervalOf, readDimensions } from "./array-dimensions.ts"
import { readFilterTrees, type SavedFilters } from "./array-filters.ts"
import { type ArrayRange, Comparisons, readArrayComparison, readDateRange } from "./array-range.ts"
import { refuseArrayCombinations } from "./combinations.ts"
import { type Faults, readList } from "./faults.ts"
import { coarserInterval, type LocalRange, type Moment } from "./period.ts"

/** Fields of the array form of a query (api.md section 7): the body of `POST /query`, shaped like Plausible's stats API v2. */
const FIELDS = ["site_id", "metrics", "date_range", "timezone", "dimensions", "filters", "order_by", "include", "pagination"]

const Pagination = t.Object(
  {
    limit: t.Optional(t.Integer({ minimum: 1, maximum: QUERY.pageLimit })),
    offset: t.Optional(t.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  },
  { additionalProperties: false },
)
const Include = t.Object(
  {
    imports: t.Optional(t.Boolean()),
    time_labels: t.Optional(t.Boolean()),
    total_rows: t.Optional(t.Boolean()),
    comparisons: t.Optional(Comparisons),
  },
  { additionalProperties: false },
)

/** A parsed query of the array form, with limits checked and defaults filled in. */
export interface ParsedArrayQuery extends ArrayRange {
  metrics: readonly Metric[]
  dimensions: readonly ArrayDimension[]
  filter?: Filter
  /** The filters as they were sent. */
  filters: readonly unknown[]
  order: readonly Ordered[]
  include: Static<typeof Include>
  compared?: LocalRange
  limit: number
  offset: number
}

/**
 * Parses the body of `POST /query`. The field `timezone` overrides the zone of the site in `moment`. The caller reads `site_id`
 * and adds its faults to `faults` beforehand. Throws `validation_failed` with all faults at once.
 */
export function parseArrayQuery(body: Record<string, unknown>, moment: Moment, faults: Faults, saved: SavedFilters): ParsedArrayQuery {
  for (const name of Object.keys(body)) if (!FIELDS.includes(name)) faults.refuse(`/${escaped(name)}`, "unknown_field", "does not exist")
  const local = { ...moment, timezone: readTimezone(body.timezone, faults) ?? moment.timezone }
  const parsed = readQuery(body, local, faults, saved)
  faults.refuseAll(body)
  // It is undefined only when there are faults, and those were thrown above.
  return parsed!
}

function readQuery(body: Record<string, unknown>, moment: Moment, faults: Faults, saved: SavedFilters): ParsedArrayQuery | undefined {
  const metrics = readMetrics(body.metrics, faults, saved.hides !== undefined)
  const range = readDateRange(body.date_range, moment, faults)
  const dimensions = readDimensions(body.dimensions, faults, saved)
  const filter = readFilterTrees(body.filters, faults, saved)
  const include = readObject(Include, body.include, "/include", faults)
  const page = readObject(Pagination, body.pagination, "/pagination", faults)
  const time = dimensions?.find((dimension) => "interval" in dimension)
  if (time && range) refuseManyPoints(time.interval, dimensions!.indexOf(time), range.range, faults)
  if (include?.time_labels && dimensions && !time)
    faults.refuse("/include/time_labels", "unsupported_combination", "requires a time dimension")
  const compared = include?.comparisons && range && readArrayComparison(include.comparisons, range.range, moment, faults)
  if (metrics && dimensions && faults.isSound("filters")) refuseArrayCombinations({ metrics, dimensions, filter }, faults)
  const order = metrics && dimensions && readOrderBy(body.order_by, metrics, dimensions, time?.name, faults)
  if (!metrics || !range || !dimensions || !include || !page || !order) return undefined
  const { limit = QUERY.pageLimit, offset = 0 } = page
  return {
    ...range,
    metrics,
    dimensions,
    ...(filter && { filter }),
    filters: Array.isArray(body.filters) ? body.filters : [],
    order,
    include,
    ...(compared && { compared }),
    limit,
    offset,
  }
}

function readTimezone(value: unknown, faults: Faults): string | undefined {
  if (value === undefined) return undefined
  if (typeof value !== "string") return faults.refuse("/timezone", "invalid_type", "must be a string")
  return (
    parseTimezone(normalizeText(value)) ??
    faults.refuse("/timezone", "invalid_timezone", "must be an IANA time zone, such as Europe/Berlin")
  )
}

function readMetrics(value: unknown, faults: Faults, hidesRevenue: boolean): readonly Metric[] | undefined {
  if (value === undefined) return faults.refuse("/metrics", "required", "is required")
  const list = readList(value, "/metrics", { min: 1, max: QUERY.metrics }, faults)
  const read = list?.map((name, i) => readMetric(name, `/metrics/${i}`, faults, hidesRevenue)).filter((metric) => metric !== undefined)
  if (!read || read.length < list!.length) return undefined
  return new Set(read).size < read.length ? faults.refuse("/metrics", "not_unique", "contains a duplicate") : read
}

function readMetric(name: unknown, pointer: string, faults: Faults, hidesRevenue: boolean): Metric | undefined {
  if (typeof name !== "string") return faults.refuse(pointer, "invalid_type", "must be the name of a metric")
  const metric = METRICS.find((known) => known === name)
  if (hidesRevenue && metric?.endsWith("_revenue")) return faults.refuse(pointer, HIDDEN.code, HIDDEN.detail)
  return metric ?? faults.refuse(pointer, "invalid_choice", `must be one of: ${METRICS.join(", ")}`, METRICS)
}

/** Reads an object by its schema. Returns undefined when any field is invalid. */
function readObject<T extends typeof Include | typeof Pagination>(schema: T, value: unknown, pointer: string, faults: Faults) {
  const { fields, faults: found } = inspect(schema, value === undefined ? {} : value, pointer)
  faults.add(found)
  // Without faults all required fields are present.
  return found.length > 0 ? undefined : (fields as Static<T>)
}

function refuseManyPoints(interval: Parameters<typeof intervalOf>[0], index: number, range: LocalRange, faults: Faults): void {
  const fits = coarserInterval(range, intervalOf(interval, range))
  if (fits !== undefined)
    faults.refuse(
      `/dimensions/${index}`,
      "too_many_points",
      `produces more than ${QUERY.points} points, or minutes over more than a day: use time:${fits}`,
    )
}

function readOrderBy(
  value: unknown,
  metrics: readonly Metric[],
  dimensions: readonly ArrayDimension[],
  time: string | undefined,
  faults: Faults,
): readonly Ordered[] | undefined {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return defaultOrder(metrics, time)
  return readOrder(value, [...metrics, ...dimensions.map(({ name }) => name)], faults)
}

export interface Ordered {
  /** A name from `metrics` or `dimensions`. */
  name: string
  descending: boolean
}

const DIRECTIONS = ["asc", "desc"]

/** Reads `order_by`: up to five pairs of a requested name and a direction. Returns undefined when one is invalid. */
export function readOrder(value: unknown, names: readonly string[], faults: Faults): readonly Ordered[] | undefined {
  const list = readList(value, "/order_by", { min: 0, max: QUERY.orders }, faults)
  const read = list?.map((pair, i) => readPair(pair, `/order_by/${i}`, names, faults)).filter((ordered) => ordered !== undefined)
  return read && read.length === list!.length ? read : undefined
}

/** Returns the default order: time ascending with a time dimension, otherwise the first metric descending. */
export function defaultOrder(metrics: readonly string[], time: string | undefined): readonly Ordered[] {
  return time === undefined ? metrics.slice(0, 1).map((name) => ({ name, descending: true })) : [{ name: time, descending: false }]
}

export function orderOf(order: readonly Ordered[], metrics: readonly string[], dimensions: readonly string[]): Query["order"] {
  return order.map(({ name, descending }) => {
    const index = metrics.indexOf(name)
    return index === -1 ? { by: "grouping", index: dimensions.indexOf(name), descending } : { by: "metric", index, descending }
  })
}

function readPair(pair: unknown, pointer: string, names: readonly string[], faults: Faults): Ordered | undefined {
  const [given, direction] = readList(pair, pointer, { min: 2, max: 2 }, faults) ?? []
  if (given === undefined) return undefined
  const name = names.find((known) => known === given)
  if (name === undefined) refuseText(given, `${pointer}/0`, names, faults)
  if (!DIRECTIONS.some((known) => known === direction)) return refuseText(direction, `${pointer}/1`, DIRECTIONS, faults)
  return name === undefined ? undefined : { name, descending: direction === "desc" }
}

function refuseText(given: unknown, pointer: string, allowed: readonly string[], faults: Faults): undefined {
  if (typeof given !== "string") return faults.refuse(pointer, "invalid_type", "must be a string")
  return faults.refuse(pointer, "invalid_choice", `must be one of: ${allowed.join(", ")}`, allowed)
}
