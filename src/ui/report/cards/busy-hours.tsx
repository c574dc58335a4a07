import type { BusyHours as Grid } from "../../../domain/insight.ts"
import { rangeArguments } from "../../../domain/site-address.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { Card } from "../../parts/page.tsx"
import { dayText, exact, short } from "../../text/format.ts"
import { addDays } from "../data/ranges.ts"
import { useReport, useStatsSource } from "../data/reports.ts"
import { ImportMark } from "../trust.tsx"
import { CardResult, EmptyCard } from "./card-answer.tsx"

/** Card of visits by weekday and hour in the site's time zone. */
export default function BusyHours() {
  const { address } = useSiteAddress()
  const { timezone } = useStatsSource()
  const report = useReport("busy-hours", rangeArguments(address))
  return (
    <Card
      title="Busy hours"
      full
      marks={
        <>
          <span class="small quiet">Visits by start time ({timezone})</span>
          <ImportMark of={(report.data as Grid | undefined)?.imports} />
        </>
      }
    >
      <CardResult of={report} rows={8}>
        {(data) => {
          const { grid } = data as Grid // the report of this name
          const most = Math.max(...grid.flat())
          return most === 0 ? <EmptyCard /> : <HourTable grid={grid} most={most} />
        }}
      </CardResult>
    </Card>
  )
}

const STEPS = 5
const HOURS = Array.from({ length: 24 }, (_, hour) => hour)
const weekday = (index: number, size: "short" | "long"): string =>
  dayText(addDays("2024-01-01", index), { weekday: size, day: undefined, month: undefined, year: undefined })

interface HourTableProps {
  /** Visits by weekday, Monday first, and hour. */
  grid: number[][]
  /** The largest number in the grid. */
  most: number
}

/** Table of visits in which each cell has one of five shades. */
function HourTable({ grid, most }: HourTableProps) {
  return (
    <div class="hours-wrap" tabIndex={0} role="region" aria-label="Visits by weekday and hour">
      <table class="hours">
        <thead>
          <tr>
            <th scope="col">
              <span class="visually-hidden">Day</span>
            </th>
            {HOURS.map((hour) => (
              <th key={hour} scope="col">
                {hour}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {grid.map((hours, day) => (
            <tr key={weekday(day, "long")}>
              <th scope="row" abbr={weekday(day, "long")}>
                {weekday(day, "short")}
              </th>
              {hours.map((visits, hour) => (
                <td
                  key={HOURS[hour]}
                  data-heat={Math.ceil((visits / most) * STEPS) || undefined}
                  title={`${weekday(day, "long")} ${hour}:00, ${exact(visits)} visits`}
                >
                  {short(visits)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
