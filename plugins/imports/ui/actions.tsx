import { useQueryClient } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import {
  ActionMenu,
  Button,
  Checkbox,
  Confirm,
  counted,
  Dialog,
  errorText,
  exact,
  Form,
  patch,
  post,
  rangeText,
  TextField,
  toast,
  visible,
} from "#plugin/ui"
import type { ImportResponse } from "../responses.ts"
import { importsPath, isExtending, useRefresh } from "./answers.ts"

interface ImportProps {
  siteId: number
  of: ImportResponse
}

/** Returns functions that change an import, and refetch what depends on it. */
function useWrites({ siteId, of: { id, version } }: ImportProps) {
  const client = useQueryClient()
  const refresh = useRefresh(siteId)
  const path = `${importsPath(siteId)}/${id}`
  const after = async () => {
    await refresh()
    await client.invalidateQueries({ queryKey: ["report"] })
    await client.invalidateQueries({ queryKey: ["site", siteId] })
  }
  const act = (verb: "cancel" | "undo" | "retry") => post(`${path}/${verb}`, undefined).then(after)
  return {
    cancel: () => act("cancel"),
    undo: () => act("undo"),
    retry: () => act("retry"),
    change: (changes: { label?: string; enabled?: boolean }) => patch(path, { ...changes, version }).then(after),
  }
}

/** Shows or hides a completed import in reports. `isHidden` leaves the label to assistive technology, where a heading shows it. */
export function EnabledField({ siteId, of, label, isHidden = false }: ImportProps & { label: string; isHidden?: boolean }) {
  const { change } = useWrites({ siteId, of })
  // The choice is shown at once. The field stays enabled meanwhile, because a disabled one would lose the focus.
  const [wanted, setWanted] = useState<boolean>()
  const toggle = async (enabled: boolean) => {
    if (wanted !== undefined) return
    setWanted(enabled)
    try {
      await change({ enabled })
      toast(enabled ? "Reports include the import" : "Reports no longer include the import")
    } catch (error) {
      toast(errorText(error as Error)) // only errors are thrown
    } finally {
      setWanted(undefined)
    }
  }
  const checked = wanted ?? of.enabled
  if (isHidden)
    return (
      <input
        class="import-toggle"
        type="checkbox"
        aria-label={label}
        checked={checked}
        onChange={(event) => void toggle(event.currentTarget.checked)}
      />
    )
  return <Checkbox label={label} checked={checked} onChange={(enabled) => void toggle(enabled)} />
}

type DialogName = "cancel" | "undo" | "rename"

/** Menu of the actions that the state of an import allows, with their confirmations. */
export function ImportMenu({ siteId, of }: ImportProps) {
  const { retry } = useWrites({ siteId, of })
  const [open, setOpen] = useState<DialogName>()
  const { state, can_retry, label } = of
  const actions = [
    ...(state === "failed" && can_retry ? [{ label: "Retry", run: () => void retry().catch((error) => toast(errorText(error))) }] : []),
    { label: "Rename", run: () => setOpen("rename") },
    ...(isCancellable(of) ? [{ label: cancelLabel(of), kind: "danger" as const, run: () => setOpen("cancel") }] : []),
    ...(state === "completed" ? [{ label: "Undo import", kind: "danger" as const, run: () => setOpen("undo") }] : []),
  ]
  return (
    <>
      <ActionMenu kind="quiet" label={`Actions for ${visible(label)}`} actions={actions} />
      {open === "cancel" && <CancelDialog siteId={siteId} of={of} onClose={() => setOpen(undefined)} />}
      {open === "undo" && <UndoDialog siteId={siteId} of={of} onClose={() => setOpen(undefined)} />}
      {open === "rename" && <RenameDialog siteId={siteId} of={of} onClose={() => setOpen(undefined)} />}
    </>
  )
}

const isCancellable = (of: ImportResponse): boolean => of.state === "pending" || of.state === "running" || isExtending(of)
const cancelLabel = (of: ImportResponse): string => (isExtending(of) ? "Cancel run" : "Cancel import")

/** The actions that a user is likely to look for on the page of an import. */
export function ImportButtons({ siteId, of }: ImportProps) {
  const { retry } = useWrites({ siteId, of })
  const [open, setOpen] = useState<DialogName>()
  return (
    <>
      {isCancellable(of) && (
        <Button kind="danger" onClick={() => setOpen("cancel")}>
          {cancelLabel(of)}
        </Button>
      )}
      {of.state === "completed" && (
        <Button kind="danger" onClick={() => setOpen("undo")}>
          Undo import
        </Button>
      )}
      {of.state === "failed" && of.can_retry && (
        <Button kind="primary" onClick={() => void retry().catch((error) => toast(errorText(error)))}>
          Retry
        </Button>
      )}
      <Button icon="pencil" onClick={() => setOpen("rename")}>
        Rename
      </Button>
      {open === "cancel" && <CancelDialog siteId={siteId} of={of} onClose={() => setOpen(undefined)} />}
      {open === "undo" && <UndoDialog siteId={siteId} of={of} onClose={() => setOpen(undefined)} />}
      {open === "rename" && <RenameDialog siteId={siteId} of={of} onClose={() => setOpen(undefined)} />}
    </>
  )
}

type DialogProps = ImportProps & { onClose(): void }

function CancelDialog({ siteId, of, onClose }: DialogProps) {
  const { cancel } = useWrites({ siteId, of })
  return (
    <Confirm title={`Cancel ${visible(of.label)}?`} act={cancelLabel(of)} onConfirm={cancel} onClose={onClose}>
      {isExtending(of) ? (
        <p>The run stops within seconds, and the rows that it has written so far are removed. The rows of earlier runs stay.</p>
      ) : (
        <p>The import stops within seconds, and the rows that it has written so far are removed. Reports do not include any of them yet.</p>
      )}
    </Confirm>
  )
}

/** Asks before an undo, with the exact rows and days that it removes. */
function UndoDialog({ siteId, of, onClose }: DialogProps) {
  const { undo } = useWrites({ siteId, of })
  const { rows, days, created_objects: created } = of
  const stored = days.filter(({ state }) => state !== "skipped")
  return (
    <Confirm title={`Undo ${visible(of.label)}?`} act={`Remove ${counted(rows.imported, "row")}`} onConfirm={undo} onClose={onClose}>
      <div class="stack">
        <p>
          This removes {counted(rows.imported, "imported row")} on {counted(lengthOf(stored), "day")}:
        </p>
        <ul class="undo-days">
          {stored.slice(0, MAX_RANGES).map(({ from, to, state }) => (
            <li key={from}>
              {rangeText(from, to)}
              {state === "masked" && <span class="quiet"> held by another import</span>}
            </li>
          ))}
          {stored.length > MAX_RANGES && <li class="quiet">and {exact(stored.length - MAX_RANGES)} more ranges</li>}
        </ul>
        {created.length > 0 && (
          <p>{counted(created.length, "object")} that the import created, such as goals, are removed unless changed or used since.</p>
        )}
        <p>Visits recorded by Footfall and other imports stay as they are. To get the data back, import the files again.</p>
      </div>
    </Confirm>
  )
}

/** Maximum number of ranges of days in the dialog. */
const MAX_RANGES = 6
const DAY_MS = 86_400_000
const lengthOf = (ranges: readonly { from: string; to: string }[]): number =>
  ranges.reduce((sum, { from, to }) => sum + Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1, 0)

function RenameDialog({ siteId, of, onClose }: DialogProps) {
  const { change } = useWrites({ siteId, of })
  const [label, setLabel] = useState(of.label)
  return (
    <Dialog title="Rename import" onClose={onClose} small>
      <Form submit={() => change({ label: label.trim() }).then(onClose)} label="Rename import">
        {({ busy, errorOf }) => (
          <>
            <TextField label="Name" value={label} maxLength={100} error={errorOf("/label")} onValue={setLabel} />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy} disabled={label.trim() === ""}>
                Rename
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
