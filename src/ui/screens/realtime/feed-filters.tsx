import { useSiteAddress } from "../../browser/address.ts"
import { Button, IconButton } from "../../parts/button.tsx"
import { clearFilters } from "../../report/filters/filter-bar.tsx"
import { filterText, useFilterTexts } from "../../report/filters/filters.ts"
import { narrowsFeed } from "./event-feed.tsx"

/** Shows the filters of the event list. The counts are never filtered. */
export function FeedFilters() {
  const { address, go } = useSiteAddress()
  const { filters } = address
  const texts = useFilterTexts(filters)
  if (filters.length === 0) return null
  return (
    <div class="filter-bar" role="group" aria-label="Filters">
      {filters.map((filter, index) => (
        <span class="pill" key={filterText(filter)}>
          <span class="pill-text">{texts[index]}</span>
          <IconButton
            icon="close"
            label={`Remove ${texts[index]}`}
            onClick={() => go({ filters: filters.filter((one) => one !== filter) })}
          />
        </span>
      ))}
      <Button kind="quiet" onClick={() => clearFilters({ address, go })}>
        Clear filters
      </Button>
      <span class="small quiet">
        {filters.every(narrowsFeed)
          ? "The event list is filtered. The counts are for the whole site."
          : "Only filters by page, source, country and event apply to the event list. The counts are for the whole site."}
      </span>
    </div>
  )
}
