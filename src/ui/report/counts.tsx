/** Charts for counts other than the site's statistics, such as clicks on links. */
import type { ComponentChildren } from "preact"
import { Suspense } from "preact/compat"
import { useMemo, useState } from "preact/hooks"
import type { ReportRange, Timeseries } from "../../domain/report.ts"
import { comparisonArguments, rangeArguments } from "../../domain/site-address.ts"
import { useSiteAddress } from "../browser/address.ts"
import { Change } from "../parts/change.tsx"
import { lazyPart } from "../parts/loading.ts"
import { exact, short } from "../text/format.ts"
import { Drawing } from "./chart/drawing.ts"
import { IntervalField } from "./chart/interval-field.tsx"
import { changeOf, comparisonText } from "./chart/points.ts"
import { asQuery } from "./data/reports.ts"
import { useNotes } from "./notes.ts"

const ChartTable = lazyPart(() => import("./chart/chart-parts.ts"), "ChartTable")

/** Returns the page's period and filters as query strings: plain, with the comparison, and with comparison and interval. */
export function useRangeQuery(): { plain: string; compared: string; interval: string } {
  const { address } = useSiteAddress()
  const range = rangeArguments(address)
  const compared = { ...range, ...comparisonArguments(address) }
  return {
    plain: asQuery(range),
    compared: asQuery(compared),
    interval: asQuery({ ...compared, ...(address.interval !== "auto" && { interval: address.interval }) }),
  }
}

type Point = { time: string; partial?: boolean } & Record<string, unknown>
/** Several counts over time in the form in which plugins respond. */
export interface CountSeries {
  interval: string
  points: readonly Point[]
  comparison?: { range: unknown; points: readonly Point[] }
  meta: { range: unknown }
}

interface CountChartProps {
  /** Accessible name of the figures. */
  title: string
  /** The counts in order, with their labels and, if known, their totals over the range. */
  counts: readonly { name: string; label: string; value?: number | undefined; before?: number | undefined; note?: string }[]
  series: CountSeries
  /** Whether the length of the points is chosen elsewhere. */
  fixedInterval?: boolean
  /** Content below the chart. */
  note?: ComponentChildren
}

const NO_NOTES: never[] = []

/** Figures and the chart of the selected one with its comparison. */
export function CountChart({ title, counts, series, fixedInterval = false, note: below }: CountChartProps) {
  const { siteId } = useSiteAddress()
  const [name, setName] = useState(counts[0]!.name)
  const [asTable, setAsTable] = useState(false)
  const chosen = counts.find((count) => count.name === name) ?? counts[0]!
  const shown = useMemo(() => named(series, chosen.name, chosen.label), [series, chosen.name, chosen.label])
  const { data: notes = NO_NOTES } = useNotes(siteId, shown.range)
  return (
    <section class="instrument" aria-label={title}>
      <div class="strip">
        {counts.map(({ name: one, label, value, before, note }) => (
          <button key={one} type="button" class="figure" aria-pressed={one === chosen.name} onClick={() => setName(one)}>
            <span class="figure-label">{label}</span>
            <span class="figure-value" title={exact(value)}>
              {short(value)}
            </span>
            <span class="figure-note">
              {before !== undefined && <Change metric={one} change={changeOf({ [one]: value }, { [one]: before }, one)} value={value} />}
              {note && <span>{note}</span>}
            </span>
          </button>
        ))}
      </div>
      <div class="chart-tools">
        {!fixedInterval && <IntervalField range={shown.range} />}
        <button type="button" class="text-button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          {asTable ? "Show as chart" : "Show as table"}
        </button>
      </div>
      {asTable ? (
        <Suspense fallback={<div class="chart-table" />}>
          <ChartTable series={shown} metric={chosen.label} notes={notes} />
        </Suspense>
      ) : (
        <Suspense fallback={<div class="chart" />}>
          <Drawing series={shown} metric={chosen.label} notes={notes} />
        </Suspense>
      )}
      <div class="chart-foot">
        <span class="key-of-series">{chosen.label}</span>
        {shown.comparison && (
          <span class="key-of-series" data-other>
            {comparisonText(shown)}
          </span>
        )}
      </div>
      {below}
    </section>
  )
}

/** Converts one count into a time series report. Its label serves as the metric's name. */
function named({ interval, points, comparison, meta }: CountSeries, name: string, label: string): Timeseries {
  const own = (all: readonly Point[]) =>
    all.map(({ time, partial, [name]: value }) => ({ time, ...(partial && { partial }), [label]: Number(value ?? 0) }))
  return {
    interval,
    range: meta.range as ReportRange, // as all reports have it
    points: own(points),
    ...(comparison && { comparison: { range: comparison.range as ReportRange, points: own(comparison.points) } }),
  } as Timeseries
}
