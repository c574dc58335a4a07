import type { Query } from "../../domain/query.ts"
import type { EventReader, Part, Snapshot } from "../../store/events/part.ts"
import { aggregate } from "../measure/aggregate.ts"

/** Most likely range of the first query. */
const RANGE_MS = 30 * 86_400_000
/** Size of a visit in the decoded columns of a summary. */
const BYTES_PER_VISIT = 64

/**
 * Prepares a worker for its first query in steps of a few milliseconds: reads the log, then the columns of a summary over the last
 * 30 days of the site with the most data. The columns stay in the cache, and the kernels are compiled. The caller may stop after any
 * step.
 */
export function* warmUp(reader: EventReader, cacheBytes: number): Generator<void> {
  const siteId = reader.fullestSite()
  const snapshot = reader.snapshot(siteId ?? 0)
  yield
  for (const part of latestParts(snapshot, cacheBytes / 2)) {
    aggregate({ ...snapshot, parts: [part] }, summaryOf(snapshot.siteId, part), () => {})
    yield
  }
}

/** Returns the latest parts that fit into a number of bytes, the newest first. */
function latestParts({ parts }: Snapshot, bytes: number): Part[] {
  const latest = parts.reduce((latest, { maxStart }) => Math.max(latest, maxStart), 0)
  let visits = bytes / BYTES_PER_VISIT
  return parts
    .filter(({ maxStart }) => maxStart > latest - RANGE_MS)
    .reverse()
    .filter((part) => {
      visits -= part.visits
      return visits >= 0
    })
}

const summaryOf = (siteId: number, part: Part): Query => ({
  site: { id: siteId, bounceEngagedSeconds: 0, revenueCurrency: "EUR", goals: [] },
  range: { from: part.minStart, to: part.maxAt + 1 },
  timezone: "UTC",
  now: part.maxAt + 1,
  metrics: ["visitors", "visits", "pageviews", "views_per_visit", "bounce_rate", "visit_duration", "events"],
  groupings: [],
  order: [],
  offset: 0,
  limit: 1,
  fillBuckets: false,
})
