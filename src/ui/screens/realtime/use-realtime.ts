import { type UseQueryResult, useQuery } from "@tanstack/react-query"
import { useEffect, useRef } from "preact/hooks"
import type { RealtimePanel } from "../../../domain/insight.ts"
import { getAll } from "../../api/api.ts"
import { type LiveLine, useLiveLine } from "../../report/data/live-line.ts"
import { useReport } from "../../report/data/reports.ts"

/** Minimum and maximum interval between requests, in milliseconds. Without events the minutes still advance. */
const MIN_INTERVAL_MS = 2_000
const MAX_INTERVAL_MS = 15_000
const ROWS = 10

interface RealtimeFeed extends LiveLine {
  report: UseQueryResult<RealtimePanel, Error>
}

/** Fetches the realtime report again whenever an event arrives, unless paused. */
export function useRealtime(siteId: number, paused: boolean): RealtimeFeed {
  const refetchMs = paused ? false : MAX_INTERVAL_MS
  const report = useReport("realtime", { limit: ROWS }, { enabled: !paused, refetchMs }) as UseQueryResult<RealtimePanel, Error> // the result of the realtime report
  const ask = useThrottled(() => void report.refetch(), MIN_INTERVAL_MS)
  const line = useLiveLine(siteId, { event: ask, current_visitors: ask }, !paused)
  return { ...line, report }
}

/** Returns a function that calls `act` at once and then at most once per interval. */
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

/** Returns when the site's last event arrived, or null if there is none. */
export function useLastEvent(siteId: number, enabled: boolean): string | null | undefined {
  const { data } = useQuery({
    queryKey: ["sites", "names"],
    queryFn: ({ signal }) => getAll<{ id: number; last_event_at: string | null }>("/api/private/sites?", signal),
    staleTime: 60_000,
    enabled,
  })
  return data?.find(({ id }) => id === siteId)?.last_event_at
}
