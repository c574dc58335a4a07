import type { Part } from "../part.ts"
import { atOnce, type Steps } from "../steps.ts"

/** Rows that are looked at before others may run: about a millisecond's work. */
const SLICE = 32_768

/** Event rows of chosen visits by visit, then time, then sequence; those of a visit lie from its entry in `ends` to the next one. */
export interface VisitOrder {
  order: Uint32Array
  ends: Uint32Array
}

type Tail = Pick<Part, "visits" | "event">

/** Event rows by visit, then time, then sequence. */
export function orderOf(tail: Tail): Uint32Array {
  return atOnce(orderOfChosen(tail, new Uint8Array(tail.visits).fill(1))).order
}

/**
 * The same of the visits marked 1, to which nothing comes any more; the tail may grow between two steps. Rows come in order of
 * sequence, so a stable sort by time is enough.
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
  /** Up to where the place of each visit is filled. */
  filled: Uint32Array
}

function placeEvents({ visits, offsets, chosen, ends, filled, order }: Sorting, from: number, to: number): void {
  for (let row = from; row < to; row++) {
    const visit = visits[row]!
    if (chosen[visit] !== 1) continue
    // Nearly always the last: events mostly arrive in order of time.
    let place = filled[visit]!++
    for (; place > ends[visit]! && offsets[order[place - 1]!]! > offsets[row]!; place--) order[place] = order[place - 1]!
    order[place] = row
  }
}
