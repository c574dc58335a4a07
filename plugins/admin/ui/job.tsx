import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "wouter"
import { EmptyState, ErrorState, get, Page, Skeleton, timeText, visible } from "#plugin/ui"
import type { Job, Line } from "./answers.ts"
import { JobActs } from "./job-acts.tsx"
import { isOpen, JobProgress } from "./job-state.tsx"
import { LineTable } from "./line-table.tsx"
import { ADMIN } from "./list.ts"
import { Facts, Moment, Part } from "./parts.tsx"

type WholeJob = Job & { lines: Line[] }

/** One job, with what the log says of it. */
export default function JobPage() {
  const { job: id } = useParams<{ job: string }>()
  const { data, error, refetch } = useJob(Number(id))
  return (
    <Page title={data ? data.kind : "Job"}>
      <p>
        <Link href="/admin/jobs">All jobs</Link>
      </p>
      {data ? <Shown job={data} /> : error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Skeleton />}
    </Page>
  )
}

/** A job, asked again until it is over. */
export const useJob = (id: number | undefined) =>
  useQuery({
    queryKey: ["admin", `jobs/${id}`],
    queryFn: ({ signal }) => get<WholeJob>(`${ADMIN}/jobs/${id}`, signal),
    enabled: id !== undefined,
    refetchInterval: ({ state }) => (state.data && isOpen(state.data) ? 1_000 : false),
  })

const Shown = ({ job }: { job: WholeJob }) => (
  <>
    <Facts
      of={[
        ["State", <JobProgress key="state" job={job} />],
        ["Number", String(job.id)],
        ["Key", job.key === "" ? "none" : visible(job.key)],
        ["Site", job.site_id === null ? "none" : String(job.site_id)],
        ["Begun", job.started_at === null ? `not before ${timeText(job.run_at)}` : timeText(job.started_at)],
        ["Over", <Moment key="over" at={job.finished_at} none="not yet" />],
        ["Tries", String(job.attempts)],
        ...(job.error_message === null ? [] : [["Failure", `${visible(job.error_message)} (${job.error_code})`] as const]),
      ]}
    />
    <div class="row">
      <JobActs job={job} />
    </div>
    <Part title="Log">
      {job.lines.length === 0 ? <EmptyState>The log says nothing of it.</EmptyState> : <LineTable lines={job.lines} />}
    </Part>
  </>
)
