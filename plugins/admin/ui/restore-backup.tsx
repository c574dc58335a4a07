import { useState } from "preact/hooks"
import { Button, CopyButton, Dialog, Form, post, TextField, timeText } from "#plugin/ui"
import type { Backup, Job } from "./answers.ts"
import { ADMIN } from "./list.ts"

/** Puts a backup in the place of the present stores: from here, or by a command while the instance is stopped. */
export function RestoreBackup({ backup, onJob, onClose }: { backup: Backup; onJob(id: number): void; onClose(): void }) {
  const [typed, setTyped] = useState("")
  const [passphrase, setPassphrase] = useState("")
  const command = `footfall backup restore ${backup.id}`
  return (
    <Dialog title="Restore this backup" onClose={onClose}>
      <Form
        submit={async () => {
          const { id } = await post<Job>(`${ADMIN}/backups/${backup.id}/restore`, {
            confirm: typed.trim(),
            ...(backup.encrypted && { passphrase }),
          })
          onJob(id)
          onClose()
        }}
      >
        {({ busy, errorOf }) => (
          <>
            <p>
              Everything goes back to {timeText(backup.created_at)}. What was recorded since is not lost: it is put into a backup of its own
              first. The instance starts anew, for a moment events are asked to come again, and everybody is signed out.
            </p>
            <p>If the instance cannot be reached any more, stop it and run:</p>
            <div class="row">
              <code>{command}</code>
              <CopyButton text={command} label="Copy command" />
            </div>
            {backup.encrypted && (
              <TextField
                label="Passphrase of the backup"
                type="password"
                autocomplete="off"
                value={passphrase}
                onValue={setPassphrase}
                error={errorOf("/passphrase")}
              />
            )}
            <TextField
              label={`Type ${backup.id} to go on`}
              value={typed}
              onValue={setTyped}
              error={errorOf("/confirm")}
              autocomplete="off"
              code
            />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="confirm" type="submit" busy={busy} disabled={typed.trim() !== backup.id}>
                Restore and start anew
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
