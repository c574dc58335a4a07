import { duration, exact } from "#plugin/ui"
import type { Job } from "./answers.ts"
import { sentenceCase } from "./parts.tsx"

export const isOpen = ({ state }: Job): boolean => state === "queued" || state === "running"

/** How far a job is. */
export function JobProgress({ job }: { job: Job }) {
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
