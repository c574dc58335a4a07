import type { ScopedAnnotationResponse } from "../../../domain/annotation.ts"
import type { Timeseries } from "../../../domain/report.ts"
import { Change } from "../../parts/change.tsx"
import { metricLabel, metricText } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { figureOf } from "../data/figures.ts"
import { placesOf } from "../notes.ts"
import { bucketText, changeOf, markText, startedPoints } from "./points.ts"

interface ChartTableProps {
  series: Timeseries
  metric: string
  notes: readonly ScopedAnnotationResponse[]
  /** Further metrics of the chart. */
  more?: readonly string[]
}

/** Table with the numbers and notes of the chart. */
export default function ChartTable({ series, metric, notes, more = [] }: ChartTableProps) {
  const text = (point: object | undefined) => metricText(metric, point && figureOf({ ...point }, metric), series.revenue_currency, true)
  const places = placesOf(series.points, notes)
  return (
    <div class="table-wrap chart-table" tabIndex={0} role="region" aria-label={`${metricLabel(metric)} over time`}>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col" class="number">
              {metricLabel(metric)}
            </th>
            {more.map((name) => (
              <th key={name} scope="col" class="number">
                {metricLabel(name)}
              </th>
            ))}
            {series.comparison && (
              <>
                <th scope="col" class="number">
                  Comparison
                </th>
                <th scope="col" class="number">
                  Change
                </th>
              </>
            )}
          </tr>
        </thead>
        <tbody>
          {series.points.slice(0, startedPoints(series)).map((one, index) => {
            const mark = markText(series, index)
            const before = series.comparison?.points[index]
            const said = notes.filter((_, note) => places[note] === index)
            return (
              <tr key={one.time}>
                <th scope="row">
                  {bucketText(one.time, series.interval)}
                  {mark && ` (${mark})`}
                  {said.map(({ id, text: note }) => (
                    <p key={id} class="small quiet">
                      {visible(note)}
                    </p>
                  ))}
                </th>
                <td class="number">{text(one)}</td>
                {more.map((name) => (
                  <td key={name} class="number">
                    {metricText(name, figureOf({ ...one }, name), series.revenue_currency, true)}
                  </td>
                ))}
                {series.comparison && (
                  <>
                    <td class="number">{text(before)}</td>
                    <td class="number">
                      <Change metric={metric} change={changeOf(one, before, metric)} value={figureOf(one, metric)} />
                    </td>
                  </>
                )}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
