import type { Part } from "../part.ts"
import { runSteps, type Steps } from "../steps.ts"

/** Number of rows per step: about a millisecond of work. */
const SLICE = 16_384

/** Event rows sorted by visit, time and sequence. Those of visit `v` are at the positions from `ends[v]` up to `ends[v + 1]`. */
export interface VisitOrder {
  order: Uint32Array
  ends: Uint32Array
}

type Tail = Pick<Part, "visits" | "event">

/** Returns the event rows of a tail, sorted by visit, time and sequence. */
export function orderOf(tail: Tail): Uint32Array {
  return runSteps(orderOfChosen(tail, new Uint8Array(tail.visits).fill(1))).order
}

/**
 * Sorts the events of the visits marked with 1, which must be closed: the tail may grow between two steps. The rows are already in
 * order of sequence, so a stable sort by time is sufficient.
 */
export function* orderOfChosen(tail: Tail, chosen: Uint8Array): Steps<VisitOrder> {
  const visits = tail.event("visit")
  const offsets = tail.event("offset")
  const ends = new Uint32Array(chosen.length + 1)
  for (let from = 0; from < visits.length; from += SLICE) {
    countEvents(visits.subarray(from, from + SLICE), chosen, ends)
    yield
  }
  for (let visit = 0; visit < chosen.length; visit++) ends[visit + 1]! += ends[visit]!
  const sorting = { visits, offsets, chosen, ends, filled: ends.slice(0, -1), order: new Uint32Array(ends.at(-1)!) }
  for (let from = 0; from < visits.length; from += SLICE) {
    placeEvents(sorting, from, Math.min(from + SLICE, visits.length))
    yield
  }
  return { order: sorting.order, ends }
}

function countEvents(visits: Uint32Array, chosen: Uint8Array, counts: Uint32Array): void {
  for (let row = 0; row < visits.length; row++) if (chosen[visits[row]!] === 1) counts[visits[row]! + 1]!++
}

interface Sorting extends VisitOrder {
  visits: Uint32Array
  offsets: Uint32Array
  chosen: Uint8Array
  /** Position after the last event of each visit that is already in `order`. */
  filled: Uint32Array
}

function placeEvents({ visits, offsets, chosen, ends, filled, order }: Sorting, from: number, to: number): void {
  for (let row = from; row < to; row++) {
    const visit = visits[row]!
    if (chosen[visit] !== 1) continue
    // An insertion sort: events mostly arrive in order of time, so the loop below rarely runs.
    let place = filled[visit]!++
    for (; place > ends[visit]! && offsets[order[place - 1]!]! > offsets[row]!; place--) order[place] = order[place - 1]!
    order[place] = row
  }
}
