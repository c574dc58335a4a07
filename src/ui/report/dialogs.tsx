import { Suspense } from "preact/compat"
import { lazyPart } from "../parts/loading.ts"
import { closeDialog, type OpenDialog, openDialog } from "./open-dialog.ts"

const FilterDialog = lazyPart(() => import("./filters/filter-dialog.tsx"))
const SegmentDialog = lazyPart(() => import("./filters/segment-dialog.tsx"))
const RangeDialog = lazyPart(() => import("./range/range-dialog.tsx"))
const NotesDialog = lazyPart(() => import("./notes/notes-dialog.tsx"))
const DropsDialog = lazyPart(() => import("./drops/drops-dialog.tsx"))

/** The dialog that is open over a page with a period, if any. */
export function RangeDialogs() {
  const open = openDialog.use()
  return open ? <Suspense fallback={<div class="progress-line" />}>{dialogOf(open)}</Suspense> : null
}

function dialogOf(open: OpenDialog) {
  switch (open.name) {
    case "filter":
      return <FilterDialog index={open.index} onClose={closeDialog} />
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
