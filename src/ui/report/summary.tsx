import type { UseQueryResult } from "@tanstack/react-query"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import type { FlatMetric } from "../../domain/metric.ts"
import type { Summary } from "../../domain/report.ts"
import { moreMetrics, type SiteAddress, STRIP_METRICS, summaryArguments, timeseriesArguments } from "../../domain/site-address.ts"
import { useSite } from "../api/session.ts"
import { useSiteAddress } from "../browser/address.ts"
import { Change } from "../parts/change.tsx"
import { useKeys } from "../parts/shortcuts.ts"
import { ErrorState, Skeleton } from "../parts/states.tsx"
import { metricLabel, metricText } from "../text/format.ts"
import { CardResult } from "./cards/card-answer.tsx"
import { comparisonText } from "./chart/points.ts"
import { TimeChart } from "./chart/time-chart.tsx"
import { figureOf, stripMetrics } from "./data/figures.ts"
import { fittingIntervals, hasEarlierData, lengthOf, rangeOf, todayIn } from "./data/ranges.ts"
import { type StatsSource, useReport, useStatsSource } from "./data/reports.ts"
import { useNotes } from "./notes.ts"
import { TrustLine, VISITOR_WINDOWS } from "./trust.tsx"

const NO_NOTES: never[] = []

interface InstrumentProps {
  /** Whether to show nothing yet, because the content above does not have its final size. */
  isWaiting: boolean
  /** Called when the figures and the chart have their final size. The content below is drawn after that, so that it never moves. */
  onSettled(): void
  /** Called with whether nobody visited in the period. The content below then says so once. */
  onEmpty(isEmpty: boolean): void
}

/** The figure strip and the chart of the selected metric. */
export function Instrument({ isWaiting, onSettled, onEmpty }: InstrumentProps) {
  const { address, go } = useSiteAddress()
  const source = useStatsSource()
  const { data: site } = useSite(source.siteId)
  const seesRevenue = source.can("revenue:read")
  const metrics = stripMetrics(address, seesRevenue)
  const wanted = metrics === STRIP_METRICS ? moreMetrics(seesRevenue) : []
  const chosen = [...metrics, ...wanted].includes(address.metric) ? address.metric : metrics[0]!
  const interval = useInterval(address, source)
  const summary = useReport("summary", summaryArguments(address, metrics))
  const further = useReport("summary", summaryArguments(address, moreMetrics(seesRevenue)), { enabled: wanted.length > 0 })
  const more = further.data
  const available = wanted.filter((metric) => more?.metrics[metric] || more?.comparison?.metrics[metric]).slice(0, 2)
  const series = useReport("timeseries", timeseriesArguments({ ...address, metric: chosen, interval }))
  const { data: notes = NO_NOTES } = useNotes(source.siteId, series.data?.range)
  const isSettled = useOnce(!isWaiting && ![summary, further, series].some(({ isLoading }) => isLoading))
  useEffect(() => {
    if (isSettled) onSettled()
  }, [isSettled])
  const isEmpty = summary.data?.metrics.visitors === 0
  // Before the next frame, so that the cards of an empty period are never drawn beside its figures.
  useLayoutEffect(() => onEmpty(isEmpty), [isEmpty])
  const choose = (metric: FlatMetric) => go({ metric }, { replace: true })
  useKeys(Object.fromEntries(metrics.map((metric, index) => [String(index + 1), () => choose(metric)])))
  // If figures and chart fail with the same error, it is shown once and retried for both.
  const isOne = !summary.data && !series.data && summary.error?.message === series.error?.message && series.error !== null
  const refetch: typeof series.refetch = (options) => {
    void summary.refetch(options)
    return series.refetch(options)
  }
  if (isWaiting) return null
  if (!isSettled)
    return (
      <section key="loading" class="instrument" aria-label="Figures over time" aria-busy="true">
        <Skeleton rows={12} />
      </section>
    )
  return (
    <section key="loaded" class="instrument" aria-label="Figures over time">
      {!isOne && (
        <FigureStrip
          {...{ metrics: [...metrics, ...available], chosen, summary, more }}
          compares={summary.data === undefined || hasEarlierData(summary.data, site)}
          onChoose={choose}
        />
      )}
      <CardResult of={isOne ? { ...series, refetch } : series} rows={8}>
        {(data) => (
          <TimeChart
            {...{ notes, figures: summary.data, metric: drawn(data.points, chosen) }}
            series={data}
            firstDay={site && !hasEarlierData(data, site) ? site.first_event_at : undefined}
          >
            <TrustLine facts={summary.data} />
          </TimeChart>
        )}
      </CardResult>
    </section>
  )
}

/** Returns true once a condition has been true. After the first answer the old figures stay while new ones are fetched. */
function useOnce(holds: boolean): boolean {
  const held = useRef(holds)
  held.current ||= holds
  return held.current
}

/** Returns the metric of the visible points. They still belong to the previous metric while a new one is fetched. */
const drawn = (points: readonly object[], chosen: FlatMetric): string =>
  points.length === 0 || chosen in points[0]!
    ? chosen
    : (Object.entries(points[0]!).find(([, value]) => typeof value === "number")?.[0] ?? chosen)

/** Returns the interval of the URL, or `auto` if it does not suit the period. */
function useInterval(address: SiteAddress, { siteId, timezone }: StatsSource): SiteAddress["interval"] {
  const { data: site } = useSite(siteId)
  if (address.interval === "auto") return "auto"
  const firstDay = site?.first_event_at ? todayIn(timezone, Date.parse(site.first_event_at)) : undefined
  const days = lengthOf(rangeOf(address, todayIn(timezone), firstDay))
  return fittingIntervals(days).includes(address.interval) ? address.interval : "auto"
}

interface FigureStripProps {
  metrics: readonly FlatMetric[]
  chosen: FlatMetric
  summary: UseQueryResult<Summary, Error>
  /** Summary of additional metrics. */
  more: Summary | undefined
  /** Whether changes are shown. */
  compares: boolean
  onChoose(metric: FlatMetric): void
}

/** One figure per metric. The selected one is drawn in the chart below. */
function FigureStrip({ metrics, chosen, summary, more, compares, onChoose }: FigureStripProps) {
  const { data: first, error, isPlaceholderData, refetch } = summary
  if (error && !first) return <ErrorState error={error} onRetry={() => void refetch()} />
  return (
    <div class="strip" aria-busy={first === undefined || isPlaceholderData}>
      {metrics.map((metric) => {
        // A metric without data is in neither summary.
        const data = first && !(metric in first.metrics) && more && metric in more.metrics ? more : first
        const hasNoVisitors = metric === "conversion_rate" && data === more && first?.metrics.visitors === 0
        const value = hasNoVisitors ? undefined : figureOf({ ...more?.metrics, ...first?.metrics }, metric)
        const note = metric === "visitors" ? VISITOR_WINDOWS[data?.visitor_window ?? ""] : undefined
        return (
          <button key={metric} type="button" class="figure" aria-pressed={metric === chosen} onClick={() => onChoose(metric)}>
            <span class="figure-label">{metricLabel(metric)}</span>
            <span class="figure-value" title={metricText(metric, value, data?.revenue_currency, true)}>
              {data ? metricText(metric, value, data.revenue_currency) : "\u00a0"}
            </span>
            <span class="figure-note" title={data && comparisonText(data)}>
              {compares && data?.comparison && value !== undefined && (
                <Change metric={metric} change={data.comparison.change_percent[metric]} value={value} />
              )}
              {note && <span class="figure-window">{note}</span>}
            </span>
          </button>
        )
      })}
    </div>
  )
}
