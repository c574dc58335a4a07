/** Panels of single figures: a metric, a comparison of groups, and web vitals. */
import {
  Change,
  figureOf,
  metricText,
  rangeText,
  ratingOf,
  Sparkline,
  type Summary,
  VISITOR_WINDOWS,
  visible,
  WEB_VITAL_NAMES,
  WEB_VITALS,
  type WebVitals,
  webVitalText,
} from "#plugin/ui"
import type { PanelProps } from "./panel.ts"

/** Returns the metric that a summary was asked for. Means and rates come with their divisors, which follow. */
const metricIn = (config: PanelProps["config"], metrics: object): string =>
  typeof config.metric === "string" ? config.metric : (Object.keys(metrics)[0] ?? "visitors")

const changeIn = ({ change_percent }: NonNullable<Summary["comparison"]>, metric: string): number | undefined =>
  (change_percent as Readonly<Record<string, number>>)[metric]

interface Course {
  sparkline?: { interval: string; points: Record<string, unknown>[] }
}

/** One figure with its change and its course. */
export function MetricPanel({ data, meta, config, title }: PanelProps) {
  const summary = data as Summary // the answer of this type of widget
  const { sparkline } = meta as Course
  const metric = metricIn(config, summary.metrics)
  const value = figureOf(summary.metrics, metric)
  const { comparison, revenue_currency: currency, visitor_window: window } = summary
  const values = sparkline?.points.map((point) => figureOf(point, metric) ?? 0) ?? []
  return (
    <div class="metric">
      <div class="metric-line">
        <span class="figure-value" title={metricText(metric, value, currency, true)}>
          {metricText(metric, value, currency)}
        </span>
        {comparison && value !== undefined && (
          <span class="small" title={`Compared with ${rangeText(comparison.range.from, comparison.range.to)}`}>
            <Change metric={metric} change={changeIn(comparison, metric)} value={value} />
          </span>
        )}
      </div>
      {metric === "visitors" && window !== undefined && VISITOR_WINDOWS[window] && (
        <p class="small quiet metric-note">{VISITOR_WINDOWS[window]}</p>
      )}
      {values.length > 1 && <Sparkline values={values} label={title} />}
    </div>
  )
}

interface Groups {
  rows: { label: string; data: Summary }[]
}

/** One metric for several groups of visits, as bars. */
export function ComparisonPanel({ data, config, title }: PanelProps) {
  const { rows } = data as Groups // the answer of this type of widget
  const metric = metricIn(config, rows[0]?.data.metrics ?? {})
  const most = Math.max(1, ...rows.map(({ data: { metrics } }) => figureOf(metrics, metric) ?? 0))
  return (
    <ul class="groups" aria-label={title}>
      {rows.map(({ label, data: { metrics, comparison, revenue_currency: currency } }, index) => {
        const value = figureOf(metrics, metric)
        return (
          // Labels need not be unique.
          <li key={index}>
            <span>{visible(label)}</span>
            <span class="groups-track">
              <span class="groups-bar" style={{ width: `${((value ?? 0) / most) * 100}%` }} />
            </span>
            <strong title={metricText(metric, value, currency, true)}>{metricText(metric, value, currency)}</strong>
            <span class="small">{comparison && <Change metric={metric} change={changeIn(comparison, metric)} value={value} />}</span>
          </li>
        )
      })}
    </ul>
  )
}

/** How fast pages load and respond, at the 75th percentile, each with a judgement in words. */
export function VitalsPanel({ data, config }: PanelProps) {
  const { metrics } = data as WebVitals // the answer of this type of widget
  const wanted = Array.isArray(config.metrics) ? config.metrics : WEB_VITAL_NAMES
  const names = WEB_VITAL_NAMES.filter((name) => wanted.includes(name))
  return (
    <dl class="vitals">
      {names.map((name) => {
        const value = metrics[name]
        const judged = value === undefined ? "" : ratingOf(name, value)
        return (
          <div key={name}>
            <dt class="figure-label">{WEB_VITALS[name].label}</dt>
            <dd>
              <span class="figure-value">{webVitalText(name, value)}</span>
              <span class="small" data-judged={judged}>
                {judged || "Not measured"}
              </span>
            </dd>
          </div>
        )
      })}
    </dl>
  )
}
