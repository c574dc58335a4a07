import { type UseQueryResult, useQuery } from "@tanstack/react-query"
import { useEffect, useRef } from "preact/hooks"
import type { RealtimePanel } from "../../../domain/insight.ts"
import { getAll } from "../../stats/get-all.ts"
import { type LiveLine, useLiveLine } from "../../stats/live-line.ts"
import { useReport } from "../../stats/use-report.ts"

/** However much comes in, the figures are asked for once in so many milliseconds; minutes go by without any event, too. */
const AT_MOST_EVERY_MS = 2_000
const AT_LEAST_EVERY_MS = 15_000
const ROWS = 10

export interface RealtimeFeed extends LiveLine {
  report: UseQueryResult<RealtimePanel, Error>
}

/** What happens now: asked again whenever something comes in. Nothing is asked while it is paused. */
export function useRealtime(siteId: number, paused: boolean): RealtimeFeed {
  const refetchMs = paused ? false : AT_LEAST_EVERY_MS
  const report = useReport("realtime", { limit: ROWS }, { enabled: !paused, refetchMs }) as UseQueryResult<RealtimePanel, Error> // the report of this name
  const ask = useThrottled(() => void report.refetch(), AT_MOST_EVERY_MS)
  const line = useLiveLine(siteId, { event: ask, current_visitors: ask }, !paused)
  return { ...line, report }
}

/** Calls at once, and while calls go on coming once in so many milliseconds. */
function useThrottled(act: () => void, everyMs: number): () => void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const last = useRef(Number.NEGATIVE_INFINITY)
  const latest = useRef(act)
  latest.current = act
  useEffect(() => () => clearTimeout(timer.current), [])
  return () => {
    if (timer.current !== undefined) return
    timer.current = setTimeout(
      () => {
        timer.current = undefined
        last.current = performance.now()
        latest.current()
      },
      Math.max(0, last.current + everyMs - performance.now()),
    )
  }
}

/** When the site's last event came, however long ago; asked only where it is wanted. Null when none ever came. */
export function useLastEvent(siteId: number, enabled: boolean): string | null | undefined {
  const { data } = useQuery({
    queryKey: ["sites", "names"],
    queryFn: ({ signal }) => getAll<{ id: number; last_event_at: string | null }>("/api/private/sites?", signal),
    staleTime: 60_000,
    enabled,
  })
  return data?.find(({ id }) => id === siteId)?.last_event_at
}
