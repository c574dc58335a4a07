import { Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import { addressFilters, Button, FilterEditor, filterText, IconButton } from "#plugin/ui"
import type { BoardFilter } from "../../board.ts"

interface FilterListProps {
  siteId: number
  filters: readonly BoardFilter[]
  onFilters(filters: BoardFilter[]): void
}

const MAX_FILTERS = 10

/** Filters as sentences, with a dialog that adds and edits one. */
export function FilterList({ filters, onFilters }: FilterListProps) {
  const [open, setOpen] = useState<{ index?: number }>()
  const shown = addressFilters([...filters] as Parameters<typeof addressFilters>[0]) // checked by the server
  return (
    <div class="stack">
      {shown.map((filter, index) => (
        <div key={index} class="row spread filter-line">
          <button type="button" class="text-button" onClick={() => setOpen({ index })}>
            {filterText(filter)}
          </button>
          <IconButton icon="close" label={`Remove filter ${filterText(filter)}`} onClick={() => onFilters(filters.toSpliced(index, 1))} />
        </div>
      ))}
      {filters.length < MAX_FILTERS && (
        <div>
          <Button icon="filter" onClick={() => setOpen({})}>
            Add filter
          </Button>
        </div>
      )}
      {open && (
        <Suspense fallback={null}>
          <FilterEditor
            filters={shown}
            index={open.index}
            onFilters={(next) => {
              onFilters(next)
              setOpen(undefined)
            }}
            onClose={() => setOpen(undefined)}
          />
        </Suspense>
      )}
    </div>
  )
}
