import { useParams } from "wouter"
import { DescriptionList, EmptyState, ErrorState, Page, Skeleton, TimeAgo, timeText, visible } from "#plugin/ui"
import type { WholeJobResponse } from "../../operation-responses.ts"
import { Part } from "../parts.tsx"
import { LineTable } from "../system/logs.tsx"
import { JobActions, JobProgress, useJob } from "./job-state.tsx"

/** Page of one job with its log entries. */
export default function JobPage() {
  const { job: id } = useParams<{ job: string }>()
  const { data, error, refetch } = useJob(Number(id))
  return (
    <Page title={data ? data.kind : "Job"} parent={{ href: "/admin/jobs", label: "All jobs" }}>
      {data ? <Shown job={data} /> : error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Skeleton />}
    </Page>
  )
}

const Shown = ({ job }: { job: WholeJobResponse }) => (
  <>
    <section class="card">
      <DescriptionList
        of={[
          ["State", <JobProgress key="state" job={job} />],
          ["Job ID", String(job.id)],
          ["Key", job.key === "" ? "none" : visible(job.key)],
          ["Site", job.site_id === null ? "none" : String(job.site_id)],
          ["Started", job.started_at === null ? `not before ${timeText(job.run_at)}` : timeText(job.started_at)],
          ["Finished", <TimeAgo key="finished" at={job.finished_at} none="not yet" />],
          ["Attempts", String(job.attempts)],
          ...(job.error_message === null ? [] : [["Error", `${visible(job.error_message)} (${job.error_code})`] as const]),
        ]}
      />
    </section>
    <div class="row">
      <JobActions job={job} />
    </div>
    <Part title="Log">
      {job.lines.length === 0 ? <EmptyState>No log entries for this job.</EmptyState> : <LineTable lines={job.lines} />}
    </Part>
  </>
)
