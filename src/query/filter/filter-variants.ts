import { type Dimension, dimensionFacts } from "../../domain/dimension.ts"
import type { Condition, Filter } from "../../domain/filter.ts"

/**
 * Returns the filter of Vₑ: "every page and host leaf of F's tree tested on entry page and entry host", those below `not`
 * included. All other conditions are unchanged, and so is `has_done`, which chooses visits by their events.
 */
export const entryFilter = (filter: Filter): Filter => renamed(filter, { page: "entry_page", hostname: "entry_page_hostname" })

/** Returns the filter of `exit_rate`: "visits of V whose exit page is the page". Only page conditions are tested on the exit page. */
export const exitFilter = (filter: Filter): Filter => renamed(filter, { page: "exit_page" })

/** Returns the filter of the pageviews of `exit_rate` when the filter names the exit page: the pageviews of that page. */
export const exitedFilter = (filter: Filter): Filter => renamed(filter, { exit_page: "page" })

function renamed(filter: Filter, names: Partial<Record<Dimension, Dimension>>): Filter {
  switch (filter.op) {
    case "and":
    case "or":
      return { ...filter, filters: filter.filters.map((inner) => renamed(inner, names)) }
    case "not":
      return { ...filter, filter: renamed(filter.filter, names) }
    case "has_done":
    case "people":
      return filter
    default:
      return { ...filter, dimension: names[filter.dimension] ?? filter.dimension }
  }
}

/** Conditions that `conversion_rate` leaves out of its denominator, and that engagement events cannot meet themselves. */
const isOfConversions = ({ dimension }: Condition) => dimension === "event" || dimension === "goal" || dimension === "property"

/**
 * Returns the filter of the denominator of conversion rates: the goal, event and property conditions removed, all others
 * kept. A removed condition excludes no visitor: an `and` continues without it, an `or` that contains it is removed, and so is a
 * `not` that contains it anywhere. Every converting visitor is therefore in the denominator. `has_done` is kept whole, because it
 * chooses visits and does not define the conversion. Returns undefined when no condition remains.
 */
export function audienceFilter(filter: Filter): Filter | undefined {
  switch (filter.op) {
    case "and": {
      const kept = filter.filters.map(audienceFilter).filter((inner) => inner !== undefined)
      return kept.length > 0 || filter.filters.length === 0 ? { op: "and", filters: kept } : undefined
    }
    case "or": {
      const kept = filter.filters.map(audienceFilter)
      return kept.includes(undefined) ? undefined : { op: "or", filters: kept.filter((inner) => inner !== undefined) }
    }
    case "not":
      return has(filter.filter, isOfConversions) ? undefined : filter
    case "has_done":
    case "people":
      return filter
    default:
      return isOfConversions(filter) ? undefined : filter
  }
}

/**
 * Returns the filter for engagement and vitals events (time on page, scroll depth, web vitals). They satisfy page, host and title
 * conditions themselves; "conditions on event name, goal or property choose the visits (those with such an event)". The largest
 * subtrees without the former become a `has_done`, so that several such conditions in one `and` must be met by a single event.
 */
export function pageFilter(filter: Filter): Filter {
  if (!has(filter, isOfConversions)) return filter
  if (!has(filter, isOwn)) return { op: "has_done", filter }
  switch (filter.op) {
    case "and": {
      const members = membersOf(filter.filters)
      const choosing = members.filter(isChoosing)
      const others = members.filter((inner) => !isChoosing(inner)).map(pageFilter)
      const done: Filter[] = choosing.length > 0 ? [{ op: "has_done", filter: { op: "and", filters: choosing } }] : []
      return { op: "and", filters: [...others, ...done] }
    }
    case "or":
      return { op: "or", filters: filter.filters.map(pageFilter) }
    case "not":
      return { op: "not", filter: pageFilter(filter.filter) }
    default:
      return filter
  }
}

/** Returns the part of a filter that an event must satisfy to choose its visit in `pageFilter`, or undefined when any event does. */
export function choosingFilter(filter: Filter | undefined): Filter | undefined {
  if (!filter || !has(filter, isOfConversions)) return undefined
  if (!has(filter, isOwn)) return filter
  return filter.op === "and" ? { op: "and", filters: membersOf(filter.filters).filter(isChoosing) } : undefined
}

/** Returns the members of an `and`, including those of directly nested `and`s. */
const membersOf = (filters: readonly Filter[]): Filter[] =>
  filters.flatMap((inner) => (inner.op === "and" ? membersOf(inner.filters) : [inner]))

const isChoosing = (filter: Filter) => has(filter, isOfConversions) && !has(filter, isOwn)
const isOwn = (condition: Condition) => dimensionFacts(condition.dimension).level === "event" && !isOfConversions(condition)

/** Returns whether the tree has a page or host leaf outside `has_done`: bounces are then counted over Vₑ. */
export const hasPageOrHost = (filter: Filter): boolean => hasOwnLeafOf(filter, ["page", "hostname"])

/** Returns whether the tree has a condition on one of the dimensions, inside `has_done` too. */
export const hasLeafOf = (filter: Filter, dimensions: readonly Dimension[]): boolean =>
  has(filter, ({ dimension }) => dimensions.includes(dimension), true)

/** Returns whether the tree has a condition on one of the dimensions outside `has_done`, which is about other events. */
export const hasOwnLeafOf = (filter: Filter, dimensions: readonly Dimension[]): boolean =>
  has(filter, ({ dimension }) => dimensions.includes(dimension))

/** Returns whether the tree names people, whose actions at any time decide. */
export function namesPeople(filter: Filter): boolean {
  switch (filter.op) {
    case "and":
    case "or":
      return filter.filters.some(namesPeople)
    case "not":
    case "has_done":
      return namesPeople(filter.filter)
    default:
      return filter.op === "people"
  }
}

/** Returns whether the tree has such a condition; below `has_done` only with `inside`. */
function has(filter: Filter, is: (condition: Condition) => boolean, inside = false): boolean {
  switch (filter.op) {
    case "and":
    case "or":
      return filter.filters.some((inner) => has(inner, is, inside))
    case "not":
      return has(filter.filter, is, inside)
    case "has_done":
      return inside && has(filter.filter, is, inside)
    case "people":
      return false
    default:
      return is(filter)
  }
}
