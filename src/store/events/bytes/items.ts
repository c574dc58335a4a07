/**
 * The events of a segment by item: the events with the same name and page belong to one item. A report that depends on names and pages
 * decides once per item, and reads only the events of the items it needs. The large arrays have 16 bits, because such reports are as fast
 * as their memory.
 */
export interface Items {
  /** Dictionary numbers by item. */
  names: Uint32Array
  pages: Uint32Array
  /** The visits of the events of item i are `visits[starts[i]]` up to, but not including, `visits[starts[i + 1]]`, ascending. */
  starts: Uint32Array
  visits: Uint16Array
  /** Item of each event row. */
  itemOf: Uint16Array
  /** First event row of each visit, and the number of all rows at the end. */
  firsts: Uint32Array
}

/** Maximum number of events and of visits of a segment with items. */
export const MAX_ROWS = 65_536

interface EventColumns {
  name: Uint32Array
  page: Uint32Array
  visit: Uint32Array
}

/** Returns the items of a segment as one array for the cache: three lengths, then the arrays of `Items`. */
export function packItems({ name, page, visit }: EventColumns, visits: number): Uint32Array {
  const events = name.length
  const count = numberItems(name, page)
  const packed = new Uint32Array(3 + 3 * count + 1 + visits + 1 + events)
  packed.set([count, events, visits])
  const items = openItems(packed)
  for (let i = 0; i < count; i++) {
    items.names[i] = name[first[i]!]!
    items.pages[i] = page[first[i]!]!
  }
  items.itemOf.set(item.subarray(0, events))
  listFirsts(visit, items.firsts)
  sortByItem(visit, items)
  return packed
}

/** Returns the items in an array that `packItems` wrote. */
export function openItems(packed: Uint32Array): Items {
  const count = packed[0]!
  const events = packed[1]!
  const starts = 3 + 2 * count
  const firsts = starts + count + 1
  const end = firsts + packed[2]! + 1
  const halves = new Uint16Array(packed.buffer, end * Uint32Array.BYTES_PER_ELEMENT)
  return {
    names: packed.subarray(3, 3 + count),
    pages: packed.subarray(3 + count, starts),
    starts: packed.subarray(starts, firsts),
    firsts: packed.subarray(firsts, end),
    visits: halves.subarray(0, events),
    itemOf: halves.subarray(events),
  }
}

/** The item of each row and the first row of each item. Reused, because it is needed only while a segment's items are packed. */
const item = new Uint32Array(MAX_ROWS)
const first = new Uint32Array(MAX_ROWS)

/** Numbers the items in order of their first events. Returns their number. */
function numberItems(name: Uint32Array, page: Uint32Array): number {
  let count = -1
  // Few segments have many items, and a small table stays in the processor's cache.
  for (let slots = 4_096; count === -1; slots *= 8) count = assignItems(name, page, new Uint32Array(slots))
  return count
}

/** Does the same with a hash table. Returns −1 when more than half of its slots would be used. */
function assignItems(name: Uint32Array, page: Uint32Array, slots: Uint32Array): number {
  const last = slots.length - 1
  const limit = slots.length / 2
  let count = 0
  for (let row = 0; row < name.length; row++) {
    const mixed = Math.imul(page[row]!, 0x9e37_79b1) ^ Math.imul(name[row]!, 0x85eb_ca77)
    let slot = (mixed ^ (mixed >>> 15)) & last
    let found = slots[slot]!
    while (found !== 0 && (page[first[found - 1]!] !== page[row] || name[first[found - 1]!] !== name[row])) {
      slot = (slot + 1) & last
      found = slots[slot]!
    }
    if (found === 0) {
      if (count === limit) return -1
      first[count++] = row
      slots[slot] = count
      found = count
    }
    item[row] = found - 1
  }
  return count
}

/** Lists the first row of each visit. Every visit has events, which are adjacent. */
function listFirsts(visit: Uint32Array, firsts: Uint32Array): void {
  let before = -1
  for (let row = 0; row < visit.length; row++) {
    if (visit[row] === before) continue
    before = visit[row]!
    firsts[before] = row
  }
  firsts[firsts.length - 1] = visit.length
}

/** Writes `starts` and `visits` in a counting sort. */
function sortByItem(visit: Uint32Array, { starts, visits, itemOf }: Items): void {
  const ends = new Uint32Array(starts.length)
  for (let row = 0; row < itemOf.length; row++) ends[itemOf[row]! + 1]!++
  for (let i = 1; i < ends.length; i++) ends[i]! += ends[i - 1]!
  starts.set(ends)
  for (let row = 0; row < itemOf.length; row++) visits[ends[itemOf[row]!]!++] = visit[row]!
}
