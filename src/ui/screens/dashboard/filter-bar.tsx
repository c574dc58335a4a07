import { Suspense } from "preact/compat"
import { isFiltered, useSiteAddress } from "../../address.ts"
import { lazyPart } from "../../lazy-screen.ts"

const FilterPills = lazyPart(() => import("./filter-pills.tsx"))

/** What the page is filtered by; nothing, and nothing loaded, where it is not filtered. */
export function FilterBar() {
  const { address } = useSiteAddress()
  if (!isFiltered(address)) return null
  return (
    <Suspense fallback={<div class="filter-bar room" />}>
      <FilterPills />
    </Suspense>
  )
}
