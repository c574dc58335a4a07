import { PAGEVIEW } from "../../domain/dimension.ts"
import { type Items, MAX_ROWS } from "../../store/events/bytes/items.ts"
import type { Part } from "../../store/events/part.ts"
import { grownNumbers, NumberBuffer } from "../filter/buffers.ts"
import type { ItemChoice } from "../filter/filters.ts"
import type { Completions } from "../filter/goals.ts"
import { countedItems } from "../filter/item-masks.ts"
import { differs, isCounted, isPageview } from "../filter/masks.ts"
import { bucketAt } from "../parse/buckets.ts"
import { isInside } from "../parts/ranges.ts"
import type { RowList } from "./codes.ts"
import { eventTimes } from "./event-times.ts"
import { keepMarkedPairs, listMarked } from "./row-lists.ts"
import type { Chosen, Grouped } from "./selection.ts"

/** Events of E in a part, counted by item. */
export interface CountedEvents {
  /** Groups with their numbers of events, of pageviews, and of the visits that are listed for them in turn. A group can occur several times. */
  sums: EventSums
  /** The visits of the events, each once for each of its groups. */
  visits: Grouped
}

interface EventSums {
  groups: Uint32Array
  events: Uint32Array
  pageviews: Uint32Array
  visits: Uint32Array
}

/**
 * Creates the function that counts the events of a part by item; their visits are also V. It returns undefined when that is impossible:
 * when the part has no items or is partly outside the range, or when a condition or grouping depends on more than the name and page of an
 * event and on its visit.
 */
export function countByItem(chosen: Chosen): (part: Part) => CountedEvents | undefined {
  const { filter, goals, sources, range } = chosen
  const isOfItems = !chosen.anyName && sources.every(({ ofItems }) => ofItems !== undefined)
  const [rows, groups] = [new NumberBuffer(), new NumberBuffer()]
  const marks: Marks = { seen: new Uint32Array(0), stamp: 0 }
  return (part) => {
    if (!isOfItems || goals?.areOfItems() === false) return undefined
    if (!isInside(part, range, "event") || !isInside(part, range, "visit")) return undefined
    const choice = filter.byItem(part)
    if (!choice) return undefined
    const list = chosenItems(choice, goals?.ofItems(choice.items))
    const total = eventsOf(choice.items, list)
    marks.seen = grownNumbers(marks.seen, part.visits)
    const visits = { rows: rows.room(total), groups: groups.room(total), count: 0 }
    return { sums: addItems(choice, groupedItems(choice.items, list, chosen), marks, visits), visits }
  }
}

/** Returns the chosen items: those that complete goals, with their goals, or those of counted events. */
function chosenItems(choice: ItemChoice, completing: Completions | undefined): RowList {
  const chosen = countedItems(choice)
  if (completing) return { ...completing, count: keepMarkedPairs(completing, chosen) }
  const rows = new Uint32Array(chosen.length)
  return { rows, count: listMarked(chosen, 1, rows) }
}

function eventsOf(items: Items, { rows, count }: RowList): number {
  if (count === 0) return 0 // Without the visits of items, which then need not be read.
  const { starts } = items
  let total = 0
  for (let i = 0; i < count; i++) total += starts[rows[i]! + 1]! - starts[rows[i]!]!
  return total
}

/** Returns the items with their groups, sorted by group: group × MAX_ROWS + item. */
function groupedItems(items: Items, list: RowList, { sources, index }: Chosen): Float64Array {
  const codes = sources.map((source) => {
    const out = new Uint32Array(list.count)
    source.ofItems!(items, list, out)
    return out
  })
  const groups = new Uint32Array(list.count)
  index.assign(codes, list.count, groups)
  const grouped = new Float64Array(list.count)
  for (let i = 0; i < list.count; i++) grouped[i] = groups[i]! * MAX_ROWS + list.rows[i]!
  return grouped.sort()
}

/** The group that last saw each visit, as a stamp. A stamp is used for one group of one part. */
interface Marks {
  seen: Uint32Array
  stamp: number
}

function addItems({ items, visits: mask }: ItemChoice, grouped: Float64Array, marks: Marks, visits: Grouped): EventSums {
  const lists = grouped.length
  const groups = new Uint32Array(lists)
  const sums = { groups, events: new Uint32Array(lists), pageviews: new Uint32Array(lists), visits: new Uint32Array(lists) }
  for (let i = 0; i < lists; i++) {
    const item = grouped[i]! % MAX_ROWS
    const group = (grouped[i]! - item) / MAX_ROWS
    if (i === 0 || group !== groups[i - 1]) marks.stamp++
    const before = visits.count
    groups[i] = group
    const events = mask === "all" ? addEvents(items, item, marks, visits) : addMasked(items, item, mask, marks, visits)
    sums.events[i] = events
    sums.pageviews[i] = items.names[item] === PAGEVIEW ? events : 0
    sums.visits[i] = visits.count - before
    visits.groups.fill(group, before, visits.count)
  }
  return sums
}

/** Adds the visits of an item that its group has not seen. Returns the number of events. */
function addEvents({ starts, visits }: Items, item: number, { seen, stamp }: Marks, out: Grouped): number {
  const { rows } = out
  const from = starts[item]!
  const to = starts[item + 1]!
  let count = out.count
  for (let at = from; at < to; at++) {
    const visit = visits[at]!
    if (seen[visit] === stamp) continue
    seen[visit] = stamp
    rows[count++] = visit
  }
  out.count = count
  return to - from
}

/** Does the same for events whose visit is chosen. Without branches, because visits with and without a property are mixed. */
function addMasked({ starts, visits }: Items, item: number, mask: Uint8Array, { seen, stamp }: Marks, out: Grouped): number {
  const { rows } = out
  const to = starts[item + 1]!
  let count = out.count
  let events = 0
  for (let at = starts[item]!; at < to; at++) {
    const visit = visits[at]!
    const isChosen = mask[visit]!
    events += isChosen
    rows[count] = visit
    count += isChosen & differs(seen[visit]!, stamp)
    seen[visit] = stamp
  }
  out.count = count
  return events
}

/**
 * Counts the events of visits that an edge splits, by bucket. `split` contains those visits. Returns undefined when the part has no items.
 */
export function countSplit(part: Part, split: RowList, { sources, index, edges }: Chosen): CountedEvents | undefined {
  const items = part.items?.()
  if (!items) return undefined
  const { visits, buckets, events, pageviews } = listBuckets(part, items, split, edges)
  const rows = Uint32Array.from(visits)
  const list = { rows, count: rows.length }
  const codes = sources.map((source) => {
    if (source.grouping.by === "time") return Uint32Array.from(buckets)
    const out = new Uint32Array(list.count)
    source.ofVisits(part, list, out)
    return out
  })
  const groups = new Uint32Array(list.count)
  index.assign(codes, list.count, groups)
  const sums = {
    groups,
    events: Uint32Array.from(events),
    pageviews: Uint32Array.from(pageviews),
    visits: new Uint32Array(list.count).fill(1),
  }
  return { sums, visits: { rows, groups, count: list.count } }
}

/** Lists the pairs of visit and bucket that have counted events, with the numbers of those. The events of a visit are in order of time. */
function listBuckets(part: Part, { names, itemOf, firsts }: Items, split: RowList, edges: Float64Array) {
  const found = { visits: [] as number[], buckets: [] as number[], events: [] as number[], pageviews: [] as number[] }
  if (split.count === 0) return found
  const starts = part.starts()
  const times = eventTimes(part)
  const last = edges[edges.length - 1]!
  for (let i = 0; i < split.count; i++) {
    const visit = split.rows[i]!
    let before = -1
    let offset = 0
    for (let row = firsts[visit]!; row < firsts[visit + 1]!; row++) {
      const name = names[itemOf[row]!]!
      offset = times.next(offset, row)
      const at = starts[visit]! + offset
      if (isCounted(name) === 0 || at < edges[0]! || at >= last) continue
      const bucket = bucketAt(edges, at)
      if (bucket !== before) {
        found.visits.push(visit)
        found.buckets.push(bucket)
        found.events.push(0)
        found.pageviews.push(0)
      }
      before = bucket
      found.events[found.events.length - 1]!++
      found.pageviews[found.events.length - 1]! += isPageview(name)
    }
  }
  return found
}
