/** What the live check has heard, and what follows from it. */
import { coversHost } from "../../../domain/site.ts"

export interface LiveState {
  /** Instants; undefined until it happens. */
  scriptAt?: string
  /** The last event that was stored. */
  event?: { at: string; name: string; page: string; hostname: string }
  /** Hosts whose events were refused, the last one first. */
  refused: readonly string[]
}

export type LiveMessage =
  | { type: "script_seen"; data: { at: string } }
  | { type: "event"; data: { at: string; name: string; page: string; hostname: string } }
  | { type: "host_refused"; data: { at: string; hostname: string } }

const MOST_HOSTS = 5

export function heard(state: LiveState, { type, data }: LiveMessage): LiveState {
  if (type === "script_seen") return { ...state, scriptAt: data.at }
  if (type === "event") return { ...state, event: data }
  const others = state.refused.filter((hostname) => hostname !== data.hostname)
  return { ...state, refused: [data.hostname, ...others].slice(0, MOST_HOSTS) }
}

export type StepState = "waiting" | "ok" | "failed"

interface Checked {
  hosts: readonly string[]
  timezone: string
  first_event_at?: string | null
}

export interface Checks {
  script: StepState
  event: StepState
  host: StepState
  /** Hosts that wait to be allowed. */
  strangers: readonly string[]
  zone: StepState
}

/** The steps of the check. `zone` is that of the browser; it fits when its clock shows what the site's shows. */
export function checksOf(site: Checked, state: LiveState, zone: string, now: number): Checks {
  const strangers = state.refused.filter((hostname) => !coversHost(site.hosts, hostname))
  const hasEvent = state.event !== undefined || Boolean(site.first_event_at)
  return {
    script: state.scriptAt !== undefined || hasEvent || strangers.length > 0 ? "ok" : "waiting",
    event: hasEvent ? "ok" : "waiting",
    host: strangers.length > 0 ? "failed" : hasEvent ? "ok" : "waiting",
    strangers,
    zone: offsetIn(zone, now) === offsetIn(site.timezone, now) ? "ok" : "failed",
  }
}

/** Hours and minutes that a zone's clock shows. */
export const offsetIn = (timeZone: string, at: number): string =>
  new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(at)
