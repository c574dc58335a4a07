import { METRIC_FORMATS, percent } from "../text/format.ts"

interface ChangeProps {
  metric: string
  /** Change in percent; undefined if the earlier value was 0. */
  change: number | undefined
  value: number | undefined
}

const MAX_PERCENT = 999

/** The change from the earlier value. Only metrics for which more is better are coloured. */
export function Change({ metric, change, value }: ChangeProps) {
  if (change === undefined) return value ? <span class="quiet">new</span> : <span class="quiet">–</span>
  if (change === 0) return <span class="quiet">0%</span>
  const size = Math.abs(change) > MAX_PERCENT ? `>${MAX_PERCENT}%` : percent(Math.abs(change))
  const isUp = change > 0
  const tone = METRIC_FORMATS[metric]?.better ? (isUp ? "up" : "down") : undefined
  return (
    <span class={tone}>
      <span aria-hidden="true">
        {isUp ? "▲" : "▼"}
        {size}
      </span>
      <span class="visually-hidden">
        {isUp ? "up" : "down"} {size.replace(">", "over ").replace("%", " percent")}
      </span>
    </span>
  )
}
