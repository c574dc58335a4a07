import { useEffect } from "preact/hooks"
import type { AddressFilter } from "../../../domain/site-address.ts"
import { useSiteAddress } from "../../address.ts"
import { Button, IconButton } from "../../parts/button.tsx"
import { visible } from "../../safe-text.ts"
import { clearFilters } from "../../stats/clear-filters.ts"
import { useFilterTexts } from "../../stats/code-names.ts"
import { filterText } from "../../stats/filter-words.ts"
import { openDialog } from "../../stats/open-dialog.ts"
import { useSegments } from "../../stats/segments.ts"
import { useStatsSource } from "../../stats/source.ts"
import { toast } from "../../toasts.ts"

/** What the page is filtered by; each part can be changed and taken away. */
export default function FilterPills() {
  const { address, go } = useSiteAddress()
  const { siteId } = useStatsSource()
  const { filters, segment, cohort } = address
  const without = (filter: AddressFilter) => go({ filters: filters.filter((one) => one !== filter) })
  return (
    <div class="filter-bar" role="group" aria-label="Filters">
      {segment !== undefined && <SegmentPill id={segment} />}
      {cohort !== undefined && (
        <span class="pill">
          <span class="pill-text">In cohort {cohort}</span>
          <IconButton icon="close" label="Remove the cohort" onClick={() => go({ cohort: undefined })} />
        </span>
      )}
      {filters.map((filter, index) => (
        <FilterPill key={filterText(filter)} filter={filter} index={index} onRemove={() => without(filter)} />
      ))}
      <Button kind="quiet" onClick={() => clearFilters({ address, go })}>
        Clear all
      </Button>
      {filters.length > 0 && siteId !== undefined && (
        <Button kind="quiet" onClick={() => openDialog.set({ name: "segment" })}>
          Save as segment
        </Button>
      )}
    </div>
  )
}

function FilterPill({ filter, index, onRemove }: { filter: AddressFilter; index: number; onRemove(): void }) {
  const [text] = useFilterTexts([filter])
  return (
    <span class="pill">
      <button type="button" title={`Change: ${text}`} onClick={() => openDialog.set({ name: "filter", index })}>
        {text}
      </button>
      <IconButton icon="close" label={`Remove ${text}`} onClick={onRemove} />
    </span>
  )
}

/** The segment by its name. One that is gone leaves the address, and says so. */
function SegmentPill({ id }: { id: number }) {
  const { address, go } = useSiteAddress()
  const { siteId } = useStatsSource()
  const { data: segments } = useSegments(siteId)
  const segment = segments?.find((one) => one.id === id)
  const isGone = segments !== undefined && segment === undefined
  useEffect(() => {
    if (!isGone) return
    go({ segment: undefined }, { replace: true })
    toast(`Left out: segment ${id}, which does not exist any more`)
  }, [isGone])
  const name = segment ? visible(segment.name) : String(id)
  const texts = useFilterTexts(segment?.filters ?? [])
  return (
    <span class="pill">
      <button
        type="button"
        title={segment ? `Edit its filters: ${texts.join(", ")}` : undefined}
        onClick={() => segment && go({ segment: undefined, filters: [...address.filters, ...segment.filters].slice(0, 10) })}
      >
        Segment is {name}
      </button>
      <IconButton icon="close" label={`Remove segment ${name}`} onClick={() => go({ segment: undefined })} />
    </span>
  )
}
