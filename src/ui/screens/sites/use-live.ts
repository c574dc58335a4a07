import { useQueryClient } from "@tanstack/react-query"
import { useEffect, useState } from "preact/hooks"
import { useLiveLine } from "../../report/data/live-line.ts"
import { applyMessage, type LiveMessage, type LiveState } from "./live-state.ts"

/** Time within which a page that loaded the script sends its first event. */
const SILENT_MS = 5_000

interface Live {
  state: LiveState
  /** Time of the next attempt in epoch milliseconds while the connection is lost, else undefined. */
  retryAt: number | undefined
}

/** Returns the state of the installation check, updated by the server's events for the site. */
export function useLive(siteId: number): Live {
  const [state, setState] = useState<LiveState>({ refused: [] })
  // The server's events have these shapes.
  const handler = (type: LiveMessage["type"]) => (data: unknown) => setState((now) => applyMessage(now, { type, data } as LiveMessage))
  const types = ["script_seen", "event", "host_refused", "event_dropped"] as const
  const { retryAt } = useLiveLine(siteId, Object.fromEntries(types.map((type) => [type, handler(type)])))
  useEffect(() => {
    if (state.scriptAt === undefined) return
    const timer = setTimeout(
      () => setState((now) => ({ ...now, isSilent: now.event === undefined && now.dropped === undefined })),
      SILENT_MS,
    )
    return () => clearTimeout(timer)
  }, [state.scriptAt, state.event])
  const client = useQueryClient()
  const hasEvent = state.event !== undefined
  useEffect(() => {
    // Reports fetched before the first event would stay empty for a minute.
    if (hasEvent) void client.invalidateQueries({ queryKey: ["report"] })
  }, [client, hasEvent])
  return { state, retryAt }
}
