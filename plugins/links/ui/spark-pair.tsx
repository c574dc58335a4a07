interface SparkPairProps {
  human: readonly number[]
  bot: readonly number[]
  /** What the lines are about; totals are added for assistive technology. */
  label: string
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** Two small lines from zero on one scale: people drawn through, bots dashed. */
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
