import type { ComponentChildren } from "preact"
import { Suspense } from "preact/compat"
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import type { ScopedAnnotationResponse } from "../../../domain/annotation.ts"
import type { ReportFacts, Timeseries } from "../../../domain/report.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { Icon } from "../../parts/icon.tsx"
import { lazyPart, useTurns } from "../../parts/loading.ts"
import { Popover } from "../../parts/menu.tsx"
import { useKeys } from "../../parts/shortcuts.ts"
import { dayText, metricLabel, metricText } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { figureOf } from "../data/figures.ts"
import { useStatsSource } from "../data/reports.ts"
import { openDialog } from "../dialogs.tsx"
import { placesOf } from "../notes.ts"
import { ImportMark, TrustMark, words } from "../trust.tsx"
import { type ChartContent, type ChartDrawing, drawChart, type FurtherSeries } from "./draw-chart.ts"
import { IntervalField } from "./interval-field.tsx"
import { bucketText, comparisonText, partialText, startedPoints } from "./points.ts"

const ChartTable = lazyPart(() => import("./chart-parts.ts"), "ChartTable")
const ReadOut = lazyPart(() => import("./chart-parts.ts"), "ReadOut")

interface TimeChartProps {
  series: Timeseries
  metric: string
  notes: readonly ScopedAnnotationResponse[]
  /** Further metrics of the series, at most two. */
  more?: readonly string[]
  /** How these metrics are drawn, from `furtherSeries`. */
  further?: FurtherSeries | undefined
  /** Form of the first metric. Default: by the number of points. */
  form?: "line" | "bars" | undefined
  /** Site whose visits of an hour a click shows. Without it, a click opens days only. */
  visitsOf?: number | undefined
}

interface TimeChartFacts {
  figures: ReportFacts | undefined
  /** Marks of the figures, in the line below the chart. */
  children: ComponentChildren
  /** First day with data, if the compared period ends before it. Then the chart says why it compares nothing. */
  firstDay: string | undefined
}

/**
 * Chart of a metric over time with the comparison and notes. The key T shows the same numbers as a table. `figures` is the report above
 * the chart, whose marks also say which imports the chart includes unless it differs.
 */
export function TimeChart({ series: given, metric, notes, figures, firstDay, children }: TimeChartProps & TimeChartFacts) {
  const series = useMemo((): Timeseries => {
    const { comparison: _, ...alone } = given
    return firstDay === undefined ? given : alone
  }, [given, firstDay])
  const { siteId } = useSiteAddress()
  const { can } = useStatsSource()
  const [asTable, setAsTable] = useState(false)
  useKeys({ t: () => setAsTable(!asTable) })
  const part = partialText(series, startedPoints(series) - 1)
  const imported = series.points.some((point) => point.imported)
  return (
    <>
      <div class="chart-tools">
        <IntervalField range={series.range} />
        {!Number.isNaN(siteId) && (
          <button type="button" class="text-button" onClick={() => openDialog.set({ name: "notes" })}>
            Notes{notes.length > 0 && ` ${notes.length}`}
          </button>
        )}
        <button type="button" class="text-button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          {asTable ? "Show as chart" : "Show as table"}
        </button>
        {!Number.isNaN(siteId) && <ExportMenu />}
      </div>
      {asTable ? (
        <Suspense fallback={<div class="chart-table" />}>
          <ChartTable series={series} metric={metric} notes={notes} />
        </Suspense>
      ) : (
        <Drawing series={series} metric={metric} notes={notes} visitsOf={can("people:read") ? siteId : undefined} />
      )}
      <div class="chart-foot">
        <span class="key-of-series">{metricLabel(metric)}</span>
        {series.comparison && (
          <span class="key-of-series" data-other>
            {comparisonText(series)}
          </span>
        )}
        {firstDay && <span>No data before {dayText(firstDay)} to compare with</span>}
        {figures && importsText(figures) !== importsText(series) && <ImportMark of={series.imports} />}
        {imported && (
          <span class="key-of-series" data-imported>
            Imported {series.interval}s
          </span>
        )}
        {part && (
          <span class="key-of-series" data-running>
            {part === "in progress" ? (
              <TrustMark mark={part}>{words({ of: series.comparison ? "running, compared" : "running" })}</TrustMark>
            ) : (
              part
            )}
          </span>
        )}
        {children}
      </div>
    </>
  )
}

const importsText = ({ imports }: ReportFacts): string => JSON.stringify([imports?.included, imports?.reason, imports?.import_ids])

/** The drawn chart. Arrow keys move between its points, Enter opens the menu of the point. */
export function Drawing({ series, metric, notes, more = NONE, further, form, visitsOf }: TimeChartProps) {
  const canvas = useRef<HTMLDivElement>(null)
  const drawing = useRef<ChartDrawing>(undefined)
  const [point, setPoint] = useState<number>()
  const [byKey, setByKey] = useState(false)
  const [menu, setMenu] = useState(0)
  const { go } = useSiteAddress()
  const onRange = async (from: number, to: number) => {
    const { daysBetween, hoursBetween } = await import("./chart-parts.ts")
    const days = daysBetween(series, from, to)
    const hours = visitsOf === undefined ? undefined : hoursBetween(series, from, to)
    // A selection of several days narrows the page; an hour is shown as its visits.
    if (hours && (from === to || !days)) go(hours, { path: `/sites/${visitsOf}/visits` })
    else if (days) go({ period: "custom", ...days })
  }
  const latest = useRef(onRange)
  latest.current = onRange
  const { values, content } = useContent({ series, metric, notes, further, form }, setPoint, latest)
  const isDue = useTurns(1) === 1
  useLayoutEffect(() => {
    if (!isDue) return
    drawing.current = drawChart(canvas.current!, content)
    return () => drawing.current?.remove()
  }, [isDue])
  useEffect(() => drawing.current?.update(content), [content])
  const move = (event: KeyboardEvent) => {
    const from = point ?? values.length
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: values.length - 1 }[event.key]
    if (event.key === "Enter" && point !== undefined) setMenu(menu + 1)
    else if (to === undefined) return
    else {
      const next = Math.max(0, Math.min(values.length - 1, to))
      drawing.current?.pointAt(next)
      setPoint(next)
      setByKey(true)
    }
    event.preventDefault()
  }
  return (
    <div class="chart" onPointerMove={() => setByKey(false)}>
      <div class="chart-read-out">
        {point !== undefined && (
          <Suspense fallback={null}>
            <ReadOut series={series} metric={metric} more={more} point={point} notes={notes} speaks={byKey} menuSignal={menu} />
          </Suspense>
        )}
      </div>
      <div class="chart-canvas" ref={canvas} tabIndex={0} role="img" aria-label={summaryOf(series, metric, values)} onKeyDown={move} />
    </div>
  )
}

const NONE: never[] = []

function useContent(
  { series, metric, notes, further, form }: TimeChartProps,
  onPoint: (index: number | undefined) => void,
  onRange: { readonly current: (from: number, to: number) => Promise<void> },
) {
  return useMemo(() => {
    // A missing value means 0 for revenue; for any other metric it means unknown.
    const numberAt = (one: Record<string, unknown>): number | null => figureOf(one, metric) ?? (metric === "revenue" ? 0 : null)
    const values = series.points.slice(0, startedPoints(series)).map(numberAt)
    const places = placesOf(series.points, notes)
    const content: ChartContent = {
      values,
      count: series.points.length,
      earlier: series.comparison?.points.map(numberAt),
      partial: series.points[values.length - 1]?.partial === true,
      form,
      further,
      imported: series.points.map((point) => point.imported === true),
      notes: notes.flatMap(({ text }, index) => (places[index] === undefined ? [] : [{ at: places[index], text: visible(text) }])),
      label: (index) => bucketText(series.points[index]?.time ?? "", series.interval, "short"),
      text: (value) => metricText(metric, value, series.revenue_currency),
      // The point stays selected when the pointer leaves, so that its values stay readable.
      onPoint: (index) => index !== undefined && index < values.length && onPoint(index),
      onRange: (from, to) => void onRange.current(from, to),
    }
    return { values, content }
  }, [series, metric, notes, further, form])
}

const summaryOf = ({ interval, revenue_currency }: Timeseries, metric: string, values: ChartContent["values"]): string => {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b)
  const text = (value: number | undefined) => metricText(metric, value, revenue_currency)
  return `${metricLabel(metric)} by ${interval}, ${values.length} points, lowest ${text(known[0])}, highest ${text(known.at(-1))}. Arrow keys move between points, Enter opens the menu of one.`
}

const Items = lazyPart(() => import("../menu-items.tsx"), "ExportItems")

/** The menu *Export* of the page. */
const ExportMenu = () => (
  <Popover
    label="Export"
    kind="quiet"
    button={
      <>
        <Icon name="download" />
        Export
      </>
    }
  >
    {(close) => (
      <Suspense fallback={<p class="menu-head">Loading</p>}>
        <Items close={close} />
      </Suspense>
    )}
  </Popover>
)
