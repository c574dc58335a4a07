import { type Static, Type as t } from "@sinclair/typebox"
import type { Filter } from "../domain/filter.ts"
import { QUERY } from "../domain/limits.ts"
import { METRICS, type Metric } from "../domain/metric.ts"
import { escaped, inspect } from "../domain/shape.ts"
import { tidied } from "../domain/text.ts"
import { parseTimezone } from "../domain/timezone.ts"
import { refuseArrayCombinations } from "./array-combinations.ts"
import { Comparisons, readArrayComparison } from "./array-comparison.ts"
import { type ArrayDimension, intervalOf, readDimensions } from "./array-dimensions.ts"
import { readFilterTrees, type SavedFilters } from "./array-filters.ts"
import { defaultOrder, type Ordered, readOrder } from "./array-order.ts"
import { type ArrayRange, readDateRange } from "./array-range.ts"
import { type Faults, readList } from "./faults.ts"
import { coarserInterval } from "./interval.ts"
import type { LocalRange, Moment } from "./period.ts"

/** The array form of a question (api.md section 7): what `POST /query` takes, the shape of Plausible's stats API v2. */
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

/** A parsed question of the array form, with the bounds checked and the defaults filled in. */
export interface ArrayQuestion extends ArrayRange {
  metrics: readonly Metric[]
  dimensions: readonly ArrayDimension[]
  filter?: Filter
  /** As they were sent. */
  filters: readonly unknown[]
  order: readonly Ordered[]
  include: Static<typeof Include>
  compared?: LocalRange
  limit: number
  offset: number
}

/**
 * `moment.timezone` is the site's: the field `timezone` replaces it. `site_id` is the caller's to read; what is wrong with it
 * is in `faults` already. Throws `validation_failed` with all faults at once.
 */
export function parseArrayQuestion(body: Record<string, unknown>, moment: Moment, faults: Faults, saved: SavedFilters): ArrayQuestion {
  for (const name of Object.keys(body)) if (!FIELDS.includes(name)) faults.refuse(`/${escaped(name)}`, "unknown_field", "does not exist")
  const local = { ...moment, timezone: readTimezone(body.timezone, faults) ?? moment.timezone }
  const question = readQuestion(body, local, faults, saved)
  faults.refuseAll(body)
  // Only faults leave it undefined.
  return question!
}

function readQuestion(body: Record<string, unknown>, moment: Moment, faults: Faults, saved: SavedFilters): ArrayQuestion | undefined {
  const metrics = readMetrics(body.metrics, faults)
  const range = readDateRange(body.date_range, moment, faults)
  const dimensions = readDimensions(body.dimensions, faults)
  const filter = readFilterTrees(body.filters, faults, saved)
  const include = readObject(Include, body.include, "/include", faults)
  const page = readObject(Pagination, body.pagination, "/pagination", faults)
  const time = dimensions?.find((dimension) => "interval" in dimension)
  if (time && range) refuseManyPoints(time.interval, dimensions!.indexOf(time), range.range, faults)
  if (include?.time_labels && dimensions && !time)
    faults.refuse("/include/time_labels", "unsupported_combination", "needs a time dimension")
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
  if (typeof value !== "string") return faults.refuse("/timezone", "invalid_type", "must be a text")
  return parseTimezone(tidied(value)) ?? faults.refuse("/timezone", "invalid_timezone", "must be an IANA zone, such as Europe/Berlin")
}

function readMetrics(value: unknown, faults: Faults): readonly Metric[] | undefined {
  if (value === undefined) return faults.refuse("/metrics", "required", "is required")
  const list = readList(value, "/metrics", { min: 1, max: QUERY.metrics }, faults)
  const read = list?.map((name, i) => readMetric(name, `/metrics/${i}`, faults)).filter((metric) => metric !== undefined)
  if (!read || read.length < list!.length) return undefined
  return new Set(read).size < read.length ? faults.refuse("/metrics", "not_unique", "names one twice") : read
}

function readMetric(name: unknown, pointer: string, faults: Faults): Metric | undefined {
  if (typeof name !== "string") return faults.refuse(pointer, "invalid_type", "must be the name of a metric")
  const metric = METRICS.find((known) => known === name)
  return metric ?? faults.refuse(pointer, "invalid_choice", `must be of: ${METRICS.join(", ")}`, METRICS)
}

/** Undefined when anything in it is at fault. */
function readObject<T extends typeof Include | typeof Pagination>(schema: T, value: unknown, pointer: string, faults: Faults) {
  const { fields, faults: found } = inspect(schema, value === undefined ? {} : value, pointer)
  faults.add(found)
  // Without a fault all fields that must be there are.
  return found.length > 0 ? undefined : (fields as Static<T>)
}

function refuseManyPoints(interval: Parameters<typeof intervalOf>[0], index: number, range: LocalRange, faults: Faults): void {
  const fits = coarserInterval(range, intervalOf(interval, range))
  if (fits !== undefined)
    faults.refuse(`/dimensions/${index}`, "too_many_points", `makes more than ${QUERY.points} points, or minutes of days: use time:${fits}`)
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
