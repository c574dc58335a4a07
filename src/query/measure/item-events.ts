import { PAGEVIEW } from "../../domain/dimension.ts"
import { type Items, MAX_ROWS, visitOf } from "../../store/events/bytes/items.ts"
import type { Part } from "../../store/events/part.ts"
import { NumberBuffer } from "../filter/buffers.ts"
import type { ItemChoice } from "../filter/filters.ts"
import type { Completions } from "../filter/goals.ts"
import { differs, isCounted } from "../filter/masks.ts"
import type { RowList } from "./codes.ts"
import { isInside } from "./row-lists.ts"
import type { Chosen, Grouped } from "./selection.ts"

/** The events of E in a part, counted by item. */
export interface ItemEvents {
  /** Groups with their numbers of events and of pageviews. A group can occur several times. */
  sums: EventSums
  /** The visits of the events, each once for each of its groups. They are also V. */
  visits: Grouped
}

interface EventSums {
  groups: Uint32Array
  events: Uint32Array
  pageviews: Uint32Array
}

/**
 * Creates the function that counts the events of a part by item. It returns undefined when that is impossible: when the part has no items
 * or is partly outside the range, or when a condition or grouping depends on more than the name and page of an event and on its visit.
 */
export function itemEvents(chosen: Chosen): (part: Part) => ItemEvents | undefined {
  const { filter, goals, sources, range } = chosen
  const isOfItems = !chosen.anyName && sources.every(({ ofItems }) => ofItems !== undefined)
  const [rows, groups] = [new NumberBuffer(), new NumberBuffer()]
  let marks: Marks | undefined
  return (part) => {
    if (!isOfItems || goals?.areOfItems() === false) return undefined
    if (!isInside(part, range, "event") || !isInside(part, range, "visit")) return undefined
    const choice = filter.byItem(part)
    if (!choice) return undefined
    const list = chosenItems(choice, goals?.ofItems(choice.items))
    const total = eventsOf(choice.items, list)
    marks ??= { seen: new Uint32Array(MAX_ROWS), stamp: 0 }
    const visits = { rows: rows.room(total), groups: groups.room(total), count: 0 }
    return { sums: addItems(choice, groupedItems(choice.items, list, chosen), marks, visits), visits }
  }
}

/** Returns the chosen items: those that complete goals, with their goals, or those of counted events. */
function chosenItems({ items, chosen }: ItemChoice, completing: Completions | undefined): RowList {
  const count = completing?.count ?? items.names.length
  const list = { rows: new Uint32Array(count), goals: new Uint32Array(count), count: 0 }
  for (let i = 0; i < count; i++) {
    const item = completing ? completing.rows[i]! : i
    if ((chosen !== "all" && chosen[item] === 0) || isCounted(items.names[item]!) === 0) continue
    list.rows[list.count] = item
    list.goals[list.count++] = completing ? completing.goals[i]! : 0
  }
  return list
}

function eventsOf({ starts }: Items, { rows, count }: RowList): number {
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
  return Float64Array.from(groups, (group, i) => group * MAX_ROWS + list.rows[i]!).sort()
}

/** The group that last saw each visit, as a stamp. A stamp is used for one group of one part. */
interface Marks {
  seen: Uint32Array
  stamp: number
}

function addItems({ items, visits: mask }: ItemChoice, grouped: Float64Array, marks: Marks, visits: Grouped): EventSums {
  const count = grouped.length
  const sums = { groups: new Uint32Array(count), events: new Uint32Array(count), pageviews: new Uint32Array(count) }
  for (let i = 0; i < count; i++) {
    const item = grouped[i]! % MAX_ROWS
    const group = (grouped[i]! - item) / MAX_ROWS
    if (i === 0 || group !== sums.groups[i - 1]) marks.stamp++
    const [from, to] = [items.starts[item]!, items.starts[item + 1]!]
    sums.groups[i] = group
    sums.events[i] =
      mask === "all"
        ? addEvents(items.events, from, to, marks, group, visits)
        : addMasked(items.events, from, to, mask, marks, group, visits)
    if (items.names[item] === PAGEVIEW) sums.pageviews[i] = sums.events[i]!
  }
  return sums
}

/** Adds the visits of events that the group has not seen. Returns the number of events. */
function addEvents(events: Uint32Array, from: number, to: number, { seen, stamp }: Marks, group: number, out: Grouped): number {
  const { rows, groups } = out
  let count = out.count
  for (let at = from; at < to; at++) {
    const visit = visitOf(events[at]!)
    rows[count] = visit
    groups[count] = group
    count += differs(seen[visit]!, stamp)
    seen[visit] = stamp
  }
  out.count = count
  return to - from
}

/** Does the same for events whose visit is chosen. */
function addMasked(
  events: Uint32Array,
  from: number,
  to: number,
  mask: Uint8Array,
  { seen, stamp }: Marks,
  group: number,
  out: Grouped,
): number {
  const { rows, groups } = out
  let count = out.count
  let chosen = 0
  for (let at = from; at < to; at++) {
    const visit = visitOf(events[at]!)
    rows[count] = visit
    groups[count] = group
    count += mask[visit]! & differs(seen[visit]!, stamp)
    seen[visit] = stamp
    chosen += mask[visit]!
  }
  out.count = count
  return chosen
}
