import type { Filter } from "../../domain/filter.ts"
import type { GoalRule, SiteFacts } from "../../domain/query.ts"
import { goalsNamed } from "./filters.ts"

/**
 * Returns the goals whose conversions are counted and that a grouping by goal has rows for: those named by a goal condition that
 * is neither negated nor inside `has_done`; without one, all goals of the site. Of several conditions in one `and`, the goals that
 * all of them name: the row of a goal then equals the total filtered to it, whatever other goals the filter names.
 */
export function countedGoals(filter: Filter | undefined, site: SiteFacts): readonly GoalRule[] {
  const named = filter && namedGoals(filter, site, true)
  return named ? site.goals.filter((goal) => named.includes(goal)) : site.goals
}

/** Returns the named goals, or undefined without such a condition. */
function namedGoals(filter: Filter, site: SiteFacts, positive: boolean): GoalRule[] | undefined {
  switch (filter.op) {
    case "and":
    case "or": {
      const named = filter.filters.map((inner) => namedGoals(inner, site, positive)).filter((goals) => goals !== undefined)
      if (named.length === 0) return undefined
      const isAll = (filter.op === "and") === positive
      return isAll ? named.reduce((goals, others) => goals.filter((goal) => others.includes(goal))) : named.flat()
    }
    case "not":
      return namedGoals(filter.filter, site, !positive)
    case "has_done":
    case "people":
      return undefined
    default:
      return positive && filter.dimension === "goal" ? goalsNamed(filter, site) : undefined
  }
}
