import type { Dimension } from "../../domain/dimension.ts"
import type { Filter } from "../../domain/filter.ts"
import type { FlatMetric, Metric } from "../../domain/metric.ts"
import { hasOwnLeafOf } from "../filter/filter-variants.ts"
import type { ArgumentReader } from "./arguments.ts"
import type { ArrayDimension } from "./array-dimensions.ts"
import type { Faults } from "./faults.ts"

interface Combination {
  report: string
  metrics: readonly FlatMetric[]
  filtered: readonly Dimension[]
  dimension: Dimension | undefined
}

/** Metrics of whole visits, which have no meaning for single events. */
const VISIT_METRICS: readonly FlatMetric[] = ["bounce_rate", "visit_duration", "views_per_visit", "engaged_time"]
const EVENT_DIMENSIONS: readonly (Dimension | undefined)[] = ["event", "goal", "property", "title"]
/** Metrics of pages, which need a page as dimension or filter. */
const PAGE_METRICS: readonly FlatMetric[] = ["time_on_page", "scroll_depth", "exit_rate"]

/** Refuses metrics of the flat form that cannot be combined with the dimension or the filters (api.md section 6.2). */
export function refuseCombinations(reader: ArgumentReader, { report, metrics, filtered, dimension }: Combination): void {
  const refuse = (detail: string) => reader.refuse({ pointer: "/metrics", code: "unsupported_combination", detail })
  for (const metric of metrics) {
    if (report === "breakdown" && VISIT_METRICS.includes(metric) && EVENT_DIMENSIONS.includes(dimension)) {
      refuse(`${metric} cannot be combined with dimension ${dimension}.`)
    }
    if (PAGE_METRICS.includes(metric) && !isAboutPages(metric, [...filtered, dimension])) {
      refuse(`${metric} requires a filter on page or the dimension page.`)
    }
  }
}

const isAboutPages = (metric: FlatMetric, dimensions: readonly (Dimension | undefined)[]): boolean =>
  dimensions.includes("page") || (metric === "exit_rate" && dimensions.includes("exit_page"))

interface ArrayCombination {
  metrics: readonly Metric[]
  dimensions: readonly ArrayDimension[]
  filter: Filter | undefined
}

/** Metrics of whole visits, which have no meaning for single events. Page and host of an event do have visits of their own. */
const ARRAY_VISIT_METRICS: readonly Metric[] = ["bounce_rate", "views_per_visit", "visit_duration", "engaged_time"]
const ARRAY_EVENT_DIMENSIONS: readonly string[] = ["event", "goal", "property", "title"]
const ARRAY_PAGE_METRICS: readonly Metric[] = ["scroll_depth", "time_on_page", "time_on_page_median", "exit_rate"]
const GOAL_METRICS: readonly Metric[] = ["conversion_rate", "group_conversion_rate"]
/** Metrics of web vitals, whose events have no name, goal or property of their own. */
const VITAL_METRICS: readonly Metric[] = ["lcp_p75", "inp_p75", "cls_p75", "fcp_p75", "ttfb_p75"]
const CUSTOM_DIMENSIONS: readonly string[] = ["event", "goal", "property"]

/** Refuses metrics of the array form that cannot be combined with the dimensions or filters (api.md 7.2). Filters inside `has_done` concern other events. */
export function refuseArrayCombinations({ metrics, dimensions, filter }: ArrayCombination, faults: Faults): void {
  const grouped = dimensions.flatMap((dimension) => ("of" in dimension ? [dimension.of.dimension] : []))
  const isAbout = (name: "page" | "goal") => grouped.includes(name) || (filter !== undefined && hasOwnLeafOf(filter, [name]))
  const faultOf = (metric: Metric): string | undefined => {
    if (ARRAY_VISIT_METRICS.includes(metric) && grouped.some((name) => ARRAY_EVENT_DIMENSIONS.includes(name)))
      return "cannot be combined with event dimensions"
    if (ARRAY_PAGE_METRICS.includes(metric) && !isAbout("page")) return "requires event:page as a dimension or filter"
    if (GOAL_METRICS.includes(metric) && !isAbout("goal")) return "requires event:goal as a dimension or filter"
    if (metric === "percentage" && dimensions.length === 0) return "requires a dimension"
    if (VITAL_METRICS.includes(metric) && grouped.some((name) => CUSTOM_DIMENSIONS.includes(name)))
      return "cannot be combined with event:name, event:goal or event:props"
    return undefined
  }
  metrics.forEach((metric, i) => {
    const text = faultOf(metric)
    if (text !== undefined) faults.refuse(`/metrics/${i}`, "unsupported_combination", `(${metric}) ${text}`)
  })
}
