import type { Part } from "../../store/events/part.ts"
import { grownNumbers } from "../filter/buffers.ts"
import { bucketAt } from "../parse/buckets.ts"
import { type PeopleVisits, readActive, type VisitRows } from "./visits.ts"

/** Columns with a number per person are arrays by ordinal: with millions of visitors, objects would not fit into a worker's memory. */

/** A set of people that visits are added to. */
export class ActivePeople {
  /** The first `count` are the people, each once, in no particular order. */
  ordinals: Uint32Array = new Uint32Array(0)
  count = 0
  private readonly isIn: Uint8Array

  constructor(limit: number) {
    this.isIn = new Uint8Array(limit)
  }

  addVisits(part: Part, { rows, count }: VisitRows): void {
    this.ordinals = grownNumbers(this.ordinals, Math.min(this.isIn.length, this.count + count))
    this.count = addPeople(part.visit("visitor"), rows, count, this.isIn, this.ordinals, this.count)
  }
}

function addPeople(
  visitor: Uint32Array,
  rows: Uint32Array,
  count: number,
  isIn: Uint8Array,
  ordinals: Uint32Array,
  people: number,
): number {
  let found = people
  for (let i = 0; i < count; i++) {
    const person = visitor[rows[i]!]!
    if (isIn[person] === 1) continue
    isIn[person] = 1
    ordinals[found++] = person
  }
  return found
}

/** Sums of a column of visits by person. */
export class PeopleSums {
  readonly sums: Uint32Array

  constructor(limit: number) {
    this.sums = new Uint32Array(limit)
  }

  addVisits(part: Part, { rows, count }: VisitRows, column: Uint32Array): void {
    addColumn(part.visit("visitor"), rows, count, column, this.sums)
  }

  /** Adds 1 for each visit. */
  countVisits(part: Part, { rows, count }: VisitRows): void {
    addOnes(part.visit("visitor"), rows, count, this.sums)
  }
}

function addColumn(visitor: Uint32Array, rows: Uint32Array, count: number, column: Uint32Array, sums: Uint32Array): void {
  for (let i = 0; i < count; i++) sums[visitor[rows[i]!]!]! += column[rows[i]!]!
}

function addOnes(visitor: Uint32Array, rows: Uint32Array, count: number, sums: Uint32Array): void {
  for (let i = 0; i < count; i++) sums[visitor[rows[i]!]!]!++
}

/** Number of days that are counted at once, as the bits of a number. */
const DAYS_AT_ONCE = 32

/**
 * Counts the days between the edges on which a visit of each person starts, by ordinal. `also` is called with the visits that are
 * counted, each once.
 */
export function countActiveDays(
  visits: PeopleVisits,
  edges: readonly number[],
  check: () => void,
  also: (part: Part, active: VisitRows) => void = () => {},
): { people: ActivePeople; days: Uint16Array } {
  const people = new ActivePeople(visits.limit)
  const days = new Uint16Array(visits.limit)
  const bits = new Uint32Array(visits.limit)
  for (let from = 0; from < edges.length - 1; from += DAYS_AT_ONCE) {
    const some = Float64Array.from(edges.slice(from, from + DAYS_AT_ONCE + 1))
    readActive(visits, { from: some[0]!, to: some.at(-1)! }, check, (part, active) => {
      people.addVisits(part, active)
      markDays(part.visit("visitor"), part.starts(), active, some, bits)
      also(part, active)
    })
    takeDays(people, bits, days)
  }
  return { people, days }
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
function takeDays({ ordinals, count }: ActivePeople, bits: Uint32Array, days: Uint16Array): void {
  for (let i = 0; i < count; i++) {
    const person = ordinals[i]!
    let pairs = bits[person]!
    pairs -= (pairs >>> 1) & 0x5555_5555
    pairs = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333)
    days[person]! += Math.imul((pairs + (pairs >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
    bits[person] = 0
  }
}
