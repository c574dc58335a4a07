import { useQuery } from "@tanstack/react-query"
import { useEffect } from "preact/hooks"
import { Link } from "wouter"
import { Button, duration, exact, get, post, visible } from "#plugin/ui"
import type { JobResponse, WholeJobResponse } from "../../operation-responses.ts"
import { ConfirmedAction, sentenceCase, useAction } from "../parts.tsx"
import { ADMIN, useRefresh } from "../queries.ts"

export const isOpen = ({ state }: JobResponse): boolean => state === "queued" || state === "running"

/** Fetches a job every second until it has finished. */
export const useJob = (id: number | undefined) =>
  useQuery({
    queryKey: ["admin", `jobs/${id}`],
    queryFn: ({ signal }) => get<WholeJobResponse>(`${ADMIN}/jobs/${id}`, signal),
    enabled: id !== undefined,
    refetchInterval: ({ state }) => (state.data && isOpen(state.data) ? 1_000 : false),
  })

/** State of a job; while it runs, its phase, progress and remaining time. */
export function JobProgress({ job }: { job: JobResponse }) {
  const { state, progress } = job
  if (state !== "running" || !progress) return <>{sentenceCase(state)}</>
  const { phase, done, total, fraction, eta_s } = progress
  return (
    <span class="job-progress">
      <progress max={1} {...(fraction !== undefined && { value: fraction })} aria-label={`${sentenceCase(phase)} of job ${job.id}`} />
      <span class="small">
        {sentenceCase(phase)}
        {total !== undefined && ` ${exact(done)} of ${exact(total)}`}
        {eta_s !== undefined && `, ${duration(eta_s)} left`}
      </span>
    </span>
  )
}

/** Button that cancels a waiting or running job, or retries one that failed or was cancelled. */
export function JobActions({ job }: { job: JobResponse }) {
  const refresh = useRefresh()
  const [busy, act] = useAction()
  const path = `${ADMIN}/jobs/${job.id}`
  if (isOpen(job))
    return (
      <ConfirmedAction
        label="Cancel"
        about={`job ${job.id}`}
        title={`Cancel ${job.kind}`}
        act="Cancel job"
        onConfirm={() => post(`${path}/cancel`, undefined).then(() => refresh("jobs"))}
      >
        <p>The job stops at its next step. Work that it has completed is kept.</p>
      </ConfirmedAction>
    )
  if (job.state !== "failed" && job.state !== "cancelled") return null
  return (
    <Button
      busy={busy}
      aria-label={`Retry job ${job.id}`}
      onClick={() => void act(() => post(`${path}/retry`, undefined).then(() => refresh("jobs")), `Retrying ${job.kind}`)}
    >
      Retry
    </Button>
  )
}

/** Progress and result of a job that was just started. Calls `onOver` once when the job has finished. */
export function JobLine({ id, onOver }: { id: number; onOver(): void }) {
  const { data: job } = useJob(id)
  const isOver = job !== undefined && !isOpen(job)
  useEffect(() => {
    if (isOver) onOver()
  }, [isOver, id])
  return (
    <p class="row" role="status">
      {job && (
        <>
          <Link href={`/admin/jobs/${id}`}>{job.kind}</Link> <JobProgress job={job} />
          {job.error_message !== null && <span class="down">{visible(job.error_message)}</span>}
        </>
      )}
    </p>
  )
}
