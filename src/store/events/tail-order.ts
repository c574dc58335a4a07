import type { Part } from "./part.ts"

/** Event rows by visit, then time, then sequence. Rows come in order of sequence, so a stable sort by time is enough. */
export function orderOf(tail: Pick<Part, "visits" | "event">): Uint32Array {
  const visits = tail.event("visit")
  const offsets = tail.event("offset")
  const ends = new Uint32Array(tail.visits + 1)
  for (const visit of visits) ends[visit + 1]!++
  for (let visit = 0; visit < tail.visits; visit++) ends[visit + 1]! += ends[visit]!
  const order = new Uint32Array(visits.length)
  const filled = ends.slice(0, tail.visits)
  for (let row = 0; row < visits.length; row++) {
    const visit = visits[row]!
    // Nearly always the last: events mostly arrive in order of time.
    let place = filled[visit]!++
    for (; place > ends[visit]! && offsets[order[place - 1]!]! > offsets[row]!; place--) order[place] = order[place - 1]!
    order[place] = row
  }
  return order
}
