import type { EventReader, Part, Snapshot, StoredSums, VisitColumn } from "../../store/events/part.ts"
import { readMonths, readVisitors } from "../parts/months.ts"
import { summarize, usualReports } from "./usual-reports.ts"

const DAY_MS = 86_400_000
/** Most likely range of the first query. */
const RANGE_MS = 30 * DAY_MS
/** Share of the cache that is filled with stored sums of months. */
const SUMS_SHARE = 0.1
/** Size of a visit in the decoded columns of a summary, and in those of `READ_AHEAD`; size of an event in items and offset. */
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
 * 30 days of the site with the most data, then the columns of its other reports. Then the code of the usual reports is compiled, and the
 * sums of months that were stored before are read, and who has several visits in the usual ranges is found out; at last what most reports
 * need of earlier days, in its packed form. All of that stays in the cache, of which three quarters are used. The caller may pause or stop
 * after any step.
 */
export function* warmUp(reader: EventReader, cacheBytes: number): Generator<void> {
  const siteId = reader.fullestSite() ?? 0
  const snapshot = reader.snapshot(siteId)
  yield
  const latest = latestParts(snapshot)
  const newest = snapshot.parts.reduce((newest, { id = 0 }) => Math.max(newest, id), 0)
  const room = createRoom(cacheBytes * 0.75)
  for (const part of latest.filter(({ visits }) => room.takes(visits * BYTES_PER_VISIT))) {
    summarize({ ...snapshot, ...apart() }, part)
    yield
  }
  const read = latest.filter(({ visits, events }) => room.takes(visits * MORE_BYTES_PER_VISIT + events * BYTES_PER_EVENT))
  for (const part of read) {
    readAhead(part)
    yield
  }
  yield* usualReports(sampling(reader, siteId, read.length))
  yield* readMonths(reader.snapshot(siteId), cacheBytes * SUMS_SHARE)
  yield* readVisitorsOfRanges(reader, siteId, new Set(read.map(({ id }) => id)))
  yield* readOthers(reader, siteId, { read: new Set(latest.map(({ id }) => id)), newest, room })
}

/** The ranges that people ask for most, in days (UTC) up to that of the newest visit. Elsewhere, mostly the same segments are in them. */
const USUAL_DAYS = [28, 30, 365]

function* readVisitorsOfRanges(reader: EventReader, siteId: number, read: ReadonlySet<number | undefined>): Generator<void> {
  for (const days of USUAL_DAYS) {
    const snapshot = reader.snapshot(siteId)
    if (snapshot.parts.length === 0) return
    const latest = snapshot.parts.reduce((latest, { maxStart }) => Math.max(latest, maxStart), 0)
    const to = (Math.floor(latest / DAY_MS) + 1) * DAY_MS
    readVisitors(snapshot, { from: to - days * DAY_MS, to }, ({ id }) => id === undefined || read.has(id))
    yield
  }
}

interface Others {
  /** Ids of the segments that are read already. */
  read: Set<number | undefined>
  /** Id of the last segment to read. A back-fill adds segments as fast as they are read. */
  newest: number
  room: ReturnType<typeof createRoom>
}

/** Reads the segments that are not read yet, the newest first, each as of its step: segments are replaced meanwhile. */
function* readOthers(reader: EventReader, siteId: number, { read, newest, room }: Others) {
  for (;;) {
    const part = reader.snapshot(siteId).parts.findLast(({ id }) => id !== undefined && id <= newest && !read.has(id))
    if (!part || !room.takes(part.visits * PACKED_BYTES_PER_VISIT + part.events * PACKED_BYTES_PER_EVENT)) return
    read.add(part.id)
    part.readAhead?.()
    yield
  }
}

/** Number of the newest parts that the usual reports read. They are enough for a month that is inside the range. */
const NEWEST = 3

/** Returns the function that opens snapshots of the newest and the oldest of the last `count` parts. Their reports are kept together. */
function sampling(reader: EventReader, siteId: number, count: number): () => Snapshot {
  const kept = apart()
  return () => {
    const snapshot = reader.snapshot(siteId)
    const latest = latestParts(snapshot).slice(0, count)
    return { ...snapshot, ...kept, parts: latest.filter((_, place) => place < NEWEST || place === latest.length - 1).reverse() }
  }
}

/** Returns what keeps reports apart from those of people: a month of which only some segments are read would seem to be read already. */
function apart(): Pick<Snapshot, "results"> & { sums: StoredSums } {
  const kept = new Map<string, unknown>()
  return {
    results: {
      get: (key, version) => kept.get(`${key} ${version}`),
      set: (key, version, result) => void kept.set(`${key} ${version}`, result),
    },
    sums: { find: () => undefined, names: () => [], set: () => {} },
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
  void part.items?.()?.visits
  part.starts()
  part.event("offset")
  for (const column of READ_AHEAD) part.visit(column)
}
