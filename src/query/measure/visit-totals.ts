import { zeros } from "../../store/events/bytes/zeros.ts"
import type { Part } from "../../store/events/part.ts"
import { grownNumbers, grownSums } from "../filter/buffers.ts"
import type { CompiledFilter } from "../filter/filters.ts"
import { differs } from "../filter/masks.ts"
import { type Summable, takeFigures } from "../parts/sums.ts"
import type { Grouped, VisitSelection } from "./selection.ts"

/** Sums over V, or over Vₑ, by group. They add up the unfiltered totals of the visits. */
export interface VisitTotals extends Summable {
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

export interface TotalsOptions {
  /** The totals that are needed, other than the number of visits. */
  totals: readonly Total[]
  /** A visit with at least that much engaged time is not a bounce; Infinity disables this. */
  bounceEngagedMs: number
  exitPages?: ExitPages | undefined
}

export type Total = "pageviews" | "duration" | "engaged" | "bounced"

export function visitTotals(selected: VisitSelection, { totals, bounceEngagedMs, exitPages }: TotalsOptions): VisitTotals {
  const columnsOf = neededColumns(totals, bounceEngagedMs)
  let counts: Uint32Array = new Uint32Array(0)
  let sums: Float64Array = new Float64Array(0)
  const count = (place: number) => (group: number) => counts[group * COUNTS + place] ?? 0
  const sum = (place: number) => (group: number) => sums[group * SUMS + place] ?? 0
  return {
    read(part) {
      for (const visits of selected.visits(part)) {
        if (visits.count === 0) continue
        counts = grownNumbers(counts, selected.size() * COUNTS)
        sums = grownSums(sums, selected.size() * SUMS)
        if (totals.length === 0) countVisits(visits, counts)
        else if (!selected.isGrouped) addAll(visits, columnsOf(part), bounceEngagedMs, { counts, sums })
        else addTotals(visits, columnsOf(part), bounceEngagedMs, { counts, sums })
        if (exitPages) addExits(part, visits, exitPages, counts)
      }
    },
    take: () =>
      takeFigures(selected.size(), COUNTS + SUMS, (group, place) => {
        const [from, at] = place < COUNTS ? [counts, group * COUNTS + place] : [sums, group * SUMS + place - COUNTS]
        const figure = from[at] ?? 0
        from[at] = 0 // has no effect beyond the end
        return figure
      }),
    add({ groups, figures }) {
      counts = grownNumbers(counts, selected.size() * COUNTS)
      sums = grownSums(sums, selected.size() * SUMS)
      groups.forEach((group, i) => {
        const from = i * (COUNTS + SUMS)
        for (let place = 0; place < COUNTS; place++) counts[group * COUNTS + place]! += figures[from + place]!
        for (let place = 0; place < SUMS; place++) sums[group * SUMS + place]! += figures[from + COUNTS + place]!
      })
    },
    visits: count(VISITS),
    pageviews: count(PAGEVIEWS),
    durationMs: sum(DURATION),
    engagedMs: sum(ENGAGED),
    bounced: count(BOUNCED),
    exits: count(EXITS),
  }
}

/** The sums of a group are adjacent, so that a visit touches few cache lines. */
const COUNTS = 4
const VISITS = 0
const PAGEVIEWS = 1
const BOUNCED = 2
const EXITS = 3
const SUMS = 2
const DURATION = 0
const ENGAGED = 1

interface TotalColumns {
  pageviews: Uint32Array
  interactive: Uint32Array
  duration: Uint32Array
  engaged: Uint32Array
}

/** Returns the function that reads the columns of the totals. Zeros stand for a column that none of them needs. */
function neededColumns(totals: readonly Total[], bounceEngagedMs: number): (part: Part) => TotalColumns {
  const bounces = totals.includes("bounced")
  const read = (part: Part, name: keyof TotalColumns, isNeeded: boolean) => (isNeeded ? part.visit(name) : zeros(part.visits))
  return (part) => ({
    pageviews: read(part, "pageviews", bounces || totals.includes("pageviews")),
    interactive: read(part, "interactive", bounces),
    duration: read(part, "duration", totals.includes("duration")),
    engaged: read(part, "engaged", totals.includes("engaged") || (bounces && bounceEngagedMs < Infinity)),
  })
}

function countVisits({ groups, count }: Grouped, counts: Uint32Array): void {
  for (let i = 0; i < count; i++) counts[groups[i]! * COUNTS + VISITS]!++
}

interface Sums {
  counts: Uint32Array
  sums: Float64Array
}

/** Adds the totals of visits without groups: the sums stay in registers. */
function addAll(
  { rows, count }: Grouped,
  { pageviews, interactive, duration, engaged }: TotalColumns,
  bounceEngagedMs: number,
  { counts, sums }: Sums,
): void {
  let allViews = 0
  let bounced = 0
  let allDuration = 0
  let allEngaged = 0
  for (let i = 0; i < count; i++) {
    const visit = rows[i]!
    const views = pageviews[visit]!
    allViews += views
    bounced += engaged[visit]! < bounceEngagedMs ? isShort(views, interactive[visit]!) : 0
    allDuration += duration[visit]!
    allEngaged += engaged[visit]!
  }
  counts[VISITS]! += count
  counts[PAGEVIEWS]! += allViews
  counts[BOUNCED]! += bounced
  sums[DURATION]! += allDuration
  sums[ENGAGED]! += allEngaged
}

/** Returns 1 for at most one pageview and no interactive custom event. */
const isShort = (pageviews: number, interactive: number): number => (1 - differs(pageviews >>> 1, 0)) & (1 - differs(interactive, 0))

function addTotals(
  { rows, groups, count }: Grouped,
  { pageviews, interactive, duration, engaged }: TotalColumns,
  bounceEngagedMs: number,
  { counts, sums }: Sums,
): void {
  for (let i = 0; i < count; i++) {
    const visit = rows[i]!
    const place = groups[i]! * COUNTS
    const sum = groups[i]! * SUMS
    const views = pageviews[visit]!
    counts[place + VISITS]!++
    counts[place + PAGEVIEWS]! += views
    counts[place + BOUNCED]! += engaged[visit]! < bounceEngagedMs ? isShort(views, interactive[visit]!) : 0
    sums[sum + DURATION]! += duration[visit]!
    sums[sum + ENGAGED]! += engaged[visit]!
  }
}

function addExits(part: Part, { rows, groups, count }: Grouped, { filter, pageOf }: ExitPages, counts: Uint32Array): void {
  const mask = filter.visits(part)
  const exitPage = part.visit("exit_page")
  for (let i = 0; i < count; i++) {
    const visit = rows[i]!
    if (mask !== "all" && mask[visit] === 0) continue
    if (pageOf === undefined || pageOf(groups[i]!) === exitPage[visit]) counts[groups[i]! * COUNTS + EXITS]!++
  }
}
