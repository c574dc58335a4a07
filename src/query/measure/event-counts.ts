import type { Part } from "../store/events/part.ts"
import { grownNumbers, NumberBuffer } from "./buffer.ts"
import { isCounted, isPageview } from "./flags.ts"
import { PairSet } from "./pair-set.ts"
import type { Grouped, Selection } from "./selection.ts"
import { totalCounts } from "./total-counts.ts"

/** What is counted over E, by group. */
export interface EventCounts {
  read(part: Part): void
  pageviews(group: number): number
  events(group: number): number
  /** Distinct visitors, once all parts are read. */
  visitors(): (group: number) => number
}

/** What must be known to count distinct visitors. */
export interface Visitors {
  /** Above every visitor of the site. */
  limit: number
  /** A bit for each visitor that may have several visits in the parts: the others are new to every group they come to. */
  returning: Int32Array
}

export const eventCounts = (selected: Selection, visitors: Visitors): EventCounts =>
  selected.isGrouped ? groupCounts(selected, visitors) : totalCounts(selected, visitors.limit)

function groupCounts(selected: Selection, { returning }: Visitors): EventCounts {
  const [pairGroups, pairVisitors] = [new NumberBuffer(), new NumberBuffer()]
  const pairs = new PairSet()
  let cells: Uint32Array = new Uint32Array(0)
  let before = 1

  /** Room in the sums for all groups, and where the pairs of so many rows go. */
  const ready = (count: number) => {
    cells = grownNumbers(cells, selected.size() * STRIDE)
    return { cells, returning, groups: pairGroups.room(count), visitors: pairVisitors.room(count) }
  }
  const add = (found: number, { groups, visitors }: Sink) => pairs.add(groups, visitors, found, selected.size())

  return {
    read(part) {
      const whole = selected.whole(part)
      if (whole) {
        const sink = ready(whole.count)
        add(countVisits(whole, visitColumns(part), sink), sink)
      }
      const events = selected.events(part)
      if (events.count === 0) return
      const sink = ready(events.count)
      add(countEvents(events, eventColumns(part), sink, before), sink)
      before += part.visits
    },
    pageviews: (group) => cells[group * STRIDE + PAGEVIEWS] ?? 0,
    events: (group) => cells[group * STRIDE + EVENTS] ?? 0,
    visitors() {
      const counts = pairs.counts(selected.size())
      return (group) => (counts[group] ?? 0) + (cells[group * STRIDE + SINGLES] ?? 0)
    },
  }
}

/** The sums of a group lie side by side, so that a row touches one line of memory: its counts, and the visit last seen. */
const STRIDE = 4
const PAGEVIEWS = 0
const EVENTS = 1
/** Visitors that come with one visit only. */
const SINGLES = 2
const STAMP = 3

interface Sink {
  cells: Uint32Array
  returning: Int32Array
  groups: Uint32Array
  visitors: Uint32Array
}

const visitColumns = (part: Part) => ({
  visitor: part.visit("visitor"),
  pageviews: part.visit("pageviews"),
  events: part.visit("events"),
})

const eventColumns = (part: Part) => ({ name: part.event("name"), visit: part.event("visit"), visitor: part.visit("visitor") })

/** Returns how many pairs of visitors that may come again it has listed. */
function countVisits(
  { rows, groups, count }: Grouped,
  { visitor, pageviews, events }: ReturnType<typeof visitColumns>,
  { cells, returning, groups: outGroups, visitors: outVisitors }: Sink,
): number {
  let found = 0
  for (let i = 0; i < count; i++) {
    const visit = rows[i]!
    const cell = groups[i]! * STRIDE
    cells[cell + PAGEVIEWS]! += pageviews[visit]!
    cells[cell + EVENTS]! += events[visit]!
    const again = (returning[visitor[visit]! >>> 5]! >>> (visitor[visit]! & 31)) & 1
    cells[cell + SINGLES]! += 1 - again
    outGroups[found] = groups[i]!
    outVisitors[found] = visitor[visit]!
    found += again
  }
  return found
}

/** The same for single events. `before` counts the visits of earlier parts: a stamp is a visit, counted over all of them. */
function countEvents(
  { rows, groups, count }: Grouped,
  { name, visit, visitor }: ReturnType<typeof eventColumns>,
  { cells, returning, groups: outGroups, visitors: outVisitors }: Sink,
  before: number,
): number {
  let found = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i]!
    const cell = groups[i]! * STRIDE
    cells[cell + PAGEVIEWS]! += isPageview(name[row]!)
    cells[cell + EVENTS]! += isCounted(name[row]!)
    const of = visit[row]!
    if (cells[cell + STAMP] === of + before) continue
    cells[cell + STAMP] = of + before
    const again = (returning[visitor[of]! >>> 5]! >>> (visitor[of]! & 31)) & 1
    cells[cell + SINGLES]! += 1 - again
    outGroups[found] = groups[i]!
    outVisitors[found] = visitor[of]!
    found += again
  }
  return found
}
