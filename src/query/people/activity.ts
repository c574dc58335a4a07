import type { Part } from "../../store/events/part.ts"
import { bucketAt } from "../parse/buckets.ts"
import { type PeopleVisits, readActive, type VisitRows } from "./visits.ts"

/**
 * Numbers of people are arrays by ordinal. With millions of visitors a worker has memory for few of them, and for no list or object per
 * person.
 */

/** Adds a column of visits to sums by person. */
export function addColumn(part: Part, { rows, count }: VisitRows, column: Uint32Array, sums: Uint32Array): void {
  const visitor = part.visit("visitor")
  for (let i = 0; i < count; i++) sums[visitor[rows[i]!]!]! += column[rows[i]!]!
}

/** Counts visits by person. */
export function countVisits(part: Part, { rows, count }: VisitRows, sums: Uint32Array): void {
  const visitor = part.visit("visitor")
  for (let i = 0; i < count; i++) sums[visitor[rows[i]!]!]!++
}

/** Number of days that are counted at once, as the bits of a number. */
const DAYS_AT_ONCE = 32

/** Counts the local days on which visits of each person start, for one window after another. */
export class ActiveDays {
  /** By ordinal; 0 for people who are not active. */
  readonly days: Uint16Array
  private readonly bits: Uint32Array

  constructor(private readonly visits: PeopleVisits) {
    this.days = new Uint16Array(visits.limit)
    this.bits = new Uint32Array(visits.limit)
  }

  /** Counts the days between the edges. `also` is called with the visits, each once. */
  count(edges: readonly number[], check: () => void, also: (part: Part, active: VisitRows) => void = () => {}): void {
    this.days.fill(0)
    for (let from = 0; from < edges.length - 1; from += DAYS_AT_ONCE) {
      const some = Float64Array.from(edges.slice(from, from + DAYS_AT_ONCE + 1))
      readActive(this.visits, { from: some[0]!, to: some.at(-1)! }, check, (part, active) => {
        markDays(part.visit("visitor"), part.starts(), active, some, this.bits)
        also(part, active)
      })
      takeDays(this.bits, this.days)
    }
  }
}

/** Sets the bit of the day on which a visit starts. */
function markDays(visitor: Uint32Array, starts: Float64Array, { rows, count }: VisitRows, edges: Float64Array, bits: Uint32Array): void {
  let day = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i]!
    const at = starts[row]!
    if (at < edges[day]! || at >= edges[day + 1]!) day = bucketAt(edges, at)
    bits[visitor[row]!]! |= 1 << day
  }
}

/** Adds the number of set bits to the days of each person, and clears the bits. */
function takeDays(bits: Uint32Array, days: Uint16Array): void {
  for (let person = 0; person < bits.length; person++) {
    let sums = bits[person]!
    if (sums === 0) continue
    sums -= (sums >>> 1) & 0x5555_5555
    sums = (sums & 0x3333_3333) + ((sums >>> 2) & 0x3333_3333)
    days[person]! += Math.imul((sums + (sums >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
    bits[person] = 0
  }
}
