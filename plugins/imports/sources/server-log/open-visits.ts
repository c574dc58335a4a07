import { VISIT_IDLE_MS } from "#plugin/worker"
import { NEAR_MS } from "./coverage.ts"

/**
 * Visits that were still open when the log ended. Their rows wait for the next run of the stream, which may contain the rest of the visit.
 * They name visitors by keyed hashes and contain no addresses.
 */
export interface WaitingRow {
  /** Time of the run that first held the row back, as epoch milliseconds. Absent for a row that this run has read. */
  since?: number
}

/** Maximum time that a row waits for the rest of its visit. */
export const MAX_WAIT_MS = VISIT_IDLE_MS

/**
 * Returns whether another event can still join a visit, given the time of its last event and the end of the log. Lines can follow that
 * belong shortly before the end, because logs are not strictly in order.
 */
export const isOpen = (lastAt: number, readTo: number): boolean => lastAt >= readTo - NEAR_MS - VISIT_IDLE_MS

/** Returns whether rows have waited long enough to be written without the rest of their visit. */
export const isDue = (since: number, now: number): boolean => now - since >= MAX_WAIT_MS

interface HoldOptions {
  /** Time of the last row of the visit. */
  lastAt: number
  /** End of the newest covered interval. */
  readTo: number
  /** Time of the run. */
  now: number
}

/**
 * Returns the time since which the rows of a visit wait for its rest, or undefined for a visit that is to be written. Rows that join a
 * waiting visit keep the time of its first one, so that a visit that goes on and on is written too.
 */
export function waitingSince(visit: readonly WaitingRow[], { lastAt, readTo, now }: HoldOptions): number | undefined {
  const since = visit.reduce((earliest, row) => Math.min(earliest, row.since ?? now), now)
  return isOpen(lastAt, readTo) && !isDue(since, now) ? since : undefined
}
