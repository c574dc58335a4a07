import type { Part } from "../../store/events/part.ts"
import { grownSums } from "../filter/buffers.ts"
import type { CompiledFilter } from "../filter/filters.ts"
import type { Grouped, VisitSelection } from "./selection.ts"

/** Sums over V, or over Vₑ, by group. They add up the unfiltered totals of the visits. */
export interface VisitTotals {
  read(part: Part): void
  visits(group: number): number
  pageviews(group: number): number
  durationMs(group: number): number
  engagedMs(group: number): number
  bounced(group: number): number
  /** Returns the number of visits whose exit page is the page of the group or of the filter. */
  exits(group: number): number
}

export interface ExitPages {
  /** The filter with its page conditions tested on the exit page. */
  filter: CompiledFilter
  /** Returns the page of a group. Undefined without a grouping by page. */
  pageOf: ((group: number) => number) | undefined
}

/** Creates the sums. A visit with at least `bounceEngagedMs` of engaged time is not a bounce; Infinity disables this. */
export function visitTotals(selected: VisitSelection, bounceEngagedMs: number, exitPages?: ExitPages): VisitTotals {
  let cells: Float64Array = new Float64Array(0)
  const sum = (place: number) => (group: number) => cells[group * STRIDE + place] ?? 0
  return {
    read(part) {
      const visits = selected.visits(part)
      cells = grownSums(cells, selected.size() * STRIDE)
      addTotals(visits, columnsOf(part), bounceEngagedMs, cells)
      if (exitPages) addExits(part, visits, exitPages, cells)
    },
    visits: sum(VISITS),
    pageviews: sum(PAGEVIEWS),
    durationMs: sum(DURATION),
    engagedMs: sum(ENGAGED),
    bounced: sum(BOUNCED),
    exits: sum(EXITS),
  }
}

/** The sums of a group are adjacent, so that a visit touches few cache lines. */
const STRIDE = 6
const VISITS = 0
const PAGEVIEWS = 1
const DURATION = 2
const ENGAGED = 3
const BOUNCED = 4
const EXITS = 5

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
  cells: Float64Array,
): void {
  for (let i = 0; i < count; i++) {
    const visit = rows[i]!
    const cell = groups[i]! * STRIDE
    cells[cell + VISITS]!++
    cells[cell + PAGEVIEWS]! += pageviews[visit]!
    cells[cell + DURATION]! += duration[visit]!
    cells[cell + ENGAGED]! += engaged[visit]!
    // `interactive` counts the visit's interactive custom events.
    if (pageviews[visit]! <= 1 && interactive[visit] === 0 && engaged[visit]! < bounceEngagedMs) cells[cell + BOUNCED]!++
  }
}

function addExits(part: Part, { rows, groups, count }: Grouped, { filter, pageOf }: ExitPages, cells: Float64Array): void {
  const mask = filter.visits(part)
  const exitPage = part.visit("exit_page")
  for (let i = 0; i < count; i++) {
    const visit = rows[i]!
    if (mask !== "all" && mask[visit] === 0) continue
    if (pageOf === undefined || pageOf(groups[i]!) === exitPage[visit]) cells[groups[i]! * STRIDE + EXITS]!++
  }
}
