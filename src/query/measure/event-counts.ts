import type { Part } from "../../store/events/part.ts"
import { grownNumbers, NumberBuffer } from "../filter/buffers.ts"
import { isCounted, isPageview } from "../filter/masks.ts"
import { type Crossing, type Summable, takeFigures } from "../parts/sums.ts"
import { bitset, bitsOf, countBits } from "../parts/visitor-bits.ts"
import type { CountedEvents } from "./counted-events.ts"
import { PairSet } from "./pair-set.ts"
import type { Grouped, Selection } from "./selection.ts"

/** Counts of events and visitors over E, by group. */
export interface EventCounts extends Summable {
  read(part: Part): void
  pageviews(group: number): number
  events(group: number): number
  /** Returns the number of distinct visitors by group. Called once all parts are read. */
  visitors(): (group: number) => number
}

/** Facts about the visitors of a site that are needed to count distinct ones. */
export interface Visitors {
  /** Greater than every visitor of the site. */
  limit: number
  /** A bit for each visitor that can have several visits in the parts. All others are counted without checking for repetitions. */
  returning: Int32Array
}

export const eventCounts = (selected: Selection, visitors: Visitors): EventCounts =>
  selected.isGrouped ? groupCounts(selected, visitors) : totalCounts(selected, visitors.limit)

function groupCounts(selected: Selection, { returning }: Visitors): EventCounts {
  const [pairGroups, pairVisitors] = [new NumberBuffer(), new NumberBuffer()]
  const pairs = new PairSet()
  let cells: Uint32Array = new Uint32Array(0)
  let before = 1

  /** Makes room for the sums of all groups, and returns buffers for the pairs of `count` rows. */
  const ready = (count: number) => {
    cells = grownNumbers(cells, selected.size() * STRIDE)
    return { cells, returning, groups: pairGroups.room(count), visitors: pairVisitors.room(count) }
  }
  const add = (found: number, { groups, visitors }: Sink) => pairs.add(groups, visitors, found, selected.size())

  return {
    read(part) {
      const whole = selected.whole(part)
      if (whole && whole.count > 0) {
        const sink = ready(whole.count)
        add(countVisits(whole, visitColumns(part), sink), sink)
      }
      const counted = selected.counted(part)
      if (counted) {
        if (counted.visits.count === 0) return
        const sink = ready(counted.visits.count)
        add(countLists(counted, part.visit("visitor"), sink), sink)
        return
      }
      const events = selected.events(part)
      if (events.count === 0) return
      const sink = ready(events.count)
      add(countEvents(events, eventColumns(part), sink, before), sink)
      before += part.visits
    },
    take(crossing) {
      const size = selected.size()
      const again = pairs.take(size, crossing)
      const sums = takeFigures(size, FIGURES, (group, place) => {
        const figure = (cells[group * STRIDE + place] ?? 0) + (place === SINGLES ? again.counts[group]! : 0)
        cells[group * STRIDE + place] = 0 // has no effect beyond the end
        return figure
      })
      return { ...sums, crossing: again.crossing }
    },
    add({ groups, figures, crossing }) {
      cells = grownNumbers(cells, selected.size() * STRIDE)
      groups.forEach((group, i) => {
        for (let place = 0; place < FIGURES; place++) cells[group * STRIDE + place]! += figures[i * FIGURES + place]!
      })
      pairs.add(crossing!.groups, crossing!.visitors, crossing!.groups.length, selected.size())
    },
    pageviews: (group) => cells[group * STRIDE + PAGEVIEWS] ?? 0,
    events: (group) => cells[group * STRIDE + EVENTS] ?? 0,
    visitors() {
      const counts = pairs.counts(selected.size())
      return (group) => (counts[group] ?? 0) + (cells[group * STRIDE + SINGLES] ?? 0)
    },
  }
}

/** The sums of a group and its latest visit are adjacent, so that a row touches a single cache line. */
const STRIDE = 4
const PAGEVIEWS = 0
const EVENTS = 1
/** Visitors with a single visit. In sums that are taken: all visitors who are not crossing. */
const SINGLES = 2
const STAMP = 3
/** The first of them are sums. */
const FIGURES = 3

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

/** Counts events by list in the same way as `countVisits`. */
function countLists({ sums, visits }: CountedEvents, visitor: Uint32Array, sink: Sink): number {
  const { cells, groups } = sink
  let found = 0
  let from = 0
  for (let i = 0; i < sums.groups.length; i++) {
    const group = sums.groups[i]!
    const count = sums.visits[i]!
    const again = listReturning(visits.rows, from, count, visitor, sink, found)
    groups.fill(group, found, found + again)
    found += again
    from += count
    cells[group * STRIDE + PAGEVIEWS]! += sums.pageviews[i]!
    cells[group * STRIDE + EVENTS]! += sums.events[i]!
    cells[group * STRIDE + SINGLES]! += count - again
  }
  return found
}

/** Lists the visitors with several visits behind the first `found` ones, and returns their number. */
function listReturning(
  rows: Uint32Array,
  from: number,
  count: number,
  visitor: Uint32Array,
  { returning, visitors }: Sink,
  found: number,
): number {
  let end = found
  for (let i = from; i < from + count; i++) {
    const of = visitor[rows[i]!]!
    visitors[end] = of
    end += (returning[of >>> 5]! >>> (of & 31)) & 1
  }
  return end - found
}

/** Counts whole visits by group. Writes the (group, visitor) pairs of visitors with several visits to the sink and returns their number. */
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

/** Counts individual events in the same way. `before` is the number of visits in earlier parts, because stamps number visits over all parts. */
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

/** Counts all of E without groups: the sums stay in registers, and visitors are bits. */
export function totalCounts(selected: Selection, visitorLimit: number): EventCounts {
  const sums = { pageviews: 0, events: 0 }
  let seen: Int32Array | undefined
  /** Visitors of sums that were added. */
  let others = 0
  return {
    read(part) {
      seen ??= bitset(visitorLimit)
      const whole = selected.whole(part)
      if (whole && whole.count > 0) addVisits(whole, part, seen, sums)
      const counted = selected.counted(part)
      if (counted) {
        if (counted.visits.count === 0) return
        for (const events of counted.sums.events) sums.events += events
        for (const pageviews of counted.sums.pageviews) sums.pageviews += pageviews
        markVisitors(counted.visits, part.visit("visitor"), seen)
        return
      }
      const events = selected.events(part)
      if (events.count > 0) addEvents(events, part, seen, sums)
    },
    take(crossing) {
      const { count, visitors } = takeVisitors(seen ?? bitset(visitorLimit), crossing)
      const taken = { ...sums }
      sums.pageviews = 0
      sums.events = 0
      return {
        groups: Uint32Array.of(0),
        figures: Float64Array.of(taken.pageviews, taken.events, count),
        crossing: { groups: new Uint32Array(visitors.length), visitors },
      }
    },
    add({ figures, crossing }) {
      sums.pageviews += figures[PAGEVIEWS]!
      sums.events += figures[EVENTS]!
      others += figures[SINGLES]!
      seen ??= bitset(visitorLimit)
      for (const visitor of crossing!.visitors) seen[visitor >>> 5]! |= 1 << (visitor & 31)
    },
    pageviews: () => sums.pageviews,
    events: () => sums.events,
    visitors() {
      const count = others + (seen ? countBits(seen) : 0)
      return () => count
    },
  }
}

/** Clears the bits of visitors. Returns the crossing ones, and the number of the others. */
function takeVisitors(seen: Int32Array, { from, bits }: Crossing): { count: number; visitors: Uint32Array } {
  let count = 0
  const visitors: number[] = []
  for (let word = 0; word < bits.length; word++) {
    const found = seen[from + word]!
    seen[from + word] = 0
    count += bitsOf(found & ~bits[word]!)
    for (let rest = found & bits[word]!; rest !== 0; rest &= rest - 1) visitors.push((from + word) * 32 + 31 - Math.clz32(rest & -rest))
  }
  return { count, visitors: Uint32Array.from(visitors) }
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

function markVisitors({ rows, count }: Grouped, visitor: Uint32Array, seen: Int32Array): void {
  for (let i = 0; i < count; i++) seen[visitor[rows[i]!]! >>> 5]! |= 1 << (visitor[rows[i]!]! & 31)
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
