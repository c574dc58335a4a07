import { useState } from "preact/hooks"
import { Button, Confirm, freshProof, MenuItem, Popover, post, remove, toast } from "#plugin/ui"
import { useAct } from "./act.tsx"
import type { Backup, Job } from "./answers.ts"
import { useRefresh } from "./ask.ts"
import { ADMIN } from "./list.ts"
import { RestoreBackup } from "./restore-backup.tsx"

/** What can be done with a backup. */
export function BackupActs({ backup, onJob }: { backup: Backup; onJob(id: number): void }) {
  const [open, setOpen] = useState<"restore" | "delete">()
  const [busy, act] = useAct()
  const refresh = useRefresh()
  const path = `${ADMIN}/backups/${backup.id}`
  const verify = (full: boolean) => act(() => post<Job>(`${path}/verify`, { full }).then(({ id }) => onJob(id)), "The check has begun")
  const download = async () => {
    await freshProof()
    location.assign(`${path}/download`)
  }
  const close = () => setOpen(undefined)
  return (
    <div class="row">
      <Button busy={busy} aria-label={`Verify ${backup.id}`} onClick={() => void verify(false)}>
        Verify
      </Button>
      <Popover button="More" label={`More about ${backup.id}`}>
        {(shut) => {
          const choose = (work: () => void) => () => {
            shut()
            work()
          }
          return (
            <>
              <MenuItem onSelect={choose(() => void verify(true))}>Verify every page</MenuItem>
              {backup.target === "local" && (
                <MenuItem onSelect={choose(() => void act(download, "The download begins"))}>Download</MenuItem>
              )}
              <MenuItem onSelect={choose(() => setOpen("restore"))}>Restore</MenuItem>
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
          title="Delete this backup"
          act="Delete backup"
          name={backup.id}
          onClose={close}
          onConfirm={async () => {
            await remove(path)
            await refresh("backups", "system", "notices")
            toast("The backup is deleted")
          }}
        >
          <p>It goes from the data folder, and from the bucket if it is there.</p>
        </Confirm>
      )}
    </div>
  )
}
