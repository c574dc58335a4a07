import { Button, post } from "#plugin/ui"
import { AskedAct, useAct } from "./act.tsx"
import type { Job } from "./answers.ts"
import { useRefresh } from "./ask.ts"
import { isOpen } from "./job-state.tsx"
import { ADMIN } from "./list.ts"

/** Ends a job, or lets one that failed begin anew. */
export function JobActs({ job }: { job: Job }) {
  const refresh = useRefresh()
  const [busy, act] = useAct()
  const path = `${ADMIN}/jobs/${job.id}`
  if (isOpen(job))
    return (
      <AskedAct
        label="Cancel"
        about={`job ${job.id}`}
        title={`Cancel ${job.kind}`}
        act="Cancel job"
        onConfirm={() => post(`${path}/cancel`, undefined).then(() => refresh("jobs"))}
      >
        <p>It ends at its next step. What it did stays.</p>
      </AskedAct>
    )
  if (job.state !== "failed" && job.state !== "cancelled") return null
  return (
    <Button
      busy={busy}
      aria-label={`Retry job ${job.id}`}
      onClick={() => void act(() => post(`${path}/retry`, undefined).then(() => refresh("jobs")), `${job.kind} begins anew`)}
    >
      Retry
    </Button>
  )
}
