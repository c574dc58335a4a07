import { Link } from "wouter"
import { Button, CopyButton, EmptyState, isFiltered, NO_FILTERS, useSiteAddress } from "#plugin/ui"
import type { ReportResponse } from "../report/responses.ts"
import { revenueAddress, useSiteQuery } from "./answers.ts"

const SNIPPET = `footfall("Purchase", {
  revenue: { amount: "49.00", currency: "EUR" },
  props: { order_id: "A-1001" },
})`

/** Why there is nothing to show: no transactions at all, or none in this period. */
export function NoRevenue({ siteId, report }: { siteId: number; report: ReportResponse }) {
  const { address, go } = useSiteAddress()
  const latest = useSiteQuery<{ data: unknown[] }>(siteId, "revenue/transactions?limit=1")
  if (!latest.data) return null
  if (isFiltered(address))
    return (
      <EmptyState action={<Button onClick={() => go(NO_FILTERS)}>Clear filters</Button>}>
        No revenue matches the filters in this period.
      </EmptyState>
    )
  if (latest.data.data.length > 0)
    return (
      <EmptyState action={<Button onClick={() => go({ period: "12mo" })}>Show 12 months</Button>}>
        No revenue from {report.range.from} to {report.range.to}.
      </EmptyState>
    )
  return (
    <div class="state revenue-start">
      <h2>No revenue yet</h2>
      <p class="quiet">
        Send the amount of each order with an event. Repeated orders count once, refunds are negative amounts, and payments from a server or
        a payment provider confirm what the browser reported.
      </p>
      <pre class="snippet" tabIndex={0}>
        {SNIPPET}
      </pre>
      <div class="row">
        <CopyButton text={SNIPPET} label="Copy code" />
        <Link href={`${revenueAddress(siteId)}/transactions`}>Add transactions by hand or as CSV</Link>
      </div>
    </div>
  )
}
