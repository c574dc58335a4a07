/** Panels of charts: figures over time, the last minutes, and funnels. */
import { Suspense } from "preact/compat"
import { useMemo, useState } from "preact/hooks"
import {
  ChartTable,
  Drawing,
  exact,
  FunnelBars,
  type FunnelInsight,
  furtherSeries,
  MinuteChart,
  metricLabel,
  type RealtimePanel as RealtimeReport,
  rangeText,
  Skeleton,
  short,
  type Timeseries,
  useStatsSource,
  visible,
} from "#plugin/ui"
import type { PanelProps } from "./panel.ts"

const NO_NOTES: never[] = []
/** Members of a point that are no metrics. */
const FACTS = ["time", "partial", "imported"]

function metricsOf({ metrics }: PanelProps["config"], { points }: Timeseries): [string, ...string[]] {
  const named = Array.isArray(metrics) ? metrics.map(String) : Object.keys(points[0] ?? {}).filter((name) => !FACTS.includes(name))
  const [first = "visitors", ...more] = named
  return [first, ...more]
}

/** Up to three metrics over time. The comparison is drawn for a single one. */
export function TimeseriesPanel({ data, config }: PanelProps) {
  const series = data as Timeseries // the answer of this type of widget
  const [asTable, setAsTable] = useState(false)
  const [metric, ...more] = metricsOf(config, series)
  const { comparison, ...plain } = series
  const shown = more.length > 0 ? plain : series
  const further = useMemo(() => (more.length > 0 ? furtherSeries(series, metric, more) : undefined), [series, config])
  return (
    <div class="tile-chart">
      {asTable ? (
        <Suspense fallback={<div class="chart-table" />}>
          <ChartTable series={series} metric={metric} more={more} notes={NO_NOTES} />
        </Suspense>
      ) : (
        <Drawing
          key={`${metric} ${more.join(" ")} ${config.chart}`}
          series={shown}
          metric={metric}
          more={more}
          further={further}
          form={config.chart === "bars" ? "bars" : "line"}
          notes={NO_NOTES}
        />
      )}
      <div class="chart-foot">
        <span class="row">
          {[metric, ...more].map((name, index) => (
            <span key={name} class="key-of-series" data-series={index + 1}>
              {metricLabel(name)}
            </span>
          ))}
          {comparison && more.length === 0 && (
            <span class="key-of-series" data-other>
              {rangeText(comparison.range.from, comparison.range.to)}
            </span>
          )}
        </span>
        <button type="button" class="text-button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          {asTable ? "Show as chart" : "Show as table"}
        </button>
      </div>
    </div>
  )
}

/** Visitors of the last minutes, and the pages that they are on. */
export function RealtimePanel({ data }: PanelProps) {
  const { visitors, minutes, pages } = data as RealtimeReport // the answer of this type of widget
  const { timezone } = useStatsSource()
  return (
    <div class="realtime-tile">
      <p>
        <span class="figure-value" title={exact(visitors)}>
          {short(visitors)}
        </span>{" "}
        <span class="small quiet">in the last 5 minutes</span>
      </p>
      <Suspense fallback={<Skeleton rows={3} />}>
        <MinuteChart minutes={minutes} timezone={timezone} />
      </Suspense>
      {pages.length > 0 && (
        <ul class="plain-list small">
          {pages.slice(0, 3).map(({ value, visitors: count }) => (
            <li key={value} class="row spread">
              <span class="one-line">{visible(value)}</span>
              <span class="number">{short(count)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** The steps of a funnel as bars. */
export const FunnelPanel = ({ data }: PanelProps) => (
  <Suspense fallback={<Skeleton rows={4} />}>
    <FunnelBars funnel={data as FunnelInsight /* the answer of this type of widget */} />
  </Suspense>
)
