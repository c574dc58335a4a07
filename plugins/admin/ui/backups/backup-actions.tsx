import { useState } from "preact/hooks"
import {
  Button,
  Confirm,
  CopyButton,
  confirmIdentity,
  Dialog,
  Form,
  MenuItem,
  Popover,
  post,
  remove,
  TextField,
  timeText,
  toast,
} from "#plugin/ui"
import type { BackupResponse, JobResponse } from "../../operation-responses.ts"
import { useAction, useFullCommand } from "../parts.tsx"
import { ADMIN, useRefresh } from "../queries.ts"

/** Actions on a backup: verify, download, restore, delete. */
export function BackupActions({ backup, onJob }: { backup: BackupResponse; onJob(id: number): void }) {
  const [open, setOpen] = useState<"restore" | "delete">()
  const [busy, act] = useAction()
  const refresh = useRefresh()
  const path = `${ADMIN}/backups/${backup.id}`
  const verify = (full: boolean) =>
    act(() => post<JobResponse>(`${path}/verify`, { full }).then(({ id }) => onJob(id)), "Verification started")
  const download = async () => {
    await confirmIdentity()
    location.assign(`${path}/download`)
  }
  const close = () => setOpen(undefined)
  // Without its manifest a backup can be neither checked nor restored.
  const isDamaged = backup.state === "damaged"
  return (
    <div class="row">
      {!isDamaged && (
        <Button busy={busy} aria-label={`Verify ${backup.id}`} onClick={() => void verify(false)}>
          Verify
        </Button>
      )}
      <Popover button="More" label={`More actions for ${backup.id}`}>
        {(shut) => {
          const choose = (work: () => void) => () => {
            shut()
            work()
          }
          return (
            <>
              {!isDamaged && <MenuItem onSelect={choose(() => void verify(true))}>Verify completely</MenuItem>}
              {!isDamaged && backup.target === "local" && (
                <MenuItem onSelect={choose(() => void act(download, "Download started"))}>Download</MenuItem>
              )}
              {!isDamaged && <MenuItem onSelect={choose(() => setOpen("restore"))}>Restore</MenuItem>}
              <MenuItem kind="danger" onSelect={choose(() => setOpen("delete"))}>
                Delete
              </MenuItem>
            </>
          )
        }}
      </Popover>
      {open === "restore" && <RestoreBackup backup={backup} onJob={onJob} onClose={close} />}
      {open === "delete" && (
        <Confirm
          title="Delete backup"
          act="Delete backup"
          name={backup.id}
          onClose={close}
          onConfirm={async () => {
            await remove(path)
            await refresh("backups", "system", "notices")
            toast("Backup deleted")
          }}
        >
          <p>Deletes it from the data folder and, if there is a copy, from the bucket. This can't be undone.</p>
        </Confirm>
      )}
    </div>
  )
}

/** Dialog that replaces the current stores by a backup. It also shows the command for an instance that is stopped. */
export function RestoreBackup({ backup, onJob, onClose }: { backup: BackupResponse; onJob(id: number): void; onClose(): void }) {
  const [typed, setTyped] = useState("")
  const [passphrase, setPassphrase] = useState("")
  const command = useFullCommand()(`footfall backup restore ${backup.id}`)
  return (
    <Dialog title="Restore backup" onClose={onClose}>
      <Form
        submit={async () => {
          const { id } = await post<JobResponse>(`${ADMIN}/backups/${backup.id}/restore`, {
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
              Restores all data to {timeText(backup.created_at)}. Data recorded since then is saved in a separate backup first. The instance
              restarts, events are refused for a moment and should be sent again, and everyone is signed out.
            </p>
            <p>If you can't reach the instance, stop it and run:</p>
            <div class="row">
              <code>{command}</code>
              <CopyButton text={command} label="Copy command" />
            </div>
            {backup.encrypted && (
              <TextField
                label="Backup passphrase"
                type="password"
                autocomplete="off"
                value={passphrase}
                onValue={setPassphrase}
                error={errorOf("/passphrase")}
              />
            )}
            <TextField
              label={`Type ${backup.id} to confirm`}
              value={typed}
              onValue={setTyped}
              error={errorOf("/confirm")}
              autocomplete="off"
              code
            />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="confirm" type="submit" busy={busy} disabled={typed.trim() !== backup.id}>
                Restore and restart
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
