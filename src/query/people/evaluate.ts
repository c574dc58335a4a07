import { type Dimension, dimensionFacts } from "../../domain/dimension.ts"
import type { EvaluateQuery, EvaluateResult, MembersQuery, MembersResult, PeopleSet } from "../../domain/people.ts"
import type { PeopleStates, Snapshot, VisitColumn } from "../../store/events/part.ts"
import { firstInOrder } from "../measure/first-in-order.ts"
import { halvesOfNumbers, pseudonymHalves } from "../show/pseudonyms.ts"
import { coverage } from "./coverage.ts"
import { EdgeVisits } from "./edge-visits.ts"
import { PeopleSets } from "./sets.ts"
import { IN, PENDING, SLICE_SIZE, Slice } from "./slice.ts"

/** Largest number of values of one breakdown. */
const MAX_VALUES = 1_000

/** Counts the people of a set, those that are undecided, and what its people have in common. */
export function evaluate(snapshot: Snapshot, query: EvaluateQuery, check: () => void): EvaluateResult {
  const { set, comparedTo } = query
  const sets = new PeopleSets(snapshot, check)
  const states = sets.statesOf(set)
  const earlier = query.earlier.map(() => 0)
  sets.evaluate(query.earlier, (index, _, found) => {
    earlier[index]! += countOf(found, IN)
  })
  return {
    size: countOf(states, IN),
    pending: countOf(states, PENDING),
    total: countOf(sets.statesOf(everyone(set)), IN),
    coverage: coverage(snapshot, set.scope, [query.range.from, query.range.to], check),
    earlier,
    ...(comparedTo && { compared: compare(states, sets.statesOf(comparedTo)) }),
    breakdown: query.breakdown.length > 0 ? breakdowns(snapshot, query, states, check) : [],
  }
}

/** Returns the pseudonyms of the next people of a set, in the form in which an area stores them. Fewer than the limit after the last one. */
export function members(snapshot: Snapshot, { set, after, limit }: MembersQuery, check: () => void): MembersResult {
  const states = new PeopleSets(snapshot, check).statesOf(set)
  const lowest = new LowestNumbers(limit)
  for (let ordinal = 0; ordinal < states.length; ordinal++) {
    if (states[ordinal] !== IN) continue
    const number = snapshot.visitors.number(ordinal)
    if (number > after) lowest.add(number)
  }
  const numbers = lowest.finish()
  return { count: numbers.length, last: numbers.at(-1) ?? after, visitors: sortedPseudonyms(numbers, set.scope.siteKey) }
}

/** Keeps the lowest of many numbers. Numbers that are added in order are not moved. */
class LowestNumbers {
  readonly #limit: number
  readonly #kept: Float64Array
  #count = 0
  /** Above which no number is kept. */
  #highest = Number.POSITIVE_INFINITY

  constructor(limit: number) {
    this.#limit = limit
    this.#kept = new Float64Array(2 * limit)
  }

  add(number: number): void {
    if (number > this.#highest) return
    this.#kept[this.#count++] = number
    if (this.#count === this.#kept.length) this.#highest = this.finish().at(-1)!
  }

  /** Returns the numbers, ascending. */
  finish(): Float64Array {
    const lowest = this.#kept.subarray(0, this.#count).sort().subarray(0, this.#limit)
    this.#count = lowest.length
    return lowest
  }
}

/** Returns the pseudonyms of numbers as 8 bytes each, big-endian and ascending. */
function sortedPseudonyms(numbers: Float64Array, siteKey: Uint8Array): Uint8Array {
  const { left, right } = halvesOfNumbers(numbers)
  pseudonymHalves(siteKey, "visitor")(left, right)
  const sorted = BigUint64Array.from(left, (high, i) => (BigInt(high) << 32n) | BigInt(right[i]!)).sort()
  const bytes = new DataView(new ArrayBuffer(8 * sorted.length))
  sorted.forEach((name, i) => {
    bytes.setBigUint64(8 * i, name)
  })
  return new Uint8Array(bytes.buffer)
}

/** Returns the set of all people of the same scope. */
const everyone = ({ scope, until }: PeopleSet): PeopleSet => ({
  key: "everyone",
  scope,
  until,
  members: { by: "group", group: { match: "all", conditions: [] } },
})

function countOf(states: Uint8Array, wanted: number): number {
  let count = 0
  for (let i = 0; i < states.length; i++) if (states[i] === wanted) count++
  return count
}

function compare(states: PeopleStates, others: PeopleStates): { size: number; people: number } {
  let people = 0
  for (let ordinal = 0; ordinal < others.length; ordinal++) if (others[ordinal] === IN && states[ordinal] === IN) people++
  return { size: countOf(others, IN), people }
}

interface Counts {
  column: VisitColumn
  members: Float64Array
  total: Float64Array
}

/** Counts the people of the set and all people by the values of their last visit. */
function breakdowns(snapshot: Snapshot, { set, breakdown }: EvaluateQuery, states: PeopleStates, check: () => void) {
  const counts = breakdown.map((dimension): Counts => {
    const { size } = snapshot.dictionary(dictionaryOf(dimension))
    // Visit dimensions are columns of the same name.
    return { column: dimension as VisitColumn, members: new Float64Array(Math.max(1, size)), total: new Float64Array(Math.max(1, size)) }
  })
  for (let from = 0; from < snapshot.visitorLimit; from += SLICE_SIZE) {
    const slice = new Slice(snapshot, from, Math.min(SLICE_SIZE, snapshot.visitorLimit - from), check)
    const counting = slice.people(set)
    new EdgeVisits(snapshot, slice, "last", set.until, check).each((part, rows, people, count) => {
      for (const { column, members, total } of counts) {
        const values = part.visit(column)
        for (let i = 0; i < count; i++) {
          const person = people[i]!
          const value = values[rows[i]!]!
          if (counting[person] !== 0) total[value]!++
          members[value]! += states[from + person]! >>> 1
        }
      }
    })
  }
  return counts.map(({ members, total }, index) => largest(snapshot, breakdown[index]!, members, total))
}

function dictionaryOf(dimension: Dimension) {
  const { level, dictionary } = dimensionFacts(dimension)
  if (level !== "visit" || dictionary === undefined) throw new Error(`${dimension} is not a dimension of visits`)
  return dictionary
}

function largest(snapshot: Snapshot, dimension: Dimension, people: Float64Array, total: Float64Array) {
  const dictionary = snapshot.dictionary(dictionaryOf(dimension))
  const values = Uint32Array.from(people.keys()).filter((value) => people[value]! > 0)
  const compare = (a: number, b: number) =>
    people[b]! - people[a]! || total[b]! - total[a]! || (dictionary.text(a) < dictionary.text(b) ? -1 : 1)
  const first = firstInOrder(values, compare, MAX_VALUES)
  return first.map((value) => ({ value: dictionary.text(value) || null, people: people[value]!, total: total[value]! }))
}
