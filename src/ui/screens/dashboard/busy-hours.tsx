import type { BusyHours as Grid } from "../../../domain/insight.ts"
import { rangeArguments } from "../../../domain/site-address.ts"
import { useSiteAddress } from "../../address.ts"
import { Card } from "../../parts/card.tsx"
import { useStatsSource } from "../../stats/source.ts"
import { useReport } from "../../stats/use-report.ts"
import { CardAnswer } from "./card-answer.tsx"
import HourTable from "./hour-table.tsx"
import { EmptyCard } from "./no-rows.tsx"

/** Visits by weekday and hour of the site's zone. */
export default function BusyHours() {
  const { address } = useSiteAddress()
  const { timezone } = useStatsSource()
  const report = useReport("busy-hours", rangeArguments(address))
  return (
    <Card title="Busy hours" full marks={<span class="small quiet">Visits that began, {timezone}</span>}>
      <CardAnswer of={report} rows={8}>
        {(data) => {
          const { grid } = data as Grid // the report of this name
          const most = Math.max(...grid.flat())
          return most === 0 ? <EmptyCard /> : <HourTable grid={grid} most={most} />
        }}
      </CardAnswer>
    </Card>
  )
}
