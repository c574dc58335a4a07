import { Suspense } from "preact/compat"
import { useEffect, useMemo, useState } from "preact/hooks"
import { useLocation, useParams, useSearch } from "wouter"
import {
  Button,
  currentVersion,
  ErrorState,
  errorText,
  lazyPart,
  NotFound,
  Page,
  Problem,
  put,
  Skeleton,
  toast,
  UnsavedGuard,
  useSiteId,
  useUnsaved,
  visible,
} from "#plugin/ui"
import type { BoardResponse, CatalogueRow } from "../../responses.ts"
import { boardAddress, boardPath, OVERVIEW, useBoard, useRefresh } from "../answers.ts"
import { useBoardData } from "../board/data.ts"
import { titleOf } from "../labels.ts"
import { LIMITS } from "../limits.ts"
import { BoardSettings } from "./board-settings.tsx"
import { CatalogueDrawer, useCatalogue } from "./catalogue-drawer.tsx"
import { bodyOf, type DraftWidget, draftOf, isSameDraft, useDraft } from "./draft.ts"
import { EditGrid } from "./edit-grid.tsx"
import { freePlace, withoutGaps } from "./layout.ts"
import { faultText } from "./preview.tsx"
import { WidgetDrawer } from "./widget-drawer.tsx"

/** Page on which a dashboard is edited. */
export default function EditPage() {
  const siteId = useSiteId()
  const { dashboard: id = "" } = useParams<{ dashboard: string }>()
  const { data: board, error, refetch } = useBoard(siteId, id)
  const catalogue = useCatalogue(siteId)
  const failed = error ?? catalogue.error
  if (error instanceof Problem && error.status === 404) return <NotFound />
  if (failed && !(board && catalogue.data))
    return (
      <Page title="Edit dashboard">
        <ErrorState error={failed} onRetry={() => void Promise.all([refetch(), catalogue.refetch()])} />
      </Page>
    )
  if (!board || String(board.id) !== id || !catalogue.data)
    return (
      <Page title="Edit dashboard" hideTitle>
        <Skeleton rows={12} />
      </Page>
    )
  if (board.id === OVERVIEW || !board.can_edit) return <NotFound />
  return <Editor key={board.id} siteId={siteId} first={board} catalogue={catalogue.data.data} />
}

const ConflictDialog = lazyPart(() => import("./conflict-dialog.tsx"))

interface EditorProps {
  siteId: number
  /** The dashboard as it was when editing began. */
  first: BoardResponse
  catalogue: readonly CatalogueRow[]
}

const ANY_SIZE = { min_w: 1, min_h: 1 }
let added = 0

function Editor({ siteId, first, catalogue }: EditorProps) {
  const [stored, setStored] = useState(first)
  const before = useMemo(() => draftOf(stored), [stored])
  const { draft, change, undo, redo, canUndo, canRedo, reset } = useDraft(before)
  const search = new URLSearchParams(useSearch())
  const [drawer, setDrawer] = useState<"catalogue" | "settings" | { key: string } | undefined>(
    search.has("add") ? "catalogue" : search.has("widget") ? { key: `stored ${search.get("widget")}` } : undefined,
  )
  const [theirs, setTheirs] = useState<BoardResponse>()
  const [problem, setProblem] = useState<Error>()
  const [isSaving, setSaving] = useState(false)
  const [leaveTo, setLeaveTo] = useState<string>()
  const [, navigate] = useLocation()
  const refresh = useRefresh(siteId)
  const isDirty = leaveTo === undefined && !isSameDraft(before, draft)
  useUnsaved(isDirty)
  // After the guard has learned that nothing is unsaved.
  useEffect(() => {
    if (leaveTo !== undefined) navigate(leaveTo)
  }, [leaveTo])
  const data = useBoardData(
    { dataPath: `${boardPath(siteId, stored.id)}/data`, csvPath: undefined },
    stored.widgets.length > 0 ? {} : undefined,
    {
      version: stored.version,
      ids: stored.widgets.map(({ id }) => id),
      refreshMs: 0,
    },
  )
  const typeOf = (type: string) => catalogue.find((row) => row.type === type)
  const nameOf = (widget: DraftWidget) => visible(titleOf(widget))
  const setWidgets = (widgets: readonly DraftWidget[], about = "") => change({ ...draft, widgets }, about)
  const isFull = draft.widgets.length >= LIMITS.widgets
  const newKey = () => `new ${++added}`

  const add = (row: CatalogueRow, config: DraftWidget["config"]) => {
    const key = newKey()
    const widget = { key, type: row.type, title: "", source_site_id: null, config, available: true, ...freePlace(draft.widgets, row.size) }
    setWidgets([...draft.widgets, widget])
    toast(`${nameOf(widget)} added`)
    setDrawer({ key })
  }
  const save = async (version: number) => {
    setSaving(true)
    setProblem(undefined)
    try {
      const saved = await put<BoardResponse>(boardPath(siteId, stored.id), { ...bodyOf(draft), version })
      await refresh()
      toast(`${visible(saved.name)} saved`)
      setLeaveTo(boardAddress(siteId, saved.id))
    } catch (error) {
      const current = currentVersion<BoardResponse>(error)
      if (current?.version) setTheirs(current)
      else setProblem(error as Error) // only errors are thrown
    } finally {
      setSaving(false)
    }
  }
  const faults = faultsOf(problem, draft.widgets)
  const open = typeof drawer === "object" ? draft.widgets.find(({ key }) => key === drawer.key) : undefined
  return (
    <Page
      title={`Edit ${visible(stored.name)}`}
      actions={
        <>
          <Button onClick={() => navigate(boardAddress(siteId, stored.id))}>{isDirty ? "Cancel" : "Done"}</Button>
          <Button kind="primary" busy={isSaving} disabled={!isDirty} onClick={() => void save(stored.version)}>
            Save changes
          </Button>
        </>
      }
    >
      <UnsavedGuard />
      <div class="edit-bar" role="toolbar" aria-label="Edit dashboard">
        <Button icon="plus" disabled={isFull} onClick={() => setDrawer("catalogue")}>
          Add widget
        </Button>
        <Button icon="settings" onClick={() => setDrawer("settings")}>
          Settings
        </Button>
        <Button disabled={!canUndo} onClick={undo}>
          Undo
        </Button>
        <Button disabled={!canRedo} onClick={redo}>
          Redo
        </Button>
        <Button onClick={() => setWidgets(withoutGaps(draft.widgets))}>Close gaps</Button>
        <span class="small quiet">
          {draft.widgets.length} of {LIMITS.widgets} widgets
        </span>
      </div>
      {problem && (
        <div class="summary-of-faults" role="alert">
          <p>{Object.keys(faults).length > 0 ? "The dashboard was not saved. Check the marked widgets." : errorText(problem)}</p>
        </div>
      )}
      <EditGrid
        siteId={siteId}
        boardId={stored.id}
        widgets={draft.widgets}
        stored={before.widgets}
        data={data}
        minSizeOf={(type) => typeOf(type)?.size ?? ANY_SIZE}
        faults={faults}
        nameOf={nameOf}
        onLayout={setWidgets}
        onConfigure={(key) => setDrawer({ key })}
        onDuplicate={(key) => {
          const { id: _, ...widget } = draft.widgets.find((one) => one.key === key)!
          if (!isFull) setWidgets([...draft.widgets, { ...widget, key: newKey(), ...freePlace(draft.widgets, widget) }])
        }}
        onRemove={(key) => {
          const widget = draft.widgets.find((one) => one.key === key)!
          setWidgets(draft.widgets.filter((one) => one.key !== key))
          toast(`${nameOf(widget)} removed`, undo)
        }}
      />
      {draft.widgets.length === 0 && <p class="quiet">This dashboard has no widgets yet.</p>}
      {drawer === "catalogue" && <CatalogueDrawer siteId={siteId} catalogue={catalogue} onAdd={add} onClose={() => setDrawer(undefined)} />}
      {drawer === "settings" && (
        <BoardSettings siteId={siteId} draft={draft} onDraft={(next) => change(next)} onClose={() => setDrawer(undefined)} />
      )}
      {open && (
        <WidgetDrawer
          key={open.key}
          siteId={siteId}
          boardId={stored.id}
          widget={open}
          type={typeOf(open.type)}
          onWidget={(widget) => setWidgets(draft.widgets.map((one) => (one.key === widget.key ? widget : one)))}
          onClose={() => setDrawer(undefined)}
        />
      )}
      {theirs && (
        <Suspense fallback={<div class="progress-line" />}>
          <ConflictDialog
            siteId={siteId}
            mine={draft}
            theirs={theirs}
            onCopied={(copy) => setLeaveTo(boardAddress(siteId, copy.id))}
            onOverwrite={() => {
              setTheirs(undefined)
              return save(theirs.version)
            }}
            onTheirs={async () => {
              await refresh()
              setStored(theirs)
              reset(draftOf(theirs))
              setTheirs(undefined)
            }}
            onClose={() => setTheirs(undefined)}
          />
        </Suspense>
      )}
    </Page>
  )
}

/** Returns the first fault of each widget, by its key. */
function faultsOf(problem: Error | undefined, widgets: readonly DraftWidget[]): Record<string, string> {
  const faults = problem instanceof Problem ? (problem.members.errors ?? []) : []
  const found: Record<string, string> = {}
  for (const { pointer, detail } of faults) {
    const [, index, rest = ""] = /^\/widgets\/(\d+)(.*)$/.exec(pointer) ?? []
    const key = index === undefined ? undefined : widgets[Number(index)]?.key
    if (key !== undefined) found[key] ??= faultText({ pointer: rest, detail })
  }
  return found
}
