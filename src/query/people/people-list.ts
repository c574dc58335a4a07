import type { PeopleListQuery, PeopleListResult } from "../../domain/people.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { ActiveDays, addColumn, countVisits } from "./activity.ts"
import { coverage } from "./coverage.ts"
import { factsOf } from "./facts.ts"
import { type PeopleOrder, peopleIn, ranked } from "./ranking.ts"
import { type PeopleVisits, peopleVisits, readActive, readKnown, type VisitRows } from "./visits.ts"

/**
 * Lists people with their activity. One number per person orders the list; everything else is computed only for the people on the page,
 * so that memory stays within bounds for millions of people.
 */
export function peopleList(snapshot: Snapshot, query: PeopleListQuery, check: () => void): PeopleListResult {
  const visits = peopleVisits(snapshot, query)
  const order = orderOf(snapshot, visits, query, check)
  const { visitors } = snapshot
  const found = ranked(order, { siteKey: query.scope.siteKey, visitors, limit: query.limit + 1, after: query.after, check })
  return {
    people: factsOf(snapshot, visits, query, found.slice(0, query.limit), check),
    total: peopleIn(order),
    hasMore: found.length > query.limit,
    coverage: coverage(snapshot, query.scope, [query.days[0]!, query.days.at(-1)!], check),
  }
}

function orderOf(snapshot: Snapshot, visits: PeopleVisits, { days, sort, currency }: PeopleListQuery, check: () => void): PeopleOrder {
  const range = { from: days[0]!, to: days.at(-1)! }
  switch (sort) {
    case "active_days": {
      const counted = new ActiveDays(visits)
      counted.count(days, check)
      return { values: counted.days, none: 0 }
    }
    case "visits": {
      const values = new Uint32Array(visits.limit)
      readActive(visits, range, check, (part, active) => countVisits(part, active, values))
      return { values, none: 0 }
    }
    case "events": {
      const values = new Uint32Array(visits.limit)
      readActive(visits, range, check, (part, active) => addColumn(part, active, part.visit("events"), values))
      return { values, none: 0 }
    }
    case "revenue": {
      const values = new Float64Array(visits.limit).fill(NONE)
      const wanted = snapshot.dictionary("currency").find(currency)
      readActive(visits, range, check, (part, active) => {
        markActive(part, active, values)
        addRevenue(part, active, wanted, values)
      })
      return { values, none: NONE }
    }
    default: {
      const values = new Float64Array(visits.limit).fill(NONE)
      readActive(visits, range, check, (part, active) => markActive(part, active, values))
      readKnown(visits, check, (part, known) => (sort === "first_seen" ? keepFirst : keepLast)(part, known, values))
      return { values, none: NONE }
    }
  }
}

/** Value of people who are not active. Sums of revenue can be negative. */
const NONE = Number.NEGATIVE_INFINITY

/** Gives active people the value 0, unless they have one. */
function markActive(part: Part, { rows, count }: VisitRows, values: Float64Array): void {
  const visitor = part.visit("visitor")
  for (let i = 0; i < count; i++) {
    const person = visitor[rows[i]!]!
    if (values[person] === NONE) values[person] = 0
  }
}

/** Adds the revenue of the events of visits in one currency. */
function addRevenue(part: Part, { rows, count }: VisitRows, wanted: number | undefined, sums: Float64Array): void {
  const { row, amount, currency } = part.revenue()
  if (wanted === undefined || row.length === 0) return
  const isActive = new Uint8Array(part.visits)
  for (let i = 0; i < count; i++) isActive[rows[i]!] = 1
  const [visit, visitor] = [part.event("visit"), part.visit("visitor")]
  for (let i = 0; i < row.length; i++) {
    const of = visit[row[i]!]!
    if (currency[i] === wanted && isActive[of] === 1) sums[visitor[of]!]! += amount[i]!
  }
}

/** Keeps the first visit of active people in all stored data. */
function keepFirst(part: Part, { rows, count }: VisitRows, times: Float64Array): void {
  const [visitor, starts] = [part.visit("visitor"), part.starts()]
  for (let i = 0; i < count; i++) {
    const person = visitor[rows[i]!]!
    const start = starts[rows[i]!]!
    if (times[person] === 0 || start < times[person]!) times[person] = start
  }
}

/** Keeps the last pageview or custom event of active people in all stored data. */
function keepLast(part: Part, { rows, count }: VisitRows, times: Float64Array): void {
  const [visitor, starts, duration] = [part.visit("visitor"), part.starts(), part.visit("duration")]
  for (let i = 0; i < count; i++) {
    const person = visitor[rows[i]!]!
    const end = starts[rows[i]!]! + duration[rows[i]!]!
    if (times[person] !== NONE && end > times[person]!) times[person] = end
  }
}
