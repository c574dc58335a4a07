import { useId, useState } from "preact/hooks"
import { addDays, dayText, exact, percent, short } from "#plugin/ui"
import type { SearchReport } from "../../search/responses.ts"
import { METRIC_LABELS, METRICS, type Metric, positionText, type Row } from "./report.ts"

interface SearchChartProps {
  report: SearchReport
  /** Days with searches. */
  days: readonly Row[]
}

/** Days or weeks of the chart. The position of a week is weighted by impressions. */
interface Bar {
  from: string
  to: string
  clicks: number
  impressions: number
  ctr: number
  position: number | null
  isFresh: boolean
}

/** Number of days from which on a bar is a week. */
const MAX_DAYS = 100

/** The figures of the report, and the chosen one over time. Bars of days that may still change are hatched. */
export function SearchChart({ report, days }: SearchChartProps) {
  const { totals, fresh_from, range, data_until } = report
  const [metric, setMetric] = useState<Metric>("clicks")
  const [point, setPoint] = useState<number>()
  const [asTable, setAsTable] = useState(false)
  const id = useId()
  const all = withEmptyDays(days, range.from, data_until !== null && data_until < range.to ? data_until : range.to)
  const bars = barsOf(all, fresh_from)
  const isWeekly = all.length > MAX_DAYS
  const top = niceSize(Math.max(1, ...bars.map((bar) => bar[metric] ?? 0)))
  const moveTo = (to: number) => setPoint(Math.max(0, Math.min(bars.length - 1, to)))
  const onKeyDown = (event: KeyboardEvent) => {
    const from = point ?? bars.length
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: bars.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    moveTo(to)
  }
  const chosen = point === undefined ? undefined : bars[point]
  return (
    <section class="instrument" aria-label="Searches over time">
      <div class="strip">
        {METRICS.map((one) => (
          <button key={one} type="button" class="figure" aria-pressed={one === metric} onClick={() => setMetric(one)}>
            <span class="figure-label">{METRIC_LABELS[one]}</span>
            <span class="figure-value" title={metricText(one, totals[one], true)}>
              {metricText(one, totals[one])}
            </span>
          </button>
        ))}
      </div>
      {asTable ? (
        <BarTable bars={bars} />
      ) : (
        <div class="revenue-chart">
          <p class="revenue-read-out small" id={id} aria-live="polite">
            {chosen ? (
              <>
                <strong>
                  {metricText(metric, chosen[metric], true)} {METRIC_LABELS[metric].toLowerCase()}
                </strong>{" "}
                {spanText(chosen)}
                {chosen.isFresh && " (may still change)"}
              </>
            ) : (
              <span class="quiet">Point at a bar, or use the arrow keys.</span>
            )}
          </p>
          <div class="revenue-plot">
            <div class="revenue-scale small quiet" aria-hidden="true">
              {[top, top / 2, 0].map((value) => (
                <span key={value} style={{ top: `${100 - (100 * value) / top}%` }}>
                  {metricText(metric, value)}
                </span>
              ))}
            </div>
            <div
              class="search-bars"
              role="img"
              tabIndex={0}
              aria-label={summaryOf(bars, metric, isWeekly)}
              aria-describedby={id}
              onKeyDown={onKeyDown}
              onPointerMove={(event) => {
                const { left, width } = event.currentTarget.getBoundingClientRect()
                moveTo(Math.floor(((event.clientX - left) / width) * bars.length))
              }}
            >
              {bars.map((bar, index) => (
                <span
                  key={bar.from}
                  data-fresh={bar.isFresh || undefined}
                  data-chosen={index === point || undefined}
                  style={{ height: `${(100 * (bar[metric] ?? 0)) / top}%` }}
                />
              ))}
            </div>
          </div>
          <div class="revenue-days small quiet" aria-hidden="true">
            {labelled(bars).map(({ bar, place }) => (
              <span key={bar.from} style={{ left: `${100 * place}%` }}>
                {dayText(bar.from, { weekday: undefined, year: undefined })}
              </span>
            ))}
          </div>
        </div>
      )}
      <div class="chart-foot">
        <span class="row">
          <span class="key-of-series">
            {METRIC_LABELS[metric]} by {isWeekly ? "week" : "day"}
          </span>
          {bars.some(({ isFresh }) => isFresh) && <span class="small quiet">Hatched: may still change</span>}
        </span>
        <button type="button" class="text-button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          {asTable ? "Show as chart" : "Show as table"}
        </button>
      </div>
    </section>
  )
}

/** The same numbers as a table. */
const BarTable = ({ bars }: { bars: readonly Bar[] }) => (
  <div class="table-wrap chart-table" tabIndex={0} role="region" aria-label="Searches over time, as a table">
    <table class="table">
      <thead>
        <tr>
          <th scope="col">Time</th>
          {METRICS.map((metric) => (
            <th key={metric} scope="col" class="number">
              {METRIC_LABELS[metric]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {bars.map((bar) => (
          <tr key={bar.from}>
            <th scope="row">
              {spanText(bar)}
              {bar.isFresh && " (may still change)"}
            </th>
            {METRICS.map((metric) => (
              <td key={metric} class="number">
                {metricText(metric, bar[metric], true)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

/** Returns every day of a range. Search engines leave out days without searches. */
function withEmptyDays(days: readonly Row[], from: string, to: string): Row[] {
  const known = new Map(days.map((day) => [day.key, day]))
  const all: Row[] = []
  for (let key = from; key <= to; key = addDays(key, 1))
    all.push(known.get(key) ?? { key, clicks: 0, impressions: 0, ctr: 0, position: null })
  return all
}

/** Returns the bars of the chart: days, or weeks of a long range. */
function barsOf(days: readonly Row[], freshFrom: string | null): Bar[] {
  const size = days.length > MAX_DAYS ? 7 : 1
  const bars: Bar[] = []
  for (let from = 0; from < days.length; from += size) bars.push(barOf(days.slice(from, from + size), freshFrom))
  return bars
}

function barOf(days: readonly Row[], freshFrom: string | null): Bar {
  const sum = (of: (day: Row) => number) => days.reduce((total, day) => total + of(day), 0)
  const [clicks, impressions] = [sum((day) => day.clicks), sum((day) => day.impressions)]
  const placed = sum((day) => (day.position === null ? 0 : day.impressions))
  const [first, last] = [days[0]!, days.at(-1)!] // a bar has at least one day
  return {
    ...{ from: first.key, to: last.key, clicks, impressions },
    ctr: days.length === 1 ? first.ctr : impressions === 0 ? 0 : Math.round((1_000 * clicks) / impressions) / 10,
    position:
      days.length === 1
        ? first.position
        : placed === 0
          ? null
          : Math.round((10 * sum((day) => (day.position ?? 0) * day.impressions)) / placed) / 10,
    isFresh: freshFrom !== null && last.key >= freshFrom,
  }
}

const spanText = ({ from, to }: Bar): string => (from === to ? dayText(from) : `${dayText(from)} – ${dayText(to)}`)

/** Formats a figure. `exactly` disables shortening. */
function metricText(metric: Metric, value: number | null, exactly = false): string {
  if (value === null) return "–"
  if (metric === "ctr") return percent(value)
  if (metric === "position") return positionText(value)
  return exactly ? exact(value) : short(value)
}

function niceSize(size: number): number {
  const unit = 10 ** Math.floor(Math.log10(size))
  return [1, 2, 4, 5, 8, 10].map((step) => step * unit).find((step) => step >= size)!
}

/** At most seven bars that are named below the chart, evenly spaced, with the place of their middle from 0 to 1. */
function labelled(bars: readonly Bar[]): { bar: Bar; place: number }[] {
  const step = Math.max(1, Math.ceil(bars.length / 7))
  return bars.flatMap((bar, index) => (index % step === 0 ? [{ bar, place: (index + 0.5) / bars.length }] : []))
}

function summaryOf(bars: readonly Bar[], metric: Metric, isWeekly: boolean): string {
  const values = bars.map((bar) => bar[metric] ?? 0)
  const ends =
    values.length === 0 ? "" : `, low ${metricText(metric, Math.min(...values))}, high ${metricText(metric, Math.max(...values))}`
  return `${METRIC_LABELS[metric]} by ${isWeekly ? "week" : "day"}, ${bars.length} points${ends}. Arrow keys move between points.`
}
