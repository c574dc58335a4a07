import { useState } from "preact/hooks"
import type { RealtimePanel } from "../../../domain/insight.ts"
import { DataTable } from "../../parts/data-table.tsx"
import { clockText, counted, exact } from "../../text/format.ts"

type Minutes = RealtimePanel["minutes"]
const HEIGHT = 120

/** Shows the visitors of the last 30 minutes as bars or as a table. */
export function MinuteBars({ minutes, timezone }: { minutes: Minutes; timezone: string }) {
  const [asTable, setAsTable] = useState(false)
  return (
    <>
      {asTable ? <MinuteTable minutes={minutes} timezone={timezone} /> : <Bars minutes={minutes} timezone={timezone} />}
      <p class="row spread small quiet">
        <span>Visitors per minute, last 30 minutes</span>
        <button type="button" class="text-button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          {asTable ? "Show as chart" : "Show as table"}
        </button>
      </p>
    </>
  )
}

/** Bars of the visitors per minute. */
export function Bars({ minutes, timezone }: { minutes: Minutes; timezone: string }) {
  const peak = Math.max(0, ...minutes.map(({ visitors }) => visitors))
  const label = `Visitors per minute, peak ${exact(peak)}, current minute ${exact(minutes.at(-1)?.visitors)}`
  return (
    <div class="minutes">
      <svg viewBox={`0 0 ${minutes.length * 10} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {minutes.map(({ time, visitors }, index) => {
          const height = (visitors / Math.max(1, peak)) * (HEIGHT - 2)
          return (
            <rect
              key={time}
              class="minute-bar"
              data-running={index === minutes.length - 1 || undefined}
              x={index * 10 + 1}
              width={8}
              y={HEIGHT - height}
              height={height}
            >
              <title>{`${clockText(time, timezone)}: ${counted(visitors, "visitor")}`}</title>
            </rect>
          )
        })}
      </svg>
      <p class="row spread small quiet" aria-hidden="true">
        <span>{clockText(minutes[0]?.time ?? 0, timezone)}</span>
        <span>peak {exact(peak)}</span>
        <span>now</span>
      </p>
    </div>
  )
}

const MinuteTable = ({ minutes, timezone }: { minutes: Minutes; timezone: string }) => (
  <div class="minutes-table">
    <DataTable
      caption="Visitors and views per minute"
      rows={minutes.toReversed()}
      keyOf={({ time }) => time}
      columns={[
        { id: "time", label: "Minute", cell: ({ time }) => clockText(time, timezone) },
        { id: "visitors", label: "Visitors", number: true, cell: ({ visitors }) => exact(visitors) },
        { id: "pageviews", label: "Views", number: true, cell: ({ pageviews }) => exact(pageviews) },
      ]}
    />
  </div>
)
