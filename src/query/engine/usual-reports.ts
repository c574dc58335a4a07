import type { Filter } from "../../domain/filter.ts"
import type { FunnelQuery, GoalRule, Grouping, Query, Range } from "../../domain/query.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { funnel } from "../funnel/funnel.ts"
import { aggregate } from "../measure/aggregate.ts"

/** A query without what depends on the part that is read. */
type Shape = Pick<Query, "metrics" | "groupings"> & { filter?: Filter }
type Report = Shape & Pick<Query, "range">

const SUMMARY: Shape = {
  metrics: ["visitors", "visits", "pageviews", "views_per_visit", "bounce_rate", "visit_duration", "events"],
  groupings: [],
}

/** Computes a summary over one part, which reads the columns that most reports need. */
export const summarize = (snapshot: Snapshot, part: Part): void => void answer(snapshot, part, { ...SUMMARY, range: rangeOf(part) })

/**
 * Computes reports over one part, one in each step. They are those of a dashboard, and call every kernel that its cards use often: what is
 * compiled then need not be interpreted when the first person looks at one.
 */
export function* usualReports(snapshot: Snapshot, part: Part, range = rangeOf(part)): Generator<void> {
  const { page, country } = commonValues(snapshot, part)
  const shapes: Shape[] = [
    { metrics: ["visitors", "visits", "pageviews"], groupings: [{ by: "time", interval: "day" }] },
    { metrics: ["visitors", "visits", "pageviews"], groupings: [by("page")] },
    { metrics: ["visitors", "visits", "pageviews", "bounce_rate", "visit_duration"], groupings: [by("source")] },
    { metrics: ["visitors", "events"], groupings: [by("event")], filter: { op: "not", filter: is("event", "pageview") } },
    { metrics: ["visitors", "conversions"], groupings: [by("goal")] },
    { ...SUMMARY, filter: country },
    { ...SUMMARY, filter: page },
    { metrics: ["visitors", "visits", "pageviews"], groupings: [by("page")], filter: country },
  ]
  for (const shape of shapes) {
    answer(snapshot, part, { ...shape, range })
    yield
  }
  funnel(onlyPart(snapshot, part), funnelFrom(part, page.values[0]!, range), () => {})
  yield
}

const answer = (snapshot: Snapshot, part: Part, report: Report) => aggregate(onlyPart(snapshot, part), queryOf(part, report), () => {})

/** Returns a snapshot of one part. Nothing is kept of its reports: a month that has only this segment would seem to be read already. */
function onlyPart({ sums: _, ...snapshot }: Snapshot, part: Part): Snapshot {
  return { ...snapshot, parts: [part], results: { get: () => undefined, set: () => {} } }
}

const by = (dimension: "page" | "source" | "event" | "goal"): Grouping => ({ by: "dimension", dimension })

const is = (dimension: "page" | "country" | "event", value: string) =>
  ({ op: "is", dimension, values: [value], missing: value === "", caseSensitive: true }) as const

/** Returns conditions that some visits of a part satisfy. */
function commonValues(snapshot: Snapshot, part: Part) {
  const first = (column: "entry_page" | "country") => part.visit(column)[0] ?? 0
  return {
    page: is("page", snapshot.dictionary("page").text(first("entry_page"))),
    country: is("country", snapshot.dictionary("country").text(first("country"))),
  }
}

const GOALS: readonly GoalRule[] = [
  { id: 1, name: "page", kind: "page", match: "prefix", value: "/" },
  { id: 2, name: "event", kind: "event", match: "exact", value: "purchase" },
]

const siteOf = (part: Part) => ({ id: part.siteId, bounceEngagedSeconds: 0, revenueCurrency: "EUR", goals: GOALS })

const rangeOf = (part: Part): Range => ({ from: part.minStart, to: part.maxAt + 1 })

const queryOf = (part: Part, report: Report): Query => ({
  ...{ site: siteOf(part), timezone: "UTC", now: part.maxAt + 1 },
  ...{ order: [{ by: "metric", index: 0, descending: true }], offset: 0, limit: 10, fillBuckets: false },
  ...report,
})

const funnelFrom = (part: Part, page: string, range: Range): FunnelQuery => ({
  ...{ site: siteOf(part), range, order: "sequential" },
  steps: [
    { type: "page", match: "exact", value: page },
    { type: "page", match: "prefix", value: "/" },
    { type: "event", match: "exact", value: "purchase" },
  ],
})
