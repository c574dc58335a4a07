import { Suspense } from "preact/compat"
import { createStore } from "../browser/store.ts"
import { lazyPart } from "../parts/loading.ts"

const FilterDialog = lazyPart(() => import("./filters/filter-dialog.tsx"))
const SegmentDialog = lazyPart(() => import("./filters/segment-dialog.tsx"))
const RangeDialog = lazyPart(() => import("./range-dialog.tsx"))
const NotesDialog = lazyPart(() => import("./notes-dialog.tsx"))
const DropsDialog = lazyPart(() => import("./drops-dialog.tsx"))

/** The dialog that is open over a page with a period, if any. */
export function RangeDialogs() {
  const open = openDialog.use()
  return open ? <Suspense fallback={<div class="progress-line" />}>{dialogOf(open)}</Suspense> : null
}

function dialogOf(open: OpenDialog) {
  switch (open.name) {
    case "filter":
      return <FilterDialog {...open} onClose={closeDialog} />
    case "segment":
      return <SegmentDialog onClose={closeDialog} />
    case "notes":
      return <NotesDialog day={open.day} onClose={closeDialog} />
    case "drops":
      return <DropsDialog onClose={closeDialog} />
    default:
      return <RangeDialog of={open.name} onClose={closeDialog} />
  }
}

/** The dialogs of a page with a period. Each is loaded when it is opened. */
type OpenDialog =
  | {
      name: "filter"
      /** Index of the edited filter; undefined adds one. */
      index?: number
      /** Whether the index is that of a filter of which one must match. */
      isAny?: boolean
    }
  | { name: "segment" }
  | { name: "range" | "comparison" }
  | { name: "notes" /** Day of a new note. */; day?: string }
  | { name: "drops" }

export const openDialog = createStore<OpenDialog | undefined>(undefined)

const closeDialog = (): void => openDialog.set(undefined)
