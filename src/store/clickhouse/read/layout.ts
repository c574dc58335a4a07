/** The order of the rows of an answer, and to which slices they belong. */
import type { NativeBlock } from "./native.ts"

/** A column in memory. */
export type ReadColumn = Uint32Array | Float64Array

/** An answer with columns of adjacent slices. Its rows are in any order. */
export interface SlicesAnswer {
  blocks: readonly NativeBlock[]
  /** The slice of each row, by place. */
  places: Uint8Array
  /** Number of slices. */
  slices: number
}

/** Where the visits of an answer, or what they have several of, belong. */
interface Layout {
  /** Rows in the order of slices, starts and sequences. Undefined if they are in that order. */
  order: Uint32Array | undefined
  /** Number of items of each row. Undefined for the visits themselves. */
  counts: Uint32Array | undefined
  /** Number of visits or items up to the end of each slice, in that order. */
  ends: readonly number[]
}

export function visitLayout({ places, slices }: SlicesAnswer, starts: Float64Array, sequences: Float64Array): Layout {
  const counts = new Uint32Array(slices)
  for (let row = 0; row < places.length; row++) counts[places[row]!]! += 1
  const ends = sumsAt(
    counts,
    Array.from(counts, (_, slice) => slice + 1),
  )
  const compare = (a: number, b: number) => places[a]! - places[b]! || starts[a]! - starts[b]! || sequences[a]! - sequences[b]!
  let row = 1
  while (row < places.length && compare(row - 1, row) <= 0) row++
  const order = row < places.length ? orderOf({ places, starts, ends }, compare) : undefined
  return { order, counts: undefined, ends }
}

interface Unordered {
  places: Uint8Array
  starts: Float64Array
  /** Number of rows up to the end of each slice. */
  ends: readonly number[]
}

/** Largest number below which all whole numbers are exact. */
const EXACT = 2 ** 53

/** Returns the rows in order. Those of several parts on disk come part by part, so comparing them one by one would take longer than all else. */
function orderOf({ places, starts, ends }: Unordered, compare: (a: number, b: number) => number): Uint32Array {
  const rows = starts.length
  let [first, last] = [starts[0]!, starts[0]!]
  for (let row = 1; row < rows; row++) {
    first = Math.min(first, starts[row]!)
    last = Math.max(last, starts[row]!)
  }
  const order = new Uint32Array(rows)
  for (let row = 0; row < rows; row++) order[row] = row
  if ((last - first + 1) * rows > EXACT) return order.sort(compare)
  /** Start and row as one number, slice by slice. */
  const keys = new Float64Array(rows)
  const next = Float64Array.from([0, ...ends])
  for (let row = 0; row < rows; row++) {
    const place = places[row]!
    keys[next[place]!] = (starts[row]! - first) * rows + row
    next[place]! += 1
  }
  ends.forEach((end, slice) => void keys.subarray(ends[slice - 1] ?? 0, end).sort())
  for (let at = 0; at < rows; at++) order[at] = keys[at]! % rows
  // The few rows with equal starts are in the order in which they came.
  for (let from = 0, to = 1; from < rows; from = to++) {
    while (to < rows && starts[order[to]!] === starts[order[from]!] && places[order[to]!] === places[order[from]!]) to++
    if (to > from + 1) order.subarray(from, to).sort(compare)
  }
  return order
}

/** Returns the layout of what visits have several of. `counts` are the numbers for each visit, in the order of the answer. */
export function itemLayout(visits: Layout, counts: Uint32Array): Layout {
  const ordered = inOrder(counts, visits)
  return { order: visits.order, counts, ends: sumsAt(ordered, visits.ends) }
}

/** Returns the sums of the first values of a column, up to some places in ascending order. */
export function sumsAt(values: Uint32Array, places: readonly number[]): number[] {
  let [sum, at] = [0, 0]
  return places.map((place) => {
    while (at < place) sum += values[at++]!
    return sum
  })
}

/** Returns the column of each slice. */
export function arranged<Column extends ReadColumn>(column: Column, layout: Layout): Column[] {
  const [ordered, { ends }] = [inOrder(column, layout), layout]
  return ends.length === 1 ? [ordered] : ends.map((end, at) => ordered.slice(ends[at - 1] ?? 0, end) as Column) // of the same type
}

/** Returns a column in the order of a layout. */
function inOrder<Column extends ReadColumn>(column: Column, { order, counts }: Layout): Column {
  if (!order) return column
  const ordered = (column instanceof Float64Array ? new Float64Array(column.length) : new Uint32Array(column.length)) as Column // as `column`
  if (!counts) {
    for (let to = 0; to < order.length; to++) ordered[to] = column[order[to]!]!
    return ordered
  }
  const firsts = firstsOf(counts)
  for (let row = 0, to = 0; row < order.length; row++) {
    const from = firsts[order[row]!]!
    for (let at = from, end = from + counts[order[row]!]!; at < end; at++) ordered[to++] = column[at]!
  }
  return ordered
}

/** Returns the place of the first item of each row, when the rows are in some order. */
export function firstsOf(counts: Uint32Array, order?: Uint32Array): Uint32Array {
  const firsts = new Uint32Array(counts.length)
  let first = 0
  for (let at = 0; at < counts.length; at++) {
    const row = order ? order[at]! : at
    firsts[row] = first
    first += counts[row]!
  }
  return firsts
}
