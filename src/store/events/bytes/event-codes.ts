import { ENGAGEMENT, PAGEVIEW } from "../../../domain/dimension.ts"
import type { ItemRows } from "./items.ts"

/**
 * What segments store of events: how they differ from what is expected. All sums are those of 32-bit numbers, so that every number can be
 * restored, however far it is from the expected one.
 */

export function minus(values: Uint32Array, expected: Uint32Array): Int32Array {
  const differences = new Int32Array(values.length)
  for (let index = 0; index < values.length; index++) differences[index] = values[index]! - expected[index]!
  return differences
}

/** Adds what is expected to the difference from it, in place. */
export function addExpected(differences: Uint32Array, expected: Uint32Array): Uint32Array {
  for (let index = 0; index < differences.length; index++) differences[index]! += expected[index]!
  return differences
}

/** Returns the numbers of counted events that are no pageviews. */
export function customOf(counted: Uint32Array, pageviews: Uint32Array): Uint32Array {
  const custom = new Uint32Array(counted.length)
  for (let visit = 0; visit < counted.length; visit++) custom[visit] = counted[visit]! - pageviews[visit]!
  return custom
}

/** Returns the visit of each event row. */
export function visitsOf(firsts: Uint32Array): Uint32Array {
  const visits = new Uint32Array(firsts[firsts.length - 1]!)
  for (let visit = 0; visit + 1 < firsts.length; visit++) {
    const to = firsts[visit + 1]!
    for (let row = firsts[visit]!; row < to; row++) visits[row] = visit
  }
  return visits
}

/** Returns the value of each row's item or combination. */
export function valuesOf(values: Uint32Array, rows: Uint32Array | Uint16Array): Uint32Array {
  const out = new Uint32Array(rows.length)
  for (let row = 0; row < rows.length; row++) out[row] = values[rows[row]!]!
  return out
}

type Order = Pick<ItemRows, "itemOf" | "firsts">

/** Returns an item for each item that mostly follows it within visits, if there is one. Otherwise it is any item. */
export function successorsOf({ names, itemOf, firsts }: ItemRows): Uint32Array {
  const next = new Uint32Array(names.length)
  const votes = new Uint32Array(names.length)
  eachStep(firsts, (row) => {
    const before = itemOf[row - 1]!
    if (votes[before] === 0) next[before] = itemOf[row]!
    if (next[before] === itemOf[row]) votes[before]!++
    else votes[before]!--
  })
  return next
}

/** Splits the items of events into the first one of each visit and the codes of the others: 0 for the expected item, else item + 1. */
export function encodeItems({ itemOf, firsts }: Order, next: Uint32Array) {
  const entries = new Uint32Array(firsts.length - 1)
  for (let visit = 0; visit < entries.length; visit++) entries[visit] = itemOf[firsts[visit]!] ?? 0
  const codes = new Uint32Array(itemOf.length)
  let count = 0
  eachStep(firsts, (row) => {
    codes[count++] = next[itemOf[row - 1]!] === itemOf[row] ? 0 : itemOf[row]! + 1
  })
  return { entries, codes: codes.subarray(0, count) }
}

function eachStep(firsts: Uint32Array, take: (row: number) => void): void {
  for (let visit = 0; visit + 1 < firsts.length; visit++) for (let row = firsts[visit]! + 1; row < firsts[visit + 1]!; row++) take(row)
}

/** Restores the items that `encodeItems` has split. */
export function decodeItems(entries: Uint32Array, codes: Uint32Array, next: Uint32Array, { itemOf, firsts }: Order): void {
  let at = 0
  for (let visit = 0; visit + 1 < firsts.length; visit++) {
    const to = firsts[visit + 1]!
    let row = firsts[visit]!
    let item = entries[visit]!
    if (row < to) itemOf[row++] = item
    for (; row < to; row++) {
      const code = codes[at++]!
      // All ones for the expected item. A branch would often be mispredicted.
      const isExpected = (code - 1) >> 31
      item = (next[item]! & isExpected) | ((code - 1) & ~isExpected)
      itemOf[row] = item
    }
  }
}

/** Returns the value of the first event of each visit, if that is a pageview, else 0. `values` are by item. */
export function entriesOf(values: Uint32Array, names: Uint32Array, entries: Uint32Array): Uint32Array {
  const shown = values.map((value, item) => (names[item] === PAGEVIEW ? value : 0))
  const out = new Uint32Array(entries.length)
  for (let visit = 0; visit < entries.length; visit++) out[visit] = shown[entries[visit]!]!
  return out
}

/** Returns the value of the last pageview of each visit, or 0. */
export function exitsOf(values: Uint32Array, { names, itemOf, firsts }: Omit<ItemRows, "pages">): Uint32Array {
  const exits = new Uint32Array(firsts.length - 1)
  for (let visit = 0; visit < exits.length; visit++) {
    for (let row = firsts[visit + 1]! - 1; row >= firsts[visit]!; row--) {
      if (names[itemOf[row]!] !== PAGEVIEW) continue
      exits[visit] = values[itemOf[row]!]!
      break
    }
  }
  return exits
}

/** Returns the times between the events of each visit, which are smaller numbers than the times since its start. */
export function stepsOf(offsets: Uint32Array, firsts: Uint32Array): Uint32Array {
  const steps = offsets.slice()
  eachStep(firsts, (row) => {
    steps[row] = offsets[row]! - offsets[row - 1]!
  })
  return steps
}

/** Turns steps into the offsets from which they were made, in place. */
export function addSteps(steps: Uint32Array, firsts: Uint32Array): Uint32Array {
  for (let visit = 0; visit + 1 < firsts.length; visit++) {
    const to = firsts[visit + 1]!
    let offset = 0
    for (let row = firsts[visit]!; row < to; row++) {
      offset = (offset + steps[row]!) | 0
      steps[row] = offset
    }
  }
  return steps
}

/** Returns the time of the last event of each visit since its start. `step` returns the time since the event before. */
export function lastOffsets(step: (row: number) => number, firsts: Uint32Array): Uint32Array {
  const lasts = new Uint32Array(firsts.length - 1)
  for (let visit = 0; visit < lasts.length; visit++) {
    const to = firsts[visit + 1]!
    let offset = 0
    for (let row = firsts[visit]!; row < to; row++) offset = (offset + step(row)) | 0
    lasts[visit] = offset
  }
  return lasts
}

/** Returns the rows of the events with a name. */
export function rowsNamed(name: number, { names, itemOf }: Pick<ItemRows, "names" | "itemOf">): Uint32Array {
  const isNamed = Uint8Array.from(names, (each) => (each === name ? 1 : 0))
  const rows = new Uint32Array(itemOf.length)
  let count = 0
  for (let row = 0; row < itemOf.length; row++) {
    rows[count] = row
    count += isNamed[itemOf[row]!]!
  }
  return rows.slice(0, count)
}

/** Returns the longest time that each engagement report can be about: since the pageview or report before it in its visit. */
export function longestEngagements(
  reports: Uint32Array,
  offsets: Uint32Array,
  { names, itemOf, firsts }: Omit<ItemRows, "pages">,
): Uint32Array {
  const longest = new Uint32Array(reports.length)
  let visit = 0
  for (let i = 0; i < reports.length; i++) {
    const row = reports[i]!
    while (firsts[visit + 1]! <= row) visit++
    let before = row - 1
    while (before >= firsts[visit]! && names[itemOf[before]!] !== PAGEVIEW && names[itemOf[before]!] !== ENGAGEMENT) before--
    if (before >= firsts[visit]!) longest[i] = offsets[row]! - offsets[before]!
  }
  return longest
}

/** Returns the sum of the engaged times of each visit. */
export function engagedOf(reports: Uint32Array, engaged: Uint32Array, firsts: Uint32Array): Uint32Array {
  const sums = new Uint32Array(firsts.length - 1)
  let visit = 0
  for (let i = 0; i < reports.length; i++) {
    while (firsts[visit + 1]! <= reports[i]!) visit++
    sums[visit]! += engaged[i]!
  }
  return sums
}
