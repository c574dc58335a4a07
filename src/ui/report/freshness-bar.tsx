import { type QueryClient, useQueryClient } from "@tanstack/react-query"
import { useEffect, useReducer } from "preact/hooks"
import { Problem } from "../api/api.ts"
import { clockText, timeText } from "../text/format.ts"
import { todayIn } from "./data/ranges.ts"
import { useStatsSource } from "./data/reports.ts"

/** Shows a progress line while a query runs, and a notice while the server can't be reached. */
export default function FreshnessBar() {
  const client = useQueryClient()
  const { timezone } = useStatsSource()
  const [, look] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    let isDue = false
    const soon = () => {
      if (isDue) return
      isDue = true
      queueMicrotask(() => {
        isDue = false
        look(undefined)
      })
    }
    const stop = client.getQueryCache().subscribe(soon)
    addEventListener("online", soon)
    addEventListener("offline", soon)
    return () => {
      stop()
      removeEventListener("online", soon)
      removeEventListener("offline", soon)
    }
  }, [client])
  const { isAsking, isCut, oldest } = stateOf(client)
  return (
    <>
      {isAsking && <div class="progress-line" />}
      {isCut && (
        <p class="notice freshness" data-kind="warn" role="status">
          Can't reach the server.{oldest !== undefined && ` Showing data from ${momentText(oldest, timezone)}.`}
        </p>
      )}
    </>
  )
}

const momentText = (at: number, timezone: string): string =>
  todayIn(timezone, at) === todayIn(timezone) ? clockText(at, timezone) : timeText(at, timezone)

/** Returns the state of the visible queries. `oldest` is the time of the oldest answer that is shown but can't be refreshed. */
function stateOf(client: QueryClient): { isAsking: boolean; isCut: boolean; oldest: number | undefined } {
  const active = client.getQueryCache().findAll({ queryKey: ["report"], type: "active" })
  const isAsking = active.some(({ state }) => state.status === "pending" && state.fetchStatus === "fetching")
  const cut = active.filter(({ state }) => !navigator.onLine || (state.error instanceof Problem && state.error.code === "offline"))
  // The number of current visitors is on every page and does not count as data of the period.
  const moments = cut.flatMap(({ state, queryKey }) => (queryKey.includes("realtime") ? [] : state.dataUpdatedAt || []))
  return { isAsking, isCut: cut.length > 0, oldest: moments.length > 0 ? Math.min(...moments) : undefined }
}
