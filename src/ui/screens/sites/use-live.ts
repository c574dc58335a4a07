import { useQueryClient } from "@tanstack/react-query"
import { useEffect, useState } from "preact/hooks"
import { useLiveLine } from "../../stats/live-line.ts"
import { heard, type LiveMessage, type LiveState } from "./live-state.ts"

export interface Live {
  state: LiveState
  /** While there is no line to the server: when it is tried again, epoch milliseconds. */
  retryAt: number | undefined
}

/** What the live check has heard so far of what comes in for a site. */
export function useLive(siteId: number): Live {
  const [state, setState] = useState<LiveState>({ refused: [] })
  // The server's events have these shapes.
  const hears = (type: LiveMessage["type"]) => (data: unknown) => setState((now) => heard(now, { type, data } as LiveMessage))
  const { retryAt } = useLiveLine(siteId, { script_seen: hears("script_seen"), event: hears("event"), host_refused: hears("host_refused") })
  const client = useQueryClient()
  const hasEvent = state.event !== undefined
  useEffect(() => {
    // What was asked while there was nothing would go on saying so for a minute.
    if (hasEvent) void client.invalidateQueries({ queryKey: ["report"] })
  }, [client, hasEvent])
  return { state, retryAt }
}
