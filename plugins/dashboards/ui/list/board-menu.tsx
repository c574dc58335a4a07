import { lazy, Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import { ActionMenu, errorText, get, post, put, remove, saveFile, toast, useUndoable, visible } from "#plugin/ui"
import type { BoardRow } from "../../responses.ts"
import { boardPath, boardsPath, editAddress, OVERVIEW, useRefresh, useRights } from "../answers.ts"
import { Duplicate } from "./duplicate.tsx"

const ShareDialog = lazy(() => import("../shares/share-dialog.tsx"))

interface BoardMenuProps {
  siteId: number
  board: BoardRow
  kind?: "quiet"
  /** Further actions at the top. */
  first?: readonly { label: string; run(): void }[]
  onDeleted?(): void
}

type Action = Parameters<typeof ActionMenu>[0]["actions"][number]

/** Menu of the actions on a dashboard. */
export function BoardMenu({ siteId, board, kind, first = [], onDeleted }: BoardMenuProps) {
  const { writes, shares } = useRights(siteId)
  const [, navigate] = useLocation()
  const [open, setOpen] = useState<"duplicate" | "share">()
  const refresh = useRefresh(siteId)
  const undoable = useUndoable(refresh)
  const { id, is_my_default: isMine, is_site_default: isOfSite, can_edit: canEdit, visibility } = board
  const name = visible(board.name)
  const isBuiltIn = id === OVERVIEW
  const path = boardPath(siteId, id)
  const setDefault = (scope: "me" | "site", wanted: number | null, text: string) => async () => {
    try {
      await put(`${boardsPath(siteId)}/default`, { dashboard_id: wanted, scope })
      toast(text)
      await refresh()
    } catch (error) {
      toast(errorText(error as Error)) // only errors are thrown
    }
  }
  const exportFile = async () => {
    try {
      const content = JSON.stringify(await get(`${path}/export`), null, 2)
      saveFile(`${board.name.replace(/[^\p{L}\p{N}]+/gu, "-")}.json`, new Blob([content], { type: "application/json" }))
    } catch (error) {
      toast(errorText(error as Error)) // only errors are thrown
    }
  }
  const actions: (Action | false)[] = [
    canEdit && !isBuiltIn && { label: "Edit", run: () => navigate(editAddress(siteId, id)) },
    shares && !isBuiltIn && { label: "Share", run: () => setOpen("share") },
    { label: "Duplicate", run: () => setOpen("duplicate") },
    isMine
      ? { label: "Remove as your default", run: setDefault("me", null, "You have no default dashboard now") }
      : { label: "Make your default", run: setDefault("me", id, `${name} opens first for you`) },
    writes &&
      (isOfSite
        ? { label: "Remove as site default", run: setDefault("site", null, "The site has no default dashboard now") }
        : (visibility === "site" || isBuiltIn) && {
            label: "Make site default",
            run: setDefault("site", id, `${name} opens first on this site`),
          }),
    { label: "Export JSON", run: exportFile },
    canEdit &&
      !isBuiltIn && {
        label: "Delete",
        kind: "danger",
        run: () =>
          undoable({
            run: () => remove(path),
            undo: () => post(`${path}/restore`, undefined),
            text: `${name} deleted`,
            after: onDeleted,
          }),
      },
  ]
  return (
    <>
      <ActionMenu {...(kind && { kind })} label={`Actions for ${name}`} actions={[...first, ...actions.filter((one) => one !== false)]} />
      {open === "duplicate" && <Duplicate siteId={siteId} board={board} onClose={() => setOpen(undefined)} />}
      <Suspense fallback={<div class="progress-line" />}>
        {open === "share" && <ShareDialog siteId={siteId} board={board} onClose={() => setOpen(undefined)} />}
      </Suspense>
    </>
  )
}
