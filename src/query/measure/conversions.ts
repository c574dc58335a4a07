import type { Part } from "../../store/events/part.ts"
import { grownNumbers, NumberBuffer } from "../filter/buffers.ts"
import type { CompiledGoals } from "../filter/goals.ts"
import { type Summable, takeFigures } from "../parts/sums.ts"
import type { CountedEvents } from "./counted-events.ts"
import { eventCounts, type Visitors } from "./event-counts.ts"
import { type Chosen, type Grouped, groupedLists, matchingCompletions, type Selection } from "./selection.ts"

/** Completions of the selected goals (metrics.md section 11), by group. */
export interface Conversions {
  read(part: Part): void
  /** The numbers of completions, and the converting visitors. */
  sums: readonly Summable[]
  count(group: number): number
  /** Returns the number of converting visitors by group. Called once all parts are read. */
  visitors(): (group: number) => number
}

/**
 * Counts completions. A completion counts when its event is in the range and satisfies the filter. The report that reaches the
 * threshold of a scroll goal counts as such an event even if the filter names no goal. In a grouping by goal E consists of the
 * completions, and every visitor of a row has converted, so `selected` is used directly.
 */
export function conversions(chosen: Chosen, selected: Selection, goals: CompiledGoals, visitors: Visitors): Conversions {
  const completions = chosen.goals ? selected.events : completionsOf(chosen, goals)
  const isGrouped = chosen.sources.length > 0
  const none = () => undefined
  const converting = eventCounts({ isGrouped, size: selected.size, whole: none, counted: none, events: completions }, visitors)
  let counts: Uint32Array = new Uint32Array(0)
  return {
    read(part) {
      const counted = chosen.goals && selected.counted(part)
      const grouped = counted ? undefined : completions(part)
      counts = grownNumbers(counts, selected.size())
      if (counted) addSums(counted.sums, counts)
      if (grouped) countGroups(grouped.groups, grouped.count, counts)
      if (!chosen.goals) converting.read(part)
    },
    sums: [
      {
        take: () =>
          takeFigures(selected.size(), 1, (group) => {
            const figure = counts[group] ?? 0
            counts[group] = 0 // has no effect beyond the end
            return figure
          }),
        add({ groups, figures }) {
          counts = grownNumbers(counts, selected.size())
          groups.forEach((group, i) => {
            counts[group]! += figures[i]!
          })
        },
      },
      converting,
    ],
    count: (group) => counts[group] ?? 0,
    visitors: converting.visitors,
  }
}

function completionsOf(chosen: Chosen, goals: CompiledGoals): (part: Part) => Grouped {
  const lists = groupedLists(chosen)
  const spare = { rows: new NumberBuffer(), goals: new NumberBuffer() }
  let known: { part: Part; grouped: Grouped } | undefined
  return (part) => {
    if (known?.part === part) return known.grouped
    const list = matchingCompletions(part, chosen.filter.rows(part), goals, spare, { range: chosen.range, clock: "event" })
    known = { part, grouped: lists.grouped(part, list, "event") }
    return known.grouped
  }
}

function addSums({ groups, events }: CountedEvents["sums"], counts: Uint32Array): void {
  for (let i = 0; i < groups.length; i++) counts[groups[i]!]! += events[i]!
}

function countGroups(groups: Uint32Array, count: number, counts: Uint32Array): void {
  for (let i = 0; i < count; i++) counts[groups[i]!]!++
}
