import type { Part } from "../store/events/part.ts"
import type { EventCounts } from "./event-counts.ts"
import { isCounted, isPageview } from "./flags.ts"
import type { Grouped, Selection } from "./selection.ts"
import { bitset, countBits } from "./visitor-bits.ts"

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
