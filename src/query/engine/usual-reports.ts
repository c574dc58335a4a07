import type { Filter } from "../../domain/filter.ts"
import type { FunnelQuery, GoalRule, Grouping, Query, Range } from "../../domain/query.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { funnel } from "../funnel/funnel.ts"
import { aggregate } from "../measure/aggregate.ts"

/** A query without what depends on the parts that are read. */
type Shape = Pick<Query, "metrics" | "groupings"> & { filter?: Filter }
type Report = Shape & Pick<Query, "range">

const SUMMARY: Shape = {
  metrics: ["visitors", "visits", "pageviews", "views_per_visit", "bounce_rate", "visit_duration", "events"],
  groupings: [],
}

/** Computes a summary over one part, which reads the columns that most reports need. */
export const summarize = (snapshot: Snapshot, part: Part): void =>
  answer({ ...snapshot, parts: [part] }, { ...SUMMARY, range: rangeOf([part]) })

/**
 * Computes reports over the parts of snapshots, one in each step. They are those of a dashboard, and call every kernel that its cards use
 * often: what is compiled then need not be interpreted when the first person looks at one. A range that cuts the oldest part is read twice,
 * because the second report finds what the first one has kept. `open` is called for each step, since segments are replaced meanwhile.
 */
export function* usualReports(open: () => Snapshot): Generator<void> {
  for (const rangeOfReports of [cutRangeOf, rangeOf, cutRangeOf]) {
    for (const compute of REPORTS) {
      const snapshot = open()
      if (snapshot.parts.length === 0) return
      compute(snapshot, rangeOfReports(snapshot.parts))
      yield
    }
  }
}

const shaped = (shape: Shape) => (snapshot: Snapshot, range: Range) => answer(snapshot, { ...shape, range })

const REPORTS: readonly ((snapshot: Snapshot, range: Range) => void)[] = [
  shaped(SUMMARY),
  shaped({ metrics: ["visitors", "visits", "pageviews"], groupings: [{ by: "time", interval: "day" }] }),
  shaped({ metrics: ["visitors", "visits", "pageviews"], groupings: [by("page")] }),
  shaped({ metrics: ["visitors", "visits", "pageviews", "bounce_rate", "visit_duration"], groupings: [by("source")] }),
  shaped({ metrics: ["visitors", "events"], groupings: [by("event")], filter: { op: "not", filter: is("event", "pageview") } }),
  shaped({ metrics: ["visitors", "conversions"], groupings: [by("goal")] }),
  (snapshot, range) => answer(snapshot, { ...SUMMARY, filter: commonValue(snapshot, "country"), range }),
  (snapshot, range) => answer(snapshot, { ...SUMMARY, filter: commonValue(snapshot, "page"), range }),
  (snapshot, range) =>
    answer(snapshot, {
      ...{ metrics: ["visitors", "visits", "pageviews"], groupings: [by("page")] },
      ...{ filter: commonValue(snapshot, "country"), range },
    }),
  (snapshot, range) => void funnel(snapshot, funnelFrom(snapshot, range), () => {}),
]

const answer = (snapshot: Snapshot, report: Report): void => void aggregate(snapshot, queryOf(snapshot, report), () => {})

function by(dimension: "page" | "source" | "event" | "goal"): Grouping {
  return { by: "dimension", dimension }
}

function is(dimension: "page" | "country" | "event", value: string) {
  return { op: "is", dimension, values: [value], missing: value === "", caseSensitive: true } as const
}

/** Returns a condition that some visits satisfy. */
function commonValue(snapshot: Snapshot, dimension: "page" | "country") {
  const [part] = snapshot.parts
  const id = part!.visit(dimension === "page" ? "entry_page" : "country")[0] ?? 0
  return is(dimension, snapshot.dictionary(dimension).text(id))
}

const GOALS: readonly GoalRule[] = [
  { id: 1, name: "page", kind: "page", match: "prefix", value: "/" },
  { id: 2, name: "event", kind: "event", match: "exact", value: "purchase" },
]

const siteOf = ({ siteId }: Snapshot) => ({ id: siteId, bounceEngagedSeconds: 0, revenueCurrency: "EUR", goals: GOALS })

const rangeOf = (parts: readonly Part[]): Range => ({
  from: Math.min(...parts.map(({ minStart }) => minStart)),
  to: Math.max(...parts.map(({ maxAt }) => maxAt)) + 1,
})

/** Returns a range that cuts the first part, as 30 days cut the oldest one that they touch. */
const cutRangeOf = (parts: readonly Part[]): Range => ({
  from: Math.floor((parts[0]!.minStart + parts[0]!.maxStart) / 2),
  to: rangeOf(parts).to,
})

const queryOf = (snapshot: Snapshot, report: Report): Query => ({
  ...{ site: siteOf(snapshot), timezone: "UTC", now: report.range.to },
  ...{ order: [{ by: "metric", index: 0, descending: true }], offset: 0, limit: 10, fillBuckets: false },
  ...report,
})

const funnelFrom = (snapshot: Snapshot, range: Range): FunnelQuery => ({
  ...{ site: siteOf(snapshot), range, order: "sequential" },
  steps: [
    { type: "page", match: "exact", value: commonValue(snapshot, "page").values[0]! },
    { type: "page", match: "prefix", value: "/" },
    { type: "event", match: "exact", value: "purchase" },
  ],
})
