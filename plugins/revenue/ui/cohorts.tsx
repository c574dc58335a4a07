import { useState } from "preact/hooks"
import { Button, Card, dayText, exact, Problem, QueryResult, useRangeQuery } from "#plugin/ui"
import type { Cohort, ReportResponse } from "../report/responses.ts"
import { useSiteQuery } from "./answers.ts"
import { moneyText } from "./money.ts"

const INTERVALS = [
  { value: "week", label: "By week" },
  { value: "month", label: "By month" },
  { value: "day", label: "By day" },
]
const PERIODS = 8

interface CohortCardProps {
  siteId: number
  currency: string
  own: { currency?: string; trust?: string }
}

/** Revenue by period of the first purchase, computed on request: it looks at everything that is stored. */
export function CohortCard({ siteId, currency, own }: CohortCardProps) {
  const [isOpen, setOpen] = useState(false)
  const [by, setBy] = useState("week")
  const { plain } = useRangeQuery()
  const query = new URLSearchParams({
    ...{ cohort_by: by, periods: String(PERIODS), limit: "1" },
    ...(own.currency && { currency: own.currency }),
    ...(own.trust && { trust: own.trust }),
  })
  const report = useSiteQuery<ReportResponse>(siteId, `revenue/report?${plain}&${query}`, isOpen)
  const isShort = report.error instanceof Problem && report.error.code === "identity_insufficient"
  return (
    <Card
      title="Revenue by first purchase"
      full
      marks={
        isOpen &&
        !isShort && (
          <select class="plain-select" aria-label="Periods" value={by} onChange={(event) => setBy(event.currentTarget.value)}>
            {INTERVALS.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )
      }
    >
      {!isOpen ? (
        <div class="row spread">
          <p class="quiet">Revenue from the same people in the periods after their first purchase.</p>
          <Button onClick={() => setOpen(true)}>Show cohorts</Button>
        </div>
      ) : isShort && !report.data ? (
        <p class="quiet">
          This site doesn't recognize people for longer than a few days, so every purchase would look like a first one. People with a user
          ID or device ID are needed.
        </p>
      ) : (
        <QueryResult of={report} rows={8}>
          {({ cohorts = [] }) => <Triangle cohorts={cohorts} by={by} currency={currency} />}
        </QueryResult>
      )}
    </Card>
  )
}

const STATES: Readonly<Record<string, string>> = { future: "", suppressed: "hidden", unobservable: "unknown" }

const Triangle = ({ cohorts, by, currency }: { cohorts: readonly Cohort[]; by: string; currency: string }) => (
  <div class="table-wrap" tabIndex={0} role="region" aria-label="Revenue by first purchase">
    <table class="table retention-grid">
      <thead>
        <tr>
          <th scope="col">First purchase</th>
          <th scope="col" class="number">
            People
          </th>
          {Array.from({ length: PERIODS }, (_, period) => (
            <th key={period} scope="col" class="number">
              {period === 0 ? `Same ${by}` : `+${period}`}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {cohorts.map(({ cohort, size, cells }) => (
          <tr key={cohort}>
            <th scope="row">{dayText(cohort, { weekday: undefined })}</th>
            <td class="number">{size === null ? "hidden" : exact(size)}</td>
            {cells.map(({ period, state, by_currency }) => {
              const net = by_currency?.find((one) => one.currency === currency)?.net
              return (
                <td key={period} class="number" data-state={state}>
                  {state in STATES ? STATES[state] : net ? moneyText(net) : "–"}
                </td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
