import { type UseQueryResult, useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import type { WorkResponse } from "../../../domain/job.ts"
import { get, post } from "../../api/api.ts"
import { Button } from "../../parts/button.tsx"
import { ErrorState } from "../../parts/states.tsx"
import { percent } from "../../text/format.ts"
import { sitePath } from "./settings.ts"

/** Exports the whole site as one archive, created in the background. */
export function Takeout({ siteId }: { siteId: number }) {
  const path = `${sitePath(siteId)}/takeout`
  const { work, follow } = useJob(path)
  const [error, setError] = useState<Error>()
  const isRunning = work.data?.state === "queued" || work.data?.state === "running"
  const start = async () => {
    setError(undefined)
    try {
      follow(await post<WorkResponse>(path, {}))
    } catch (thrown) {
      setError(thrown as Error)
    }
  }
  return (
    <section class="card stack" aria-labelledby="takeout">
      <h2 id="takeout">Export this site</h2>
      <p class="quiet">
        Creates an archive with settings, goals, funnels, notes and all visits with their events, without IP addresses. Another instance can
        import it. You can download it for one day.
      </p>
      <div class="row">
        <Button icon="download" onClick={start} busy={isRunning}>
          Create export
        </Button>
        {work.data?.state === "done" && (
          <a class="button" href={`${path}/${work.data.id}/file`} download>
            Download export
          </a>
        )}
      </div>
      {error && <ErrorState error={error} />}
      <JobState work={work} done="The export is ready." />
    </section>
  )
}

const POLL_MS = 1_000
const isFinished = (work: WorkResponse | undefined): boolean =>
  work?.state === "done" || work?.state === "failed" || work?.state === "cancelled"

/** Follows a background job until it is finished. `path` is the API path of its kind of job, without the ID. */
export function useJob(path: string): { work: UseQueryResult<WorkResponse, Error>; follow(started: WorkResponse): void } {
  const [id, setId] = useState<number>()
  const work = useQuery({
    queryKey: ["work", path, id],
    queryFn: ({ signal }) => get<WorkResponse>(`${path}/${id}`, signal),
    enabled: id !== undefined,
    refetchInterval: ({ state }) => (isFinished(state.data) ? false : POLL_MS),
  })
  return { work, follow: (started) => setId(started.id) }
}

/** Shows the progress of the job in words. Renders nothing before it starts. */
export function JobState({ work: { data, error, refetch }, done }: { work: UseQueryResult<WorkResponse, Error>; done: string }) {
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return null
  return <p role="status">{textOf(data, done)}</p>
}

function textOf({ state, progress, error }: WorkResponse, done: string): string {
  if (state === "done") return done
  if (state === "failed") return `Failed: ${error ?? "unknown error"}. Changes made so far are kept.`
  if (state === "cancelled") return "Cancelled."
  if (state === "queued") return "Waiting to start…"
  return progress?.fraction === undefined ? "In progress…" : `In progress: ${percent(progress.fraction * 100)}`
}
