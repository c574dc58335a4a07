import type { Dimension } from "../../src/domain/dimension.ts"
import type { NewEvent } from "../../src/domain/event.ts"
import type { Condition, Filter } from "../../src/domain/filter.ts"
import type { PeopleSet } from "../../src/domain/people.ts"
import type { GoalRule } from "../../src/domain/query.ts"
import { entry, exit, isCounted, type RawVisit } from "./raw.ts"

type Goals = readonly GoalRule[]

/** Reports whether an event of a visit satisfies a filter, following the wording of metrics.md section 10. */
export function satisfies(filter: Filter | undefined, event: NewEvent, visit: RawVisit, goals: Goals): boolean {
  if (!filter) return true
  if ("filters" in filter) {
    const holds = (each: Filter) => satisfies(each, event, visit, goals)
    return filter.op === "and" ? filter.filters.every(holds) : filter.filters.some(holds)
  }
  if (filter.op === "not") return !satisfies(filter.filter, event, visit, goals)
  if (filter.op === "has_done") return hasDone(filter.filter, visit, goals)
  if (filter.op === "people") return belongs(filter.set, visit.visitor)
  if (filter.dimension === "goal") return goals.some((goal) => textHolds(filter, goal.name) && completes(goal, event, visit))
  return textHolds(filter, shownIn(filter, event, visit))
}

/** The members of the sets that filters name, by the key of the set. The test computes them before its query. */
export const MEMBERS = new Map<string, ReadonlySet<string>>()

export function belongs({ key }: PeopleSet, visitor: string): boolean {
  const members = MEMBERS.get(key)
  if (!members) throw new Error(`The members of ${key} are not known`)
  return members.has(visitor)
}

const hasDone = (filter: Filter, visit: RawVisit, goals: Goals): boolean =>
  visit.events.some((event) => mayCount(event, visit, filter, goals) && satisfies(filter, event, visit, goals))

/**
 * Reports whether an event is a counted event, or an engagement report that completes a scroll goal of the tree. The text is
 * ambiguous and read as the engine does: a report counts for the tree that names its goal, either the filter or the tree
 * below a `has_done`, independently.
 */
export function mayCount(event: NewEvent, visit: RawVisit, filter: Filter | undefined, goals: Goals): boolean {
  if (isCounted(event)) return true
  return namedGoals(filter, goals).some((goal) => goal.kind === "scroll" && completes(goal, event, visit))
}

function namedGoals(filter: Filter | undefined, goals: Goals): GoalRule[] {
  if (!filter || filter.op === "has_done" || filter.op === "people") return []
  if ("filters" in filter) return filter.filters.flatMap((each) => namedGoals(each, goals))
  if (filter.op === "not") return namedGoals(filter.filter, goals)
  return filter.dimension === "goal" ? goals.filter(({ name }) => textHolds(filter, name)) : []
}

const COUNTRIES: Record<string, string> = { DE: "Germany", US: "United States", AU: "Australia", NP: "Nepal" }

/** Returns the value, or the country's name if the condition uses names. "" is the missing value. */
export function shownIn(
  { dimension, property, named }: Pick<Condition, "dimension" | "property" | "named">,
  event: NewEvent,
  visit: RawVisit,
): string {
  const value = valueIn(dimension, property, event, visit)
  return named ? (COUNTRIES[value] ?? value) : value
}

/** Returns the value of a dimension. "" is the missing value. */
function valueIn(dimension: Dimension, property: string | undefined, event: NewEvent, visit: RawVisit): string {
  if (dimension === "page" || dimension === "title" || dimension === "hostname") return event[dimension]
  if (dimension === "event") return event.name
  if (dimension === "property") return event.props.find(([key]) => key === property)?.[1] ?? ""
  if (dimension === "entry_page") return entry(visit, "page")
  if (dimension === "exit_page") return exit(visit, "page")
  if (dimension === "entry_page_hostname") return entry(visit, "hostname")
  if (dimension === "exit_page_hostname") return exit(visit, "hostname")
  if (dimension === "goal") throw new Error("A goal is no value of an event")
  return visit.traits[dimension]
}

export function textHolds({ op, values, missing, caseSensitive }: Condition, text: string): boolean {
  if (text === "") return missing
  const fold = (each: string) => (caseSensitive ? each : each.toLowerCase())
  const tested = fold(text)
  return values.map(fold).some((value) => {
    if (op === "is") return tested === value
    if (op === "contains") return tested.includes(value)
    if (op === "starts_with") return tested.startsWith(value)
    if (op === "matches_wildcard") return wildcardHolds(value, tested)
    return comparesAs(op, decimalOf(text), decimalOf(value))
  })
}

/** Returns a decimal number in units of 10^-40, or undefined for any other text. The tests use fewer decimals. */
function decimalOf(text: string): bigint | undefined {
  const [, sign, whole, fraction = ""] = /^(-?)([0-9]+)(?:[.]([0-9]+))?$/.exec(text) ?? []
  return whole === undefined ? undefined : BigInt(`${sign}${whole}${fraction.padEnd(40, "0")}`)
}

function comparesAs(op: "gt" | "gte" | "lt" | "lte", left: bigint | undefined, right: bigint | undefined): boolean {
  if (left === undefined || right === undefined) return false
  if (op === "gt") return left > right
  if (op === "gte") return left >= right
  return op === "lt" ? left < right : left <= right
}

/** Matches character by character, tracking the positions in the text that the pattern may have reached. */
function wildcardHolds(pattern: string, text: string): boolean {
  let places = new Set([0])
  for (const letter of pattern.split("")) {
    const next = new Set<number>()
    for (const place of places) {
      if (letter === "*") for (let to = place; to <= text.length; to++) next.add(to)
      else if (text[place] === letter) next.add(place + 1)
    }
    places = next
  }
  return places.has(text.length)
}

/** Reports whether an event completes a goal (metrics.md section 11). */
export function completes(goal: GoalRule, event: NewEvent, visit: RawVisit): boolean {
  if (goal.kind === "scroll") return reachesScroll(goal, event, visit)
  const carries = ([key, value]: [string, string]) => event.props.some(([k, v]) => k === key && v === value)
  if (!Object.entries(goal.props ?? {}).every(carries)) return false
  if (goal.kind === "page") return event.name === "pageview" && matches(goal, event.page)
  return isCounted(event) && event.name !== "pageview" && matches(goal, event.name)
}

/** Reports whether this engagement event is the first of its visit to reach the threshold on its page. */
function reachesScroll(goal: GoalRule, event: NewEvent, visit: RawVisit): boolean {
  const reaches = ({ name, engagement }: NewEvent) => name === "engagement" && (engagement?.scrollDepth ?? -1) >= goal.threshold!
  if (!reaches(event) || !matches(goal, event.page)) return false
  return visit.events.find((other) => other.page === event.page && reaches(other)) === event
}

export function matches({ match, value }: { match: string; value: string }, text: string): boolean {
  if (match === "exact") return text === value
  if (match === "prefix") return text.startsWith(value)
  if (match === "contains") return text.includes(value)
  return wildcardHolds(value, text)
}
