import type { Dimension } from "../../domain/dimension.ts"
import { type Condition, type Filter, textTest } from "../../domain/filter.ts"
import type { ImportedKind } from "../../domain/imported.ts"
import type { Metric } from "../../domain/metric.ts"
import type { DimensionGrouping, GoalRule, ImportExclusion, Query } from "../../domain/query.ts"
import { countedGoals } from "../filter/counted-goals.ts"

/** The table that can answer a query, with the goals whose completions are counted in it. */
export interface ChosenTable {
  kind: ImportedKind
  goals: readonly GoalRule[]
}

/** A table, or why no table can answer the query. */
export type Fit = ChosenTable | { reason: ImportExclusion }

/** Metrics of a table that has the five counts. */
const FIVE_METRICS: readonly Metric[] = [
  "visitors",
  "visits",
  "pageviews",
  "views_per_visit",
  "bounce_rate",
  "visit_duration",
  "percentage",
]

/** Metrics of each table. Tables that are not listed have the five counts. */
const METRICS_OF: Partial<Record<ImportedKind, readonly Metric[]>> = {
  imported_visitors: [...FIVE_METRICS, "events"],
  imported_pages: ["visitors", "pageviews", "visits", "time_on_page", "scroll_depth", "exit_rate", "percentage"],
  imported_entry_pages: ["visitors", "visits", "bounce_rate", "visit_duration", "percentage"],
  imported_exit_pages: ["visitors", "visits", "percentage"],
  // Without goals, a conversion rate is that of the visitors of an event or property.
  imported_custom_events: ["visitors", "events", "percentage", "conversion_rate"],
  imported_custom_props: ["visitors", "events", "percentage"],
}

const CONVERSIONS: readonly Metric[] = ["conversions", "conversion_rate"]
/** Metrics of a report on goals. Its revenue is that of recorded events, because imported totals have none. */
const GOAL_METRICS: readonly Metric[] = ["visitors", ...CONVERSIONS, "percentage", "total_revenue"]
/** Metrics that keep their meaning when a goal chooses the rows of a table. */
const CHOSEN_BY_GOAL: readonly Metric[] = ["visitors", "visits", "pageviews", "events", "percentage"]

/** A dimension that a query groups or filters by. */
type UsedDimension = Pick<DimensionGrouping, "dimension" | "property"> | Condition

const NO_TABLE = { reason: "unsupported_filters" } as const

/**
 * Chooses the table of imported totals that can answer a query: the one that has all dimensions it groups and filters by, time
 * excluded. A goal counts as the dimension that it matches.
 */
export function tableFor(query: Query): Fit {
  const used = groupedBy(query)
  const conditions = query.filter ? conditionsOf(query.filter) : []
  if (!conditions) return NO_TABLE
  const use = goalUse(query, used, conditions)
  const kind = kindFor([...used, ...conditions], use)
  if (!kind || (hasCustomEvents(kind) && query.filter && holdsForPageviews(query.filter))) return NO_TABLE
  // The visitors who could have converted are known only for the whole site.
  if (query.metrics.includes("conversion_rate") && conditions.some(({ dimension }) => !OF_CONVERSIONS.includes(dimension))) return NO_TABLE
  const known = metricsFor(kind, use, used.length + conditions.length > 0)
  return query.metrics.every((metric) => known.includes(metric)) ? { kind, goals: use.counted } : { reason: "unsupported_metric" }
}

const OF_CONVERSIONS: readonly Dimension[] = ["goal", "event", "property"]

const hasCustomEvents = (kind: ImportedKind): boolean => kind === "imported_custom_events" || kind === "imported_custom_props"

/** How goals take part in a query. */
interface GoalUse {
  /** Kinds of the goals that rows are counted or chosen by. `scroll` stands for goals that totals cannot tell apart. */
  kinds: ReadonlySet<GoalRule["kind"]>
  /** Whether there is a row for each goal. */
  isByGoal: boolean
  /** Whether a condition names goals. */
  isChosen: boolean
  counted: readonly GoalRule[]
}

function goalUse({ site, metrics, filter }: Query, used: readonly UsedDimension[], conditions: readonly Condition[]): GoalUse {
  const isByGoal = used.some(({ dimension }) => dimension === "goal")
  const named = conditions.filter(({ dimension }) => dimension === "goal")
  // The conversion rate of an event or property is that of all its visitors.
  const hasOwnRate = used.some(({ dimension }) => dimension === "event" || dimension === "property")
  const asksConversions = metrics.includes("conversions") || (metrics.includes("conversion_rate") && !hasOwnRate)
  const counted = isByGoal || asksConversions ? countedGoals(filter, site) : []
  const isChosen = named.length > 0
  const chosen = site.goals.filter(({ name }) => named.some((condition) => textTest(condition)(name)))
  const kinds = new Set([...counted, ...chosen].map(({ kind, props }) => (Object.keys(props ?? {}).length > 0 ? "scroll" : kind)))
  // A goal that does not exist is completed by no event.
  if (kinds.size === 0 && (isByGoal || isChosen || asksConversions)) kinds.add("event")
  return { kinds, isByGoal, isChosen, counted }
}

function metricsFor(kind: ImportedKind, { kinds, isByGoal, isChosen }: GoalUse, isNarrowed: boolean): readonly Metric[] {
  const own = METRICS_OF[kind] ?? FIVE_METRICS
  if (kinds.size === 0) return own
  if (isByGoal) return GOAL_METRICS
  if (isChosen) return [...own.filter((metric) => CHOSEN_BY_GOAL.includes(metric)), ...CONVERSIONS]
  // Conversions of the whole site are in another table than its visitors.
  return isNarrowed ? [...own, ...CONVERSIONS] : CONVERSIONS
}

function kindFor(used: readonly UsedDimension[], { kinds }: GoalUse): ImportedKind | undefined {
  const names = new Set(used.map(({ dimension }) => dimension))
  names.delete("goal")
  if (kinds.size > 1 || kinds.has("scroll")) return undefined
  if (kinds.has("page")) names.add("page")
  if (kinds.has("event")) names.add("event")
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

const groupedBy = ({ groupings }: Query): DimensionGrouping[] => groupings.flatMap((grouping) => (grouping.by === "time" ? [] : [grouping]))

/** Lists the conditions of a filter, or returns undefined if it tests who visitors are or what else they did. */
export function conditionsOf(filter: Filter): Condition[] | undefined {
  switch (filter.op) {
    case "and":
    case "or": {
      const lists = filter.filters.map(conditionsOf)
      return lists.every((list) => list !== undefined) ? lists.flat() : undefined
    }
    case "not":
      return conditionsOf(filter.filter)
    case "has_done":
    case "people":
      return undefined
    default:
      return [filter]
  }
}

/** Returns whether pageviews satisfy a filter on events, goals and properties. The tables of custom events do not have them. */
function holdsForPageviews(filter: Filter): boolean {
  switch (filter.op) {
    case "and":
      return filter.filters.every(holdsForPageviews)
    case "or":
      return filter.filters.some(holdsForPageviews)
    case "not":
      return !holdsForPageviews(filter.filter)
    case "has_done":
    case "people":
      return true
    default:
      if (filter.dimension === "event") return textTest(filter)("pageview")
      return filter.dimension === "property" && filter.missing
  }
}

/** Returns the column of a dimension in its table. A grouping by `property` without a key is one by the key itself. */
export function columnOf({ dimension, property }: UsedDimension): string {
  if (dimension === "event") return "name"
  if (dimension !== "property") return dimension
  if (property === undefined) return "property"
  if (property === "url") return "link_url"
  return property === "path" ? "path" : "value"
}

/** Returns the property key that a query groups or filters by. */
export function propertyOf(query: Query): string | undefined {
  const used: UsedDimension[] = [...groupedBy(query), ...((query.filter && conditionsOf(query.filter)) ?? [])]
  return used.find(({ dimension }) => dimension === "property")?.property
}

/**
 * Returns whether rows without the property that a query groups by are left out: the row of the missing value also has the pageviews,
 * which the table does not have.
 */
export function needsProperty(query: Query): boolean {
  const names = groupedBy(query).map(({ dimension }) => dimension)
  return names.includes("property") && !names.includes("event") && !names.includes("goal") && !query.filter
}
