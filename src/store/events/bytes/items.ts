/**
 * The events of a segment by item: the events with the same name and page belong to one item. A report that depends on names and pages
 * decides once per item, and reads only the events of the items it needs.
 */
export interface Items {
  /** Dictionary numbers by item. */
  names: Uint32Array
  pages: Uint32Array
  /** The events of item i are `events[starts[i]]` up to, but not including, `events[starts[i + 1]]`, ascending. */
  starts: Uint32Array
  /** Row and visit of each event: `rowOf` and `visitOf`. */
  events: Uint32Array
}

/** Maximum number of events and visits of a segment with items: both rows then fit into one number. */
export const MAX_ROWS = 65_536

export const rowOf = (event: number): number => event >>> 16
export const visitOf = (event: number): number => event & 0xffff

interface EventColumns {
  name: Uint32Array
  page: Uint32Array
  visit: Uint32Array
}

/** Returns the items of a segment as one array for the cache: their number, then the arrays of `Items` one after another. */
export function packItems({ name, page, visit }: EventColumns): Uint32Array {
  const events = name.length
  const { item, first, count } = numberItems(name, page)
  const packed = new Uint32Array(1 + 3 * count + 1 + events)
  packed[0] = count
  const items = openItems(packed)
  for (let i = 0; i < count; i++) {
    items.names[i] = name[first[i]!]!
    items.pages[i] = page[first[i]!]!
  }
  sortByItem(item, visit, items)
  return packed
}

/** Returns the items in an array that `packItems` wrote. */
export function openItems(packed: Uint32Array): Items {
  const count = packed[0]!
  const starts = 1 + 2 * count
  return {
    names: packed.subarray(1, 1 + count),
    pages: packed.subarray(1 + count, starts),
    starts: packed.subarray(starts, starts + count + 1),
    events: packed.subarray(starts + count + 1),
  }
}

/** The item of each row and the first row of each item. Reused, because it is needed only while a segment's items are packed. */
const item = new Uint32Array(MAX_ROWS)
const first = new Uint32Array(MAX_ROWS)

function numberItems(name: Uint32Array, page: Uint32Array) {
  let count = -1
  // Few segments have many items, and a small table stays in the processor's cache.
  for (let slots = 4_096; count === -1; slots *= 8) count = assignItems(name, page, new Uint32Array(slots), item, first)
  return { item, first, count }
}

/** Numbers the items in order of their first events. Returns their number, or −1 when more than half of the slots would be used. */
function assignItems(name: Uint32Array, page: Uint32Array, slots: Uint32Array, item: Uint32Array, first: Uint32Array): number {
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

/** Writes `starts` and `events` in a counting sort. */
function sortByItem(item: Uint32Array, visit: Uint32Array, { starts, events }: Items): void {
  const ends = new Uint32Array(starts.length)
  for (let row = 0; row < visit.length; row++) ends[item[row]! + 1]!++
  for (let i = 1; i < ends.length; i++) ends[i]! += ends[i - 1]!
  starts.set(ends)
  for (let row = 0; row < visit.length; row++) events[ends[item[row]!]!++] = (row << 16) | visit[row]!
}
