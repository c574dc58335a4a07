import type { Dimension } from "../domain/dimension.ts"
import type { FlatMetric } from "../domain/metric.ts"
import type { ArgumentReader } from "./arguments.ts"

interface Combination {
  report: string
  metrics: readonly FlatMetric[]
  filtered: readonly Dimension[]
  dimension: Dimension | undefined
}

/** Of whole visits: they have no meaning for single events. */
const VISIT_METRICS: readonly FlatMetric[] = ["bounce_rate", "visit_duration", "views_per_visit", "engaged_time"]
const EVENT_DIMENSIONS: readonly (Dimension | undefined)[] = ["event", "goal", "property", "title"]
/** Of pages: they need one to be about. */
const PAGE_METRICS: readonly FlatMetric[] = ["time_on_page", "scroll_depth", "exit_rate"]

/** Refuses metrics that do not go with the dimension or the filters (api.md section 6.2). */
export function refuseCombinations(reader: ArgumentReader, { report, metrics, filtered, dimension }: Combination): void {
  const refuse = (detail: string) => reader.refuse({ pointer: "/metrics", code: "unsupported_combination", detail })
  for (const metric of metrics) {
    if (report === "breakdown" && VISIT_METRICS.includes(metric) && EVENT_DIMENSIONS.includes(dimension)) {
      refuse(`${metric} does not go with dimension ${dimension}.`)
    }
    if (PAGE_METRICS.includes(metric) && !isAboutPages(metric, [...filtered, dimension])) {
      refuse(`${metric} needs a filter on page or the dimension page.`)
    }
  }
}

const isAboutPages = (metric: FlatMetric, dimensions: readonly (Dimension | undefined)[]): boolean =>
  dimensions.includes("page") || (metric === "exit_rate" && dimensions.includes("exit_page"))
