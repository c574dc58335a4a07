interface SparkProps {
  values: readonly number[]
  /** Accessible name, to which the lowest and highest value are added. */
  label: string
}

/** A sparkline that starts at zero. */
export function Spark({ values, label }: SparkProps) {
  const high = Math.max(...values, 1)
  const step = 100 / Math.max(1, values.length - 1)
  const points = values.map((value, index) => `${(index * step).toFixed(2)},${(38 - (value / high) * 36).toFixed(2)}`)
  return (
    <svg
      class="spark"
      viewBox="0 0 100 40"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}, low ${Math.min(...values)}, high ${Math.max(...values)}`}
    >
      <polyline points={points.join(" ")} vector-effect="non-scaling-stroke" />
    </svg>
  )
}
