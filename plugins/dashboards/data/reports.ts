/** The reports of core widgets: equal ones run once, and those that differ only in their metrics run together. */
import { AppError, FLAT_METRICS } from "#plugin"
import type { DashboardsHost } from "../board.ts"
import type { CoreQuestion, Reports } from "../widgets/core.ts"
import { type Budget, keyOf } from "./budget.ts"

type Given = Record<string, unknown>
type Report<Answer> = (site: CoreQuestion["site"], given: Given, options?: CoreQuestion["asking"]) => Promise<Answer>

/** Returns the reports of the widgets of one call. */
export function reportsOf({ services }: DashboardsHost, budget: Budget): Reports {
  const { stats, insights, annotations, goals } = services
  const once =
    <Answer>(name: string, report: Report<Answer>): Report<Answer> =>
    (site, given, options = {}) =>
      budget.once(keyOf([name, site.id, given, options.lockedFilters]), (signal) => report(site, given, { ...options, signal }))
  return {
    summary: together(once("summary", stats.summary), ({ comparison, ...rest }, metrics) => ({
      ...rest,
      metrics: picked(rest.metrics, metrics),
      ...(comparison && {
        comparison: {
          ...comparison,
          metrics: picked(comparison.metrics, metrics),
          change_percent: picked(comparison.change_percent, metrics),
        },
      }),
    })),
    timeseries: together(once("timeseries", stats.timeseries), ({ comparison, ...rest }, metrics) => ({
      ...rest,
      points: withMetrics(rest.points, metrics),
      ...(comparison && { comparison: { ...comparison, points: withMetrics(comparison.points, metrics) } }),
    })),
    breakdown: once("breakdown", stats.breakdown),
    goals: once("goals", stats.goals),
    realtime: once("realtime", insights.realtime),
    funnel: once("funnel", insights.funnel),
    webVitals: once("webVitals", insights.webVitals),
    goalName: (site, id) => goals.rules(site.id).find((goal) => goal.id === id)?.name,
    annotations: (site, days, userId) =>
      budget.once(keyOf(["annotations", site.id, days]), () =>
        annotations.of({ userId: userId ?? null, permissions: new Set() }).listWithin(site, days, { after: 0, limit: MAX_ANNOTATIONS }),
      ),
  }
}

/** A site has at most as many annotations. */
const MAX_ANNOTATIONS = 10_000

/** Metrics on which nothing but their own figures in a report depends. The others add notes and a currency. */
const JOINABLE: readonly string[] = FLAT_METRICS.filter((metric) => !["conversions", "conversion_rate", "revenue"].includes(metric))

/** Metrics that widgets ask of the same report, and the report on all of them once it has begun. */
interface Joined<Answer> {
  metrics: Set<string>
  answer: Promise<Answer>
}

/**
 * Returns a report that widgets which differ only in their metrics share: one pass over the visits instead of one for each. `pick`
 * returns the part with the given metrics.
 *
 * Imported totals are included only if they have all metrics, and some combinations of metrics and filters are refused. Each report runs
 * alone then.
 */
function together<Answer extends { imports?: unknown }>(
  report: Report<Answer>,
  pick: (answer: Answer, metrics: readonly string[]) => Answer,
): Report<Answer> {
  const open = new Map<string, Joined<Answer>>()
  return async (site, given, options = {}) => {
    const { metrics, ...rest } = given as { metrics: readonly string[] } // every widget names its metrics
    if (!metrics.every((metric) => JOINABLE.includes(metric))) return report(site, given, options)
    const key = keyOf([site.id, rest, options.lockedFilters])
    const joined = open.get(key) ?? { metrics: new Set(), answer: begin(key, (all) => report(site, { ...rest, metrics: all }, options)) }
    open.set(key, joined)
    for (const metric of metrics) joined.metrics.add(metric)
    try {
      const answer = await joined.answer
      if (answer.imports === undefined) return pick(answer, metrics)
    } catch (error) {
      if (!isFault(error)) throw error
    }
    return report(site, given, options)
  }

  /** Runs a report once the other widgets of the call had the time to name their metrics. */
  async function begin(key: string, run: (metrics: string[]) => Promise<Answer>): Promise<Answer> {
    await Bun.sleep(0)
    const { metrics } = open.get(key)! // set in the same turn
    open.delete(key)
    return run([...metrics])
  }
}

const isFault = (error: unknown): boolean =>
  error instanceof AppError && (error.code === "validation_failed" || error.code === "invalid_query")

const picked = <Figures extends Given>(figures: Figures, names: readonly string[]): Figures =>
  Object.fromEntries(Object.entries(figures).filter(([name]) => names.includes(name))) as Figures // a part of the same record

/** Returns points with the given metrics only. */
const withMetrics = <Point extends object>(points: readonly Point[], names: readonly string[]): Point[] =>
  points.map(
    (point) => Object.fromEntries(Object.entries(point).filter(([name]) => names.includes(name) || !JOINABLE.includes(name))) as Point,
  ) // metrics of a point are optional
