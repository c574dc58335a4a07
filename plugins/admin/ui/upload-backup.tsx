import { useState } from "preact/hooks"
import { Button, Dialog, Field, Form, post, toast } from "#plugin/ui"
import { useRefresh } from "./ask.ts"
import { ADMIN } from "./list.ts"

/** Takes a backup that was downloaded before. */
export function UploadBackup({ onClose }: { onClose(): void }) {
  const [file, setFile] = useState<File>()
  const refresh = useRefresh()
  return (
    <Dialog title="Upload a backup" onClose={onClose} small>
      <Form
        submit={async () => {
          if (!file) return
          await post(`${ADMIN}/backups/upload`, file, { headers: { "content-type": "application/x-tar" } })
          await refresh("backups")
          toast("The backup is here: verify it before you rely on it")
          onClose()
        }}
      >
        {({ busy }) => (
          <>
            <Field label="Archive (.tar)" note="Up to 190 MB; put larger ones into the folder of backups.">
              {(described) => (
                <input
                  class="input"
                  type="file"
                  accept=".tar,application/x-tar"
                  {...described}
                  onChange={(event) => setFile(event.currentTarget.files?.[0])}
                />
              )}
            </Field>
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy} disabled={!file}>
                Upload
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
