import { useInView } from "../../browser/hooks.ts"
import { Spark } from "../../parts/values.tsx"
import { useReport } from "../../report/data/reports.ts"
import { NOTHING } from "../../text/format.ts"

/** Draws the conversions of a goal in the last 28 days. Fetches them only when the row becomes visible, because there may be 200 rows. */
export function GoalSpark({ name }: { name: string }) {
  const { place, seen } = useInView<HTMLSpanElement>()
  const { data, error } = useReport(
    "timeseries",
    { period: "28d", metrics: ["conversions"], interval: "day", filters: [{ dimension: "goal", operator: "is", values: [name] }] },
    { enabled: seen, refetchMs: false },
  )
  return (
    <span ref={place} class="goal-spark">
      {data ? (
        <Spark values={data.points.map((point) => Number(point.conversions ?? 0))} label="Conversions in the last 28 days" />
      ) : error ? (
        NOTHING
      ) : null}
    </span>
  )
}
