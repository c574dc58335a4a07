import type { Query } from "../../domain/query.ts"
import type { EventReader, Part, Snapshot } from "../../store/events/part.ts"
import { aggregate } from "../measure/aggregate.ts"

/** How far back the first question will most likely look. */
const REACH_MS = 30 * 86_400_000
/** Bytes that a visit takes in the columns of a summary, decoded. */
const BYTES_PER_VISIT = 64

/**
 * Prepares a worker for its first question, in steps of some milliseconds: reads the log, then the columns of a summary over
 * the last 30 days of the fullest site. They stay in the cache, and the engine has compiled the kernels by then. Stopping
 * after any step is fine.
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

/** The youngest first, as many as there is room for. */
function latestParts({ parts }: Snapshot, bytes: number): Part[] {
  const latest = parts.reduce((latest, { maxStart }) => Math.max(latest, maxStart), 0)
  let visits = bytes / BYTES_PER_VISIT
  return parts
    .filter(({ maxStart }) => maxStart > latest - REACH_MS)
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
