/** State of the installation check and the results derived from it. */
import { useQueryClient } from "@tanstack/react-query"
import { useEffect, useState } from "preact/hooks"
import { coversHost, needsDataLocal } from "../../../domain/site.ts"
import { useLiveEvents } from "../../report/data/live-events.ts"

export interface LiveState {
  /** When and on which host a page loaded the script. Undefined until then. */
  scriptAt?: string
  scriptHost?: string
  /** Whether the script loaded a while ago without sending an event. */
  isSilent?: boolean
  /** Last event that was stored. */
  event?: { at: string; name: string; page: string; hostname: string }
  /** Hosts whose events were rejected, latest first. */
  refused: readonly string[]
  /** Last event that was dropped for another reason. */
  dropped?: { hostname: string; reason: string }
}

type LiveMessage =
  | { type: "script_seen"; data: { at: string; hostname: string } }
  | { type: "event"; data: { at: string; name: string; page: string; hostname: string } }
  | { type: "host_refused"; data: { at: string; hostname: string } }
  | { type: "event_dropped"; data: { at: string; hostname: string; reason: string } }

const MAX_HOSTS = 5
/** Reasons that also drop events of correctly installed pages. */
const HARMLESS = new Set(["duplicate", "no_visit", "prefetch"])

export function applyMessage(state: LiveState, { type, data }: LiveMessage): LiveState {
  if (type === "script_seen") return { ...state, scriptAt: data.at, scriptHost: data.hostname }
  if (type === "event") {
    const { dropped: _, ...rest } = state
    return { ...rest, event: data, isSilent: false }
  }
  if (type === "event_dropped" && HARMLESS.has(data.reason)) return state
  if (type === "event_dropped") return { ...state, isSilent: false, dropped: { hostname: data.hostname, reason: data.reason } }
  const others = state.refused.filter((hostname) => hostname !== data.hostname)
  return { ...state, refused: [data.hostname, ...others].slice(0, MAX_HOSTS) }
}

export type StepState = "waiting" | "ok" | "failed"

interface Checked {
  hosts: readonly string[]
  timezone: string
  first_event_at?: string | null
}

interface Checks {
  script: StepState
  event: StepState
  /** Why no event is counted, if known. */
  trouble?: Trouble
  host: StepState
  /** Hosts that are not allowed yet. */
  unknownHosts: readonly string[]
  zone: StepState
}

/** Returns the steps of the check. `zone` is the browser's time zone; it matches if both zones currently show the same time. */
export function checksOf(site: Checked, state: LiveState, zone: string, now: number): Checks {
  const unknownHosts = state.refused.filter((hostname) => !coversHost(site.hosts, hostname))
  const hasEvent = state.event !== undefined || Boolean(site.first_event_at)
  const found = troubleIn(state)
  // Earlier events prove that the installation works.
  const trouble = found?.kind === "silent" && hasEvent ? undefined : found
  return {
    script: state.scriptAt !== undefined || hasEvent || state.dropped || unknownHosts.length > 0 ? "ok" : "waiting",
    event: trouble ? "failed" : hasEvent ? "ok" : "waiting",
    ...(trouble && { trouble }),
    host: unknownHosts.length > 0 ? "failed" : hasEvent ? "ok" : "waiting",
    unknownHosts,
    zone: timeIn(zone, now) === timeIn(site.timezone, now) ? "ok" : "failed",
  }
}

/** Reason why pages load the script but their events are not counted. */
export type Trouble =
  | { kind: "dropped"; hostname: string; reason: string }
  /** A local host, where the script sends nothing without `data-local`. */
  | { kind: "local"; hostname: string }
  /** Nothing arrived: the browser, an extension or the page itself blocks the events. */
  | { kind: "silent"; hostname: string }

function troubleIn({ dropped, isSilent, scriptHost = "", refused }: LiveState): Trouble | undefined {
  if (dropped) return { kind: "dropped", ...dropped }
  if (!isSilent || refused.length > 0) return undefined
  return { kind: needsDataLocal(scriptHost) ? "local" : "silent", hostname: scriptHost }
}

/** Returns the time of day in a zone, as hours and minutes. */
const timeIn = (timeZone: string, at: number): string =>
  new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(at)

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
  const { retryAt } = useLiveEvents(siteId, Object.fromEntries(types.map((type) => [type, handler(type)])))
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
