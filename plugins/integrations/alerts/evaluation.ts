import type { Signal, Site } from "#plugin"
import { localDay } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { type Alert, LIMITS } from "./alert.ts"

/** What an alert found. */
export interface Finding {
  /** Whether its condition holds. */
  holds: boolean
  /** The number that is compared with the threshold. For `no_data`, the minutes since the last event. */
  value: number
  /** Usual number of visitors, for spikes with a factor. */
  usual?: number
}

/** Evaluates alerts of a site with one or two queries. */
export interface Evaluation {
  /** Returns the finding of each alert. Alerts of goals that no longer exist are left out. */
  of(site: Site, alerts: readonly Alert[], signal: AbortSignal): Promise<Map<Alert, Finding>>
}

const MINUTE_MS = 60_000

export function createEvaluation(host: IntegrationsHost): Evaluation {
  /** Usual visitors by site, of the hour for which they were computed. */
  const usual = new Map<number, { hour: number; value: number }>()

  /** Returns the mean of current visitors in the same hour and weekday of the last weeks in which the site existed. */
  async function usualVisitors(site: Site, now: number, ask: (signals: Signal[]) => Promise<Numbers>): Promise<number> {
    const hour = Math.floor(now / LIMITS.hourMs)
    const known = usual.get(site.id)
    if (known?.hour === hour) return known.value
    const ranges = usualHours(site, now).filter(({ from }) => from >= site.created_at)
    const { values } = await ask(ranges.map((range) => ({ of: "mean_visitors", range, windowMs: LIMITS.currentMs })))
    const value = values.reduce((sum, each) => sum + each, 0) / Math.max(1, ranges.length)
    usual.set(site.id, { hour, value })
    return value
  }

  return {
    async of(site, alerts, signal) {
      const now = host.now()
      const rules = new Map(host.services.goals.rules(site.id).map((rule) => [rule.id, rule]))
      const known = alerts.filter(({ type, goal_id }) => type !== "goal" || rules.has(goal_id ?? 0))
      const ask = (signals: Signal[]) =>
        host.engine.signals({ site: { id: site.id }, now, signals }, { organizationId: site.organization_id, isBackground: true, signal })

      const asked = known.map((alert) => signalsOf(alert, now, rules))
      const { values, lastAt } = await ask(asked.flat())
      const findings = new Map<Alert, Finding>()
      for (const [index, alert] of known.entries()) {
        const own = values.splice(0, asked[index]!.length) // as many as it asked for
        findings.set(alert, await findingOf(alert, own, { now, lastAt, ask, usual: () => usualVisitors(site, now, ask) }))
      }
      return findings
    },
  }
}

interface Numbers {
  values: number[]
  lastAt?: number
}

function signalsOf({ type, window_minutes, goal_id }: Alert, now: number, rules: ReadonlyMap<number, RuleOf>): Signal[] {
  const range = { from: now - (window_minutes ?? 0) * MINUTE_MS, to: now + 1 }
  const weekAgo = { from: range.from - LIMITS.weekMs, to: range.to - LIMITS.weekMs }
  switch (type) {
    case "spike":
      return [{ of: "current" }]
    case "drop":
      return [{ of: "visitors", range }]
    case "goal":
      return [{ of: "conversions", goal: rules.get(goal_id ?? 0)!, range }] // alerts of unknown goals were left out
    case "not_found":
      return [
        { of: "events", name: "404", range },
        { of: "events", name: "404", range: weekAgo },
      ]
    case "no_data":
      return []
  }
}
type RuleOf = Extract<Signal, { of: "conversions" }>["goal"]

interface Surroundings {
  now: number
  lastAt: number | undefined
  ask(signals: Signal[]): Promise<Numbers>
  usual(): Promise<number>
}

async function findingOf(alert: Alert, [value = 0, before = 0]: readonly number[], around: Surroundings): Promise<Finding> {
  const { type, threshold, factor } = alert
  if (type === "no_data") return silence(alert, around)
  if (type === "drop") return { holds: value < threshold, value }
  const isReached = value >= threshold
  if (type === "not_found") return { holds: isReached && value >= LIMITS.notFoundFactor * before, value }
  if (type === "goal" || factor === null || !isReached) return { holds: isReached, value }
  const usual = await around.usual()
  return { holds: value >= factor * usual, value, usual }
}

/** Nothing came for a window, although something came in each of the windows of the seven days before. */
async function silence({ window_minutes, firing_since }: Alert, { now, lastAt, ask }: Surroundings): Promise<Finding> {
  const windowMs = (window_minutes ?? 0) * MINUTE_MS
  const value = lastAt === undefined ? 0 : Math.floor((now - lastAt) / MINUTE_MS)
  if (lastAt === undefined || now - lastAt < windowMs) return { holds: false, value }
  if (firing_since !== null) return { holds: true, value }
  const to = now - windowMs
  const from = to - Math.floor(LIMITS.weekMs / windowMs) * windowMs
  const { values } = await ask([{ of: "empty_windows", range: { from, to }, windowMs }])
  return { holds: values[0] === 0, value }
}

/** Returns the same local hour and weekday of the last weeks. */
function usualHours({ timezone }: Site, now: number): { from: number; to: number }[] {
  const day = localDay(now, timezone)
  const { hour } = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone)
  return Array.from({ length: LIMITS.usualWeeks }, (_, i) => {
    const from = day
      .subtract({ weeks: i + 1 })
      .toPlainDateTime({ hour })
      .toZonedDateTime(timezone).epochMilliseconds
    return { from, to: from + LIMITS.hourMs }
  })
}
