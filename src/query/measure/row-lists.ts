import type { Range } from "../../domain/query.ts"
import { differs, isCounted } from "../filter/masks.ts"

/**
 * Kernels that make and narrow lists of rows, ascending. Where `out` may be the list itself, a row is read before its place
 * is written. Each returns how many rows the list has.
 */

/** Where the events of a part lie in time. */
interface EventTimes {
  visit: Uint32Array
  offset: Uint32Array
  starts: Float64Array
}

export function listMarked(mask: Uint8Array, mark: number, out: Uint32Array): number {
  let count = 0
  for (let row = 0; row < mask.length; row++) {
    // Written always and kept sometimes, without a branch.
    out[count] = row
    count += 1 - differs(mask[row]!, mark)
  }
  return count
}

/** Rows of counted events: `listMarked` of `fillCounted` in one walk. */
export function listCounted(name: Uint32Array, out: Uint32Array): number {
  let count = 0
  for (let row = 0; row < name.length; row++) {
    out[count] = row
    count += isCounted(name[row]!)
  }
  return count
}

export function listAll(length: number, out: Uint32Array): number {
  for (let row = 0; row < length; row++) out[row] = row
  return length
}

export function keepMarked(rows: Uint32Array, count: number, mask: Uint8Array, out: Uint32Array): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i]!
    out[kept] = row
    kept += mask[row]!
  }
  return kept
}

/** Events whose time lies in the range. */
export function keepInRange(rows: Uint32Array, count: number, { visit, offset, starts }: EventTimes, { from, to }: Range): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    const at = starts[visit[rows[i]!]!]! + offset[rows[i]!]!
    if (at >= from && at < to) rows[kept++] = rows[i]!
  }
  return kept
}

/** Events whose visit starts in the range. */
export function keepStartedInRange(
  rows: Uint32Array,
  count: number,
  { visit, starts }: Pick<EventTimes, "visit" | "starts">,
  { from, to }: Range,
): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    const start = starts[visit[rows[i]!]!]!
    if (start >= from && start < to) rows[kept++] = rows[i]!
  }
  return kept
}

/** Visits that start in the range. */
export function keepStarts(visits: Uint32Array, count: number, starts: Float64Array, { from, to }: Range): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    const start = starts[visits[i]!]!
    if (start >= from && start < to) visits[kept++] = visits[i]!
  }
  return kept
}

/** What `markSplit` says of a visit. */
export const WHOLE = 1
export const SPLIT = 2

/**
 * Marks each visit by its counted events: WHOLE when all of them lie in one bucket, SPLIT when an edge lies between them,
 * 0 when none lies inside the edges.
 */
export function markSplit(mask: Uint8Array, starts: Float64Array, duration: Uint32Array, edges: Float64Array): void {
  const last = edges.length - 1
  let bucket = 0
  for (let visit = 0; visit < mask.length; visit++) {
    const start = starts[visit]!
    const end = start + duration[visit]!
    if (end < edges[0]! || start >= edges[last]!) {
      mask[visit] = 0
      continue
    }
    if (start < edges[0]!) {
      mask[visit] = SPLIT
      continue
    }
    if (start < edges[bucket]! || start >= edges[bucket + 1]!) bucket = bucketAt(edges, start)
    mask[visit] = end < edges[bucket + 1]! ? WHOLE : SPLIT
  }
}

/** The bucket of an instant between the first and the last edge. */
export function bucketAt(edges: Float64Array, at: number): number {
  let low = 0
  let high = edges.length - 2
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (edges[middle]! <= at) low = middle
    else high = middle - 1
  }
  return low
}

/** Counted events of chosen visits; `visit` is ascending. `out` has room for all events of the part. */
export function listEventsOf(visits: Uint32Array, count: number, visit: Uint32Array, name: Uint32Array, out: Uint32Array): number {
  let found = 0
  for (let i = 0; i < count; i++) {
    const wanted = visits[i]!
    for (let row = firstAtLeast(visit, wanted); row < visit.length && visit[row] === wanted; row++) {
      out[found] = row
      found += isCounted(name[row]!)
    }
  }
  return found
}

/** The first place of an ascending column whose number is not below the wanted one; its length when there is none. */
export function firstAtLeast(column: Uint32Array, wanted: number): number {
  let low = 0
  let high = column.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (column[middle]! < wanted) low = middle + 1
    else high = middle
  }
  return low
}

/** Kernels that narrow, in place, a list of completions: rows of events, each with its goal. Each returns the new length. */

interface Pairs {
  rows: Uint32Array
  goals: Uint32Array
  count: number
}

export function keepMarkedPairs({ rows, goals, count }: Pairs, mask: Uint8Array): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    if (mask[rows[i]!] === 0) continue
    rows[kept] = rows[i]!
    goals[kept++] = goals[i]!
  }
  return kept
}

/** Those whose event, or without offsets whose visit's start, lies in the range. */
export function keepTimedPairs(
  { rows, goals, count }: Pairs,
  { visit, offset, starts }: { visit: Uint32Array; offset: Uint32Array | undefined; starts: Float64Array },
  { from, to }: Range,
): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i]!
    const at = starts[visit[row]!]! + (offset ? offset[row]! : 0)
    if (at < from || at >= to) continue
    rows[kept] = row
    goals[kept++] = goals[i]!
  }
  return kept
}
