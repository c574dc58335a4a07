import { useState } from "preact/hooks"
import {
  Button,
  bytesText,
  Checkbox,
  type Column,
  DataTable,
  Dialog,
  EmptyState,
  Field,
  Form,
  Page,
  post,
  QueryResult,
  TextField,
  TimeAgo,
  timeText,
  toast,
  visible,
} from "#plugin/ui"
import type { BackupResponse, JobResponse } from "../../operation-responses.ts"
import { JobLine } from "../jobs/job-state.tsx"
import { Part } from "../parts.tsx"
import { ADMIN, useAdmin, useRefresh } from "../queries.ts"
import { BackupActions } from "./backup-actions.tsx"
import { BackupPlanForm } from "./backup-plan.tsx"

/** Page for creating, verifying, downloading and restoring backups of both stores. */
export default function Backups() {
  const backups = useAdmin<{ data: BackupResponse[]; bucket_error?: string }>("backups")
  const [open, setOpen] = useState<"create" | "upload">()
  const [job, setJob] = useState<number>()
  const refresh = useRefresh()
  return (
    <Page
      title="Backups"
      actions={
        <>
          <Button onClick={() => setOpen("upload")}>Upload</Button>
          <Button kind="primary" icon="plus" onClick={() => setOpen("create")}>
            Create backup
          </Button>
        </>
      }
    >
      {job !== undefined && <JobLine id={job} onOver={() => void refresh("backups", "notices", "system")} />}
      <QueryResult of={backups} rows={4}>
        {({ data, bucket_error: bucketError }) => (
          <div class="stack">
            {bucketError !== undefined && <p class="down">The bucket couldn't be read: {visible(bucketError)}</p>}
            {data.length === 0 ? (
              <EmptyState action={<Button onClick={() => setOpen("create")}>Create your first backup</Button>}>No backups yet.</EmptyState>
            ) : (
              <DataTable stacks caption="Backups" columns={columnsOf(setJob)} rows={data} keyOf={({ id }) => id} />
            )}
          </div>
        )}
      </QueryResult>
      {!backups.isLoading && (
        <Part title="Automatic backups">
          <BackupPlanForm />
        </Part>
      )}
      {open === "create" && <CreateBackup onJob={setJob} onClose={() => setOpen(undefined)} />}
      {open === "upload" && <UploadBackup onClose={() => setOpen(undefined)} />}
    </Page>
  )
}

const STATES = {
  verified: { text: "verified", dot: undefined },
  unverified: { text: "not verified", dot: "quiet" },
  failed: { text: "verification failed", dot: "bad" },
  damaged: { text: "damaged", dot: "bad" },
} as const

const columnsOf = (onJob: (id: number) => void): Column<BackupResponse>[] => [
  {
    id: "id",
    label: "Backup",
    cell: ({ id, label, created_at, note }) => (
      <>
        <span class="whole">{timeText(created_at)}</span> {label !== null && <span>{visible(label)}</span>}
        <br />
        <code class="whole">{id}</code>
        {note !== undefined && (
          <>
            <br />
            <span class="small quiet">{note}</span>
          </>
        )}
      </>
    ),
  },
  {
    id: "state",
    label: "State",
    cell: ({ state, verified_at }) => (
      <>
        <span class="dot" data-state={STATES[state].dot} /> {STATES[state].text}
        {verified_at !== null && (
          <>
            <br />
            <span class="small quiet">
              <TimeAgo at={verified_at} />
            </span>
          </>
        )}
      </>
    ),
  },
  { id: "kind", label: "Trigger", cell: ({ kind }) => kind },
  { id: "bytes", label: "Size", number: true, cell: ({ bytes }) => bytesText(bytes) },
  { id: "target", label: "Location", cell: ({ target }) => (target === "local" ? "data folder" : "bucket") },
  {
    id: "holds",
    label: "Contents",
    cell: ({ state, includes, encrypted, version }) =>
      state === "damaged" ? "unknown" : `${includes.join(", ")}${encrypted ? ", encrypted" : ""}; version ${version}`,
  },
  { id: "acts", label: "Actions", cell: (backup) => <BackupActions backup={backup} onJob={onJob} /> },
]

/** Dialog that starts a backup. The instance stays available meanwhile. */
export function CreateBackup({ onJob, onClose }: { onJob(id: number): void; onClose(): void }) {
  const [label, setLabel] = useState("")
  const [withConfig, setWithConfig] = useState(true)
  const [isEncrypted, setEncrypted] = useState(false)
  const [passphrase, setPassphrase] = useState("")
  const refresh = useRefresh()
  return (
    <Dialog title="Create backup" onClose={onClose} small>
      <Form
        submit={async () => {
          const { id } = await post<JobResponse>(`${ADMIN}/backups`, {
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
              Contains both stores, without the secret key, salts and sessions. Export the key separately:{" "}
              <code>footfall secrets export-key</code>
            </p>
            <TextField label="Label (optional)" value={label} onValue={setLabel} error={errorOf("/label")} autofocus />
            <Checkbox label="Include settings" note="Secrets are not included." checked={withConfig} onChange={setWithConfig} />
            <Checkbox label="Encrypt" checked={isEncrypted} onChange={setEncrypted} />
            {isEncrypted && (
              <TextField
                label="Passphrase"
                type="password"
                autocomplete="new-password"
                value={passphrase}
                onValue={setPassphrase}
                error={errorOf("/encrypt/passphrase")}
                note="It isn't stored anywhere. Without it, the backup can't be restored."
              />
            )}
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                Create backup
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

/** Dialog that uploads a backup which was downloaded before. */
export function UploadBackup({ onClose }: { onClose(): void }) {
  const [file, setFile] = useState<File>()
  const refresh = useRefresh()
  return (
    <Dialog title="Upload backup" onClose={onClose} small>
      <Form
        submit={async () => {
          if (!file) return
          await post(`${ADMIN}/backups/upload`, file, { headers: { "content-type": "application/x-tar" } })
          await refresh("backups")
          toast("Backup uploaded. Verify it before you rely on it.")
          onClose()
        }}
      >
        {({ busy }) => (
          <>
            <Field label="Archive (.tar)" note="Up to 190 MB. Copy larger archives into the backup folder.">
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
