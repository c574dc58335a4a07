import { Suspense } from "preact/compat"
import type { ScopedAnnotationResponse } from "../../../domain/annotation.ts"
import type { Timeseries } from "../../../domain/report.ts"
import { Change } from "../../parts/change.tsx"
import { Icon } from "../../parts/icon.tsx"
import { lazyPart } from "../../parts/loading.ts"
import { Popover } from "../../parts/menu.tsx"
import { metricLabel, metricText } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { figureOf } from "../data/figures.ts"
import { placesOf } from "../notes.ts"
import { bucketText, changeOf, markText, partialText } from "./points.ts"

const Items = lazyPart(() => import("../menu-items.tsx"), "PointItems")

interface ReadOutProps {
  series: Timeseries
  metric: string
  /** Further metrics of the chart. */
  more: readonly string[]
  point: number
  notes: readonly ScopedAnnotationResponse[]
  /** Whether the point is announced: only when a key moved it, because a pointer moves it too often. */
  speaks: boolean
  menuSignal: number
}

/** Values of the chart at one point, pinned to its upper edge, with the menu of the point. */
export default function ReadOut({ series, metric, more, point, notes, speaks, menuSignal }: ReadOutProps) {
  const shown = series.points[point]
  if (!shown) return null
  const before = series.comparison?.points[point]
  const part = partialText(series, point)
  const value = figureOf(shown, metric)
  const text = (one: object) => metricText(metric, figureOf({ ...one }, metric), series.revenue_currency, true)
  const places = placesOf(series.points, notes)
  return (
    <>
      <div class="row" aria-live={speaks ? "polite" : "off"}>
        <span>
          {bucketText(shown.time, series.interval)} {markText(series, point)}
        </span>
        <strong>
          {text(shown)} {metricLabel(metric).toLowerCase()}
        </strong>
        {more.map((name) => (
          <span key={name}>
            {metricText(name, figureOf({ ...shown }, name), series.revenue_currency, true)} {metricLabel(name).toLowerCase()}
          </span>
        ))}
        {before && (
          <span>
            {text(before)} {part === "in progress" && !before.partial && "(full period) "}on {bucketText(before.time, series.interval)}{" "}
            {value !== undefined && <Change metric={metric} change={changeOf(shown, before, metric)} value={value} />}
          </span>
        )}
        {notes.map(({ id, text: note }, index) => places[index] === point && <span key={id}>{visible(note)}</span>)}
      </div>
      <PointMenu series={series} time={shown.time} signal={menuSignal} />
    </>
  )
}

function PointMenu({ series, time, signal }: { series: Timeseries; time: string; signal: number }) {
  return (
    <Popover
      iconOnly
      kind="quiet"
      label={`Actions for ${bucketText(time, series.interval === "hour" ? "day" : series.interval)}`}
      button={<Icon name="more" />}
      openSignal={signal}
    >
      {(close) => (
        <Suspense fallback={<p class="menu-head">Loading</p>}>
          <Items series={series} time={time} close={close} />
        </Suspense>
      )}
    </Popover>
  )
}
