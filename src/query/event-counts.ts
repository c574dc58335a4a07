import { ENGAGEMENT, PAGEVIEW, VITALS } from "../domain/dimension.ts"
import type { Part } from "../store/events/part.ts"
import { grownNumbers, NumberBuffer } from "./buffer.ts"
import { type Distinct, distinctVisitors } from "./pair-set.ts"
import type { Chosen, Grouped } from "./selection.ts"
import { selection } from "./selection.ts"

/** What is counted over E, by group. */
export interface EventCounts {
  read(part: Part): void
  /** Whether E holds anything of the group; a reach of a scroll goal is in E without being counted. */
  has(group: number): boolean
  pageviews(group: number): number
  events(group: number): number
  /** Once all parts are read. */
  visitors(): Uint32Array
}

interface Sums {
  seen: Uint32Array
  pageviews: Uint32Array
  events: Uint32Array
}

export function eventCounts(chosen: Chosen, visitorLimit: number): EventCounts {
  const selected = selection(chosen)
  const visitors = distinctVisitors(chosen.sources.length > 0, visitorLimit)
  const firsts = createFirsts(visitors)
  let sums: Sums = { seen: NONE, pageviews: NONE, events: NONE }

  return {
    read(part) {
      const whole = selected.whole(part)
      const size = () => chosen.index.size
      if (whole) {
        sums = grown(sums, size())
        addVisits(whole, { pageviews: part.visit("pageviews"), events: part.visit("events") }, sums)
        firsts.visits(part, whole, size())
      }
      const events = selected.events(part)
      if (events.count === 0) return
      sums = grown(sums, size())
      addEvents(events, part.event("name"), sums)
      firsts.events(part, events, size())
    },
    has: (group) => (sums.seen[group] ?? 0) > 0,
    pageviews: (group) => sums.pageviews[group] ?? 0,
    events: (group) => sums.events[group] ?? 0,
    visitors: () => visitors.counts(chosen.index.size),
  }
}

const NONE = new Uint32Array(0)

const grown = ({ seen, pageviews, events }: Sums, size: number): Sums => ({
  seen: grownNumbers(seen, size),
  pageviews: grownNumbers(pageviews, size),
  events: grownNumbers(events, size),
})

function addVisits(
  { rows, groups, count }: Grouped,
  { pageviews, events }: { pageviews: Uint32Array; events: Uint32Array },
  sums: Sums,
): void {
  const { seen, pageviews: pageviewSums, events: eventSums } = sums
  for (let i = 0; i < count; i++) {
    const group = groups[i]!
    seen[group]!++
    pageviewSums[group]! += pageviews[rows[i]!]!
    eventSums[group]! += events[rows[i]!]!
  }
}

function addEvents({ rows, groups, count }: Grouped, name: Uint32Array, { seen, pageviews, events }: Sums): void {
  for (let i = 0; i < count; i++) {
    const group = groups[i]!
    const named = name[rows[i]!]!
    seen[group]!++
    pageviews[group]! += named === PAGEVIEW ? 1 : 0
    events[group]! += named === ENGAGEMENT || named === VITALS ? 0 : 1
  }
}

/** Hands the visitors of rows to a set, most of those that come twice in a visit left out: its events lie in one run. */
export function createFirsts(visitors: Distinct) {
  const [pairGroups, pairVisitors] = [new NumberBuffer(), new NumberBuffer()]
  let stamps: Uint32Array = NONE
  let before = 1
  return {
    events(part: Part, { rows, groups, count }: Grouped, size: number): void {
      stamps = grownNumbers(stamps, size)
      const out = { groups: pairGroups.room(count), visitors: pairVisitors.room(count) }
      const columns = { visit: part.event("visit"), visitor: part.visit("visitor") }
      visitors.add(out.groups, out.visitors, listFirsts({ rows, groups, count }, columns, stamps, before, out), size)
      before += part.visits
    },
    visits(part: Part, { rows, groups, count }: Grouped, size: number): void {
      const out = pairVisitors.room(count)
      listVisitors(part.visit("visitor"), rows, count, out)
      visitors.add(groups, out, count, size)
    },
  }
}

function listVisitors(visitor: Uint32Array, visits: Uint32Array, count: number, out: Uint32Array): void {
  for (let i = 0; i < count; i++) out[i] = visitor[visits[i]!]!
}

/** `stamps` holds, by group, the visit last seen in it, counted over all parts from `before`. */
function listFirsts(
  { rows, groups, count }: Grouped,
  { visit, visitor }: { visit: Uint32Array; visitor: Uint32Array },
  stamps: Uint32Array,
  before: number,
  out: { groups: Uint32Array; visitors: Uint32Array },
): number {
  const { groups: outGroups, visitors: outVisitors } = out
  let found = 0
  for (let i = 0; i < count; i++) {
    const group = groups[i]!
    const of = visit[rows[i]!]!
    if (stamps[group] === of + before) continue
    stamps[group] = of + before
    outGroups[found] = group
    outVisitors[found++] = visitor[of]!
  }
  return found
}
