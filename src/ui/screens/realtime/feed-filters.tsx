import { useSiteAddress } from "../../address.ts"
import { Button, IconButton } from "../../parts/button.tsx"
import { clearFilters } from "../../stats/clear-filters.ts"
import { useFilterTexts } from "../../stats/code-names.ts"
import { filterText } from "../../stats/filter-words.ts"
import { narrowsFeed } from "./event-feed.tsx"

/** By what the list of events is narrowed. The counts know no filter. */
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
        Clear all
      </Button>
      <span class="small quiet">
        {filters.every(narrowsFeed)
          ? "The list of events is narrowed; the counts are those of the whole site."
          : "Only values of page, source, country and event narrow the list of events; the counts are those of the whole site."}
      </span>
    </div>
  )
}
