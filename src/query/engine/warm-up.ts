import type { Query } from "../../domain/query.ts"
import type { EventReader, Part, Snapshot, VisitColumn } from "../../store/events/part.ts"
import { aggregate } from "../measure/aggregate.ts"

/** Most likely range of the first query. */
const RANGE_MS = 30 * 86_400_000
/** Size of a visit in the decoded columns of a summary, and in those of `READ_AHEAD`; size of an event in its item and offset. */
const BYTES_PER_VISIT = 64
const MORE_BYTES_PER_VISIT = 64
const BYTES_PER_EVENT = 8
/** Size of a visit and an event in what `Part.readAhead` keeps. */
const PACKED_BYTES_PER_VISIT = 16
const PACKED_BYTES_PER_EVENT = 4

/** What the cards of a dashboard group visits by. */
const READ_AHEAD: readonly VisitColumn[] = ["entry_page", "exit_page", "source", "channel", "country", "region", "device", "browser", "os"]

/**
 * Prepares a worker for its first queries in steps of a few milliseconds: reads the log, then the columns of a summary over the last
 * 30 days of the site with the most data, then the columns of its other reports, then what most reports need of earlier days, in its packed
 * form. They stay in the cache, of which three quarters are used, and the kernels are compiled. The caller may pause or stop after any step.
 */
export function* warmUp(reader: EventReader, cacheBytes: number): Generator<void> {
  const siteId = reader.fullestSite()
  const snapshot = reader.snapshot(siteId ?? 0)
  yield
  const latest = latestParts(snapshot)
  const room = createRoom(cacheBytes * 0.75)
  for (const part of latest.filter(({ visits }) => room.takes(visits * BYTES_PER_VISIT))) {
    aggregate({ ...snapshot, parts: [part] }, summaryOf(snapshot.siteId, part), () => {})
    yield
  }
  for (const part of latest.filter(({ visits, events }) => room.takes(visits * MORE_BYTES_PER_VISIT + events * BYTES_PER_EVENT))) {
    readAhead(part)
    yield
  }
  yield* readOthers(reader, snapshot.siteId, new Set(latest.map(({ id }) => id)), room)
}

/** Reads the segments that are not read yet, the newest first, each as of its step: segments are replaced meanwhile. */
function* readOthers(reader: EventReader, siteId: number, read: Set<number | undefined>, room: ReturnType<typeof createRoom>) {
  for (;;) {
    const part = reader.snapshot(siteId).parts.findLast(({ id }) => id !== undefined && !read.has(id))
    if (!part || !room.takes(part.visits * PACKED_BYTES_PER_VISIT + part.events * PACKED_BYTES_PER_EVENT)) return
    read.add(part.id)
    part.readAhead?.()
    yield
  }
}

/** Returns the parts of the last 30 days, the newest first. */
function latestParts({ parts }: Snapshot): Part[] {
  const latest = parts.reduce((latest, { maxStart }) => Math.max(latest, maxStart), 0)
  return parts.filter(({ maxStart }) => maxStart > latest - RANGE_MS).reverse()
}

/** Counts a number of bytes down. */
function createRoom(bytes: number) {
  let left = bytes
  return {
    takes(size: number): boolean {
      left -= size
      return left >= 0
    },
  }
}

function readAhead(part: Part): void {
  part.items?.()
  part.starts()
  part.event("offset")
  for (const column of READ_AHEAD) part.visit(column)
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
