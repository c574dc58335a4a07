import { DIMENSIONS, type Dimension } from "../../src/domain/dimension.ts"
import type {
  ActiveDaysQuery,
  ActiveDaysResult,
  ActivePeopleQuery,
  Coverage,
  EngagementQuery,
  EngagementResult,
  PeopleListQuery,
  PeopleListResult,
  PeopleScope,
  PersonFacts,
  PersonQuery,
  PersonResult,
  PersonVisit,
} from "../../src/domain/people.ts"
import { VISITOR_KINDS } from "../../src/domain/visit.ts"
import { MEMBERS, mayCount, satisfies, shownIn } from "./conditions.ts"
import { dayStart, localDate, plusDays } from "./days.ts"
import { counted, durationOf, pageviews, type RawVisit, startOf } from "./raw.ts"
import { compareCodePoints } from "./rounding.ts"

/**
 * Recomputes the queries on active people from plain visits, following areas/04 sections 6 and 7 with one naive definition per figure.
 * People are compared by the texts of their visits; `NameOf` gives the pseudonym that the engine shows for one.
 */
export type NameOf = (visitor: string) => { visitor: number; pseudonym: string }

type Visits = readonly RawVisit[]

/** Returns the visits that exist for a query: with `identifiedOnly` only those with a user id or device id. */
const knownVisits = (visits: Visits, { identifiedOnly }: PeopleScope): RawVisit[] =>
  visits.filter(({ kind }) => !identifiedOnly || kind !== "rotating")

/** Returns the visits that make a person active. */
function activeVisits(visits: Visits, { scope, filter, among, site: { goals } }: ActivePeopleQuery): RawVisit[] {
  const members = among && MEMBERS.get(among.key)!
  const isChosen = (visit: RawVisit) =>
    (!members || members.has(visit.visitor)) &&
    visit.events.some((event) => mayCount(event, visit, filter, goals) && satisfies(filter, event, visit, goals))
  return knownVisits(visits, scope).filter(isChosen)
}

const within = (visits: Visits, from: number, to: number): RawVisit[] =>
  visits.filter((visit) => startOf(visit) >= from && startOf(visit) < to)
const peopleOf = (visits: Visits): Set<string> => new Set(visits.map(({ visitor }) => visitor))
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
const eventsOf = (visits: Visits): number => sum(visits.map((visit) => counted(visit).length))

/** Returns the edges between which the visits start, one per day on which any does. */
const daysOf = (visits: Visits, edges: readonly number[]): Set<number> =>
  new Set(visits.map((visit) => edges.findLastIndex((edge) => edge <= startOf(visit))))

export function activeDaysAnswer(visits: Visits, query: ActiveDaysQuery): ActiveDaysResult {
  const { days, previous, scope } = query
  const active = activeVisits(visits, query)
  const people = (edges: readonly number[]) => {
    const inside = within(active, edges[0]!, edges.at(-1)!)
    return [...Map.groupBy(inside, ({ visitor }) => visitor).values()].map((own) => ({
      days: daysOf(own, edges).size,
      events: eventsOf(own),
    }))
  }
  const histogram = (edges: readonly number[]) =>
    edges.slice(1).map((_, i) => people(edges).filter((person) => person.days === i + 1).length)
  const ordered = people(days).sort((a, b) => b.days - a.days || b.events - a.events)
  const sizes = Array.from({ length: 10 }, (_, tenth) => Math.floor(ordered.length / 10) + (tenth < ordered.length % 10 ? 1 : 0))
  const begins = sizes.map((_, tenth) => sum(sizes.slice(0, tenth)))
  return {
    people: histogram(days),
    previous: histogram(previous),
    tenths: begins.map((begin, tenth) => sum(ordered.slice(begin, begin + sizes[tenth]!).map(({ events }) => events))),
    coverage: coverageOf(visits, scope, [days[0]!, days.at(-1)!]),
  }
}

/** "The share of visits in range whose key is valid for the requested window", for each window between two edges. */
export function coverageOf(visits: Visits, { identifiedOnly, saltEdges, deviceMs }: PeopleScope, edges: readonly number[]): Coverage {
  const inside = within(visits, edges[0]!, edges.at(-1)!)
  const isRecognized = ({ visitor, kind, ...visit }: RawVisit): boolean => {
    const window = edges.findLastIndex((edge) => edge <= visit.events[0]!.at)
    const [from, to] = [edges[window]!, edges[window + 1]!]
    if (kind === "user") return true
    if (kind === "rotating") {
      const lasts = saltEdges.some((edge, i) => edge <= from && i + 1 < saltEdges.length && saltEdges[i + 1]! >= to)
      return !identifiedOnly && lasts
    }
    const first = Math.min(...visits.filter((other) => other.visitor === visitor && other.kind === "device").map(startOf))
    return first + deviceMs >= to
  }
  return { visits: inside.length, recognized: inside.filter(isRecognized).length }
}

function factsOf(visits: Visits, query: ActivePeopleQuery & { days: readonly number[] }, visitor: string, nameOf: NameOf): PersonFacts {
  const { days, scope } = query
  const own = knownVisits(visits, scope).filter((visit) => visit.visitor === visitor)
  const ownActive = activeVisits(own, query)
  const active = within(ownActive, days[0]!, days.at(-1)!)
  const events = active.flatMap((visit) => visit.events)
  const revenue = Map.groupBy(
    events.flatMap((event) => event.revenue ?? []),
    ({ currency }) => currency,
  )
  const views = Map.groupBy(
    active.flatMap(pageviews).filter(({ page }) => page !== ""),
    ({ page }) => page,
  )
  return {
    ...nameOf(visitor),
    kind: VISITOR_KINDS.findLast((kind) => own.some((visit) => visit.kind === kind))!,
    active_days: daysOf(active, days).size,
    streak: streakOf(ownActive, days, scope.timezone),
    visits: active.length,
    events: eventsOf(active),
    pageviews: active.flatMap(pageviews).length,
    revenue: [...revenue]
      .map(([currency, all]) => ({ currency, amount_minor: sum(all.map(({ amount }) => amount)) }))
      .sort((a, b) => compareCodePoints(a.currency, b.currency)),
    first_seen: Math.min(...own.map(startOf)),
    last_seen: Math.max(...own.map((visit) => startOf(visit) + durationOf(visit))),
    top_pages: [...views]
      .sort(([a, x], [b, y]) => y.length - x.length || compareCodePoints(a, b))
      .slice(0, 3)
      .map(([page]) => page),
  }
}

/** Counts back from the last day of the window. Before the window, local dates are counted; those that the zone skipped do not interrupt. */
function streakOf(active: Visits, edges: readonly number[], zone: string): number {
  let streak = 0
  for (let day = edges.length - 2; day >= 0; day--) {
    if (within(active, edges[day]!, edges[day + 1]!).length === 0) return streak
    streak++
  }
  for (let date = plusDays(localDate(edges[0]!, zone), -1); ; date = plusDays(date, -1)) {
    const [from, to] = [dayStart(date, zone), dayStart(plusDays(date, 1), zone)]
    if (from === to) continue
    if (within(active, from, to).length === 0) return streak
    streak++
  }
}

export function peopleListAnswer(visits: Visits, query: PeopleListQuery, nameOf: NameOf): PeopleListResult {
  const { days, sort, currency, limit, after, scope } = query
  const people = [...peopleOf(within(activeVisits(visits, query), days[0]!, days.at(-1)!))]
  const facts = people.map((visitor) => factsOf(visits, query, visitor, nameOf))
  const valueIn = (person: PersonFacts) =>
    sort === "revenue" ? (person.revenue.find((one) => one.currency === currency)?.amount_minor ?? 0) : person[sort]
  const isAfter = (person: PersonFacts) =>
    !after || valueIn(person) < after.value || (valueIn(person) === after.value && person.pseudonym > after.pseudonym)
  const ordered = facts.sort((a, b) => valueIn(b) - valueIn(a) || (a.pseudonym < b.pseudonym ? -1 : 1)).filter(isAfter)
  return {
    people: ordered.slice(0, limit),
    total: people.length,
    hasMore: ordered.length > limit,
    coverage: coverageOf(visits, scope, [days[0]!, days.at(-1)!]),
  }
}

/** Returns the answer without the sequences of the visits, which only the store knows. */
export function personAnswer(visits: Visits, query: PersonQuery, visitor: string, nameOf: NameOf) {
  const own = knownVisits(visits, query.scope).filter((visit) => visit.visitor === visitor)
  const active = activeVisits(own, query).sort((a, b) => startOf(b) - startOf(a) || b.sequence - a.sequence)
  const result: Omit<PersonResult, "hasMore" | "visits"> & { visits: Omit<PersonVisit, "sequence">[] } = {
    ...(own.length > 0 && { person: factsOf(visits, query, visitor, nameOf) }),
    visits: active.map(shownVisit),
  }
  return result
}

// The keys of a literal.
const VISIT_DIMENSIONS = (Object.keys(DIMENSIONS) as Dimension[]).filter((dimension) => DIMENSIONS[dimension].level === "visit")

function shownVisit(visit: RawVisit): Omit<PersonVisit, "sequence"> {
  const values = VISIT_DIMENSIONS.map((dimension) => [dimension, shownIn({ dimension }, visit.events[0]!, visit) || null])
  return {
    start: startOf(visit),
    durationMs: durationOf(visit),
    pageviews: pageviews(visit).length,
    values: Object.fromEntries(values),
    events: counted(visit).map(({ at, name, page, props, revenue }) => ({
      at,
      name,
      page: page || null,
      properties: Object.fromEntries(props),
      ...(revenue && { revenue: { currency: revenue.currency, amount_minor: revenue.amount } }),
    })),
  }
}

export function engagementAnswer(visits: Visits, query: EngagementQuery): EngagementResult {
  const { edges, days, scope, daysOnly } = query
  const known = knownVisits(visits, scope)
  const all = activeVisits(visits, query)
  const active = (from: number, to: number) => peopleOf(within(all, from, to))
  const points = edges.slice(2).map((to, i) => {
    const [before, from] = [edges[i]!, edges[i + 1]!]
    const last = days.findLastIndex((day) => day < to && day <= scope.now)
    const ended = (length: number) => active(days[last + 1 - length]!, days[last + 1]!).size
    const now = active(from, to)
    const previous = active(before, from)
    const earlier = peopleOf(within(known, Number.NEGATIVE_INFINITY, from))
    return {
      dau: ended(1),
      wau: ended(7),
      mau: ended(28),
      new: now.difference(earlier).size,
      returning: now.intersection(previous).size,
      resurrected: now.intersection(earlier).difference(previous).size,
      dormant: previous.difference(now).size,
    }
  })
  const range = [edges[1]!, edges.at(-1)!] as const
  const covered = daysOnly ? [range[0], ...days.filter((day) => day > range[0] && day < range[1]), range[1]] : range
  return { points, coverage: coverageOf(visits, scope, covered) }
}
