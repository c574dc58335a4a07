import { useState } from "preact/hooks"
import { Button, Choice, Dialog, Form, post, TextField } from "#plugin/ui"
import type { Job } from "./answers.ts"
import { useRefresh } from "./ask.ts"
import { ADMIN } from "./list.ts"

/** Begins a backup; the instance goes on meanwhile. */
export function MakeBackup({ onJob, onClose }: { onJob(id: number): void; onClose(): void }) {
  const [label, setLabel] = useState("")
  const [withConfig, setWithConfig] = useState(true)
  const [isEncrypted, setEncrypted] = useState(false)
  const [passphrase, setPassphrase] = useState("")
  const refresh = useRefresh()
  return (
    <Dialog title="Make a backup" onClose={onClose} small>
      <Form
        submit={async () => {
          const { id } = await post<Job>(`${ADMIN}/backups`, {
            ...(label.trim() !== "" && { label: label.trim() }),
            include: withConfig ? ["db", "config"] : ["db"],
            ...(isEncrypted && { encrypt: { passphrase } }),
          })
          onJob(id)
          onClose()
          await refresh("jobs")
        }}
      >
        {({ busy, errorOf }) => (
          <>
            <p class="quiet">
              Both stores, without the secret key, salts and sessions. Keep the key apart: <code>footfall secrets export-key</code>
            </p>
            <TextField label="Label, if you like" value={label} onValue={setLabel} error={errorOf("/label")} autofocus />
            <Choice label="With the settings" note="Without secrets." checked={withConfig} onChange={setWithConfig} />
            <Choice label="Encrypt it" checked={isEncrypted} onChange={setEncrypted} />
            {isEncrypted && (
              <TextField
                label="Passphrase"
                type="password"
                autocomplete="new-password"
                value={passphrase}
                onValue={setPassphrase}
                error={errorOf("/encrypt/passphrase")}
                note="It is written down nowhere: without it the backup cannot be read."
              />
            )}
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                Make backup
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
