import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import { Button, Dialog, dayText, exact, Form, post, TextField } from "#plugin/ui"
import type { Job, Preview, Site } from "./answers.ts"
import { useRefresh } from "./ask.ts"
import { ADMIN } from "./list.ts"
import { PreviewTable } from "./preview-table.tsx"

/** Removes the visits before a day; first they are counted. */
export function PurgeSite({ site, onClose }: { site: Site; onClose(): void }) {
  const [before, setBefore] = useState("")
  const [counted, setCounted] = useState<{ before: string; preview: Preview }>()
  const [typed, setTyped] = useState("")
  const refresh = useRefresh()
  const [, navigate] = useLocation()
  const isCounted = counted?.before === before
  const events = counted?.preview.by.reduce((sum, row) => sum + row.events, 0) ?? 0
  const path = `${ADMIN}/sites/${site.id}/purge`
  return (
    <Dialog title={`Remove old visits of ${site.name}`} onClose={onClose}>
      <Form
        submit={async () => {
          if (!isCounted) return setCounted({ before, preview: await post<Preview>(path, { before, dry_run: true }) })
          const { id } = await post<Job>(path, { before })
          await refresh("jobs", "sites")
          navigate(`/admin/jobs/${id}`)
        }}
      >
        {({ busy, errorOf }) => (
          <>
            <TextField
              label="Visits that began before"
              type="date"
              value={before}
              onValue={setBefore}
              error={errorOf("/before")}
              note="In the time zone of the site."
            />
            {isCounted && counted && <PreviewTable preview={counted.preview} />}
            {isCounted && events > 0 && (
              <TextField label={`Type ${site.name} to go on`} value={typed} onValue={setTyped} autocomplete="off" />
            )}
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              {isCounted ? (
                <Button kind="confirm" type="submit" busy={busy} disabled={events === 0 || typed.trim() !== site.name}>
                  Delete {exact(events)} events before {dayText(before)}
                </Button>
              ) : (
                <Button kind="primary" type="submit" busy={busy} disabled={before === ""}>
                  Count
                </Button>
              )}
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
