import type { Part } from "../../store/events/part.ts"
import { grownNumbers, NumberBuffer } from "../filter/buffers.ts"
import { isCounted, isPageview } from "../filter/masks.ts"
import { PairSet } from "./pair-set.ts"
import type { Grouped, Selection } from "./selection.ts"

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

/** What is counted over all of E, without groups: sums stay in registers, and visitors are bits. */
export function totalCounts(selected: Selection, visitorLimit: number): EventCounts {
  const sums = { pageviews: 0, events: 0 }
  let seen: Int32Array | undefined
  return {
    read(part) {
      seen ??= bitset(visitorLimit)
      const whole = selected.whole(part)
      if (whole) addVisits(whole, part, seen, sums)
      const events = selected.events(part)
      if (events.count > 0) addEvents(events, part, seen, sums)
    },
    pageviews: () => sums.pageviews,
    events: () => sums.events,
    visitors() {
      const count = seen ? countBits(seen) : 0
      return () => count
    },
  }
}

interface Sums {
  pageviews: number
  events: number
}

function addVisits({ rows, count }: Grouped, part: Part, seen: Int32Array, sums: Sums): void {
  const [visitor, pageviews, events] = [part.visit("visitor"), part.visit("pageviews"), part.visit("events")]
  let pageviewSum = 0
  let eventSum = 0
  for (let i = 0; i < count; i++) {
    const visit = rows[i]!
    pageviewSum += pageviews[visit]!
    eventSum += events[visit]!
    seen[visitor[visit]! >>> 5]! |= 1 << (visitor[visit]! & 31)
  }
  sums.pageviews += pageviewSum
  sums.events += eventSum
}

function addEvents({ rows, count }: Grouped, part: Part, seen: Int32Array, sums: Sums): void {
  const [visitor, visit, name] = [part.visit("visitor"), part.event("visit"), part.event("name")]
  let pageviewSum = 0
  let eventSum = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i]!
    const of = visitor[visit[row]!]!
    pageviewSum += isPageview(name[row]!)
    eventSum += isCounted(name[row]!)
    seen[of >>> 5]! |= 1 << (of & 31)
  }
  sums.pageviews += pageviewSum
  sums.events += eventSum
}

/** A bit for each visitor of a site. Signed words: of unsigned ones the engine takes those with the highest bit for floating-point numbers. */
export const bitset = (visitorLimit: number): Int32Array => new Int32Array((visitorLimit >>> 5) + 1)

export function countBits(bits: Int32Array): number {
  let count = 0
  for (let i = 0; i < bits.length; i++) {
    let word = bits[i]!
    word -= (word >>> 1) & 0x5555_5555
    word = (word & 0x3333_3333) + ((word >>> 2) & 0x3333_3333)
    count += Math.imul((word + (word >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
  }
  return count
}

/** Visitors that have two or more visits in the parts. */
export function returningVisitors(parts: readonly Part[], visitorLimit: number): Int32Array {
  const [seen, again] = [bitset(visitorLimit), bitset(visitorLimit)]
  for (const part of parts) markReturning(part.visit("visitor"), seen, again)
  return again
}

function markReturning(visitors: Uint32Array, seen: Int32Array, again: Int32Array): void {
  for (let visit = 0; visit < visitors.length; visit++) {
    const visitor = visitors[visit]!
    const bit = 1 << (visitor & 31)
    again[visitor >>> 5]! |= seen[visitor >>> 5]! & bit
    seen[visitor >>> 5]! |= bit
  }
}
