import { useState } from "preact/hooks"
import { Card, CountChart, ErrorState, percent, QueryResult } from "#plugin/ui"
import type { EngagementResponse } from "../responses.ts"
import { isInsufficient, useSiteQuery } from "./answers.ts"

const COUNTS = [
  { name: "dau", label: "Daily active" },
  { name: "wau", label: "Weekly active" },
  { name: "mau", label: "Monthly active" },
  { name: "new", label: "New" },
  { name: "returning", label: "Returning" },
  { name: "resurrected", label: "Came back" },
  { name: "dormant", label: "Went quiet" },
] as const
const INTERVALS = [
  { id: "day", label: "Day" },
  { id: "week", label: "Week" },
  { id: "month", label: "Month" },
] as const
type Interval = (typeof INTERVALS)[number]["id"]

/** Active people over time. Not shown where people are not recognized for as long as a month: the page says so already. */
export function EngagementCard({ siteId, cohortId }: { siteId: number; cohortId?: string }) {
  const [interval, setInterval] = useState<Interval>("day")
  const query = new URLSearchParams({ interval, ...(cohortId && { cohort_id: cohortId }) })
  const report = useSiteQuery<EngagementResponse>(siteId, `engagement?${query}`)
  if (isInsufficient(report.error)) return null
  return (
    <Card<Interval> title="Active people" full tabs={INTERVALS} chosen={interval} onChoose={setInterval}>
      {report.error && !report.data ? (
        <ErrorState error={report.error} onRetry={() => void report.refetch()} />
      ) : (
        <QueryResult of={report} rows={8}>
          {(data) => <Chart of={data} />}
        </QueryResult>
      )}
    </Card>
  )
}

function Chart({ of }: { of: EngagementResponse }) {
  // A running point has not seen everyone yet.
  const last = of.points.findLast(({ partial }) => !partial) ?? of.points.at(-1)
  const counts = COUNTS.map(({ name, label }) => ({ name, label, value: last?.[name] ?? undefined }))
  const stickiness = last?.stickiness
  return (
    <>
      <CountChart
        fixedInterval
        title="Active people over time"
        counts={counts}
        series={of as unknown as Parameters<typeof CountChart>[0]["series"]}
      />
      {stickiness !== undefined && stickiness !== null && (
        <p class="small quiet stickiness">
          Stickiness {percent(stickiness)}: daily active people as a share of monthly active people, on the last whole day.
        </p>
      )}
    </>
  )
}
