import { type EngagementColumns, NO_SCROLL, type Part } from "../../store/events/part.ts"
import { grownNumbers, grownSums, NumberBuffer } from "../filter/buffers.ts"
import { groupIndex } from "./group-index.ts"
import { type GroupedValues, groupedValues } from "./grouped-values.ts"
import type { PageRows } from "./page-rows.ts"
import type { Grouped } from "./selection.ts"

/** Time and scroll depth on the selected pages, by group. */
export interface PageTimes {
  read(part: Part): void
  /** Whether there was an engagement report. Without one nothing was measured. */
  isMeasured(group: number): boolean
  engagedMs(group: number): number
  /** Visits with a pageview or an engagement report on the pages. */
  visits(group: number): number
  /** Pairs of visit and page with a scroll depth, and the sum of the largest depth of each. */
  scrolled(group: number): number
  depths(group: number): number
  /** Engaged milliseconds of each of those visits. */
  perVisit: GroupedValues
}

interface Sums {
  reports: Uint32Array
  visits: Uint32Array
  scrolled: Uint32Array
  depths: Float64Array
  engaged: Float64Array
  /** By group: its latest visit, numbered over all parts, and the position of that visit among the values of the part. */
  stamps: Uint32Array
  places: Uint32Array
}

export interface PageTimesOptions {
  /** Returns a number greater than that of every page. Called when the first part is read. */
  pages: () => number
  size: () => number
  /** Whether medians are requested. Only then single values are kept. */
  hasMedian: boolean
}

export function pageTimes(rows: PageRows, { pages, size, hasMedian }: PageTimesOptions): PageTimes {
  const [values, valueGroups, depthBuffer, engagedBuffer] = [new NumberBuffer(), new NumberBuffer(), new NumberBuffer(), new NumberBuffer()]
  const perVisit = groupedValues()
  let scrolls: ReturnType<typeof createScrolls> | undefined
  let sums = grown(NOTHING, 0)
  let before = 1
  return {
    read(part) {
      const grouped = rows.pages(part)
      sums = grown(sums, size())
      const dense = denseReports(part, engagedBuffer, depthBuffer)
      const out = { values: values.room(grouped.count), groups: valueGroups.room(grouped.count) }
      const count = addTimes(grouped, part.event("visit"), dense, sums, before, out)
      if (hasMedian) perVisit.add(out.groups, out.values, count, size())
      scrolls ??= createScrolls(pages())
      scrolls(part, grouped, dense.depth, before, sums)
      before += part.visits
    },
    isMeasured: (group) => (sums.reports[group] ?? 0) > 0,
    engagedMs: (group) => sums.engaged[group] ?? 0,
    visits: (group) => sums.visits[group] ?? 0,
    scrolled: (group) => sums.scrolled[group] ?? 0,
    depths: (group) => sums.depths[group] ?? 0,
    perVisit,
  }
}

const NOTHING: Sums = {
  reports: new Uint32Array(0),
  visits: new Uint32Array(0),
  scrolled: new Uint32Array(0),
  depths: new Float64Array(0),
  engaged: new Float64Array(0),
  stamps: new Uint32Array(0),
  places: new Uint32Array(0),
}

const grown = (sums: Sums, size: number): Sums => ({
  reports: grownNumbers(sums.reports, size),
  visits: grownNumbers(sums.visits, size),
  scrolled: grownNumbers(sums.scrolled, size),
  depths: grownSums(sums.depths, size),
  engaged: grownSums(sums.engaged, size),
  stamps: grownNumbers(sums.stamps, size),
  places: grownNumbers(sums.places, size),
})

/** The depth of an event that is not an engagement report. */
const NO_REPORT = 256

interface Dense {
  engaged: Uint32Array
  /** NO_SCROLL for a report without a depth, NO_REPORT for other events. */
  depth: Uint32Array
}

function denseReports(part: Part, engagedBuffer: NumberBuffer, depthBuffer: NumberBuffer): Dense {
  const dense = { engaged: engagedBuffer.room(part.events), depth: depthBuffer.room(part.events) }
  dense.engaged.fill(0, 0, part.events)
  dense.depth.fill(NO_REPORT, 0, part.events)
  spread(part.engagement(), dense)
  return dense
}

function spread({ row, engaged, scroll }: EngagementColumns, dense: Dense): void {
  for (let i = 0; i < row.length; i++) {
    dense.engaged[row[i]!] = engaged[i]!
    dense.depth[row[i]!] = scroll[i]!
  }
}

/** Writes the engaged time of each visit and group, limited to 49 days, which is longer than any visit. */
function addTimes(
  { rows, groups, count }: Grouped,
  visit: Uint32Array,
  { engaged, depth }: Dense,
  sums: Sums,
  before: number,
  out: { values: Uint32Array; groups: Uint32Array },
): number {
  const { reports, visits, engaged: engagedSums, stamps, places } = sums
  let found = 0
  for (let i = 0; i < count; i++) {
    const group = groups[i]!
    const row = rows[i]!
    const stamp = visit[row]! + before
    if (stamps[group] !== stamp) {
      stamps[group] = stamp
      places[group] = found
      out.groups[found] = group
      out.values[found++] = 0
      visits[group]!++
    }
    if (depth[row] === NO_REPORT) continue
    reports[group]!++
    engagedSums[group]! += engaged[row]!
    out.values[places[group]!] = Math.min(0xffff_ffff, out.values[places[group]!]! + engaged[row]!)
  }
  return found
}

/** Adds the largest depth of each visit and page once. A larger one that is found later replaces the smaller one. */
function createScrolls(pages: number) {
  const pairs = groupIndex([pages, 2 ** 32])
  const [rowBuffer, groupBuffer, pageBuffer, pairBuffer] = [new NumberBuffer(), new NumberBuffer(), new NumberBuffer(), new NumberBuffer()]
  let stamps: Uint32Array = new Uint32Array(0)
  let largest: Uint32Array = new Uint32Array(0)
  return (part: Part, grouped: Grouped, depth: Uint32Array, before: number, sums: Sums): void => {
    const scrolled = { rows: rowBuffer.room(grouped.count), groups: groupBuffer.room(grouped.count) }
    const count = keepScrolled(grouped, depth, scrolled)
    const page = pageBuffer.room(count)
    pickPages(part.event("page"), scrolled.rows, count, page)
    const ids = pairBuffer.room(count)
    pairs.assign([page, scrolled.groups], count, ids)
    stamps = grownNumbers(stamps, pairs.size)
    largest = grownNumbers(largest, pairs.size)
    addDepths({ ...scrolled, count }, { visit: part.event("visit"), depth, ids }, { stamps, largest }, before, sums)
  }
}

function keepScrolled({ rows, groups, count }: Grouped, depth: Uint32Array, out: { rows: Uint32Array; groups: Uint32Array }): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    if (depth[rows[i]!]! >= NO_SCROLL) continue
    out.rows[kept] = rows[i]!
    out.groups[kept++] = groups[i]!
  }
  return kept
}

function pickPages(page: Uint32Array, rows: Uint32Array, count: number, out: Uint32Array): void {
  for (let i = 0; i < count; i++) out[i] = page[rows[i]!]!
}

function addDepths(
  { rows, groups, count }: Grouped,
  { visit, depth, ids }: { visit: Uint32Array; depth: Uint32Array; ids: Uint32Array },
  { stamps, largest }: { stamps: Uint32Array; largest: Uint32Array },
  before: number,
  { scrolled, depths }: Sums,
): void {
  for (let i = 0; i < count; i++) {
    const id = ids[i]!
    const group = groups[i]!
    const reached = depth[rows[i]!]!
    if (stamps[id] !== visit[rows[i]!]! + before) {
      stamps[id] = visit[rows[i]!]! + before
      largest[id] = 0
      scrolled[group]!++
    }
    if (reached <= largest[id]!) continue
    depths[group]! += reached - largest[id]!
    largest[id] = reached
  }
}
