import type { Clock } from "../../domain/clock.ts"
import type { GoalSuggestion, GoalTrial } from "../../domain/goal.ts"
import { type GoalFields, parseGoal } from "../../domain/goal.ts"
import { instantText } from "../../domain/moment.ts"
import type { Site } from "../../domain/site.ts"
import type { Engine } from "../../query/engine/engine.ts"
import { periodRange } from "../../query/parse/period.ts"
import type { Goals } from "../definitions/goals.ts"
import { callerOf, siteFacts } from "./open-report.ts"
import type { Stats } from "./stats.ts"

/** Tries out and suggests goals. Nothing is stored. */
export interface GoalTrials {
  /** Tests a goal that does not exist yet. Throws `validation_failed` as creating it would. */
  test(site: Site, body: unknown, signal?: AbortSignal): Promise<GoalTrial>
  /** Suggests custom events of the last 30 days that no goal covers yet, most visitors first. */
  suggestions(site: Site, signal?: AbortSignal): Promise<{ data: GoalSuggestion[] }>
}

interface GoalTrialsOptions {
  engine: Pick<Engine, "aggregate" | "lastMatch">
  goals: Pick<Goals, "rules">
  stats: Pick<Stats, "breakdown">
  clock: Pick<Clock, "now">
}

const MAX_SUGGESTIONS = 20
const MAX_EVENTS = 100

export const createGoalTrials = ({ engine, goals, stats, clock }: GoalTrialsOptions): GoalTrials => ({
  async test(site, body, signal) {
    const fields = parseGoal(body, site.settings)
    const goal = { id: 0, ...fields }
    const caller = callerOf(site, signal ? { signal } : {})
    const now = clock.now()
    const { range, timezone } = periodRange("7d", { now, timezone: site.timezone })
    const [{ rows }, last] = await Promise.all([
      engine.aggregate(
        {
          site: siteFacts(site, [goal]),
          range,
          timezone,
          now,
          metrics: ["conversions", "visitors"],
          groupings: [{ by: "dimension", dimension: "goal" }],
          order: [],
          limit: 1,
          offset: 0,
          fillBuckets: false,
        },
        caller,
      ),
      engine.lastMatch({ site: { id: site.id }, goal }, caller),
    ])
    const [conversions, visitors] = rows[0]?.values ?? []
    return {
      conversions_7d: conversions ?? 0,
      visitors_7d: visitors ?? 0,
      last_match_at: last === undefined ? null : instantText(last),
    }
  },
  async suggestions(site, signal) {
    const given = { dimension: "event", metrics: ["visitors", "events"], limit: MAX_EVENTS }
    const { rows } = await stats.breakdown(site, given, signal ? { signal } : {})
    const known = goals.rules(site.id)
    // A truncated value is not the name of an event.
    const free = rows.filter(({ value, truncated }) => !truncated && !known.some((goal) => isAbout(goal, value)))
    return {
      data: free.slice(0, MAX_SUGGESTIONS).map(({ value, visitors = 0, events = 0 }) => ({
        kind: "event" as const,
        match: "exact" as const,
        value,
        name: value,
        events_30d: events,
        visitors_30d: visitors,
      })),
    }
  },
})

const isAbout = ({ kind, match, value }: Pick<GoalFields, "kind" | "match" | "value">, event: string): boolean =>
  kind === "event" && match === "exact" && value === event
