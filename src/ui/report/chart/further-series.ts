import type uPlot from "uplot"
import type { Timeseries } from "../../../domain/report.ts"
import { METRIC_FORMATS, metricText } from "../../text/format.ts"
import { figureOf } from "../data/figures.ts"
import type { FurtherSeries } from "./draw-chart.ts"
import { startedPoints } from "./points.ts"

/** Colours and dashes of further metrics. Ochre is left to the comparison. */
const LINES = [
  { colour: "--series-4", dash: [7, 3] },
  { colour: "--series-5", dash: [2, 3] },
] as const

/**
 * Returns up to two further metrics of a chart, drawn as lines. Metrics with other units than the first have an axis of their own, at
 * the right.
 */
export function furtherSeries(series: Timeseries, first: string, metrics: readonly string[]): FurtherSeries {
  const started = series.points.slice(0, startedPoints(series))
  const shapeOf = (name: string) => METRIC_FORMATS[name]?.shape
  const isOther = (name: string) => shapeOf(name) !== shapeOf(first)
  const other = metrics.find(isOther)
  const quarters: uPlot.Axis["splits"] = (_, __, ___, top) => [0, 0.25, 0.5, 0.75, 1].map((part) => part * top)
  return {
    values: metrics.map((name) => started.map((point) => figureOf({ ...point }, name) ?? (name === "revenue" ? 0 : null))),
    series: (colour) =>
      metrics.map((name, index) => {
        const { colour: token, dash } = LINES[index]! // a chart has at most two
        return { stroke: colour(token), width: 1.75, dash: [...dash], points: { show: false }, ...(isOther(name) && { scale: "other" }) }
      }),
    axes: (axis) =>
      other === undefined
        ? []
        : [
            {
              ...axis,
              scale: "other",
              side: 1,
              grid: { show: false },
              size: 52,
              splits: quarters,
              values: (_, at) => at.map((value) => metricText(other, value, series.revenue_currency)),
            },
          ],
  }
}
