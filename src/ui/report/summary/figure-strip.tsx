import type { UseQueryResult } from "@tanstack/react-query"
import type { FlatMetric } from "../../../domain/metric.ts"
import type { Summary } from "../../../domain/report.ts"
import { Change } from "../../parts/change.tsx"
import { ErrorState } from "../../parts/states.tsx"
import { metricLabel, metricText } from "../../text/format.ts"
import { figureOf } from "../data/strip-metrics.ts"
import { comparisonText } from "../other-text.ts"

interface FigureStripProps {
  metrics: readonly FlatMetric[]
  chosen: FlatMetric
  summary: UseQueryResult<Summary, Error>
  /** Summary of additional metrics. */
  more: Summary | undefined
  onChoose(metric: FlatMetric): void
}

/** Texts by `visitor_window`, for periods in which a visitor may be counted more than once. */
export const WINDOWS: Readonly<Record<string, string>> = {
  day: "counted per day",
  week: "counted per week",
  month: "counted per month",
  mixed: "counted per period",
}

/** One figure per metric. The selected one is drawn in the chart below. */
export function FigureStrip({ metrics, chosen, summary, more, onChoose }: FigureStripProps) {
  const { data: first, error, isPlaceholderData, refetch } = summary
  if (error && !first) return <ErrorState error={error} onRetry={() => void refetch()} />
  return (
    <div class="strip" aria-busy={first === undefined || isPlaceholderData}>
      {metrics.map((metric) => {
        // A metric without data is in neither summary.
        const data = first && !(metric in first.metrics) && more && metric in more.metrics ? more : first
        const hasNoVisitors = metric === "conversion_rate" && data === more && first?.metrics.visitors === 0
        const value = hasNoVisitors ? undefined : figureOf({ ...more?.metrics, ...first?.metrics }, metric)
        const note = metric === "visitors" ? WINDOWS[data?.visitor_window ?? ""] : undefined
        return (
          <button key={metric} type="button" class="figure" aria-pressed={metric === chosen} onClick={() => onChoose(metric)}>
            <span class="figure-label">{metricLabel(metric)}</span>
            <span class="figure-value" title={metricText(metric, value, data?.revenue_currency, true)}>
              {data ? metricText(metric, value, data.revenue_currency) : "\u00a0"}
            </span>
            <span class="figure-note" title={data && comparisonText(data)}>
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
