import type { NewEvent } from "../../src/domain/event.ts"
import type { PeopleCondition, PeopleGroup, PeopleScope, PeopleSet } from "../../src/domain/people.ts"
import type { Range } from "../../src/domain/query.ts"
import { VISITOR_KINDS, type VisitorKind } from "../../src/domain/visit.ts"
import type { Snapshot } from "../../src/store/events/part.ts"
import { mayCount, satisfies } from "./conditions.ts"
import { dayStart, localDate, plusDays } from "./days.ts"
import { isCounted, type RawVisit, startOf } from "./raw.ts"
import { furthestChain, trails } from "./steps.ts"

/** Evaluates sets of people by reading all visits of each person (areas/04-cohorts.md section 3). */

export type Truth = "out" | "undecided" | "in"

/** The visible visits of a site, and its visitors by ordinal for sets that name them. */
export interface Known {
  visits: readonly RawVisit[]
  names: ReadonlyMap<number, string>
}

/** Returns the visitors by ordinal. The store numbers visits in the order of the list. */
export function namesOf(snapshot: Snapshot, visits: readonly RawVisit[]): Map<number, string> {
  const stored = snapshot.parts.flatMap((part) => {
    const [sequences, visitors] = [part.sequences(), part.visit("visitor")]
    return Array.from({ length: part.visits }, (_, row) => ({ sequence: sequences[row]!, ordinal: visitors[row]! }))
  })
  const listed = visits.toSorted((a, b) => a.sequence - b.sequence)
  return new Map(stored.sort((a, b) => a.sequence - b.sequence).map(({ ordinal }, i) => [ordinal, listed[i]!.visitor]))
}

interface Person {
  /** By start and sequence. */
  visits: readonly RawVisit[]
  first: number
  kind: VisitorKind
}

/** A set is computed once, because those that refer to it ask for each person. */
const computed = new WeakMap<PeopleSet, Map<string, Truth>>()

/** Returns the truth for everyone who counts. A set belongs to one state of the visits. */
export function truths(known: Known, set: PeopleSet): Map<string, Truth> {
  const all = computed.get(set) ?? truthsOf(known, set)
  computed.set(set, all)
  return all
}

function truthsOf(known: Known, set: PeopleSet): Map<string, Truth> {
  const counting = known.visits.filter(({ kind }) => !set.scope.identifiedOnly || kind !== "rotating")
  const people = [...Map.groupBy(counting, ({ visitor }) => visitor)].map(([name, own]) => ({ name, person: personOf(own) }))
  const present = people.filter(({ person }) => person.first < set.until)
  return new Map(present.map(({ name, person }) => [name, truthOf(known, set, name, person)]))
}

function personOf(own: readonly RawVisit[]): Person {
  const visits = own.toSorted((a, b) => startOf(a) - startOf(b) || a.sequence - b.sequence)
  return { visits, first: startOf(visits[0]!), kind: VISITOR_KINDS.findLast((kind) => own.some((visit) => visit.kind === kind))! }
}

/** What became of a member of a group. */
interface Seen {
  truth: Truth
  /** When the condition was first met. */
  moment?: number
  /** Whether it can be referred to. */
  canBeMet?: boolean
}

function truthOf(known: Known, set: PeopleSet, name: string, person: Person): Truth {
  const { members } = set
  if (members.by === "visitors") return members.visitors.some((visitor) => known.names.get(visitor) === name) ? "in" : "out"
  if (members.by === "stored") throw new Error("The oracle knows no row tables")
  return groupTruth(members.group)

  function groupTruth({ match, conditions }: PeopleGroup): Truth {
    const seen: Seen[] = []
    for (const member of conditions)
      seen.push("test" in member ? conditionTruth(known, set, name, person, member, seen) : { truth: groupTruth(member) })
    const all = seen.map(({ truth }) => truth)
    const decisive = match === "all" ? "out" : "in"
    if (all.includes(decisive)) return decisive
    if (all.includes("undecided")) return "undecided"
    return match === "all" ? "in" : "out"
  }
}

function conditionTruth(
  known: Known,
  set: PeopleSet,
  name: string,
  person: Person,
  condition: PeopleCondition,
  before: readonly Seen[],
): Seen {
  const { test, negate, window } = condition
  if (test.of === "set") {
    const inner = truths(known, test.set).get(name) ?? "out"
    return { truth: inner === "undecided" || !negate ? inner : inner === "in" ? "out" : "in" }
  }
  const referred = window && "after" in window ? before[window.after] : undefined
  if (window && "after" in window && (!referred?.canBeMet || referred.truth === "out"))
    return { truth: "out", canBeMet: canBeMet(condition) }
  const isUnsure = referred?.truth === "undecided"
  if (referred && referred.moment === undefined) return { truth: isUnsure ? "undecided" : "out", canBeMet: canBeMet(condition) }
  const reference = referred ? referred.moment : window && "afterFirstSeen" in window ? person.first : undefined
  const range = windowOf(known, set, condition, reference)
  const found = findings(set, person, condition, range)
  const holds = found.meets(found.value) !== negate
  const seen = { canBeMet: canBeMet(condition), ...(!negate && found.moment !== undefined && { moment: found.moment }) }
  if ((negate || (test.of !== "revenue" && found.meets(0))) && !isRecognized(set.scope, person, range))
    return { truth: "out", canBeMet: seen.canBeMet }
  const asOf = Math.min(set.scope.now, set.until)
  const isOpen = reference !== undefined && range.to > asOf && asOf < recognizedUntil(set.scope, person)
  if (isOpen && couldChange(set, condition, found, asOf, range)) return { truth: "undecided", ...seen }
  if (!holds) return { truth: "out", canBeMet: seen.canBeMet }
  return { truth: isUnsure ? "undecided" : "in", ...seen }
}

/** "Without such a moment (negated, `eq`, `lte`, `lt`, `cohort`) it cannot be referred to." A count of 0 needs no event either. */
function canBeMet({ test, negate, count = { op: "gte", n: 1 } }: PeopleCondition): boolean {
  if (negate || test.of === "set") return false
  if (test.of === "first_seen" || test.of === "funnel") return true
  if (count.op !== "gt" && count.op !== "gte") return false
  return test.of === "revenue" || (count.op === "gt" ? count.n >= 0 : count.n > 0)
}

function windowOf(
  { visits }: Known,
  { until, scope: { timezone } }: PeopleSet,
  { window }: PeopleCondition,
  reference: number | undefined,
): Range {
  if (!window) return { from: Math.min(...visits.map(startOf)), to: until }
  if ("range" in window) return { from: window.range.from, to: Math.min(window.range.to, until) }
  const days = "after" in window ? window.days : window.afterFirstSeen
  return { from: reference!, to: dayStart(plusDays(localDate(reference!, timezone), days + 1), timezone) }
}

/** What a person did in a window. */
interface Findings {
  /** Undefined without any revenue. */
  value: number | undefined
  meets(value: number | undefined): boolean
  moment: number | undefined
  days: ReadonlySet<string>
}

interface Hit {
  at: number
  amount?: number
  day?: string
}

function findings(set: PeopleSet, person: Person, { test, count }: PeopleCondition, range: Range): Findings {
  const { timezone, site } = set.scope
  const isIn = (at: number) => at >= range.from && at < Math.min(range.to, set.until)
  const isMet =
    ({ op, n }: NonNullable<typeof count>) =>
    (value: number | undefined) => {
      if (value === undefined) return false
      return { gt: value > n, gte: value >= n, eq: value === n, lte: value <= n, lt: value < n }[op]
    }
  const atLeastOne = { op: "gte", n: 1 } as const
  if (test.of === "funnel") {
    const query = {
      site,
      range: { from: range.from, to: Math.min(range.to, set.until) },
      steps: test.steps.slice(0, test.step),
      order: test.order,
    }
    const whole = { ...query, ...(test.windowMs !== undefined && { windowMs: test.windowMs }), ...(test.filter && { filter: test.filter }) }
    const [trail = []] = trails(person.visits, whole).values()
    const isReachedBy = (place: number) => furthestChain(trail.slice(0, place + 1), whole).length === test.step
    const reaches = trail.length > 0 && isReachedBy(trail.length - 1) ? trail.findIndex((_, place) => isReachedBy(place)) : -1
    return { value: reaches < 0 ? 0 : 1, meets: isMet(atLeastOne), moment: trail[reaches]?.event.at, days: new Set() }
  }
  const passes = (event: NewEvent, visit: RawVisit) =>
    !("filter" in test && test.filter) ||
    (mayCount(event, visit, test.filter, site.goals) && satisfies(test.filter, event, visit, site.goals))
  const visits = person.visits.filter((visit) => visit.events.some((event) => passes(event, visit)))
  if (test.of === "first_seen") {
    const isSeen = isIn(person.first) && visits.includes(person.visits[0]!)
    return { value: Number(isSeen), meets: isMet(atLeastOne), moment: isSeen ? person.first : undefined, days: new Set() }
  }
  const meets = isMet(count ?? atLeastOne)
  const starts = visits.map(startOf).filter(isIn)
  const events = person.visits.flatMap((visit) => visit.events.filter(({ at }) => isIn(at)).map((event) => ({ event, visit })))
  const hits: Hit[] =
    test.of === "visits"
      ? starts.map((at) => ({ at }))
      : test.of === "active_days"
        ? starts.map((at) => ({ at, day: localDate(at, timezone) }))
        : test.of === "events"
          ? events
              .filter(({ event, visit }) => passes(event, visit) && mayCount(event, visit, test.filter, site.goals))
              .map(({ event }) => ({ at: event.at }))
          : test.of === "revenue"
            ? events
                .filter(({ event, visit }) => isCounted(event) && event.revenue?.currency === test.currency && passes(event, visit))
                .map(({ event }) => ({ at: event.at, amount: event.revenue!.amount }))
            : []
  const measure = (some: readonly Hit[]) => {
    if (test.of === "revenue") return some.length === 0 ? undefined : some.reduce((sum, { amount }) => sum + amount!, 0)
    return test.of === "active_days" ? new Set(some.map(({ day }) => day)).size : some.length
  }
  const times = hits.map(({ at }) => at).sort((a, b) => a - b)
  const moment = times.find((time) => meets(measure(hits.filter(({ at }) => at <= time))))
  return { value: measure(hits), meets, moment, days: new Set(hits.flatMap(({ day }) => day ?? [])) }
}

/** "An event could still change it": tries all numbers of further events, within the days that are left for active days. */
function couldChange(
  { scope: { timezone } }: PeopleSet,
  { test }: PeopleCondition,
  { value, meets, days }: Findings,
  asOf: number,
  range: Range,
): boolean {
  if (test.of === "revenue") return true
  if (test.of === "first_seen") return false
  let most = test.of === "funnel" ? 1 - value! : 100
  if (test.of === "active_days") {
    most = 0
    for (let day = localDate(asOf, timezone); day <= localDate(range.to - 1, timezone); day = plusDays(day, 1)) {
      const exists = dayStart(day, timezone) < dayStart(plusDays(day, 1), timezone)
      if (exists && !days.has(day)) most++
    }
  }
  return Array.from({ length: most }, (_, i) => value! + i + 1).some((later) => meets(later) !== meets(value))
}

function saltPeriod({ saltEdges }: PeopleScope, at: number): Range | undefined {
  const index = saltEdges.findIndex((edge, i) => at >= edge && at < saltEdges[i + 1]!)
  return index < 0 ? undefined : { from: saltEdges[index]!, to: saltEdges[index + 1]! }
}

function recognizedUntil(scope: PeopleScope, { kind, first }: Person): number {
  if (kind === "user") return Number.POSITIVE_INFINITY
  return kind === "device" ? first + scope.deviceMs : (saltPeriod(scope, first)?.to ?? Number.NEGATIVE_INFINITY)
}

function isRecognized(scope: PeopleScope, person: Person, { from, to }: Range): boolean {
  if (from >= to) return true
  const begin = person.kind === "rotating" ? (saltPeriod(scope, person.first)?.from ?? Number.POSITIVE_INFINITY) : Number.NEGATIVE_INFINITY
  return from >= begin && to <= recognizedUntil(scope, person)
}
