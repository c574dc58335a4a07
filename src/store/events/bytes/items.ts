import { type Combinations, combine } from "./combinations.ts"

/**
 * The events of a segment by item: the events of an item have the same name and page. A report that depends on names and pages
 * decides once per item, and reads only the events of the items it needs. The large arrays have 16 bits, because such reports are as fast
 * as their memory.
 */
export interface Items extends ItemRows {
  /** The visits of the events of item i are `visits[starts[i]]` up to, but not including, `visits[starts[i + 1]]`, ascending. */
  starts: Uint32Array
  visits: Uint16Array
}

/** The item of each event. */
export interface ItemRows {
  /** Dictionary numbers by item. */
  names: Uint32Array
  pages: Uint32Array
  /** Item of each event row. */
  itemOf: Uint16Array
  /** First event row of each visit, and the number of all rows at the end. */
  firsts: Uint32Array
}

/** Maximum number of events and of visits of a segment. */
export const MAX_ROWS = 65_536

/** Returns the items of events by name and page, for a segment that does not store them. */
export function findItems({ name, page, visit }: Record<"name" | "page" | "visit", Uint32Array>, visits: number): ItemRows {
  const { of, table }: Combinations = combine([name, page])
  return { names: table[0]!, pages: table[1]!, itemOf: Uint16Array.from(of), firsts: firstsOf(visit, visits) }
}

/** Returns the first row of each visit, and the number of all rows at the end. The events of a visit are adjacent. */
export function firstsOf(visit: Uint32Array, visits: number): Uint32Array {
  const firsts = new Uint32Array(visits + 1)
  for (let row = 0; row < visit.length; row++) firsts[visit[row]! + 1]!++
  for (let each = 0; each < visits; each++) firsts[each + 1]! += firsts[each]!
  return firsts
}

/** Returns the item of each event as one array for the cache: three lengths, then the arrays of `ItemRows`. */
export function packItemRows({ names, pages, itemOf, firsts }: ItemRows): Uint32Array {
  const count = names.length
  const packed = new Uint32Array(3 + 2 * count + firsts.length + Math.ceil(itemOf.length / 2))
  packed.set([count, firsts.length, itemOf.length])
  const rows = openItemRows(packed)
  rows.names.set(names)
  rows.pages.set(pages)
  rows.firsts.set(firsts)
  rows.itemOf.set(itemOf)
  return packed
}

/** Returns the content of an array that `packItemRows` wrote. */
export function openItemRows(packed: Uint32Array): ItemRows {
  const [count, firsts, events] = [packed[0]!, packed[1]!, packed[2]!]
  const from = 3 + 2 * count
  return {
    names: packed.subarray(3, 3 + count),
    pages: packed.subarray(3 + count, from),
    firsts: packed.subarray(from, from + firsts),
    itemOf: new Uint16Array(packed.buffer, (from + firsts) * Uint32Array.BYTES_PER_ELEMENT, events),
  }
}

/** Returns the visits of each item as one array for the cache: the arrays of `Items` that `ItemRows` lacks. */
export function packVisits({ names, itemOf, firsts }: ItemRows): Uint32Array {
  const packed = new Uint32Array(names.length + 1 + Math.ceil(itemOf.length / 2))
  const { starts, visits } = openVisits(packed, names.length, itemOf.length)
  const ends = new Uint32Array(starts.length)
  for (let row = 0; row < itemOf.length; row++) ends[itemOf[row]! + 1]!++
  for (let item = 1; item < ends.length; item++) ends[item]! += ends[item - 1]!
  starts.set(ends)
  // A counting sort.
  for (let visit = 0; visit + 1 < firsts.length; visit++) {
    const to = firsts[visit + 1]!
    for (let row = firsts[visit]!; row < to; row++) visits[ends[itemOf[row]!]!++] = visit
  }
  return packed
}

function openVisits(packed: Uint32Array, items: number, events: number) {
  const from = (items + 1) * Uint32Array.BYTES_PER_ELEMENT
  return { starts: packed.subarray(0, items + 1), visits: new Uint16Array(packed.buffer, from, events) }
}

/** Where the items of a segment come from. */
interface ItemSource {
  /** The table of the items, if it can be read without the rows. */
  table(): Pick<ItemRows, "names" | "pages">
  rows(): ItemRows
  /** Returns an array that `packVisits` wrote. */
  visits(): Uint32Array
}

/** The items of a segment, of which only those parts are read that a report needs: if it chooses no item, only names and pages. */
export class LazyItems implements Items {
  readonly names: Uint32Array
  readonly pages: Uint32Array
  readonly #source: ItemSource
  #rows: ItemRows | undefined
  #visits: ReturnType<typeof openVisits> | undefined

  constructor(source: ItemSource) {
    this.#source = source
    const { names, pages } = source.table()
    this.names = names
    this.pages = pages
  }

  get itemOf(): Uint16Array {
    return this.#order().itemOf
  }
  get firsts(): Uint32Array {
    return this.#order().firsts
  }
  get starts(): Uint32Array {
    return this.#lists().starts
  }
  get visits(): Uint16Array {
    return this.#lists().visits
  }

  #order(): ItemRows {
    this.#rows ??= this.#source.rows()
    return this.#rows
  }

  #lists() {
    this.#visits ??= openVisits(this.#source.visits(), this.names.length, this.itemOf.length)
    return this.#visits
  }
}
