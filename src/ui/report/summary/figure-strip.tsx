import type { UseQueryResult } from "@tanstack/react-query"
import type { FlatMetric } from "../../../domain/metric.ts"
import type { Summary } from "../../../domain/report.ts"
import { metricLabel, metricText } from "../../format.ts"
import { Change } from "../../parts/change.tsx"
import { ErrorState } from "../../parts/states.tsx"
import { otherText } from "../../stats/other-text.ts"
import { figureOf } from "./strip-metrics.ts"

interface FigureStripProps {
  metrics: readonly FlatMetric[]
  chosen: FlatMetric
  summary: UseQueryResult<Summary, Error>
  /** Has the metrics that the summary has not. */
  more: Summary | undefined
  onChoose(metric: FlatMetric): void
}

/** By `visitor_window`, where a visitor may be counted more than once in a period. */
export const WINDOWS: Readonly<Record<string, string>> = {
  day: "unique per day",
  week: "unique per week",
  month: "unique per month",
  mixed: "unique per period",
}

/** One figure per metric; the chosen one is drawn below. */
export function FigureStrip({ metrics, chosen, summary, more, onChoose }: FigureStripProps) {
  const { data: first, error, isPlaceholderData, refetch } = summary
  if (error && !first) return <ErrorState error={error} onRetry={() => void refetch()} />
  return (
    <div class="strip" aria-busy={first === undefined || isPlaceholderData}>
      {metrics.map((metric) => {
        // What was not measured is in neither.
        const data = first && !(metric in first.metrics) && more && metric in more.metrics ? more : first
        const isOfNobody = metric === "conversion_rate" && data === more && first?.metrics.visitors === 0
        const value = isOfNobody ? undefined : figureOf({ ...more?.metrics, ...first?.metrics }, metric)
        const note = metric === "visitors" ? WINDOWS[data?.visitor_window ?? ""] : undefined
        return (
          <button key={metric} type="button" class="figure" aria-pressed={metric === chosen} onClick={() => onChoose(metric)}>
            <span class="figure-label">{metricLabel(metric)}</span>
            <span class="figure-value" title={metricText(metric, value, data?.revenue_currency, true)}>
              {data ? metricText(metric, value, data.revenue_currency) : " "}
            </span>
            <span class="figure-note" title={data && otherText(data)}>
              {data?.comparison && value !== undefined && (
                <Change metric={metric} change={data.comparison.change_percent[metric]} value={value} />
              )}
              {note && <span>{note}</span>}
            </span>
          </button>
        )
      })}
    </div>
  )
}
