import { addressFilters, filterText } from "#plugin/ui"
import type { BoardFilter } from "../../board.ts"

/** The filters of the dashboard itself, which always apply. Those in the URL are added to them. */
export function BoardFilters({ filters }: { filters: readonly BoardFilter[] }) {
  if (filters.length === 0) return null
  const texts = addressFilters([...filters] as Parameters<typeof addressFilters>[0]).map((filter) => filterText(filter)) // checked when they were saved
  return (
    <p class="small quiet board-note">
      Always filtered: <strong>{texts.join(" · ")}</strong>
    </p>
  )
}
