import type { Metric } from "../domain/metric.ts"
import type { Query, Range, Table } from "../domain/query.ts"
import type { QueryAnswer } from "../domain/query-answer.ts"
import type { Site } from "../domain/site.ts"
import type { ArrayQuestion } from "../query/array-parse.ts"
import { bucketsOf, queryLabel } from "../query/buckets.ts"
import { hasLeafOf } from "../query/filter-variants.ts"
import { zoned } from "../query/period.ts"
import { NO_GOALS, otherCurrenciesNote, rangeNotes, visitorFacts } from "./range-facts.ts"

interface Asked {
  site: Site
  question: ArrayQuestion
  query: Query
  now: number
}

/** What an answer in the array form says beside its rows (api.md 7.5, 7.6). */
export function queryMeta(asked: Asked, { totalRows, otherCurrencies }: Table): QueryAnswer["meta"] {
  const { site, question, query } = asked
  const { include, metrics, range } = question
  const notes = notesOf(asked)
  return {
    ...visitorFacts(site, range),
    ...(include.imports && NO_IMPORTS),
    ...(otherCurrencies.length > 0 && { metric_warnings: currencyWarnings(metrics, site, otherCurrencies) }),
    ...(include.time_labels && { time_labels: timeLabels(query) }),
    ...(include.total_rows && { total_rows: totalRows }),
    ...(notes.length > 0 && { notes }),
  }
}

/** The question as it was understood: what was left out is filled in, and ranges are pairs of instants. */
export function resolvedQuery(site: Site, question: ArrayQuestion, query: Query): QueryAnswer["query"] {
  const { metrics, dimensions, filters, order, limit, offset, range } = question
  const resolved = new Map(dimensions.map(({ name }, i) => [name, resolvedName(name, query.groupings[i]!)] as const))
  return {
    site_id: site.id,
    metrics: [...metrics],
    date_range: instants(range.range, range.timezone),
    dimensions: [...resolved.values()],
    filters: [...filters],
    order_by: order.map(({ name, descending }) => [resolved.get(name) ?? name, descending ? "desc" : "asc"]),
    include: resolvedInclude(question),
    pagination: { limit, offset },
    timezone: range.timezone,
  }
}

/** Daily totals of other products are not imported yet. */
const NO_IMPORTS = {
  imports_included: false,
  imports_skip_reason: "none_in_range",
  imports_warning: "Imported totals are not included: none lie in the range.",
}

function notesOf({ site, question, query, now }: Asked): string[] {
  const notes = rangeNotes(site, question, now)
  const { metrics, groupings, filter } = query
  const isByGoal =
    metrics.some((metric) => metric === "conversions" || metric.endsWith("conversion_rate")) ||
    groupings.some((grouping) => grouping.by === "dimension" && grouping.dimension === "goal") ||
    (filter !== undefined && hasLeafOf(filter, ["goal"]))
  return isByGoal && query.site.goals.length === 0 ? [...notes, NO_GOALS] : notes
}

function currencyWarnings(metrics: readonly Metric[], site: Site, others: readonly string[]) {
  const ofRevenue = metrics.filter((metric) => metric.endsWith("_revenue"))
  return Object.fromEntries(
    ofRevenue.map((metric) => [metric, { code: "other_currencies", warning: otherCurrenciesNote(metric, site, others) }]),
  )
}

function timeLabels({ groupings, range, timezone }: Query): string[] {
  const time = groupings.find((grouping) => grouping.by === "time")
  if (time?.by !== "time") return []
  const { edges } = bucketsOf(range, time.interval, timezone)
  return Array.from(edges.subarray(0, -1), (start) => queryLabel(start, time.interval, timezone))
}

const resolvedName = (name: string, grouping: Query["groupings"][number]): string =>
  grouping.by === "time" ? `time:${grouping.interval}` : name

/** Only what is switched on. */
function resolvedInclude({ include, compared }: ArrayQuestion): QueryAnswer["query"]["include"] {
  const { imports, time_labels, total_rows, comparisons } = include
  return {
    ...(imports && { imports }),
    ...(time_labels && { time_labels }),
    ...(total_rows && { total_rows }),
    ...(comparisons && compared && { comparisons: { ...comparisons, date_range: instants(compared.range, compared.timezone) } }),
  }
}

/** The first and the last second of a range, with the offsets they have there. */
const instants = ({ from, to }: Range, timezone: string): [string, string] => [localText(from, timezone), localText(to - 1, timezone)]

function localText(at: number, timezone: string): string {
  const local = zoned(at, timezone)
  return `${local.toPlainDateTime().toString({ smallestUnit: "second" })}${local.offset}`
}
