import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import {
  Button,
  Checkbox,
  type Column,
  DataTable,
  Dialog,
  Form,
  Page,
  patch,
  post,
  QueryResult,
  TextField,
  TimeAgo,
  timeText,
} from "#plugin/ui"
import type { JobResponse, ScheduleResponse } from "../../operation-responses.ts"
import { sentenceCase, useAction } from "../parts.tsx"
import { ADMIN, useAdmin, useRefresh } from "../queries.ts"

/** Page of the schedules by which jobs start. */
export default function Schedules() {
  const schedules = useAdmin<{ data: ScheduleResponse[] }>("schedules")
  const [changing, setChanging] = useState<ScheduleResponse>()
  return (
    <Page title="Schedules">
      <p class="quiet">Backups have their own schedule on the Backups page.</p>
      <QueryResult of={schedules} rows={4}>
        {({ data }) => <DataTable stacks caption="Schedules" columns={columnsOf(setChanging)} rows={data} keyOf={({ name }) => name} />}
      </QueryResult>
      {changing && <ChangeSchedule schedule={changing} onClose={() => setChanging(undefined)} />}
    </Page>
  )
}

const columnsOf = (change: (schedule: ScheduleResponse) => void): Column<ScheduleResponse>[] => [
  { id: "name", label: "Job", cell: ({ name }) => <span class="whole">{name}</span> },
  {
    id: "cron",
    label: "Schedule",
    cell: ({ cron, timezone, enabled }) =>
      enabled ? (
        <span class="whole">
          <code>{cron}</code> <span class="quiet">{timezone}</span>
        </span>
      ) : (
        "off"
      ),
  },
  { id: "last", label: "Last run", cell: ({ last_run_at }) => <TimeAgo at={last_run_at} /> },
  { id: "outcome", label: "Result", cell: ({ last_state }) => (last_state === null ? "" : sentenceCase(last_state)) },
  {
    id: "next",
    label: "Next run",
    cell: ({ next_run_at }) => (next_run_at === null ? "never" : <time dateTime={next_run_at}>{timeText(next_run_at)}</time>),
  },
  {
    id: "actions",
    label: "Actions",
    cell: (schedule) => (
      <div class="row">
        <Button aria-label={`Edit ${schedule.name}`} onClick={() => change(schedule)}>
          Edit
        </Button>
        <RunNow schedule={schedule} />
      </div>
    ),
  },
]

function RunNow({ schedule: { name } }: { schedule: ScheduleResponse }) {
  const [busy, act] = useAction()
  const [, navigate] = useLocation()
  const run = () => post<JobResponse>(`${ADMIN}/schedules/${name}/run`, undefined).then(({ id }) => navigate(`/admin/jobs/${id}`))
  return (
    <Button busy={busy} aria-label={`Run now: ${name}`} onClick={() => void act(run, `${name} started`)}>
      Run now
    </Button>
  )
}

function ChangeSchedule({ schedule, onClose }: { schedule: ScheduleResponse; onClose(): void }) {
  const [cron, setCron] = useState(schedule.cron)
  const [isOn, setOn] = useState(schedule.enabled)
  const refresh = useRefresh()
  return (
    <Dialog title={schedule.name} onClose={onClose} small>
      <Form
        submit={async () => {
          await patch(`${ADMIN}/schedules/${schedule.name}`, { cron: cron.trim(), enabled: isOn })
          await refresh("schedules")
          onClose()
        }}
      >
        {({ busy, errorOf }) => (
          <>
            <Checkbox label="Run on schedule" checked={isOn} onChange={setOn} />
            <TextField
              label="Schedule (cron)"
              value={cron}
              onValue={setCron}
              error={errorOf("/cron")}
              note={`Minute, hour, day of month, month, day of week, in ${schedule.timezone}.`}
              code
            />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                Save changes
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
