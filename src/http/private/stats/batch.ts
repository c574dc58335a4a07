import { Type as t } from "@sinclair/typebox"
import { refuseFaults } from "../../../domain/error.ts"
import type { BatchAnswer } from "../../../domain/insight.ts"
import { QUERY } from "../../../domain/limits.ts"
import { fault, inspect } from "../../../domain/shape.ts"
import type { Site } from "../../../domain/site.ts"
import type { Insights } from "../../../services/stats/insights.ts"
import type { ReportOptions } from "../../../services/stats/open-report.ts"
import type { Stats } from "../../../services/stats/stats.ts"
import { type SettleOptions, settleAll } from "../../settled.ts"

export interface BatchOptions extends SettleOptions {
  stats: Stats
  insights: Insights
}

type Report = (site: Site, given: Record<string, unknown>, options: ReportOptions) => Promise<object>

/** Reports that a batch can contain, by the names of their routes. */
const reportsOf = ({ stats, insights }: BatchOptions): Readonly<Record<string, Report>> => ({
  summary: stats.summary,
  timeseries: stats.timeseries,
  breakdown: stats.breakdown,
  goals: stats.goals,
  realtime: insights.realtime,
  values: insights.values,
  "busy-hours": insights.busyHours,
  events: insights.events,
  properties: insights.properties,
  campaigns: insights.campaigns,
  "web-vitals": insights.webVitals,
  "web-vitals-breakdown": insights.webVitalsBy,
  journeys: insights.journeys,
  funnel: insights.funnel,
})
const REPORTS = [
  "summary",
  "timeseries",
  "breakdown",
  "goals",
  "realtime",
  "values",
  "busy-hours",
  "events",
  "properties",
  "campaigns",
  "web-vitals",
  "web-vitals-breakdown",
  "journeys",
  "funnel",
]

const BatchedQuery = t.Object({
  id: t.String({ minLength: 1, maxLength: 100, description: "Your id of the report, which identifies its result. Unique in the batch." }),
  report: t.Union(
    REPORTS.map((report) => t.Literal(report)),
    { description: "Name of the report. Its arguments are further members of this object." },
  ),
})
export const BatchInput = t.Object(
  { queries: t.Array(BatchedQuery, { minItems: 1, maxItems: QUERY.batch, description: "Reports with their arguments." }) },
  { additionalProperties: false, title: "Batch" },
)

interface Batch {
  site: Site
  reportOptions: ReportOptions
  body: unknown
  set: { headers: Record<string, unknown> }
  request: Request
}

/**
 * Runs the reports of a batch. Each fails separately, equal reports run once, and all share one time limit. Throws
 * `validation_failed` for a malformed list.
 */
export async function batchAnswer(options: BatchOptions, { site, reportOptions, body, set, request }: Batch): Promise<BatchAnswer> {
  const queries = readBatch(body)
  const reports = reportsOf(options)
  const named = queries.map(({ id, ...query }) => ({ id, query, name: nameOf(query) }))
  const distinct = [...new Map(named.map(({ name, query }) => [name, query])).values()]
  const run = ({ report, given }: (typeof distinct)[number], signal: AbortSignal) =>
    reports[report]!(site, given, { ...reportOptions, signal })
  const answers = await settleAll(distinct, run, options, { request, set, signal: reportOptions.signal })
  const byName = new Map(distinct.map((query, i) => [nameOf(query), answers[i]!]))
  return { results: Object.fromEntries(named.map(({ id, name }) => [id, byName.get(name)])) as BatchAnswer["results"] }
}

/** Returns a key that is equal for equal reports, whatever the order of their arguments. */
const nameOf = ({ report, given }: { report: string; given: Record<string, unknown> }): string =>
  JSON.stringify([report, Object.entries(given).sort(([a], [b]) => (a < b ? -1 : 1))])

function readBatch(body: unknown): { id: string; report: string; given: Record<string, unknown> }[] {
  const Outer = t.Object({ queries: t.Array(t.Unknown(), { minItems: 1, maxItems: QUERY.batch }) }, { additionalProperties: false })
  const { fields, faults } = inspect(Outer, body)
  refuseFaults(faults)
  const read = fields.queries!.map((query, i) => ({ query, ...inspect(BatchedQuery, query, `/queries/${i}`) }))
  const ids = read.map(({ fields: { id } }) => id)
  const repeated = ids.flatMap((id, i) =>
    id !== undefined && ids.indexOf(id) < i ? [fault(`/queries/${i}/id`, "not_unique", "is used more than once")] : [],
  )
  refuseFaults([...read.flatMap((each) => each.faults), ...repeated])
  return read.map(({ query, fields }) => {
    const { id: _, report: __, ...given } = query as Record<string, unknown> // an object, as checked above
    return { id: fields.id!, report: fields.report!, given }
  })
}
