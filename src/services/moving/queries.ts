import { DIMENSIONS, type Dimension } from "../../domain/dimension.ts"
import { METRICS } from "../../domain/metric.ts"
import type { Grouping, Query, Range, SiteFacts } from "../../domain/query.ts"
import { answerTask, type QueryKind, type QueryOf } from "../../query/engine/queries.ts"
import type { Snapshot } from "../../store/events/part.ts"

type Fixed = { [Kind in QueryKind]: { kind: Kind; query: QueryOf<Kind> } }[QueryKind]

/** The dimensions that are stored. The others are computed from the same columns. */
const STORED = (Object.keys(DIMENSIONS) as Dimension[]).filter((name) => name !== "goal" && name !== "property")
const DAY_MS = 86_400_000
const MAX_ROWS = 1_000

/**
 * Returns the 60 queries of a site whose answers must be the same before and after a move: all metrics, of all its data and of the last 30
 * days, in total, by day and by each dimension, and the keys of properties.
 */
export function fixedQueries(site: SiteFacts, timezone: string, { from, to }: Range): Fixed[] {
  const ranges = [
    { from, to },
    { from: Math.max(from, to - 30 * DAY_MS), to },
  ]
  return ranges.flatMap((range): Fixed[] => {
    const base = { site, range, timezone, now: to, metrics: METRICS, order: [], limit: MAX_ROWS, offset: 0, importedTotals: true }
    const grouped = (...groupings: Grouping[]): Fixed => {
      const query: Query = { ...base, groupings, fillBuckets: false }
      return { kind: "aggregate", query }
    }
    return [
      grouped(),
      grouped({ by: "time", interval: "day" }),
      ...STORED.map((dimension) => grouped({ by: "dimension", dimension })),
      { kind: "propertyKeys", query: { site, range, timezone } },
    ]
  })
}

/** Returns the answer to a query as a text. */
export const answerText = (snapshot: Snapshot, task: Fixed): string => JSON.stringify(answerTask(snapshot, task, () => {}))

/** Describes a query for the operator. */
export function describeQuery({ kind, query }: Fixed): string {
  if (kind !== "aggregate") return kind
  const [grouping] = (query as Query).groupings
  if (!grouping) return "the sums of all metrics"
  return grouping.by === "time" ? `the metrics by ${grouping.interval}` : `the metrics by ${grouping.dimension}`
}
