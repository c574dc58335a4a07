interface SparkPairProps {
  human: readonly number[]
  bot: readonly number[]
  /** Accessible name; totals are appended to it. */
  label: string
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** Two small line charts on a common scale from zero: people as a solid line, bots as a dashed one. */
export function SparkPair({ human, bot, label }: SparkPairProps) {
  const high = Math.max(...human, ...bot, 1)
  const step = 100 / Math.max(1, human.length - 1)
  const points = (values: readonly number[]) =>
    values.map((value, index) => `${(index * step).toFixed(2)},${(38 - (value / high) * 36).toFixed(2)}`).join(" ")
  return (
    <svg
      class="spark goal-spark"
      viewBox="0 0 100 40"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: ${sum(human)} by people, ${sum(bot)} by bots, at most ${Math.max(...human)} by people in a day`}
    >
      <polyline class="spark-bots" points={points(bot)} vector-effect="non-scaling-stroke" />
      <polyline points={points(human)} vector-effect="non-scaling-stroke" />
    </svg>
  )
}
