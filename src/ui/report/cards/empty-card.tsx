import { isFiltered, useSiteAddress } from "../../address.ts"
import { Button, ButtonLink } from "../../parts/button.tsx"
import { EmptyState } from "../../parts/states.tsx"
import { clearFilters } from "../../stats/clear-filters.ts"
import { useStatsSource } from "../../stats/source.ts"
import type { CardTab } from "./card-tabs.ts"

/** Why a card has no rows, and one step on. */
export default function EmptyCard({ tab }: { tab?: CardTab }) {
  const { base, address, searchWith, go } = useSiteAddress()
  const { filters: changesFilters, siteId, can } = useStatsSource()
  if (isFiltered(address))
    return (
      <EmptyState action={changesFilters && <Button onClick={() => clearFilters({ address, go })}>Clear the filters</Button>}>
        No visits match the filters in this period.
      </EmptyState>
    )
  if (tab?.dimension === "goal")
    return (
      <EmptyState
        action={siteId !== undefined && can("goals:write") && <ButtonLink href={`${base}/goals${searchWith({})}`}>Goals</ButtonLink>}
      >
        No goal was reached in this period, or none is set up.
      </EmptyState>
    )
  if (tab?.also) return <EmptyState>No page was missing in this period, as far as pages told.</EmptyState>
  return (
    <EmptyState action={address.period !== "91d" && <Button onClick={() => go({ period: "91d" })}>Try 91 days</Button>}>
      Nothing was recorded in this period.
    </EmptyState>
  )
}
