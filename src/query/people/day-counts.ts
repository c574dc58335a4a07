import type { HitSource } from "./hits.ts"
import { dayOf, type LocalDays } from "./local-days.ts"
import { OrderedHits } from "./ordered-hits.ts"
import type { HitChoice, PersonHits } from "./slice.ts"

/** Number of bits for the days of a person. The bits above are the last day, so that a visit needs one look-up. */
const COUNT_BITS = 13
const COUNT_MASK = (1 << COUNT_BITS) - 1

/** The local days on which visits start, by person of a slice. */
export interface DayCounts {
  values: Uint32Array
  /** Last day of each person who has one. */
  lastDay: Uint32Array
  /** Start of the visit that made the wanted number of days full; Infinity without it. */
  moments: Float64Array | undefined
}

export interface DayCounting {
  source: HitSource
  choice: HitChoice
  /** Number of people of the slice. */
  size: number
  local: LocalDays
  orderedHits: number
}

/**
 * Counts days. Visits mostly arrive in order, so that a new day is a later one; people of whom a visit is out of order are counted a
 * second time, with all their visits. `wanted` is the number of days whose moment is needed, if any.
 */
export function countDays(counting: DayCounting, wanted: number | undefined): DayCounts {
  const { source, choice, size, local } = counting
  const days = new Uint32Array(size)
  const moments = wanted === undefined ? undefined : new Float64Array(size).fill(Infinity)
  const unordered = new Uint8Array(size)
  let isAnyUnordered = false
  source.each((hits) => {
    const found = choice.choose(hits)
    const isUnordered = moments ? addWithMoments(found, days, local, unordered, moments, wanted!) : addDays(found, days, local, unordered)
    isAnyUnordered ||= isUnordered
  })
  const lastDay = new Uint32Array(size)
  for (let person = 0; person < size; person++) {
    const packed = days[person]!
    lastDay[person] = packed >>> COUNT_BITS
    days[person] = packed & COUNT_MASK
  }
  const values = days
  if (isAnyUnordered) recount(counting, unordered, { values, lastDay, moments }, wanted)
  return { values, lastDay, moments }
}

/** Adds visits. Returns whether one of them was out of order. */
function addDays({ person, at, count }: PersonHits, days: Uint32Array, local: LocalDays, unordered: Uint8Array): boolean {
  const { edges } = local
  let [day, from, to] = [0, 0, 0]
  let isAnyUnordered = false
  for (let i = 0; i < count; i++) {
    const time = at[i]!
    if (time < from || time >= to) {
      day = dayOf(local, time)
      from = edges[day]!
      to = edges[day + 1]!
    }
    const of = person[i]!
    const packed = days[of]!
    const last = packed >>> COUNT_BITS
    if (packed === 0 || day > last) days[of] = (day << COUNT_BITS) | ((packed & COUNT_MASK) + 1)
    else if (day < last) {
      unordered[of] = 1
      isAnyUnordered = true
    }
  }
  return isAnyUnordered
}

/** Does the same. A visit that is earlier than the moment of its person is out of order, too. */
function addWithMoments(
  { person, at, count }: PersonHits,
  days: Uint32Array,
  local: LocalDays,
  unordered: Uint8Array,
  moments: Float64Array,
  wanted: number,
): boolean {
  let isAnyUnordered = false
  for (let i = 0; i < count; i++) {
    const of = person[i]!
    const day = dayOf(local, at[i]!)
    const packed = days[of]!
    const last = packed >>> COUNT_BITS
    if (packed === 0 || day > last) {
      days[of] = (day << COUNT_BITS) | ((packed & COUNT_MASK) + 1)
      if ((days[of]! & COUNT_MASK) === wanted) moments[of] = at[i]!
    } else if (day < last || ((packed & COUNT_MASK) === wanted && at[i]! < moments[of]!)) {
      unordered[of] = 1
      isAnyUnordered = true
    }
  }
  return isAnyUnordered
}

function recount(
  { source, choice, size, local, orderedHits }: DayCounting,
  unordered: Uint8Array,
  { values, lastDay, moments }: DayCounts,
  wanted: number | undefined,
): void {
  const ordered = new OrderedHits(size, orderedHits)
  source.each((hits) => ordered.add(choice.choose(hits), unordered))
  ordered.finish((person, at, _, begin, end) => {
    values[person] = 0
    for (let i = begin; i < end; i++) {
      const day = dayOf(local, at[i]!)
      if (values[person] !== 0 && day === lastDay[person]) continue
      lastDay[person] = day
      values[person]!++
      if (moments && values[person] === wanted) moments[person] = at[i]!
    }
  })
}
