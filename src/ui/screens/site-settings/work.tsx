import { type UseQueryResult, useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { get } from "../../api/api.ts"
import { ErrorState } from "../../parts/states.tsx"
import { percent } from "../../text/format.ts"

/** Background job on a site's data, as the server reports it. */
export interface Work {
  id: number
  state: "queued" | "running" | "done" | "failed" | "cancelled"
  progress: { fraction?: number } | null
  error?: string
}

const POLL_MS = 1_000
const isFinished = (work: Work | undefined): boolean => work?.state === "done" || work?.state === "failed" || work?.state === "cancelled"

/** Follows a background job until it is finished. `path` is the API path of its kind of job, without the ID. */
export function useWork(path: string): { work: UseQueryResult<Work, Error>; follow(started: Work): void } {
  const [id, setId] = useState<number>()
  const work = useQuery({
    queryKey: ["work", path, id],
    queryFn: ({ signal }) => get<Work>(`${path}/${id}`, signal),
    enabled: id !== undefined,
    refetchInterval: ({ state }) => (isFinished(state.data) ? false : POLL_MS),
  })
  return { work, follow: (started) => setId(started.id) }
}

/** Shows the progress of the job in words. Renders nothing before it starts. */
export function WorkState({ work: { data, error, refetch }, done }: { work: UseQueryResult<Work, Error>; done: string }) {
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return null
  return <p role="status">{wordsOf(data, done)}</p>
}

function wordsOf({ state, progress, error }: Work, done: string): string {
  if (state === "done") return done
  if (state === "failed") return `Failed: ${error ?? "unknown error"}. Changes made so far are kept.`
  if (state === "cancelled") return "Cancelled."
  if (state === "queued") return "Waiting to start…"
  return progress?.fraction === undefined ? "In progress…" : `In progress: ${percent(progress.fraction * 100)}`
}
