/** Things that are counted over time beside the statistics of a site, drawn and listed as those are. */
import { useMemo, useState } from "preact/hooks"
import type { ReportRange, Timeseries } from "../../domain/report.ts"
import { comparisonArguments, rangeArguments } from "../../domain/site-address.ts"
import { useSiteAddress } from "../address.ts"
import { exact, short } from "../format.ts"
import { Change } from "../parts/change.tsx"
import ChartTable from "../screens/dashboard/chart-table.tsx"
import { IntervalField } from "../screens/dashboard/interval-field.tsx"
import { changeOf } from "../screens/dashboard/point-change.ts"
import { RankedList } from "../screens/dashboard/ranked-list.tsx"
import { Drawing } from "../screens/dashboard/time-chart.tsx"
import { useNotes } from "./notes.ts"
import { otherText } from "./other-text.ts"
import { asQuery } from "./source.ts"

/** The period and the filters of the page as the query of a report, and both with the comparison and the interval where it is compared. */
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
/** Several counts over time, as plugins answer them. */
export interface CountSeries {
  interval: string
  points: readonly Point[]
  comparison?: { range: unknown; points: readonly Point[] }
  meta: { range: unknown }
}

interface CountChartProps {
  /** What the figures are about, for assistive technology. */
  title: string
  /** By name, in order: how each is called, and its number over the whole range where that is known. */
  counts: readonly { name: string; label: string; value?: number | undefined; before?: number | undefined; note?: string }[]
  series: CountSeries
}

const NO_NOTES: never[] = []

/** Figures, of which the chosen one is drawn beside that of the earlier range. */
export function CountChart({ title, counts, series }: CountChartProps) {
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
      {asTable ? (
        <ChartTable series={shown} metric={chosen.label} notes={notes} />
      ) : (
        <Drawing series={shown} metric={chosen.label} notes={notes} />
      )}
      <div class="chart-foot">
        <span class="row">
          <span class="key-of-series">{chosen.label}</span>
          {shown.comparison && (
            <span class="key-of-series" data-other>
              {otherText(shown)}
            </span>
          )}
        </span>
        <span class="row">
          <IntervalField range={shown.range} />
          <button type="button" class="text-button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
            {asTable ? "Show as chart" : "Show as table"}
          </button>
        </span>
      </div>
    </section>
  )
}

/** One count as a report of the statistics. What is no metric of theirs is called by its own name. */
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

interface CountRowsProps {
  /** Head of the first column. */
  title: string
  /** Heads of the columns of numbers, by the name of the number in a row; the first is drawn as a bar. */
  counts: Readonly<Record<string, string>>
  rows: readonly ({ value: string; label?: string } & Record<string, unknown>)[]
}

/** Values with their counts; the bar behind the text repeats the first one. */
export function CountRows({ title, counts, rows }: CountRowsProps) {
  const named = rows.map(({ value, label, ...numbers }) => ({
    value,
    ...(label !== undefined && { label }),
    ...Object.fromEntries(Object.entries(counts).map(([name, head]) => [head, numbers[name]])),
  }))
  return <RankedList title={title} metrics={Object.values(counts)} rows={named} isChosen={() => false} addressOf={undefined} />
}
