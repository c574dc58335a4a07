import { type UseQueryResult, useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { get } from "../../api.ts"
import { percent } from "../../format.ts"
import { ErrorState } from "../../parts/states.tsx"

/** Work on a site's data, as the server tells it. */
export interface Work {
  id: number
  state: "queued" | "running" | "done" | "failed" | "cancelled"
  progress: { fraction?: number } | null
  error?: string
}

const LOOK_MS = 1_000
const isOver = (work: Work | undefined): boolean => work?.state === "done" || work?.state === "failed" || work?.state === "cancelled"

/** Follows one piece of work until it is over; `path` has the ids below it. */
export function useWork(path: string): { work: UseQueryResult<Work, Error>; follow(begun: Work): void } {
  const [id, setId] = useState<number>()
  const work = useQuery({
    queryKey: ["work", path, id],
    queryFn: ({ signal }) => get<Work>(`${path}/${id}`, signal),
    enabled: id !== undefined,
    refetchInterval: ({ state }) => (isOver(state.data) ? false : LOOK_MS),
  })
  return { work, follow: (begun) => setId(begun.id) }
}

/** How far the work is, in words; nothing before it begins. */
export function WorkState({ work: { data, error, refetch }, done }: { work: UseQueryResult<Work, Error>; done: string }) {
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return null
  return <p role="status">{wordsOf(data, done)}</p>
}

function wordsOf({ state, progress, error }: Work, done: string): string {
  if (state === "done") return done
  if (state === "failed") return `It failed (${error ?? "unknown"}). What was done so far stays done.`
  if (state === "cancelled") return "It was cancelled."
  if (state === "queued") return "Waiting to begin."
  return progress?.fraction === undefined ? "Under way." : `Under way: ${percent(progress.fraction * 100)}.`
}
