import type { Filter } from "../domain/filter.ts"
import type { Metric } from "../domain/metric.ts"
import type { ArrayDimension } from "./array-dimensions.ts"
import type { Faults } from "./faults.ts"
import { hasOwnLeafOf } from "./filter-variants.ts"

interface Combination {
  metrics: readonly Metric[]
  dimensions: readonly ArrayDimension[]
  filter: Filter | undefined
}

/** Of whole visits: they have no meaning for single events, but an event's page and host have their visits. */
const VISIT_METRICS: readonly Metric[] = ["bounce_rate", "views_per_visit", "visit_duration", "engaged_time"]
const EVENT_DIMENSIONS: readonly string[] = ["event", "goal", "property", "title"]
const PAGE_METRICS: readonly Metric[] = ["scroll_depth", "time_on_page", "time_on_page_median", "exit_rate"]
const GOAL_METRICS: readonly Metric[] = ["conversion_rate", "group_conversion_rate"]
/** Their events have no name, goal or property of their own. */
const VITAL_METRICS: readonly Metric[] = ["lcp_p75", "inp_p75", "cls_p75", "fcp_p75", "ttfb_p75"]
const CUSTOM_DIMENSIONS: readonly string[] = ["event", "goal", "property"]

/** Refuses metrics that do not go with the dimensions or the filters (api.md 7.2). A filter below `has_done` is about other events. */
export function refuseArrayCombinations({ metrics, dimensions, filter }: Combination, faults: Faults): void {
  const grouped = dimensions.flatMap((dimension) => ("of" in dimension ? [dimension.of.dimension] : []))
  const isAbout = (name: "page" | "goal") => grouped.includes(name) || (filter !== undefined && hasOwnLeafOf(filter, [name]))
  const says = (metric: Metric): string | undefined => {
    if (VISIT_METRICS.includes(metric) && grouped.some((name) => EVENT_DIMENSIONS.includes(name)))
      return "does not go with event dimensions"
    if (PAGE_METRICS.includes(metric) && !isAbout("page")) return "needs event:page as dimension or filter"
    if (GOAL_METRICS.includes(metric) && !isAbout("goal")) return "needs event:goal as dimension or filter"
    if (metric === "percentage" && dimensions.length === 0) return "needs a dimension"
    if (VITAL_METRICS.includes(metric) && grouped.some((name) => CUSTOM_DIMENSIONS.includes(name)))
      return "does not go with event:name, event:goal or event:props"
    return undefined
  }
  metrics.forEach((metric, i) => {
    const text = says(metric)
    if (text !== undefined) faults.refuse(`/metrics/${i}`, "unsupported_combination", `(${metric}) ${text}`)
  })
}
