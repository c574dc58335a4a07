export const ALERT_TYPES = ["spike", "drop", "no_data", "goal", "not_found"] as const
export type AlertType = (typeof ALERT_TYPES)[number]

export type AlertChannel = { type: "email"; address: string } | { type: "connection"; integration_id: number }

/** An alert about the traffic of a site. Times are epoch milliseconds. */
export interface Alert {
  id: number
  site_id: number
  type: AlertType
  /** Number from which, or for drops below which, the alert fires. 1 for `no_data`. */
  threshold: number
  /** Multiple of the usual visitors that a spike must reach as well. */
  factor: number | null
  /** null for spikes, which are about the current visitors. */
  window_minutes: number | null
  goal_id: number | null
  channels: readonly AlertChannel[]
  enabled: boolean
  /** Since when it is firing. null while its condition does not hold. */
  firing_since: number | null
  last_fired_at: number | null
  previous_fired_at: number | null
  created_by: number | null
  created_at: number
  updated_at: number
  version: number
}

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

export const LIMITS = {
  perSite: 20,
  channels: 20,
  firesPerDay: 2,
  dayMs: DAY_MS,
  /** Minimum age of a site whose alerts are evaluated. */
  youngMs: DAY_MS,
  /** Interval of all alerts but spikes. */
  slowMs: 5 * MINUTE_MS,
  windowMinutes: { min: 5, max: 10_080 },
  /** Windows of current visitors, whose mean is the usual number. */
  currentMs: 5 * MINUTE_MS,
  usualWeeks: 4,
  hourMs: HOUR_MS,
  weekMs: 7 * DAY_MS,
  /** Multiple of the same window a week ago that missing pages must reach. */
  notFoundFactor: 3,
} as const

export const DEFAULTS: Readonly<Record<AlertType, { threshold: number; window_minutes: number | null }>> = {
  spike: { threshold: 10, window_minutes: null },
  drop: { threshold: 1, window_minutes: 720 },
  no_data: { threshold: 1, window_minutes: 1_440 },
  goal: { threshold: 1, window_minutes: 60 },
  not_found: { threshold: 50, window_minutes: 60 },
}

/** Returns how often an alert has fired in the last 24 hours. A clock that was set back makes no alert silent for longer. */
export const firesOf = ({ last_fired_at, previous_fired_at }: Pick<Alert, "last_fired_at" | "previous_fired_at">, now: number): number =>
  [last_fired_at, previous_fired_at].filter((at) => at !== null && Math.abs(now - at) < LIMITS.dayMs).length

/** Returns a number of minutes in words, such as `12 hours`. */
export function minutesText(minutes: number): string {
  const [count, unit] = minutes % 1_440 === 0 ? [minutes / 1_440, "day"] : minutes % 60 === 0 ? [minutes / 60, "hour"] : [minutes, "minute"]
  return count === 1 ? unit : `${count} ${unit}s`
}
