import { runSteps, type Steps } from "../steps.ts"

/** The rows of several columns as numbers of combinations of their values: browser and operating system, city and country, page and title. */
export interface Combinations {
  /** The number of each row's combination. The most frequent one has number 0. */
  of: Uint32Array
  /** The values of each combination, in one array per column. */
  table: Uint32Array[]
}

/** Number of rows per step: about a millisecond of work. */
const SLICE = 16_384

/** Numbers the combinations that occur in the rows of columns, all of the same length. */
export const combine = (columns: readonly Uint32Array[]): Combinations => runSteps(combining(columns))

/** The same in steps. */
export function* combining(columns: readonly Uint32Array[]): Steps<Combinations> {
  const { of, firsts, counts } = yield* findCombinations(columns)
  const byCount = counts.map((_, number) => number).sort((a, b) => counts[b]! - counts[a]! || a - b)
  const numbers = new Uint32Array(byCount.length)
  byCount.forEach((number, place) => {
    numbers[number] = place
  })
  for (let row = 0; row < of.length; row++) of[row] = numbers[of[row]!]!
  yield
  return { of, table: columns.map((column) => byCount.map((number) => column[firsts[number]!]!)) }
}

interface Found {
  of: Uint32Array
  /** First row and number of rows of each combination, in order of their first rows. */
  firsts: Uint32Array
  counts: Uint32Array
}

/** Finds the combinations with a hash table, whose slots contain number + 1. */
function* findCombinations(columns: readonly Uint32Array[]): Steps<Found> {
  const hashes = new Uint32Array(columns[0]!.length)
  for (const column of columns) {
    mixInto(hashes, column)
    yield
  }
  const rows = hashes.length
  const of = new Uint32Array(rows)
  const firsts = new Uint32Array(rows)
  const counts = new Uint32Array(rows)
  let slots = new Uint32Array(1_024)
  let count = 0
  const add = (row: number, slot: number): number => {
    firsts[count++] = row
    slots[slot] = count
    // A table that is small stays in the processor's cache, and most segments have few combinations.
    if (count * 2 > slots.length) slots = rehashed(hashes, firsts.subarray(0, count), slots.length * 4)
    return count
  }
  const findIn = (from: number, to: number) => {
    for (let row = from; row < to; row++) {
      let slot = hashes[row]! & (slots.length - 1)
      while (slots[slot] !== 0 && !areEqual(columns, firsts[slots[slot]! - 1]!, row)) slot = (slot + 1) & (slots.length - 1)
      const number = (slots[slot] === 0 ? add(row, slot) : slots[slot]!) - 1
      of[row] = number
      counts[number]!++
    }
  }
  for (let from = 0; from < rows; from += SLICE) {
    findIn(from, Math.min(from + SLICE, rows))
    yield
  }
  return { of, firsts: firsts.subarray(0, count), counts: counts.subarray(0, count) }
}

function mixInto(hashes: Uint32Array, column: Uint32Array): void {
  for (let row = 0; row < hashes.length; row++) {
    const mixed = Math.imul(hashes[row]! ^ column[row]!, 0x9e37_79b1)
    hashes[row] = mixed ^ (mixed >>> 15)
  }
}

function areEqual(columns: readonly Uint32Array[], row: number, other: number): boolean {
  for (let column = 0; column < columns.length; column++) if (columns[column]![row] !== columns[column]![other]) return false
  return true
}

function rehashed(hashes: Uint32Array, firsts: Uint32Array, size: number): Uint32Array<ArrayBuffer> {
  const slots = new Uint32Array(size)
  for (let number = 0; number < firsts.length; number++) {
    let slot = hashes[firsts[number]!]! & (size - 1)
    while (slots[slot] !== 0) slot = (slot + 1) & (size - 1)
    slots[slot] = number + 1
  }
  return slots
}
