import { type QueryClient, useQueryClient } from "@tanstack/react-query"
import { useEffect, useReducer } from "preact/hooks"
import { Problem } from "../api.ts"
import { clockText, timeText } from "../format.ts"
import { todayIn } from "./ranges.ts"
import { useStatsSource } from "./source.ts"

/** A line at the top while a new question is answered, and a bar while the server cannot be reached. */
export function FreshnessBar() {
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
          The server cannot be reached.{oldest !== undefined && ` Showing data from ${momentText(oldest, timezone)}.`}
        </p>
      )}
    </>
  )
}

const momentText = (at: number, timezone: string): string =>
  todayIn(timezone, at) === todayIn(timezone) ? clockText(at, timezone) : timeText(at, timezone)

/** `oldest`: of the answers that are shown although they cannot be asked again. */
function stateOf(client: QueryClient): { isAsking: boolean; isCut: boolean; oldest: number | undefined } {
  const active = client.getQueryCache().findAll({ queryKey: ["report"], type: "active" })
  const isAsking = active.some(({ state }) => state.status === "pending" && state.fetchStatus === "fetching")
  const cut = active.filter(({ state }) => !navigator.onLine || (state.error instanceof Problem && state.error.code === "offline"))
  // How many are there now stands on every page, and is of no period.
  const moments = cut.flatMap(({ state, queryKey }) => (queryKey.includes("realtime") ? [] : state.dataUpdatedAt || []))
  return { isAsking, isCut: cut.length > 0, oldest: moments.length > 0 ? Math.min(...moments) : undefined }
}
