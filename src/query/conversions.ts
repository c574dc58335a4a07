import type { Part } from "../store/events/part.ts"
import { grownNumbers, NumberBuffer } from "./buffer.ts"
import { createFirsts } from "./event-counts.ts"
import type { CompiledGoals } from "./goals.ts"
import { distinctVisitors } from "./pair-set.ts"
import { type Chosen, groupedLists, matchingCompletions } from "./selection.ts"

/** Completions of the goals in question (metrics.md section 11), by group. */
export interface Conversions {
  read(part: Part): void
  count(group: number): number
  /** Distinct visitors with one, once all parts are read. */
  visitors(): Uint32Array
}

/**
 * A completion counts when its event lies in the range and satisfies the filter; the report that reaches the threshold of
 * a scroll goal counts as such an event whether or not the filter names a goal.
 */
export function conversions(chosen: Chosen, goals: CompiledGoals, visitorLimit: number): Conversions {
  const lists = groupedLists(chosen)
  const visitors = distinctVisitors(chosen.sources.length > 0, visitorLimit)
  const firsts = createFirsts(visitors)
  const spare = { rows: new NumberBuffer(), goals: new NumberBuffer() }
  let counts: Uint32Array = new Uint32Array(0)
  return {
    read(part) {
      const list = matchingCompletions(part, chosen.filter.rows(part), goals, spare, { range: chosen.range, clock: "event" })
      if (list.count === 0) return
      const grouped = lists.grouped(part, list, "event")
      counts = grownNumbers(counts, chosen.index.size)
      countGroups(grouped.groups, grouped.count, counts)
      firsts.events(part, grouped, chosen.index.size)
    },
    count: (group) => counts[group] ?? 0,
    visitors: () => visitors.counts(chosen.index.size),
  }
}

function countGroups(groups: Uint32Array, count: number, counts: Uint32Array): void {
  for (let i = 0; i < count; i++) counts[groups[i]!]!++
}
