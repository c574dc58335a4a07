import { useState } from "preact/hooks"
import type { ScopedAnnotationResponse } from "../../domain/annotation.ts"
import { isDay } from "../../domain/site-address.ts"
import { Problem, patch, post, remove } from "../api/api.ts"
import { canOnSite, useMe, useSite } from "../api/session.ts"
import { useSiteAddress } from "../browser/address.ts"
import { Button, IconButton } from "../parts/button.tsx"
import { Dialog } from "../parts/dialog.tsx"
import { Checkbox, TextArea, TextField } from "../parts/form/fields.tsx"
import { Form } from "../parts/form/form.tsx"
import { EmptyState, ErrorState } from "../parts/states.tsx"
import { toast } from "../parts/toasts.tsx"
import { dayText } from "../text/format.ts"
import { visible } from "../text/safe-text.tsx"
import { rangeOf, todayIn } from "./data/ranges.ts"
import { useStatsSource } from "./data/reports.ts"
import { notesPath, useNotes, useRefreshNotes } from "./notes.ts"

type Editing = Pick<ScopedAnnotationResponse, "text" | "scope"> & { day: string; note?: ScopedAnnotationResponse }

/** Dialog with the notes of the period. */
export default function NotesDialog({ day, onClose }: { day: string | undefined; onClose(): void }) {
  const { siteId, address } = useSiteAddress()
  const { timezone } = useStatsSource()
  const me = useMe()
  const { data: site } = useSite(siteId)
  const today = todayIn(timezone)
  const firstDay = site?.first_event_at ? todayIn(timezone, Date.parse(site.first_event_at)) : undefined
  const notes = useNotes(siteId, rangeOf(address, today, firstDay))
  const refresh = useRefreshNotes(siteId)
  const mayShare = canOnSite(me, siteId, "annotations:write")
  const usual = mayShare ? "site" : "personal"
  const [editing, setEditing] = useState<Editing | undefined>(day === undefined ? undefined : { day, text: "", scope: usual })
  const mayChange = ({ scope, owner }: ScopedAnnotationResponse) => (scope === "personal" ? owner === me?.user.id : mayShare)
  const drop = async (note: ScopedAnnotationResponse) => {
    const { at, text, scope } = note
    try {
      await remove(`${notesPath(siteId)}/${note.id}`)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      toast(error.message)
      return
    }
    await refresh()
    toast("Note deleted", () => void post(notesPath(siteId), { at, text, scope }).then(refresh))
  }
  if (editing)
    return (
      <NoteForm
        editing={editing}
        siteId={siteId}
        mayShare={mayShare}
        onDone={async (saved) => {
          if (saved) await refresh()
          if (day === undefined) setEditing(undefined)
          else onClose()
        }}
      />
    )
  return (
    <Dialog title="Notes" onClose={onClose}>
      {notes.error && <ErrorState error={notes.error} onRetry={() => void notes.refetch()} />}
      {notes.data?.length === 0 && <EmptyState>No notes in this period. Notes explain why a day was different.</EmptyState>}
      <ul class="notes">
        {notes.data?.map((note) => (
          <li key={note.id} class="row spread">
            <span class="note-text">
              <span class="quiet small">
                {dayText(note.day)}
                {note.scope === "personal" && " · only me"}
              </span>
              <br />
              {visible(note.text)}
            </span>
            {mayChange(note) && (
              <span class="row">
                <IconButton
                  icon="pencil"
                  label="Edit note"
                  onClick={() => setEditing({ day: note.day, text: note.text, scope: note.scope, note })}
                />
                <IconButton icon="trash" label="Delete note" onClick={() => void drop(note)} />
              </span>
            )}
          </li>
        ))}
      </ul>
      <div class="dialog-foot">
        <Button icon="plus" onClick={() => setEditing({ day: today, text: "", scope: usual })}>
          Add note
        </Button>
      </div>
    </Dialog>
  )
}

interface NoteFormProps {
  editing: Editing
  siteId: number
  mayShare: boolean
  onDone(saved: boolean): Promise<void>
}

function NoteForm({ editing: { note, ...given }, siteId, mayShare, onDone }: NoteFormProps) {
  const [day, setDay] = useState(given.day)
  const [text, setText] = useState(given.text)
  const [scope, setScope] = useState(given.scope)
  // A note keeps its time of day unless its day is changed.
  const at = note && day === note.day ? note.at : day
  return (
    <Dialog title={note ? "Edit note" : "Add note"} onClose={() => void onDone(false)} small>
      <Form
        submit={async () => {
          const body = { at, text: text.trim(), scope }
          if (note) await patch(`${notesPath(siteId)}/${note.id}`, { ...body, version: note.version })
          else await post(notesPath(siteId), body)
          await onDone(true)
        }}
      >
        {({ busy, errorOf }) => (
          <>
            <TextField label="Day" type="date" value={day} onValue={setDay} error={errorOf("/at")} />
            <TextArea label="Text" value={text} onValue={setText} error={errorOf("/text")} rows={3} autofocus />
            {mayShare && (
              <Checkbox
                label="Visible to everyone with access to this site"
                checked={scope === "site"}
                onChange={(checked) => setScope(checked ? "site" : "personal")}
              />
            )}
            <div class="dialog-foot">
              <Button onClick={() => void onDone(false)}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy} disabled={text.trim() === "" || !isDay(day)}>
                Save note
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
