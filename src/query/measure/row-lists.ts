import type { Range } from "../../domain/query.ts"
import { firstAtLeast } from "../../store/events/bytes/ascending.ts"
import { differs, isCounted } from "../filter/masks.ts"
import { bucketAt } from "../parse/buckets.ts"

/**
 * Kernels that create and reduce ascending lists of rows. `out` can be the list itself, because each row is read before its position is
 * written. Each returns the length of the list.
 */

/** The columns that the times of events are computed from. */
interface EventTimes {
  visit: Uint32Array
  offset: Uint32Array
  starts: Float64Array
}

export function listMarked(mask: Uint8Array, mark: number, out: Uint32Array): number {
  let count = 0
  for (let row = 0; row < mask.length; row++) {
    // Every row is written, and overwritten if it is not marked, which avoids a branch.
    out[count] = row
    count += 1 - differs(mask[row]!, mark)
  }
  return count
}

/** Lists the counted events: `listMarked` of `fillCounted` in one pass. */
export function listCounted(name: Uint32Array, out: Uint32Array): number {
  let count = 0
  for (let row = 0; row < name.length; row++) {
    out[count] = row
    count += isCounted(name[row]!)
  }
  return count
}

export function listAll(length: number, out: Uint32Array): number {
  out.set(everyRow(length))
  return length
}

let every = new Uint32Array(0)
/** Returns the rows from 0 up to, but not including, `length`. The array is shared and must not be written to. */
export function everyRow(length: number): Uint32Array {
  if (every.length < length) every = Uint32Array.from({ length: Math.max(length, 65_536) }, (_, row) => row)
  return every.subarray(0, length)
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

/** Keeps the events in the range. */
export function keepInRange(rows: Uint32Array, count: number, { visit, offset, starts }: EventTimes, { from, to }: Range): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    const at = starts[visit[rows[i]!]!]! + offset[rows[i]!]!
    if (at >= from && at < to) rows[kept++] = rows[i]!
  }
  return kept
}

/** Keeps the events whose visit starts in the range. */
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

/** Keeps the visits that start in the range. */
export function keepStarts(visits: Uint32Array, count: number, starts: Float64Array, { from, to }: Range): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    const start = starts[visits[i]!]!
    if (start >= from && start < to) visits[kept++] = visits[i]!
  }
  return kept
}

/**
 * Lists the visits by their counted events: `whole` when all of them are in one bucket, `split` when an edge is between them. Visits
 * without an event inside the edges are in neither list.
 */
export function divideVisits(
  starts: Float64Array,
  duration: Uint32Array,
  edges: Float64Array,
  whole: Uint32Array,
  split: Uint32Array,
): { whole: number; split: number } {
  const [first, last] = [edges[0]!, edges[edges.length - 1]!]
  let [from, to] = [first, edges[1]!]
  let wholeCount = 0
  let splitCount = 0
  for (let visit = 0; visit < duration.length; visit++) {
    const start = starts[visit]!
    const end = start + duration[visit]!
    if (end < first || start >= last) continue
    // Visits that follow each other mostly start in the same bucket.
    if (start >= first && (start < from || start >= to)) {
      const bucket = bucketAt(edges, start)
      from = edges[bucket]!
      to = edges[bucket + 1]!
    }
    if (start >= first && end < to) whole[wholeCount++] = visit
    else split[splitCount++] = visit
  }
  return { whole: wholeCount, split: splitCount }
}

/** Lists the counted events of chosen visits. `visit` must be ascending, and `out` must have room for all events of the part. */
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

/** Kernels that reduce a list of completions in place: rows of events, each with its goal. Each returns the new length. */

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

/** Keeps the completions whose event is in the range, or without offsets those whose visit starts in the range. */
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
