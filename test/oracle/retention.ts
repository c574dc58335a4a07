import type { NewEvent } from "../../src/domain/event.ts"
import type { Filter } from "../../src/domain/filter.ts"
import type { RetentionQuery, RetentionResult } from "../../src/domain/people.ts"
import { belongs, mayCount, satisfies, shownIn } from "./conditions.ts"
import type { RawVisit } from "./raw.ts"
import { compareCodePoints } from "./rounding.ts"

interface Seen {
  visit: RawVisit
  event: NewEvent
}
type Row = RetentionResult["rows"][number]

/** A person in a cohort. */
interface Member {
  cohort: number
  value: string
  /** Periods in which the person returned. */
  returned: Set<number>
}

/** Computes the rows of a retention report from every event of every person, following areas/04-cohorts.md section 5. */
export function retentionRows(visits: readonly RawVisit[], query: RetentionQuery): Row[] {
  const people = [...trails(visits, query)].filter(([visitor]) => !query.among || belongs(query.among, visitor))
  const members = people.flatMap(([, trail]) => membersOf(trail, query))
  const { breakdown } = query
  const cohorts = Array.from({ length: query.cohorts }, (_, cohort) => cohort)
  if (!breakdown) return cohorts.map((cohort) => row(cohort, members, query))
  const sizes = [...Map.groupBy(members, ({ value }) => value)].map(([value, some]) => ({ value, size: some.length }))
  const ranked = sizes
    .filter(({ value }) => value !== "(other)")
    .sort((a, b) => b.size - a.size || compareCodePoints(a.value, b.value))
    .slice(0, 20)
    .map(({ value }) => value)
  const others = members.filter(({ value }) => !ranked.includes(value))
  return cohorts.flatMap((cohort) => [
    ...ranked.map((value) => ({
      ...row(
        cohort,
        members.filter((member) => member.value === value),
        query,
      ),
      value: value === "" ? null : value,
    })),
    ...(others.length > 0 ? [{ ...row(cohort, others, query), isOther: true }] : []),
  ])
}

function row(cohort: number, members: readonly Member[], { periods, counting }: RetentionQuery): Row {
  const own = members.filter((member) => member.cohort === cohort)
  const isBack = ({ returned }: Member, period: number) =>
    counting === "exact" ? returned.has(period) : [...returned].some((other) => other >= period)
  const counts = Array.from({ length: periods }, (_, period) => own.filter((member) => isBack(member, period)).length)
  return { cohort, size: own.length, counts }
}

/** Returns the events of each person up to the time of the query in order of (time, sequence). */
function trails(visits: readonly RawVisit[], { scope }: RetentionQuery): Map<string, Seen[]> {
  const existing = visits.filter(({ kind }) => !scope.identifiedOnly || kind !== "rotating").sort((a, b) => a.sequence - b.sequence)
  const seen = existing.flatMap((visit) => visit.events.map((event) => ({ visit, event })))
  const past = seen.filter(({ event }) => event.at <= scope.now).sort((a, b) => a.event.at - b.event.at)
  return Map.groupBy(past, ({ visit }) => visit.visitor)
}

function membersOf(trail: readonly Seen[], query: RetentionQuery): Member[] {
  const { goals } = query.site
  const isOf = (filter: Filter | undefined, { event, visit }: Seen) =>
    mayCount(event, visit, filter, goals) && satisfies(filter, event, visit, goals)
  const both = [query.start, query.filter].filter((filter) => filter !== undefined)
  const wanted: Filter | undefined = both.length === 2 ? { op: "and", filters: both } : both[0]
  const starts = trail.filter((seen) => isOf(wanted, seen))
  const periodOf = ({ event }: Seen) => query.edges.filter((edge) => edge <= event.at).length - 1
  const firsts = query.mode === "first_time" ? starts.slice(0, 1) : [...Map.groupBy(starts, periodOf).values()].map(([first]) => first!)
  const isFirstEver = (start: Seen) => trail.find((seen) => isOf(query.start, seen)) === start
  return firsts
    .filter((start) => periodOf(start) >= 0 && periodOf(start) < query.cohorts && (!query.firstEver || isFirstEver(start)))
    .map((start) => {
      const cohort = periodOf(start)
      const later = trail.slice(trail.indexOf(start) + 1).filter((seen) => isOf(query.returning, seen))
      const numberOf = (seen: Seen) => (query.elapsed ? Math.floor((seen.event.at - start.event.at) / 86_400_000) : periodOf(seen) - cohort)
      const often = [...Map.groupBy(later, numberOf)].filter(([, events]) => events.length >= query.returnCount)
      const returned = new Set(often.map(([period]) => period).filter((period) => !query.isSame || period > 0))
      // The own period is the cohort itself.
      if (query.isSame) returned.add(0)
      return { cohort, value: query.breakdown ? shownIn({ dimension: query.breakdown }, start.event, start.visit) : "", returned }
    })
}
