import type { PeopleListQuery, PeopleListResult } from "../../domain/people.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { ActivePeople, countActiveDays, PeopleSums } from "./activity.ts"
import { coverage } from "./coverage.ts"
import { factsOf } from "./facts.ts"
import { type PeopleValues, ranked } from "./ranking.ts"
import { ALWAYS, type PeopleVisits, peopleVisits, readActive, type VisitRows } from "./visits.ts"

/**
 * Lists people with their activity. One number per person orders the list; everything else is computed only for the people on the page,
 * so that memory stays within bounds for millions of people.
 */
export function peopleList(snapshot: Snapshot, query: PeopleListQuery, check: () => void): PeopleListResult {
  const visits = peopleVisits(snapshot, query)
  const { people, values } = orderOf(snapshot, visits, query, check)
  const found = ranked(people, values, { siteKey: query.scope.siteKey, limit: query.limit + 1, after: query.after, check })
  return {
    people: factsOf(snapshot, visits, query, found.slice(0, query.limit), check),
    total: people.count,
    hasMore: found.length > query.limit,
    coverage: coverage(snapshot, query.scope, [query.days[0]!, query.days.at(-1)!], check),
  }
}

interface Order {
  people: ActivePeople
  /** By ordinal. */
  values: PeopleValues
}

/** Returns the active people and the numbers that order them. */
function orderOf(snapshot: Snapshot, visits: PeopleVisits, query: PeopleListQuery, check: () => void): Order {
  const { days, sort } = query
  if (sort === "active_days") {
    const { people, days: values } = countActiveDays(visits, days, check)
    return { people, values }
  }
  const people = new ActivePeople(visits.limit)
  const { values, add } =
    sort === "first_seen" || sort === "last_seen" ? seenTimes(visits, sort, check) : activitySums(snapshot, visits, query)
  readActive(visits, { from: days[0]!, to: days.at(-1)! }, check, (part, active) => {
    people.addVisits(part, active)
    add?.(part, active)
  })
  return { people, values }
}

/** Numbers of people, and the function that adds active visits to them. */
interface Values {
  values: PeopleValues
  add?(part: Part, active: VisitRows): void
}

function activitySums(snapshot: Snapshot, { limit }: PeopleVisits, { sort, currency }: PeopleListQuery): Values {
  if (sort === "revenue") {
    const values = new Float64Array(limit)
    const wanted = snapshot.dictionary("currency").find(currency)
    return { values, add: (part, active) => addRevenue(part, active, wanted, values) }
  }
  const counts = new PeopleSums(limit)
  const add: Values["add"] =
    sort === "visits"
      ? (part, active) => counts.countVisits(part, active)
      : (part, active) => counts.addVisits(part, active, part.visit("events"))
  return { values: counts.sums, add }
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

/** Returns the times at which people were first or last seen in all stored data. */
function seenTimes(visits: PeopleVisits, sort: "first_seen" | "last_seen", check: () => void): Values {
  const values = new Float64Array(visits.limit)
  const mark = sort === "first_seen" ? keepFirst : keepLast
  for (const part of visits.parts) {
    check()
    mark(part, visits.known(part, ALWAYS), values)
  }
  return { values }
}

function keepFirst(part: Part, { rows, count }: VisitRows, times: Float64Array): void {
  const [visitor, starts] = [part.visit("visitor"), part.starts()]
  for (let i = 0; i < count; i++) {
    const person = visitor[rows[i]!]!
    const start = starts[rows[i]!]!
    if (times[person] === 0 || start < times[person]!) times[person] = start
  }
}

/** A person was last seen at the last pageview or custom event of a visit. */
function keepLast(part: Part, { rows, count }: VisitRows, times: Float64Array): void {
  const [visitor, starts, duration] = [part.visit("visitor"), part.starts(), part.visit("duration")]
  for (let i = 0; i < count; i++) {
    const person = visitor[rows[i]!]!
    const end = starts[rows[i]!]! + duration[rows[i]!]!
    if (end > times[person]!) times[person] = end
  }
}
