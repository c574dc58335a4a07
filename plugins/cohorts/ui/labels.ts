/** Words for conditions, as the builder and the pages of cohorts show them. */
import { counted, dayText, dimensionLabel, exact, visible } from "#plugin/ui"
import { type Condition, type Definition, isGroup } from "../cohort.ts"

/** Formats a number of people: `1 person`, `1,204 people`. */
export const peopleText = (count: number): string => `${exact(count)} ${count === 1 ? "person" : "people"}`

export const TYPE_LABELS: Readonly<Record<Condition["type"], string>> = {
  event: "trigger an event",
  page: "view a page",
  goal: "complete a goal",
  funnel: "go through a funnel",
  property: "trigger an event with a property",
  dimension: "have a visit with",
  first_seen: "visit for the first time",
  revenue: "spend",
  active_days: "be active on",
  cohort: "belong to a cohort",
}

export const TEXT_OPERATORS = ["is", "contains", "starts_with", "matches_wildcard"]
export const NUMBERS = ["gte", "gt", "lte", "lt"]
export const PROPERTY_OPERATORS = ["is", "is_not", "contains", "starts_with", "matches_wildcard", ...NUMBERS]
export const VISIT_OPERATORS = ["is", "is_not", "contains", "contains_not", "starts_with", "matches_wildcard", "matches_wildcard_not"]
export const VISIT_DIMENSIONS = [
  ...([
    "source",
    "channel",
    "referrer",
    "entry_page",
    "exit_page",
    "utm_source",
    "utm_medium",
    "utm_campaign",
    "utm_term",
    "utm_content",
  ] as const),
  ...(["country", "region", "city", "device", "size", "browser", "browser_version", "os", "os_version", "language"] as const),
]

export const OPERATOR_LABELS: Readonly<Record<string, string>> = {
  is: "is",
  is_not: "is not",
  contains: "contains",
  contains_not: "does not contain",
  starts_with: "starts with",
  matches_wildcard: "matches (*)",
  matches_wildcard_not: "does not match (*)",
  gt: "more than",
  gte: "at least",
  lt: "less than",
  lte: "at most",
}

export const WINDOW_LABELS: Readonly<Record<string, string>> = {
  "": "at any time",
  last_days: "in the last days",
  between: "between two days",
  after_first_seen: "after their first visit, within",
  after: "after another condition, within",
}

/** Things that a condition can refer to, and the name of one. Undefined for a thing that was deleted or is not known yet. */
export type Reference = "goal" | "funnel" | "cohort"
export type NameOf = (kind: Reference, id: number) => string | undefined

/** Describes a definition in one line per condition. */
export const describe = (definition: Definition, nameOf: NameOf = () => undefined): string[] =>
  definition.conditions.map((item, index) => {
    const joint = index === 0 ? "" : definition.match === "any" ? "or " : "and "
    return joint + (isGroup(item) ? `(${describe(item, nameOf).join(" ")})` : describeCondition(item, nameOf))
  })

function describeCondition(condition: Condition, nameOf: NameOf): string {
  const filters = condition.filters?.length ? `, with ${counted(condition.filters.length, "filter")}` : ""
  return `${whatOf(condition, nameOf)}${timesOf(condition)}${whenOf(condition)}${filters}`
}

/** Returns the kinds of things that a definition refers to. */
export const referencesIn = (definition: Definition): Reference[] =>
  definition.conditions.flatMap((item): Reference[] => {
    if (isGroup(item)) return referencesIn(item)
    return item.type === "goal" || item.type === "funnel" || item.type === "cohort" ? [item.type] : []
  })

const listed = (values: readonly string[]): string => values.map(visible).join(" or ")

/** Describes a value with its comparison. Equality needs no words. */
const compared = (operator: string | undefined, value: string): string =>
  operator === undefined || operator === "is" ? value : `that ${OPERATOR_LABELS[operator] ?? operator} ${value}`

function whatOf(condition: Condition, nameOf: NameOf): string {
  const named = (kind: Reference, id: number) => {
    const name = nameOf(kind, id)
    return name === undefined ? `${kind} ${id}` : `the ${kind} ${visible(name)}`
  }
  const not = condition.negate ?? false
  const says = (did: string, didNot: string) => (not ? didNot : did)
  switch (condition.type) {
    case "event":
      return `${says("triggered", "did not trigger")} the event ${compared(condition.operator, visible(condition.value))}`
    case "page":
      return `${says("viewed", "did not view")} the page ${compared(condition.operator, visible(condition.value))}`
    case "goal":
      return `${says("completed", "did not complete")} ${named("goal", condition.goal_id)}`
    case "funnel": {
      const step = condition.step === undefined ? "completed" : `reached step ${condition.step} of`
      return says(
        `${step} ${named("funnel", condition.funnel_id)}`,
        `did not ${step.replace("completed", "complete").replace("reached", "reach")} ${named("funnel", condition.funnel_id)}`,
      )
    }
    case "property":
      return `${says("triggered", "did not trigger")} an event with ${visible(condition.property)} ${OPERATOR_LABELS[condition.operator ?? "is"]} ${listed(condition.values)}`
    case "dimension":
      return `had ${says("a", "no")} visit with ${dimensionLabel(condition.dimension as "country").toLowerCase()} ${OPERATOR_LABELS[condition.operator ?? "is"]} ${listed(condition.values)}`
    case "first_seen":
      return says("visited for the first time", "did not visit for the first time")
    case "revenue":
      return `${says("spent", "did not spend")} ${OPERATOR_LABELS[condition.operator]} ${condition.amount} ${condition.currency}`
    case "active_days":
      return says("was active", "was not active")
    case "cohort":
      return `${says("is", "is not")} in ${named("cohort", condition.cohort_id)}`
  }
}

const COUNTS = { gte: "at least", eq: "exactly", lte: "at most" } as const

function timesOf(condition: Condition): string {
  const count = "count" in condition ? condition.count : undefined
  if (condition.type === "active_days") return ` on ${COUNTS[count?.op ?? "gte"]} ${counted(count?.n ?? 1, "day")}`
  return count ? ` ${COUNTS[count.op]} ${counted(count.n, "time")}` : ""
}

function whenOf({ window }: Condition): string {
  switch (window?.type) {
    case "last_days":
      return ` in the last ${counted(window.days, "day")}`
    case "between":
      return ` from ${dayText(window.from)} to ${dayText(window.to)}`
    case "after_first_seen":
      return ` within ${counted(window.days, "day")} of the first visit`
    case "after":
      return ` within ${counted(window.days, "day")} after condition ${window.condition + 1}`
    default:
      return ""
  }
}
