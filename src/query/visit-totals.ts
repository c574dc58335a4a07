import type { Part } from "../store/events/part.ts"
import { grownNumbers, grownSums } from "./buffer.ts"
import type { CompiledFilter } from "./filters.ts"
import type { Grouped, VisitSelection } from "./selection.ts"

/** What is summed over V, or over Vₑ, by group. Sums are of the visits' own totals, unfiltered. */
export interface VisitTotals {
  read(part: Part): void
  visits(group: number): number
  pageviews(group: number): number
  durationMs(group: number): number
  engagedMs(group: number): number
  bounced(group: number): number
  /** Visits whose exit page is the page that the group or the filter names. */
  exits(group: number): number
}

export interface ExitPages {
  /** The filter with its page leaves tested on the exit page. */
  filter: CompiledFilter
  /** The page of a group; undefined without a grouping by page. */
  pageOf: ((group: number) => number) | undefined
}

interface Sums {
  visits: Uint32Array
  bounced: Uint32Array
  exits: Uint32Array
  pageviews: Float64Array
  duration: Float64Array
  engaged: Float64Array
}

/** `bounceEngagedMs`: from this engaged time on a visit is no bounce; Infinity when the site counts none. */
export function visitTotals(selected: VisitSelection, bounceEngagedMs: number, exitPages?: ExitPages): VisitTotals {
  let sums: Sums = grown(NOTHING, 0)
  return {
    read(part) {
      const visits = selected.visits(part)
      sums = grown(sums, selected.size())
      addTotals(visits, columnsOf(part), bounceEngagedMs, sums)
      if (exitPages) addExits(part, visits, exitPages, sums.exits)
    },
    visits: (group) => sums.visits[group] ?? 0,
    pageviews: (group) => sums.pageviews[group] ?? 0,
    durationMs: (group) => sums.duration[group] ?? 0,
    engagedMs: (group) => sums.engaged[group] ?? 0,
    bounced: (group) => sums.bounced[group] ?? 0,
    exits: (group) => sums.exits[group] ?? 0,
  }
}

const NOTHING: Sums = {
  visits: new Uint32Array(0),
  bounced: new Uint32Array(0),
  exits: new Uint32Array(0),
  pageviews: new Float64Array(0),
  duration: new Float64Array(0),
  engaged: new Float64Array(0),
}

const grown = (sums: Sums, size: number): Sums => ({
  visits: grownNumbers(sums.visits, size),
  bounced: grownNumbers(sums.bounced, size),
  exits: grownNumbers(sums.exits, size),
  pageviews: grownSums(sums.pageviews, size),
  duration: grownSums(sums.duration, size),
  engaged: grownSums(sums.engaged, size),
})

const columnsOf = (part: Part) => ({
  pageviews: part.visit("pageviews"),
  interactive: part.visit("interactive"),
  duration: part.visit("duration"),
  engaged: part.visit("engaged"),
})

function addTotals(
  { rows, groups, count }: Grouped,
  { pageviews, interactive, duration, engaged }: ReturnType<typeof columnsOf>,
  bounceEngagedMs: number,
  sums: Sums,
): void {
  const { visits, bounced, pageviews: pageviewSums, duration: durationSums, engaged: engagedSums } = sums
  for (let i = 0; i < count; i++) {
    const group = groups[i]!
    const visit = rows[i]!
    visits[group]!++
    pageviewSums[group]! += pageviews[visit]!
    durationSums[group]! += duration[visit]!
    engagedSums[group]! += engaged[visit]!
    // `interactive` counts the visit's interactive custom events.
    if (pageviews[visit]! <= 1 && interactive[visit] === 0 && engaged[visit]! < bounceEngagedMs) bounced[group]!++
  }
}

function addExits(part: Part, { rows, groups, count }: Grouped, { filter, pageOf }: ExitPages, exits: Uint32Array): void {
  const mask = filter.visits(part)
  const exitPage = part.visit("exit_page")
  for (let i = 0; i < count; i++) {
    const visit = rows[i]!
    if (mask !== "all" && mask[visit] === 0) continue
    if (pageOf === undefined || pageOf(groups[i]!) === exitPage[visit]) exits[groups[i]!]!++
  }
}
