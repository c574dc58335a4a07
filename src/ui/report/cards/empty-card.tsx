import { isFiltered, useSiteAddress } from "../../browser/address.ts"
import { Button, ButtonLink } from "../../parts/button.tsx"
import { EmptyState } from "../../parts/states.tsx"
import { metricLabel } from "../../text/format.ts"
import { dimensionLabel } from "../../text/labels.ts"
import type { CardTab } from "../data/card-tabs.ts"
import { useStatsSource } from "../data/reports.ts"
import { clearFilters } from "../filters/filter-bar.tsx"

/** Explains why a card has no rows and offers one action. */
export default function EmptyCard({ tab }: { tab?: CardTab }) {
  const { base, address, searchWith, go } = useSiteAddress()
  const { filters: changesFilters, siteId, can } = useStatsSource()
  if (isFiltered(address))
    return (
      <EmptyState action={changesFilters && <Button onClick={() => clearFilters({ address, go })}>Clear filters</Button>}>
        No visits match the filters in this period.
      </EmptyState>
    )
  if (tab?.dimension === "goal")
    return (
      <EmptyState
        action={
          siteId !== undefined && can("goals:write") && <ButtonLink href={`${base}/goals${searchWith({})}`}>Set up a goal</ButtonLink>
        }
      >
        No conversions in this period.
      </EmptyState>
    )
  if (tab?.also) return <EmptyState>No “not found” pages were reported in this period.</EmptyState>
  return (
    <EmptyState action={address.period !== "91d" && <Button onClick={() => go({ period: "91d" })}>Show 91 days</Button>}>
      No data was recorded in this period.
    </EmptyState>
  )
}

/** Says why a card can't show a metric, without offering another attempt. */
export const Unsupported = ({ detail }: { detail: string }) => <EmptyState>{unsupportedText(detail)}</EmptyState>

/** Rephrases the server's message about a metric and a dimension that can't be combined: Bounce rate can't be broken down by event. */
export function unsupportedText(detail: string): string {
  const [, metric, dimension] = /^(\w+) cannot be combined with dimension (\w+)\.$/.exec(detail) ?? []
  if (metric && dimension) {
    const name = dimensionLabel(dimension as Parameters<typeof dimensionLabel>[0]) // a dimension of the server
    return `${metricLabel(metric)} can't be broken down by ${name.toLowerCase()}.`
  }
  const [, alone] = /^(\w+) requires a filter on page or the dimension page\.$/.exec(detail) ?? []
  return alone ? `${metricLabel(alone)} can only be shown for pages. Filter by a page.` : `These filters can't be combined here: ${detail}`
}
