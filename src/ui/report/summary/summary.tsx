import type { FlatMetric } from "../../../domain/metric.ts"
import type { ReportFacts } from "../../../domain/report.ts"
import { moreMetrics, type SiteAddress, STRIP_METRICS, summaryArguments, timeseriesArguments } from "../../../domain/site-address.ts"
import { useSiteAddress } from "../../address.ts"
import { useKeys } from "../../keys.ts"
import { useSite } from "../../site.ts"
import { useNotes } from "../../stats/notes.ts"
import { fittingIntervals, lengthOf, rangeOf, todayIn } from "../../stats/ranges.ts"
import { type StatsSource, useStatsSource } from "../../stats/source.ts"
import { useReport } from "../../stats/use-report.ts"
import { CardAnswer } from "./card-answer.tsx"
import { FigureStrip } from "./figure-strip.tsx"
import { stripMetrics } from "./strip-metrics.ts"
import { TimeChart } from "./time-chart.tsx"
import { TrustLine } from "./trust-line.tsx"

const NO_NOTES: never[] = []

/** Figures and the chart of the chosen one. */
export function Instrument() {
  const { address, go } = useSiteAddress()
  const source = useStatsSource()
  const seesRevenue = source.can("revenue:read")
  const metrics = stripMetrics(address, seesRevenue)
  const wanted = metrics === STRIP_METRICS ? moreMetrics(seesRevenue) : []
  const chosen = [...metrics, ...wanted].includes(address.metric) ? address.metric : metrics[0]!
  const interval = useInterval(address, source)
  const summary = useReport("summary", summaryArguments(address, metrics))
  const more = useReport("summary", summaryArguments(address, moreMetrics(seesRevenue)), { enabled: wanted.length > 0 }).data
  const present = wanted.filter((metric) => more?.metrics[metric] || more?.comparison?.metrics[metric]).slice(0, 2)
  const series = useReport("timeseries", timeseriesArguments({ ...address, metric: chosen, interval }))
  const { data: notes = NO_NOTES } = useNotes(source.siteId, series.data?.range)
  const choose = (metric: FlatMetric) => go({ metric }, { replace: true })
  useKeys(Object.fromEntries(metrics.map((metric, index) => [String(index + 1), () => choose(metric)])))
  // What has failed for the figures and the chart is said once, and tried again for both.
  const isOne = !summary.data && !series.data && summary.error?.message === series.error?.message && series.error !== null
  const refetch: typeof series.refetch = (options) => {
    void summary.refetch(options)
    return series.refetch(options)
  }
  return (
    <section class="instrument" aria-label="Figures over time">
      {!isOne && <FigureStrip metrics={[...metrics, ...present]} chosen={chosen} summary={summary} more={more} onChoose={choose} />}
      <CardAnswer of={isOne ? { ...series, refetch } : series} rows={8}>
        {(data) => <TimeChart series={data} metric={drawn(data.points, chosen)} notes={notes} />}
      </CardAnswer>
      <TrustLine facts={summary.data as ReportFacts | undefined} />
    </section>
  )
}

/** While another metric is asked the old points stay, which hold the old one. */
const drawn = (points: readonly object[], chosen: FlatMetric): string =>
  points.length === 0 || chosen in points[0]!
    ? chosen
    : (Object.keys(points[0]!).find((key) => key !== "time" && key !== "partial") ?? chosen)

/** An interval that does not fit the period is as if none had been named. */
function useInterval(address: SiteAddress, { siteId, timezone }: StatsSource): SiteAddress["interval"] {
  const { data: site } = useSite(siteId)
  if (address.interval === "auto") return "auto"
  const firstDay = site?.first_event_at ? todayIn(timezone, Date.parse(site.first_event_at)) : undefined
  const days = lengthOf(rangeOf(address, todayIn(timezone), firstDay))
  return fittingIntervals(days).includes(address.interval) ? address.interval : "auto"
}
