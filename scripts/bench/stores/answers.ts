/** The reports of the benchmarks as queries of Footfall. */
import type { Query, Range, SiteFacts } from "../../../src/domain/query.ts"
import { funnel } from "../../../src/query/funnel/funnel.ts"
import { aggregate } from "../../../src/query/measure/aggregate.ts"
import type { EventReader } from "../../../src/store/events/part.ts"
import { type Answer, type Goal, type Report, ROWS_SHOWN, SUMMARY_METRICS } from "./reports.ts"

/** Answers a report from a store. */
export function answerFrom(reader: EventReader, siteId: number, report: Report, range: Range): Answer {
  const snapshot = reader.snapshot(siteId)
  const site = siteOf(siteId, report.ask.kind === "goals" ? report.ask.goals : [])
  if (report.ask.kind === "funnel") {
    const steps = report.ask.steps.map(({ kind, ...step }) => ({ type: kind, ...step }))
    return [funnel(snapshot, { site, range, steps, order: "sequential" }, () => {}).steps.map(({ visitors }) => visitors)]
  }
  const { rows } = aggregate(snapshot, queryOf(site, report, range), () => {})
  return rows.map(({ keys, values }) => [...keys, ...values])
}

const siteOf = (id: number, goals: readonly Goal[]): SiteFacts => ({
  id,
  bounceEngagedSeconds: 0,
  revenueCurrency: "EUR",
  goals: goals.map((goal, index) => ({ id: index + 1, name: goal.value, ...goal })),
})

type Shape = Pick<Query, "metrics" | "groupings" | "order" | "limit" | "fillBuckets">

function queryOf(site: SiteFacts, report: Report, range: Range): Query {
  const conditions = report.filter.map(
    ([dimension, value]) => ({ op: "is", dimension, values: [value], missing: false, caseSensitive: true }) as const,
  )
  const named = { op: "not", filter: { op: "is", dimension: "event", values: ["pageview"], missing: false, caseSensitive: true } } as const
  const filters = report.ask.kind === "breakdown" && report.ask.by === "event" ? [...conditions, named] : conditions
  const filter = filters.length === 0 ? {} : { filter: { op: "and", filters } as const }
  return { site, range, timezone: "UTC", now: range.to, offset: 0, ...filter, ...shapeOf(report.ask) }
}

const byVisitors = [{ by: "metric", index: 0, descending: true }] as const
const byKey = [{ by: "grouping", index: 0, descending: false }] as const

function shapeOf(ask: Report["ask"]): Shape {
  if (ask.kind === "days") {
    const groupings = [{ by: "time", interval: "day" }] as const
    return { metrics: ["visitors", "visits", "pageviews"], groupings, order: byKey, limit: 1_000, fillBuckets: false }
  }
  if (ask.kind === "goals") {
    const groupings = [{ by: "dimension", dimension: "goal" }] as const
    return { metrics: ["visitors", "conversions"], groupings, order: byKey, limit: 1_000, fillBuckets: false }
  }
  if (ask.kind !== "breakdown") return { metrics: SUMMARY_METRICS, groupings: [], order: [], limit: 1, fillBuckets: false }
  const groupings = [{ by: "dimension", dimension: ask.by }] as const
  return { metrics: metricsBy(ask.by), groupings, order: byVisitors, limit: ROWS_SHOWN, fillBuckets: false }
}

function metricsBy(dimension: string): Query["metrics"] {
  if (dimension === "event") return ["visitors", "events"]
  if (dimension === "page") return ["visitors", "visits", "pageviews"]
  return ["visitors", "visits", "pageviews", "bounce_rate", "visit_duration"]
}
