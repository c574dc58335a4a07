import { useEffect } from "preact/hooks"
import { Link } from "wouter"
import { visible } from "#plugin/ui"
import { useJob } from "./job.tsx"
import { isOpen, JobProgress } from "./job-state.tsx"

/** How far a job is that was just begun, and how it ended. */
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
