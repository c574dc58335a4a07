import { dimensionFacts } from "../../src/domain/dimension.ts"
import type { Condition, Filter } from "../../src/domain/filter.ts"
import { METRICS, type Metric } from "../../src/domain/metric.ts"
import type { Grouping, Query } from "../../src/domain/query.ts"
import type { Days } from "./periods.ts"
import { rangeOf } from "./periods.ts"
import { someDays, someQuery } from "./queries.ts"
import type { Random } from "./random.ts"
import type { RawVisit } from "./raw.ts"
import type { Time } from "./traffic.ts"
import { leavesOf } from "./variants.ts"

/** A query as the oracle answers it and as the array form writes it. */
export interface ArrayQuery {
  query: Query
  body: Record<string, unknown>
  /** Present for a range of whole days. */
  days: Days | undefined
}

const NAMES: Record<string, string> = { DE: "Germany", US: "United States", AU: "Australia", NP: "Nepal" }

/** Returns undefined for a query that the array form cannot express: a pattern that is too long, too many minutes. */
export function someArrayQuery(random: Random, time: Time, visits: (siteId: number) => readonly RawVisit[]): ArrayQuery | undefined {
  const drawn = someQuery(random, time, visits)
  const days = random.chance(0.6) ? someDays(random, time) : undefined
  const from = secondOf(drawn.range.from)
  // A day that a zone skips is empty, but a range of instants has at least a second.
  const to = Math.max(from, secondOf(drawn.range.to - 1)) + 1_000
  const range = days ? rangeOf(days, drawn.timezone) : { from, to }
  const groupings = drawn.groupings.map((grouping) => withTexts(random, grouping))
  const filter = drawn.filter && withNames(random, drawn.filter)
  const metrics = allowedMetrics(drawn.metrics, groupings, filter)
  const { anyEvent: _, filter: __, ...plain } = drawn
  const query: Query = {
    ...plain,
    range,
    groupings,
    metrics: metrics.length > 0 ? metrics : ["visitors"],
    ...(filter && { filter }),
    order: [],
    fillBuckets: false,
  }
  if (!isAllowed(query)) return undefined
  const names = groupings.map((grouping) => nameOf(random, grouping))
  const order = someOrder(random, query)
  const written = order.map(({ by, index, descending }) => [
    by === "metric" ? query.metrics[index] : names[index],
    descending ? "desc" : "asc",
  ])
  const body = {
    site_id: random.pick([query.site.id, String(query.site.id)]),
    metrics: query.metrics,
    date_range: days ? [days.from, days.to] : [instantText(random, from), instantText(random, to - 1_000)],
    timezone: query.timezone,
    dimensions: names,
    ...(filter && { filters: filterTrees(random, filter) }),
    ...(order.length > 0 && { order_by: written }),
    pagination: { limit: query.limit, offset: query.offset },
  }
  return { query: { ...query, order: order.length > 0 ? order : defaultOrder(query) }, body, days }
}

const secondOf = (at: number) => Math.floor(at / 1_000) * 1_000

/** Formats an instant in UTC or with a random offset. */
function instantText(random: Random, at: number): string {
  const minutes = random.pick([0, 0, 120, -570, 345])
  const local = new Date(at + minutes * 60_000).toISOString().slice(0, 19)
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return minutes === 0
    ? `${local}Z`
    : `${local}${minutes < 0 ? "-" : "+"}${String(hours).padStart(2, "0")}:${String(rest).padStart(2, "0")}`
}

/** The array form sorts a missing value by the text it shows. Countries are grouped by code or by name. */
function withTexts(random: Random, grouping: Grouping): Grouping {
  if (grouping.by === "time") return grouping
  const named = grouping.dimension === "country" && random.chance(0.5)
  return { ...grouping, missing: missingText(grouping.dimension), ...(named && { named }) }
}

/** "`Direct / None` for source and referrer, `(none)` for properties and host names, `(not set)` elsewhere", api.md 7.6. */
export function missingText(dimension: string): string {
  if (dimension === "source" || dimension === "referrer") return "Direct / None"
  return dimension === "property" || dimension.endsWith("hostname") ? "(none)" : "(not set)"
}

function withNames(random: Random, filter: Filter): Filter {
  if ("filters" in filter) return { op: filter.op, filters: filter.filters.map((each) => withNames(random, each)) }
  if ("filter" in filter) return { op: filter.op, filter: withNames(random, filter.filter) }
  if (filter.op === "people") return filter
  if (filter.dimension !== "country" || random.chance(0.5)) return filter
  return { ...filter, named: true, values: filter.values.map((value) => NAMES[value] ?? value) }
}

/** Returns the metrics that api.md 7.2 allows with these dimensions and filters. */
function allowedMetrics(metrics: readonly Metric[], groupings: readonly Grouping[], filter: Filter | undefined): Metric[] {
  const grouped = groupings.map((grouping) => (grouping.by === "time" ? "time" : grouping.dimension))
  const named = [...grouped, ...leavesOf(filter, false).map(({ dimension }) => dimension)]
  const has = (...names: string[]) => grouped.some((name) => names.includes(name))
  const refused: Record<string, boolean> = {
    bounce_rate: has("event", "goal", "property", "title"),
    exit_rate: !named.includes("page"),
    conversion_rate: !named.includes("goal"),
    percentage: groupings.length === 0,
    lcp_p75: has("event", "goal", "property"),
  }
  const alike: Partial<Record<Metric, string>> = {
    views_per_visit: "bounce_rate",
    visit_duration: "bounce_rate",
    engaged_time: "bounce_rate",
    scroll_depth: "exit_rate",
    time_on_page: "exit_rate",
    time_on_page_median: "exit_rate",
    group_conversion_rate: "conversion_rate",
    inp_p75: "lcp_p75",
    cls_p75: "lcp_p75",
    fcp_p75: "lcp_p75",
    ttfb_p75: "lcp_p75",
  }
  return METRICS.filter((metric) => metrics.includes(metric) && !refused[alike[metric] ?? metric])
}

function isAllowed({ filter, groupings, range }: Query): boolean {
  const patterns = leavesOf(filter, true).flatMap(({ op, values }) => (op === "matches_wildcard" ? values : []))
  if (patterns.some((pattern) => pattern.length > 200 || pattern.split("*").length > 9)) return false
  const minutes = groupings.some((grouping) => grouping.by === "time" && grouping.interval === "minute")
  const hours = groupings.some((grouping) => grouping.by === "time" && grouping.interval === "hour")
  const length = (range.to - range.from) / 3_600_000
  return !(minutes && length > 24) && !(hours && length > 1_000)
}

function nameOf(random: Random, grouping: Grouping): string {
  if (grouping.by === "time") return `time:${grouping.interval}`
  if (grouping.dimension === "property") return `event:props:${grouping.property}`
  return dimensionName(random, grouping)
}

function dimensionName(random: Random, { dimension, named }: Pick<Condition, "dimension" | "named">): string {
  if (dimension === "country") return named ? "visit:country_name" : "visit:country"
  return random.pick(dimensionFacts(dimension).query)
}

const filterTrees = (random: Random, filter: Filter): unknown[] =>
  filter.op === "and" && random.chance(0.5) ? filter.filters.map((each) => written(random, each)) : [written(random, filter)]

function written(random: Random, filter: Filter): unknown[] {
  if ("filters" in filter) return [filter.op, filter.filters.map((each) => written(random, each))]
  if (filter.op === "has_done") return ["has_done", written(random, filter.filter)]
  if (filter.op === "people") throw new Error("No request contains the people of a set")
  if (filter.op !== "not") return leaf(random, filter, filter.op)
  const inner = filter.filter
  if (inner.op === "has_done" && random.chance(0.5)) return ["has_not_done", written(random, inner.filter)]
  const hasNegative = inner.op === "is" || inner.op === "contains" || inner.op === "matches_wildcard"
  if (hasNegative && inner.dimension !== "goal" && random.chance(0.5)) return leaf(random, inner, `${inner.op}_not`)
  return ["not", written(random, inner)]
}

function leaf(random: Random, condition: Condition, operator: string): unknown[] {
  const { dimension, property, values, caseSensitive, missing } = condition
  const name = dimension === "property" ? `event:props:${property}` : dimensionName(random, condition)
  const shown = missing ? values.map((value) => (value === "(none)" ? random.pick(missingTexts(dimension)) : value)) : values
  return [operator, name, shown, ...(caseSensitive ? [] : [{ case_sensitive: false }])]
}

const missingTexts = (dimension: string): string[] =>
  missingText(dimension) === "Direct / None" ? ["Direct", "Direct / None", "(none)"] : ["(none)", "(not set)", ""]

/** Returns a random order. */
function someOrder(random: Random, { metrics, groupings }: Query): Query["order"] {
  return Array.from({ length: random.pick([0, 0, 1, 2]) }, () => {
    const isOfGrouping = groupings.length > 0 && random.chance(0.3)
    const index = random.whole(0, (isOfGrouping ? groupings.length : metrics.length) - 1)
    return { by: isOfGrouping ? ("grouping" as const) : ("metric" as const), index, descending: random.chance(0.6) }
  })
}

/** "The time dimension ascending if there is one, else the first metric descending", api.md 7.4. */
function defaultOrder({ groupings }: Query): Query["order"] {
  const time = groupings.findIndex(({ by }) => by === "time")
  return time === -1 ? [{ by: "metric", index: 0, descending: true }] : [{ by: "grouping", index: time, descending: false }]
}
