import { type Static, Type as t } from "@sinclair/typebox"
import { refuseFaults } from "../../domain/error.ts"
import { QUERY } from "../../domain/limits.ts"
import type { Log } from "../../domain/log.ts"
import { fault, inspect, isObject } from "../../domain/shape.ts"
import type { Site } from "../../domain/site.ts"
import type { Insights } from "../../services/insights.ts"
import type { Asking } from "../../services/open-report.ts"
import type { Stats } from "../../services/stats.ts"
import { problemBody, toFailure } from "../errors.ts"

export interface BatchOptions {
  stats: Stats
  insights: Insights
  baseUrl: string
  log: Log
}

type Answer = (site: Site, given: Record<string, unknown>, asking: Asking) => Promise<object>

/** The reports that a batch may hold, by the names of their routes. */
const reportsOf = ({ stats, insights }: BatchOptions): Readonly<Record<string, Answer>> => ({
  summary: stats.summary,
  timeseries: stats.timeseries,
  breakdown: stats.breakdown,
  goals: stats.goals,
  realtime: insights.realtime,
  values: insights.values,
  "busy-hours": insights.busyHours,
  events: insights.events,
  properties: insights.properties,
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
  "journeys",
  "funnel",
]

const BatchedQuery = t.Object({
  id: t.String({ minLength: 1, maxLength: 100 }),
  report: t.Union(REPORTS.map((report) => t.Literal(report))),
})
export const BatchInput = t.Object(
  { queries: t.Array(BatchedQuery, { minItems: 1, maxItems: QUERY.batch, description: "With the arguments of each report" }) },
  { additionalProperties: false, title: "Batch" },
)

export const BatchAnswer = t.Object(
  {
    results: t.Record(t.String(), t.Object({ status: t.Integer(), data: t.Optional(t.Any()), problem: t.Optional(t.Any()) }), {
      description: "By id: what the report's own route would answer",
    }),
  },
  { title: "BatchAnswer" },
)

interface Batch {
  site: Site
  asking: Asking
  body: unknown
  set: { headers: Record<string, unknown> }
}

/** Each report fails alone; equal questions are asked once. Throws `validation_failed` for what is no list of reports. */
export async function batchAnswer(options: BatchOptions, { site, asking, body, set }: Batch): Promise<Static<typeof BatchAnswer>> {
  const queries = readBatch(body)
  const reports = reportsOf(options)
  const requestId = String(set.headers["x-request-id"])
  const asked = new Map<string, Promise<object>>()
  const answerOnce = (report: string, given: Record<string, unknown>) => {
    const name = JSON.stringify([report, Object.entries(given).sort(([a], [b]) => (a < b ? -1 : 1))])
    const answer = asked.get(name) ?? settled(reports[report]!(site, given, asking), options, requestId)
    asked.set(name, answer)
    return answer
  }
  const results = await Promise.all(queries.map(async ({ id, report, given }) => [id, await answerOnce(report, given)] as const))
  return { results: Object.fromEntries(results) as Static<typeof BatchAnswer>["results"] }
}

async function settled(work: Promise<object>, { baseUrl, log }: BatchOptions, requestId: string): Promise<object> {
  try {
    return { status: 200, data: await work }
  } catch (thrown) {
    const problem = problemBody(toFailure(thrown, requestId, log), baseUrl, requestId)
    return { status: problem.status, problem }
  }
}

function readBatch(body: unknown): { id: string; report: string; given: Record<string, unknown> }[] {
  const Outer = t.Object({ queries: t.Array(t.Unknown(), { minItems: 1, maxItems: QUERY.batch }) }, { additionalProperties: false })
  const { fields, faults } = inspect(Outer, body)
  refuseFaults(faults)
  const read = fields.queries!.map((query, i) => ({ query, ...inspect(BatchedQuery, query, `/queries/${i}`) }))
  const ids = read.map(({ fields: { id } }) => id)
  const repeated = ids.flatMap((id, i) =>
    id !== undefined && ids.indexOf(id) < i ? [fault(`/queries/${i}/id`, "not_unique", "stands twice")] : [],
  )
  refuseFaults([...read.flatMap((each) => each.faults), ...repeated])
  return read.map(({ query, fields }) => {
    const { id: _, report: __, ...given } = query as Record<string, unknown> // inspected: it is an object
    return { id: fields.id!, report: fields.report!, given }
  })
}

/** Arguments in a body. Throws `validation_failed`. */
export function objectBody(body: unknown): Record<string, unknown> {
  if (!isObject(body)) refuseFaults([fault("", "invalid_type", "must be an object")])
  return body as Record<string, unknown>
}
