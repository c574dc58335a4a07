import { useState } from "preact/hooks"
import { Answer, Button, bytesText, type Column, DataTable, EmptyState, Page, timeText, visible } from "#plugin/ui"
import type { Backup } from "./answers.ts"
import { useAdmin, useRefresh } from "./ask.ts"
import { BackupActs } from "./backup-acts.tsx"
import { BackupPlanForm } from "./backup-plan.tsx"
import { JobLine } from "./job-line.tsx"
import { MakeBackup } from "./make-backup.tsx"
import { Moment, Part } from "./parts.tsx"
import { UploadBackup } from "./upload-backup.tsx"

/** Backups of both stores: made, checked, taken along, brought back. */
export default function Backups() {
  const backups = useAdmin<{ data: Backup[]; hindrance?: string }>("backups")
  const [open, setOpen] = useState<"make" | "upload">()
  const [job, setJob] = useState<number>()
  const refresh = useRefresh()
  return (
    <Page
      title="Backups"
      actions={
        <>
          <Button onClick={() => setOpen("upload")}>Upload</Button>
          <Button kind="primary" icon="plus" onClick={() => setOpen("make")}>
            Make a backup
          </Button>
        </>
      }
    >
      {job !== undefined && <JobLine id={job} onOver={() => void refresh("backups", "notices", "system")} />}
      <Answer of={backups} rows={4}>
        {({ data, hindrance }) => (
          <div class="stack">
            {hindrance !== undefined && <p class="down">The bucket could not be asked: {visible(hindrance)}</p>}
            {data.length === 0 ? (
              <EmptyState action={<Button onClick={() => setOpen("make")}>Make the first one</Button>}>There is no backup yet.</EmptyState>
            ) : (
              <DataTable caption="Backups" columns={columnsOf(setJob)} rows={data} keyOf={({ id }) => id} />
            )}
          </div>
        )}
      </Answer>
      <Part title="On a schedule">
        <BackupPlanForm />
      </Part>
      {open === "make" && <MakeBackup onJob={setJob} onClose={() => setOpen(undefined)} />}
      {open === "upload" && <UploadBackup onClose={() => setOpen(undefined)} />}
    </Page>
  )
}

const STATES = {
  verified: { text: "verified", dot: undefined },
  unverified: { text: "not verified", dot: "quiet" },
  failed: { text: "damaged", dot: "bad" },
} as const

const columnsOf = (onJob: (id: number) => void): Column<Backup>[] => [
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
              <Moment at={verified_at} />
            </span>
          </>
        )}
      </>
    ),
  },
  { id: "kind", label: "Made", cell: ({ kind }) => kind },
  { id: "bytes", label: "Size", number: true, cell: ({ bytes }) => bytesText(bytes) },
  { id: "target", label: "Where", cell: ({ target }) => (target === "local" ? "data folder" : "bucket") },
  {
    id: "holds",
    label: "Holds",
    cell: ({ includes, encrypted, version }) => `${includes.join(", ")}${encrypted ? ", encrypted" : ""}; version ${version}`,
  },
  { id: "acts", label: "Do", cell: (backup) => <BackupActs backup={backup} onJob={onJob} /> },
]
