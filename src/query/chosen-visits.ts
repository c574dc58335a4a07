import type { RowsQuery, VisitsWeight } from "../domain/query.ts"
import type { Part, Snapshot } from "../store/events/part.ts"
import { rowChoice } from "./row-choice.ts"

/**
 * What removing visits needs to know of them: whole visits that start in the range and have an event, at any time, that
 * satisfies the filter. They go with all of their events.
 */

/** How many there are, and their pageviews and custom events. */
export function visitsWeight(snapshot: Snapshot, query: RowsQuery, check: () => void): VisitsWeight {
  const weight = { visits: 0, events: 0 }
  forEachChosen(snapshot, query, check, (part, visit) => {
    weight.visits++
    weight.events += part.visit("events")[visit]!
  })
  return weight
}

/** The sequences of their first events, ascending: what names a visit in every part that may hold it by then. */
export function chosenVisits(snapshot: Snapshot, query: RowsQuery, check: () => void): Float64Array {
  const found: number[] = []
  forEachChosen(snapshot, query, check, (part, visit) => void found.push(part.sequences()[visit]!))
  return Float64Array.from(found).sort()
}

function forEachChosen(snapshot: Snapshot, query: RowsQuery, check: () => void, take: (part: Part, visit: number) => void): void {
  const choice = rowChoice(snapshot, { ...query, of: "visits" })
  for (const part of snapshot.parts) {
    if (part.visits === 0 || !choice.isIn(part)) continue
    check()
    const [starts, mask] = [part.starts(), choice.visits(part)]
    for (let visit = 0; visit < part.visits; visit++) {
      if (starts[visit]! < choice.startsFrom || starts[visit]! >= choice.startsTo) continue
      if (mask === "all" || mask[visit] === 1) take(part, visit)
    }
  }
}
