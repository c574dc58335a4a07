import type { Dimension } from "../../domain/dimension.ts"
import { type Condition, type Filter, textTest } from "../../domain/filter.ts"
import type { ImportedKind } from "../../domain/imported.ts"
import type { Metric } from "../../domain/metric.ts"
import type { DimensionGrouping, GoalRule, ImportExclusion, Query } from "../../domain/query.ts"
import type { Snapshot } from "../../store/events/part.ts"
import type { TotalsPart } from "../../store/events/totals.ts"
import { ruleMask } from "../filter/masks.ts"

/** The table that can answer a query, or why none can. */
export type Fit = { kind: ImportedKind } | { reason: ImportExclusion }

const FIVE_METRICS: readonly Metric[] = [
  "visitors",
  "visits",
  "pageviews",
  "views_per_visit",
  "bounce_rate",
  "visit_duration",
  "percentage",
]

/** Metrics that each table can answer. Tables that are not listed have the five counts. */
const METRICS_OF: Partial<Record<ImportedKind, readonly Metric[]>> = {
  imported_visitors: [...FIVE_METRICS, "events"],
  imported_pages: ["visitors", "pageviews", "visits", "time_on_page", "scroll_depth", "exit_rate", "percentage"],
  imported_entry_pages: ["visitors", "visits", "bounce_rate", "visit_duration", "percentage"],
  imported_exit_pages: ["visitors", "percentage"],
  imported_custom_events: ["visitors", "events", "percentage", "conversions", "conversion_rate"],
  imported_custom_props: ["visitors", "events", "percentage"],
}

/** Metrics of a report on goals. Its revenue is that of recorded events: imported totals have none. */
const GOAL_METRICS: readonly Metric[] = ["visitors", "conversions", "conversion_rate", "percentage", "total_revenue"]

/** A dimension that a query groups or filters by. */
interface UsedDimension {
  dimension: Dimension
  property?: string | undefined
}

/**
 * Chooses the table of imported totals that can answer a query: the one that has all dimensions it groups and filters by, time
 * excluded. Goals count as the dimension they match.
 */
export function tableFor(query: Query): Fit {
  const used = query.groupings.flatMap((grouping) => (grouping.by === "time" ? [] : [grouping]))
  const conditions = query.filter ? conditionsOf(query.filter) : []
  if (!conditions) return { reason: "unsupported_filters" }
  const goals = goalKinds(query, used, conditions)
  const kind = kindFor([...used, ...conditions], goals)
  if (!kind) return { reason: "unsupported_filters" }
  const isByGoal = used.some(({ dimension }) => dimension === "goal")
  const known = isByGoal ? GOAL_METRICS : (METRICS_OF[kind] ?? FIVE_METRICS)
  const asksConversions = query.metrics.some((metric) => metric === "conversions" || metric.endsWith("conversion_rate"))
  // A rate of converting visitors needs the visitors of the whole site, which have no other dimension.
  if (asksConversions && query.metrics.includes("conversion_rate") && conditions.some(({ dimension }) => dimension !== "goal"))
    return { reason: "unsupported_filters" }
  if (query.metrics.every((metric) => known.includes(metric))) return { kind }
  return { reason: "unsupported_metric" }
}

function kindFor(used: readonly UsedDimension[], goals: ReadonlySet<GoalRule["kind"]>): ImportedKind | undefined {
  const names = new Set(used.map(({ dimension }) => dimension))
  names.delete("goal")
  if (goals.size > 1 || goals.has("scroll")) return undefined
  if (goals.has("page")) names.add("page")
  if (goals.has("event")) names.add("event")
  if (names.has("property")) return propertyTable(names, properties(used))
  const fits = ([, dimensions]: readonly [ImportedKind, readonly Dimension[]]) => [...names].every((name) => dimensions.includes(name))
  return TABLES.find(fits)?.[0]
}

const properties = (used: readonly UsedDimension[]): Set<string | undefined> =>
  new Set(used.filter(({ dimension }) => dimension === "property").map(({ property }) => property))

/** The properties `url` and `path` are columns of custom events. Any other is known only by itself. */
function propertyTable(names: ReadonlySet<Dimension>, keys: ReadonlySet<string | undefined>): ImportedKind | undefined {
  const others = [...names].filter((name) => name !== "property")
  if ([...keys].every((key) => key === "url" || key === "path"))
    return others.every((name) => name === "event") ? "imported_custom_events" : undefined
  return others.length === 0 && keys.size === 1 ? "imported_custom_props" : undefined
}

/** Tables with the dimensions that they can group and filter by, the smallest first. */
const TABLES: readonly (readonly [ImportedKind, readonly Dimension[]])[] = [
  ["imported_visitors", []],
  ["imported_sources", ["source", "channel", "referrer", "utm_source", "utm_medium", "utm_campaign", "utm_content", "utm_term"]],
  ["imported_pages", ["page", "hostname"]],
  ["imported_entry_pages", ["entry_page"]],
  ["imported_exit_pages", ["exit_page"]],
  ["imported_locations", ["country", "region", "city"]],
  ["imported_devices", ["device"]],
  ["imported_browsers", ["browser", "browser_version"]],
  ["imported_operating_systems", ["os", "os_version"]],
  ["imported_languages", ["language"]],
  ["imported_sizes", ["size"]],
  ["imported_custom_events", ["event"]],
]

/** Lists the conditions of a filter, or returns undefined if it tests what visitors did. */
function conditionsOf(filter: Filter): Condition[] | undefined {
  switch (filter.op) {
    case "and":
    case "or": {
      const lists = filter.filters.map(conditionsOf)
      return lists.every((list) => list !== undefined) ? lists.flat() : undefined
    }
    case "not":
      return conditionsOf(filter.filter)
    case "has_done":
      return undefined
    default:
      return [filter]
  }
}

/** Returns the kinds of the goals that a query groups or filters by. A goal with properties cannot be told apart in totals. */
function goalKinds({ site, metrics }: Query, used: readonly UsedDimension[], conditions: readonly Condition[]): Set<GoalRule["kind"]> {
  const isByGoal = used.some(({ dimension }) => dimension === "goal")
  const asksConversions = metrics.some((metric) => metric === "conversions" || metric.endsWith("conversion_rate"))
  const isByEvent = used.some(({ dimension }) => dimension === "event")
  const named = conditions.filter(({ dimension }) => dimension === "goal")
  const all = named.length > 0 ? site.goals.filter(({ name }) => named.some((condition) => textTest(condition)(name))) : site.goals
  if (named.length === 0 && !isByGoal && (!asksConversions || isByEvent)) return new Set()
  return new Set(all.map(({ kind, props }) => (Object.keys(props ?? {}).length > 0 ? "scroll" : kind)))
}

/** A goal as rows of totals complete it. */
export interface GoalMatch {
  matches(part: TotalsPart, row: number): boolean
}

/** Returns the goals of a query, in the order of their codes, or those named by a condition. */
export function goalMatches(snapshot: Snapshot, { site, filter }: Query, condition?: Condition): GoalMatch[] {
  const named = condition ? [condition] : filter ? (conditionsOf(filter) ?? []).filter(({ dimension }) => dimension === "goal") : []
  const goals = named.length > 0 ? site.goals.filter(({ name }) => named.some((one) => textTest(one)(name))) : site.goals
  return goals.map((goal) => {
    const isEvent = goal.kind === "event"
    const values = ruleMask(snapshot.dictionary(isEvent ? "name" : "page"), goal)
    const column = isEvent ? "name" : "page"
    return { matches: (part, row) => values[part.text(column)[row]!] === 1 }
  })
}

/** Returns the column of a dimension in its table. */
export function columnOf({ dimension, property }: Pick<DimensionGrouping, "dimension" | "property"> | Condition): string {
  if (dimension === "event") return "name"
  if (dimension !== "property") return dimension
  if (property === "url") return "link_url"
  return property === "path" ? "path" : "value"
}

/** Returns the property key that a query groups or filters by. */
export function propertyOf({ groupings, filter }: Query): string | undefined {
  const used = [...groupings.flatMap((grouping) => (grouping.by === "time" ? [] : [grouping])), ...((filter && conditionsOf(filter)) ?? [])]
  return used.find(({ dimension }) => dimension === "property")?.property
}
