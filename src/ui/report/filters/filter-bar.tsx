import { Suspense } from "preact/compat"
import { useEffect, useState } from "preact/hooks"
import { type AddressOfSite, isFiltered, NO_FILTERS, useSiteAddress } from "../../browser/address.ts"
import { lazyPart } from "../../parts/loading.ts"
import { toast } from "../../parts/toasts.tsx"
import { unknownCards } from "../data/card-tabs.ts"

const loadPills = () => import("./filter-pills.tsx")
const FilterPills = lazyPart(loadPills)

/** Returns whether the filter bar has its final size, and the callback that reports it. A page that opens with filters waits for it. */
export function useFilterBar(): [isShown: boolean, onShown: () => void] {
  const { address } = useSiteAddress()
  const [isShown, setShown] = useState(!isFiltered(address))
  const onShown = () => setShown(true)
  useEffect(() => {
    // If the bar's script can't be loaded, the page is shown without it.
    if (!isShown) loadPills().catch(onShown)
  }, [])
  return [isShown, onShown]
}

/** The active filters of the page. Loads and shows nothing if there are none. */
export function FilterBar({ onShown }: { onShown?(): void }) {
  const { address } = useSiteAddress()
  if (!isFiltered(address)) return null
  return (
    <Suspense fallback={<div class="filter-bar room" />}>
      <FilterPills {...(onShown && { onShown })} />
    </Suspense>
  )
}

/** Removes all filters and shows a toast with *Undo*. */
export function clearFilters({ address: { filters, any, segment, cohort }, go }: Pick<AddressOfSite, "address" | "go">): void {
  go(NO_FILTERS)
  toast("Filters cleared", () => go({ filters, any, segment, cohort }))
}

const IgnoredParts = lazyPart(loadPills, "IgnoredParts")

/** Notice about parts of the URL that were not recognized. With `ownCards` the page has cards of its own, so unknown card names are not reported. */
export function IgnoredAddressParts({ ownCards = false }: { ownCards?: boolean }) {
  const { address, leftOut } = useSiteAddress()
  const parts = [...leftOut, ...(ownCards ? [] : unknownCards(address.cards))]
  return (
    parts.length > 0 && (
      <Suspense fallback={null}>
        <IgnoredParts parts={parts} />
      </Suspense>
    )
  )
}
