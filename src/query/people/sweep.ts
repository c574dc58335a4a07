import type { Part } from "../../store/events/part.ts"
import { ALWAYS, type PeopleVisits } from "./visits.ts"

/** Visits of one part that start in one stretch of time. */
export interface Stretch {
  /** Visitor by visit. */
  visitor: Uint32Array
  /** Order of the visits by start. Undefined when the rows are in this order. */
  order: Uint32Array | undefined
  /** By visit: NOT_COUNTED, KNOWN, or ACTIVE when it makes the person active. */
  marks: Uint8Array
  /** Range of the positions in the order, half-open. */
  from: number
  to: number
}

export const NOT_COUNTED = 0
export const KNOWN = 1
export const ACTIVE = 2

interface OpenPart extends Stretch {
  starts: Float64Array
}

/**
 * Reads the visits of people in order of time, stretch by stretch: first those before the first edge, with the index -1, then those
 * between each two edges. The order within a stretch is undefined. Only the parts around the current stretch are in memory.
 */
export function sweep(
  visits: PeopleVisits,
  edges: readonly number[],
  check: () => void,
  read: (stretch: Stretch, index: number) => void,
): void {
  const parts = visits.parts.toSorted((a, b) => a.minStart - b.minStart)
  let next = 0
  let open: OpenPart[] = []
  for (let index = -1; index < edges.length - 1; index++) {
    const end = edges[index + 1]!
    for (; next < parts.length && parts[next]!.minStart < end; next++) open.push(openPart(visits, parts[next]!))
    check()
    for (const part of open) {
      part.from = part.to
      part.to = endOf(part, end)
      read(part, index)
    }
    open = open.filter((part) => part.to < part.marks.length)
  }
}

function openPart(visits: PeopleVisits, part: Part): OpenPart {
  const marks = new Uint8Array(part.visits)
  const known = visits.known(part, ALWAYS)
  mark(marks, known.rows, known.count, KNOWN)
  visits.keepActive(part, known)
  mark(marks, known.rows, known.count, ACTIVE)
  const starts = part.starts()
  return { visitor: part.visit("visitor"), starts, order: orderByStart(starts), marks, from: 0, to: 0 }
}

function mark(marks: Uint8Array, rows: Uint32Array, count: number, value: number): void {
  for (let i = 0; i < count; i++) marks[rows[i]!] = value
}

/** Returns the visits ordered by start, or undefined when they are in order, as in columnar segments. */
function orderByStart(starts: Float64Array): Uint32Array | undefined {
  for (let visit = 1; visit < starts.length; visit++) {
    if (starts[visit]! < starts[visit - 1]!) return Uint32Array.from(starts.keys()).sort((a, b) => starts[a]! - starts[b]!)
  }
  return undefined
}

/** Returns the position after the last visit that starts before `end`. */
function endOf({ order, starts, to }: OpenPart, end: number): number {
  let at = to
  while (at < starts.length && starts[order === undefined ? at : order[at]!]! < end) at++
  return at
}
