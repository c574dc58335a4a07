import { type Dimension, dimensionFacts } from "../../src/domain/dimension.ts"
import type { Condition, Filter } from "../../src/domain/filter.ts"
import type { GoalRule, SiteFacts } from "../../src/domain/query.ts"
import { textHolds } from "./conditions.ts"

const children = (filter: Filter): readonly Filter[] => ("filters" in filter ? filter.filters : "filter" in filter ? [filter.filter] : [])

/** Returns all conditions of a tree, including those below `has_done` if `inside` is set. */
export function leavesOf(filter: Filter | undefined, inside: boolean): Condition[] {
  if (!filter || (filter.op === "has_done" && !inside)) return []
  if ("dimension" in filter) return [filter]
  return children(filter).flatMap((each) => leavesOf(each, inside))
}

/** Returns the same tree with other dimensions in its leaves, also below `not`. "Leaves inside `has_done` are exempt." */
export function renamed(filter: Filter | undefined, names: Partial<Record<Dimension, Dimension>>): Filter | undefined {
  if (!filter || filter.op === "has_done" || filter.op === "people") return filter
  if ("dimension" in filter) return { ...filter, dimension: names[filter.dimension] ?? filter.dimension }
  if ("filters" in filter) return { op: filter.op, filters: filter.filters.map((each) => renamed(each, names)!) }
  return { op: "not", filter: renamed(filter.filter, names)! }
}

/** "Vₑ = the same with every page and host leaf of F's tree … tested on entry page and entry host." */
export const ENTRIES = { page: "entry_page", hostname: "entry_page_hostname" } as const
/** "Visits of V whose exit page is the page." */
export const EXITS = { page: "exit_page" } as const

const CONVERTING: readonly Dimension[] = ["event", "goal", "property"]
const isConverting = ({ dimension }: Condition) => CONVERTING.includes(dimension)
const ALWAYS: Filter = { op: "and", filters: [] }

/**
 * "With the goal, event and property conditions removed and all others kept. Below `not` removing such a leaf removes the
 * whole `not`." Ambiguous below `or`, and interpreted as the engine does: a removed condition excludes no visitor, so it counts as
 * met. `has_done` is not changed.
 */
export function withoutConverting(filter: Filter | undefined): Filter | undefined {
  if (!filter || filter.op === "has_done") return filter
  if (leavesOf(filter, false).every((leaf) => !isConverting(leaf))) return filter
  if ("filters" in filter) return { op: filter.op, filters: filter.filters.map((each) => withoutConverting(each)!) }
  return ALWAYS
}

/** Reports whether engagement and vitals events can meet a condition themselves, because they have a page, a host and a title. */
const isOwn = (condition: Condition) => dimensionFacts(condition.dimension).level === "event" && !isConverting(condition)
const hasConverting = (filter: Filter) => leavesOf(filter, false).some(isConverting)
const hasOwn = (filter: Filter) => leavesOf(filter, false).some(isOwn)
const choosesVisits = (filter: Filter) => hasConverting(filter) && !hasOwn(filter)

/**
 * For engagement and vitals events: "conditions on event name, goal or property choose the visits (those with such an
 * event)". Interpreted as the engine does: the largest parts of the tree without conditions that such events meet themselves
 * become a `has_done`; those below one `and`, and the `and`s right below it, are one part, met by one event.
 */
export function pageFilter(filter: Filter | undefined): Filter | undefined {
  if (!filter || !hasConverting(filter)) return filter
  if (choosesVisits(filter)) return { op: "has_done", filter }
  if (filter.op === "or") return { op: "or", filters: filter.filters.map((each) => pageFilter(each)!) }
  if (filter.op === "not") return { op: "not", filter: pageFilter(filter.filter)! }
  const chosen = choosingFilter(filter)
  const others = members(filter).filter((each) => !choosesVisits(each))
  return {
    op: "and",
    filters: [...others.map((each) => pageFilter(each)!), ...(chosen ? [{ op: "has_done", filter: chosen } as const] : [])],
  }
}

const members = (filter: Filter): readonly Filter[] => (filter.op === "and" ? filter.filters.flatMap(members) : [filter])

/**
 * Returns what an event must satisfy to lend its name, goal or property to the engagement and vitals of its visit, so that a row
 * equals the total under a filter by its value: the part that would join the new condition in `pageFilter`.
 */
export function choosingFilter(filter: Filter | undefined): Filter | undefined {
  if (!filter) return undefined
  if (choosesVisits(filter)) return filter
  const choosing = filter.op === "and" ? members(filter).filter(choosesVisits) : []
  return choosing.length > 0 ? { op: "and", filters: choosing } : undefined
}

export const namesPage = (filter: Filter | undefined): boolean => leavesOf(filter, false).some(({ dimension }) => dimension in ENTRIES)

/**
 * "Completed one of the goals in question (all goals when none is named)": interpreted as the engine does, a goal is named by the
 * goal conditions that are not negated and not below `has_done`, and by all of them where they are joined by `and`.
 */
export function goalsInQuestion(filter: Filter | undefined, { goals }: SiteFacts): readonly GoalRule[] {
  return (filter && namedGoals(filter, goals, true)) ?? goals
}

function namedGoals(filter: Filter, goals: readonly GoalRule[], isPositive: boolean): GoalRule[] | undefined {
  if (filter.op === "not") return namedGoals(filter.filter, goals, !isPositive)
  if ("dimension" in filter) {
    return filter.dimension === "goal" && isPositive ? goals.filter(({ name }) => textHolds(filter, name)) : undefined
  }
  if (filter.op === "has_done" || filter.op === "people") return undefined
  const naming = filter.filters.map((each) => namedGoals(each, goals, isPositive)).filter((named) => named !== undefined)
  if (naming.length === 0) return undefined
  const isOfAll = (filter.op === "and") === isPositive
  return goals.filter((goal) => (isOfAll ? naming.every((named) => named.includes(goal)) : naming.some((named) => named.includes(goal))))
}
