import type { NewEvent } from "../../src/domain/event.ts"
import type { Filter } from "../../src/domain/filter.ts"
import type { GoalRule, Grouping, Key, Query } from "../../src/domain/query.ts"
import { completes, mayCount, satisfies, shownIn } from "./conditions.ts"
import { bucketStarts } from "./days.ts"
import { isCounted, type RawVisit, startOf } from "./raw.ts"
import { choosingFilter, ENTRIES, goalsInQuestion, leavesOf, pageFilter } from "./variants.ts"

/** An event that satisfies a filter, at any time. When grouped by goal, there is one match per completed goal. */
export interface Match {
  visit: RawVisit
  event: NewEvent
  goal?: GoalRule
}

/** Values by row, keyed by the JSON of the row's keys. */
export type ByRow<T> = Map<string, T[]>

const isBy = (grouping: Grouping, ...dimensions: string[]) => grouping.by === "dimension" && dimensions.includes(grouping.dimension)
export const isConversionGrouping = (grouping: Grouping): boolean => isBy(grouping, "goal", "event", "property")
export const isByGoal = ({ groupings }: Pick<Query, "groupings">): boolean => groupings.some((grouping) => isBy(grouping, "goal"))

/** Computes the sets of metrics.md 5.1 for a query over plain visits. */
export function setsOf(visits: readonly RawVisit[], query: Query) {
  const { site, range, filter, groupings } = query
  const goals = goalsInQuestion(filter, site)
  const inRange = (at: number) => at >= range.from && at < range.to
  const starts = startsOf(query)
  const bucketOf = (at: number) => starts.findLast((start) => start <= at)!

  function matching(of: Filter | undefined, byGoal: boolean, mayBe = mayCount): Match[] {
    return visits.flatMap((visit) =>
      visit.events.flatMap((event): Match[] => {
        const completed = byGoal ? goals.filter((goal) => completes(goal, event, visit)) : []
        if (byGoal ? completed.length === 0 : !mayBe(event, visit, of, site.goals)) return []
        if (!satisfies(of, event, visit, site.goals)) return []
        return byGoal ? completed.map((goal) => ({ visit, event, goal })) : [{ visit, event }]
      }),
    )
  }

  const keyOf = (grouping: Grouping, { visit, event, goal }: Match, at: number): Key => {
    if (grouping.by === "time") return bucketOf(at)
    if (grouping.dimension === "goal") return goal!.name
    return shownIn(grouping, event, visit) || null
  }
  const rowOf = (match: Match, at: number, by: readonly Grouping[]) => JSON.stringify(by.map((grouping) => keyOf(grouping, match, at)))

  /** E by row: events in the range, in the bucket of their own time. */
  const events = (found: readonly Match[], by = groupings): ByRow<Match> =>
    Map.groupBy(
      found.filter(({ event }) => inRange(event.at)),
      (match) => rowOf(match, match.event.at, by),
    )

  /** V by row: visits that start in the range, in the bucket of their start, once per row. */
  const started = (of: Filter | undefined, by = groupings): ByRow<RawVisit> => {
    const found = matching(of, isByGoal({ groupings: by })).filter(({ visit }) => inRange(startOf(visit)))
    const rows = Map.groupBy(found, (match) => rowOf(match, startOf(match.visit), by))
    return new Map(Array.from(rows, ([row, matches]) => [row, [...new Set(matches.map(({ visit }) => visit))]]))
  }

  /** Engagement, vitals and pageviews in the range. They are in a row by name, goal or property if their visit has such an event. */
  const measured = (names: readonly string[]): ByRow<Match> => {
    const lenders = Map.groupBy(matching(choosingFilter(filter), isByGoal(query)), ({ visit }) => visit)
    const found = matching(pageFilter(filter), false, ({ name }) => names.includes(name)).filter(({ event }) => inRange(event.at))
    const isLent = groupings.some(isConversionGrouping)
    const rows = found.flatMap((match) => {
      const own = [match]
      const lending = isLent ? (lenders.get(match.visit) ?? []) : own
      const keys = lending.map((lender) =>
        groupings.map((grouping) => keyOf(grouping, isConversionGrouping(grouping) ? lender : match, match.event.at)),
      )
      return [...new Set(keys.map((key) => JSON.stringify(key)))].map((row) => ({ row, match }))
    })
    const grouped = Map.groupBy(rows, ({ row }) => row)
    return new Map(Array.from(grouped, ([row, list]) => [row, list.map(({ match }) => match)]))
  }

  return { goals, starts, matching, events, started, measured, anyEvent: () => true, isCounted }
}
export type Sets = ReturnType<typeof setsOf>

/** Returns the bucket starts of the time grouping, if there is one. */
function startsOf({ groupings, range, timezone }: Query): number[] {
  const time = groupings.find((grouping) => grouping.by === "time")
  return time ? bucketStarts(range, time.interval, timezone) : []
}

/** "A page or host grouping, tested on entry page and entry host." */
export const entryGroupings = (groupings: readonly Grouping[]): Grouping[] =>
  groupings.map((grouping) =>
    grouping.by === "dimension" && (grouping.dimension === "page" || grouping.dimension === "hostname")
      ? { by: "dimension", dimension: ENTRIES[grouping.dimension] }
      : grouping,
  )

/** "Pageviews of the page" if only the exit page identifies the page: "`exit_rate` also with `exit_page`", api.md 6.2. */
export function namesExitPage({ filter, groupings }: Query): boolean {
  const isNamed = (name: string) =>
    groupings.some((grouping) => isBy(grouping, name)) || leavesOf(filter, false).some(({ dimension }) => dimension === name)
  return isNamed("exit_page") && !isNamed("page")
}

export const pageGroupings = (groupings: readonly Grouping[]): Grouping[] =>
  groupings.map((grouping) => (isBy(grouping, "exit_page") ? { by: "dimension", dimension: "page" } : grouping))
