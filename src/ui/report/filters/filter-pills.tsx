import { useEffect, useState } from "preact/hooks"
import type { AddressFilter } from "../../../domain/site-address.ts"
import { areaQueries } from "../../api/plugin-requests.ts"
import { useMe } from "../../api/session.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { Button, IconButton } from "../../parts/button.tsx"
import { toast } from "../../parts/toasts.tsx"
import { visible } from "../../text/safe-text.tsx"
import { useStatsSource } from "../data/reports.ts"
import { openDialog } from "../dialogs.tsx"
import { clearFilters } from "./filter-bar.tsx"
import { filterText, useFilterTexts, useSegments } from "./filters.ts"
import { useSegmentTexts, withSegment } from "./segment-filters.ts"

/** The active filters as pills that can be edited and removed. Calls `onShown` when drawn. */
export default function FilterPills({ onShown }: { onShown?(): void }) {
  const { address, go } = useSiteAddress()
  const { siteId } = useStatsSource()
  const { filters, any, segment, cohort } = address
  useEffect(() => onShown?.(), [])
  const without = (filter: AddressFilter) => go({ filters: filters.filter((one) => one !== filter) })
  return (
    <div class="filter-bar" role="group" aria-label="Filters">
      {segment !== undefined && <SegmentPill id={segment} />}
      {cohort !== undefined && <CohortPill id={cohort} />}
      {filters.map((filter, index) => (
        <FilterPill key={filterText(filter)} filter={filter} index={index} onRemove={() => without(filter)} />
      ))}
      {any.length > 0 && <AlternativesPill />}
      <Button kind="quiet" onClick={() => clearFilters({ address, go })}>
        Clear filters
      </Button>
      {/* A segment cannot contain another one. */}
      {filters.length + any.length > 0 && segment === undefined && siteId !== undefined && (
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
      <button type="button" title={`Edit: ${text}`} onClick={() => openDialog.set({ name: "filter", index })}>
        {text}
      </button>
      <IconButton icon="close" label={`Remove ${text}`} onClick={onRemove} />
    </span>
  )
}

/** Pill with the filters of which one must match: Country is Germany or Source is Google. */
function AlternativesPill() {
  const { address, go } = useSiteAddress()
  const text = useFilterTexts(address.any).join(" or ")
  return (
    <span class="pill">
      <button type="button" title={`Edit: ${text}`} onClick={() => openDialog.set({ name: "filter", index: 0, isAny: true })}>
        {text}
      </button>
      <IconButton icon="close" label={`Remove ${text}`} onClick={() => go({ any: [] })} />
    </span>
  )
}

/**
 * Pill with the name of the active segment. A click replaces it by its filters, if the page can hold them. A segment that no longer exists
 * is removed from the URL with a toast.
 */
function SegmentPill({ id }: { id: number }) {
  const { address, go } = useSiteAddress()
  const { siteId } = useStatsSource()
  const { data: segments } = useSegments(siteId)
  const segment = segments?.find((one) => one.id === id)
  const isGone = segments !== undefined && segment === undefined
  useEffect(() => {
    if (!isGone) return
    go({ segment: undefined }, { replace: true })
    toast(`Segment ${id} no longer exists and was removed from the filters`)
  }, [isGone])
  const name = segment ? visible(segment.name) : String(id)
  const texts = useSegmentTexts(segment?.filters ?? [])
  const joined = segment && withSegment(address, segment.filters)
  return (
    <span class="pill">
      {segment && !joined ? (
        <span class="pill-text" title={texts.join(", ")}>
          Segment is {name}
        </span>
      ) : (
        <button
          type="button"
          title={segment && `Edit filters: ${texts.join(", ")}`}
          onClick={() => joined && go({ segment: undefined, ...joined })}
        >
          Segment is {name}
        </button>
      )}
      <IconButton icon="close" label={`Remove segment ${name}`} onClick={() => go({ segment: undefined })} />
    </span>
  )
}

const COHORTS = "cohorts"
const { useSiteQuery } = areaQueries(COHORTS)

/** Pill with the name of the active cohort, or with its id for users who may not read cohorts. A deleted cohort is removed from the URL with a toast. */
function CohortPill({ id }: { id: number }) {
  const { go } = useSiteAddress()
  const { siteId, can } = useStatsSource()
  const isOn = useMe()?.features.includes(COHORTS) ?? false
  const reads = siteId !== undefined && isOn && can("cohorts:read")
  const { data, isFetching } = useSiteQuery<{ data: { id: number; name: string }[] }>(siteId ?? 0, "cohorts?limit=200", reads)
  const cohort = data?.data.find((one) => one.id === id)
  const isGone = data !== undefined && !isFetching && cohort === undefined
  useEffect(() => {
    if (!isGone) return
    go({ cohort: undefined }, { replace: true })
    toast(`Cohort ${id} no longer exists and was removed from the filters`)
  }, [isGone])
  const name = cohort ? visible(cohort.name) : String(id)
  return (
    <span class="pill">
      <span class="pill-text">In cohort {name}</span>
      <IconButton icon="close" label={`Remove cohort ${name}`} onClick={() => go({ cohort: undefined })} />
    </span>
  )
}

/** Says which parts of the URL were not recognized, until the notice is dismissed. */
export function IgnoredParts({ parts }: { parts: readonly string[] }) {
  const [seen, setSeen] = useState<string>()
  const text = parts.map(visible).join(", ")
  if (seen === text) return null
  return (
    <div class="notice" data-kind="warn" role="status">
      <span>Some parts of this link were not recognized and were ignored: {text}</span>
      <IconButton icon="close" label="Dismiss" onClick={() => setSeen(text)} />
    </div>
  )
}
