import { FIXED_NAMES } from "../../domain/dimension.ts"
import type { FlatMetric, Metric } from "../../domain/metric.ts"
import type { Grouping, Query, Range, Row, SiteFacts, Table } from "../../domain/query.ts"
import type { ParsedQuery } from "./parse.ts"

/** The site and time for which a query is resolved. */
export interface QueryContext {
  site: SiteFacts
  now: number
}

/** Builds the engine query of a parsed query, over its own range or the compared one. */
export function flatQuery(parsed: ParsedQuery, { site, now }: QueryContext, range: Range = parsed.range.range): Query {
  const groupings = groupingsOf(parsed)
  return {
    site,
    range,
    timezone: parsed.range.timezone,
    now,
    metrics: flatMetrics(parsed).map((metric) => engineMetric(metric, parsed)),
    groupings,
    ...(parsed.filter && { filter: parsed.filter }),
    ...(parsed.minVisitors !== undefined && { minVisitors: parsed.minVisitors }),
    ...pageOf(parsed),
    fillBuckets: parsed.report === "timeseries",
    ...(parsed.imports && { importedTotals: true }),
  }
}

/** Returns the metrics in the order of the values of a row: the requested ones, and `share` for a breakdown with visitors. */
export function flatMetrics({ report, metrics }: ParsedQuery): (FlatMetric | "share")[] {
  return report === "breakdown" && metrics.includes("visitors") ? [...metrics, "share"] : [...metrics]
}

/** Returns the rows of a page of a breakdown. For `event`, the internal names and pageviews are left out. */
export function shownRows(
  { dimension, limit, offset }: ParsedQuery,
  { rows, totalRows }: Table,
): { rows: readonly Row[]; totalRows: number } {
  if (dimension !== "event") return { rows, totalRows }
  const named = rows.filter(({ keys: [name] }) => !FIXED_NAMES.some((fixed) => fixed === name))
  return { rows: named.slice(offset, offset + limit), totalRows: named.length }
}

function groupingsOf({ report, interval, dimension, property }: ParsedQuery): Grouping[] {
  if (interval) return [{ by: "time", interval }]
  if (report === "goals") return [{ by: "dimension", dimension: "goal" }]
  return dimension ? [{ by: "dimension", dimension, ...(property !== undefined && { property }) }] : []
}

/**
 * Returns the metric of the engine. The conversion rate of a row is that of its own visitors, except for goals, events and
 * properties: their rows consist of converting visitors, so the rate is that of all visitors (metrics.md section 11).
 */
function engineMetric(metric: FlatMetric | "share", parsed: ParsedQuery): Metric {
  if (metric === "share") return "percentage"
  if (metric === "revenue") return "total_revenue"
  return metric === "conversion_rate" && hasOwnVisitors(parsed) ? "group_conversion_rate" : metric
}

function hasOwnVisitors({ report, dimension }: ParsedQuery): boolean {
  if (report === "timeseries") return true
  return dimension !== undefined && dimension !== "goal" && dimension !== "event" && dimension !== "property"
}

/** Returns order and page. For `event` all names are requested, because the page is cut after the internal names are left out. */
function pageOf({ report, metrics, dimension, sort, descending, limit, offset }: ParsedQuery): Pick<Query, "order" | "limit" | "offset"> {
  const all = { limit: Number.MAX_SAFE_INTEGER, offset: 0 }
  if (report === "timeseries") return { ...all, order: [{ by: "grouping", index: 0, descending: false }] }
  if (report !== "breakdown") return { ...all, order: [] }
  const order = [{ by: "metric" as const, index: metrics.indexOf(sort), descending }]
  return { order, ...(dimension === "event" ? all : { limit, offset }) }
}
