import { NOTHING } from "../../format.ts"
import { Spark } from "../../parts/spark.tsx"
import { useSeen } from "../../seen.ts"
import { useReport } from "../../stats/use-report.ts"

/** Conversions of a goal in the last 28 days; asked for when the row comes in sight, since there may be 200. */
export function GoalSpark({ name }: { name: string }) {
  const { place, seen } = useSeen<HTMLSpanElement>()
  const { data, error } = useReport(
    "timeseries",
    { period: "28d", metrics: ["conversions"], interval: "day", filters: [{ dimension: "goal", operator: "is", values: [name] }] },
    { enabled: seen, refetchMs: false },
  )
  return (
    <span ref={place} class="goal-spark">
      {data ? <Spark values={data.points.map((point) => Number(point.conversions ?? 0))} label="28 days" /> : error ? NOTHING : null}
    </span>
  )
}
