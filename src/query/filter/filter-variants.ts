import { type Dimension, dimensionFacts } from "../domain/dimension.ts"
import type { Condition, Filter } from "../domain/filter.ts"

/**
 * Filters derived from the filter of a question, for the metrics that test something else than E and V do. Each is the
 * written reading of a sentence of metrics.md section 5 or 11.
 */

/**
 * Of Vₑ: "every page and host leaf of F's tree tested on entry page and entry host". Every leaf, those below `not` and
 * `has_done` included; all other conditions stay as they are.
 */
export const entryFilter = (filter: Filter): Filter => renamed(filter, { page: "entry_page", hostname: "entry_page_hostname" })

/** Of `exit_rate`: "visits of V whose exit page is the page". Only page leaves, tested on the exit page. */
export const exitFilter = (filter: Filter): Filter => renamed(filter, { page: "exit_page" })

/** Of `exit_rate` where the page is named as the exit page: "pageviews of the page" are those of events on it. */
export const exitedFilter = (filter: Filter): Filter => renamed(filter, { exit_page: "page" })

function renamed(filter: Filter, names: Partial<Record<Dimension, Dimension>>): Filter {
  switch (filter.op) {
    case "and":
    case "or":
      return { ...filter, filters: filter.filters.map((inner) => renamed(inner, names)) }
    case "not":
    case "has_done":
      return { ...filter, filter: renamed(filter.filter, names) }
    default:
      return { ...filter, dimension: names[filter.dimension] ?? filter.dimension }
  }
}

/** Conditions that `conversion_rate` leaves out of its denominator, and that engagement events cannot meet themselves. */
const isOfConversions = ({ dimension }: Condition) => dimension === "event" || dimension === "goal" || dimension === "property"

/**
 * Of the denominator of conversion rates: the goal, event and property conditions removed, all others kept. A removed
 * condition holds nobody back, wherever in the tree it stands: an `and` goes on without it, an `or` with it lets everybody
 * pass, and a `not` around it is gone with it. So whoever converts is always among those who could have. `has_done` stays
 * whole: it says which visits are looked at, not what they are to do. Undefined: nothing is left.
 */
export function audienceFilter(filter: Filter): Filter | undefined {
  return withoutConversions(filter, "and")
}

/** `skipping` is the kind of list that goes on without a removed member; the other kind is gone with it. A `not` swaps them. */
function withoutConversions(filter: Filter, skipping: "and" | "or"): Filter | undefined {
  switch (filter.op) {
    case "and":
    case "or": {
      const kept = filter.filters.map((inner) => withoutConversions(inner, skipping))
      const left = kept.filter((inner) => inner !== undefined)
      if (left.length === kept.length) return { ...filter, filters: left }
      return filter.op === skipping && left.length > 0 ? { ...filter, filters: left } : undefined
    }
    case "not": {
      const inner = withoutConversions(filter.filter, skipping === "and" ? "or" : "and")
      return inner && { op: "not", filter: inner }
    }
    case "has_done":
      return filter
    default:
      return isOfConversions(filter) ? undefined : filter
  }
}

/**
 * For engagement and vitals events (time on page, scroll depth, web vitals): they meet page, host and title conditions
 * themselves; "conditions on event name, goal or property choose the visits (those with such an event)". The largest parts
 * of the tree that hold none of the former become a `has_done`, so that several such conditions below one `and` are met by
 * one event, as everywhere.
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

/** The part of a filter that an event must satisfy to choose its visit in `pageFilter`: undefined when any event does. */
export function choosingFilter(filter: Filter | undefined): Filter | undefined {
  if (!filter || !has(filter, isOfConversions)) return undefined
  if (!has(filter, isOwn)) return filter
  return filter.op === "and" ? { op: "and", filters: membersOf(filter.filters).filter(isChoosing) } : undefined
}

/** Of an `and`, with those of the `and`s right below it. */
const membersOf = (filters: readonly Filter[]): Filter[] =>
  filters.flatMap((inner) => (inner.op === "and" ? membersOf(inner.filters) : [inner]))

const isChoosing = (filter: Filter) => has(filter, isOfConversions) && !has(filter, isOwn)
const isOwn = (condition: Condition) => dimensionFacts(condition.dimension).level === "event" && !isOfConversions(condition)

/** Whether a page or host leaf stands anywhere in the tree: then bounces are counted over Vₑ. */
export const hasPageOrHost = (filter: Filter): boolean => hasLeafOf(filter, ["page", "hostname"])

/** Whether a condition on one of the dimensions stands anywhere in the tree. */
export const hasLeafOf = (filter: Filter, dimensions: readonly Dimension[]): boolean =>
  has(filter, ({ dimension }) => dimensions.includes(dimension), true)

/** The same without what stands below `has_done`, which is about other events. */
export const hasOwnLeafOf = (filter: Filter, dimensions: readonly Dimension[]): boolean =>
  has(filter, ({ dimension }) => dimensions.includes(dimension))

/** Whether a condition stands in the tree; below `has_done` only when `inside` says so. */
function has(filter: Filter, is: (condition: Condition) => boolean, inside = false): boolean {
  switch (filter.op) {
    case "and":
    case "or":
      return filter.filters.some((inner) => has(inner, is, inside))
    case "not":
      return has(filter.filter, is, inside)
    case "has_done":
      return inside && has(filter.filter, is, inside)
    default:
      return is(filter)
  }
}
