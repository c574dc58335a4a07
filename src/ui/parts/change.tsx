import { METRIC_WORDS, percent } from "../format.ts"

interface ChangeProps {
  metric: string
  /** In percent; undefined where the earlier value was 0. */
  change: number | undefined
  value: number | undefined
}

const MOST = 999

/** How a value compares with the earlier one. Green and brick only where more is better. */
export function Change({ metric, change, value }: ChangeProps) {
  if (change === undefined) return value ? <span class="quiet">new</span> : <span class="quiet">–</span>
  if (change === 0) return <span class="quiet">0%</span>
  const size = Math.abs(change) > MOST ? `>${MOST}%` : percent(Math.abs(change))
  const isUp = change > 0
  const tone = METRIC_WORDS[metric]?.better ? (isUp ? "up" : "down") : undefined
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
