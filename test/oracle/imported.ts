import type { Dimension } from "../../src/domain/dimension.ts"
import type { Filter } from "../../src/domain/filter.ts"
import { IMPORTED_KINDS, IMPORTED_TABLES, type ImportedKind, type ImportedRow } from "../../src/domain/imported.ts"
import type { Metric } from "../../src/domain/metric.ts"
import type { GoalRule, Grouping, ImportExclusion, ImportFacts, Query } from "../../src/domain/query.ts"
import { matches, textHolds } from "./conditions.ts"
import { dayRange, hourStart, localDate } from "./days.ts"
import type { Random } from "./random.ts"
import { sum } from "./rounding.ts"
import { HOSTS, NAMES, PAGES, PROPERTIES, TRAIT_VALUES } from "./values.ts"
import { goalsInQuestion, leavesOf } from "./variants.ts"

/**
 * Adds imported totals by brute force: one plain row after another, following the wording of areas/02 section 4. Where the text is
 * ambiguous, a comment names the interpretation, which is the engine's.
 */

/** An import as a list of plain rows, with its visible days. */
export interface RawImport {
  id: number
  timezone: string
  days: readonly string[]
  totals: readonly RawTotal[]
}

export interface RawTotal {
  kind: ImportedKind
  row: ImportedRow
}

export type ImportedSum =
  | "visitors"
  | "visits"
  | "pageviews"
  | "events"
  | "bounces"
  | "visit_duration"
  | "exits"
  | "scroll_depth_sum"
  | "scroll_depth_visits"
  | "time_on_page"
  | "time_on_page_visits"
  | "conversions"
  | "converting"

/** What imports add to a table. */
export interface ImportedAnswer {
  facts: ImportFacts | undefined
  sum(name: ImportedSum, row: string): number
  rows: ReadonlySet<string>
  /** Of the whole answer, and of the whole site. */
  visitors: number
  audience: number
}

/** Dimensions of each table, in the order in which they are tried. */
const GROUPS: readonly [ImportedKind, readonly Dimension[]][] = [
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

const FIVE: readonly Metric[] = ["visitors", "visits", "pageviews", "views_per_visit", "bounce_rate", "visit_duration", "percentage"]
const METRICS: Partial<Record<ImportedKind, readonly Metric[]>> = {
  imported_visitors: [...FIVE, "events"],
  imported_pages: ["visitors", "pageviews", "visits", "time_on_page", "scroll_depth", "exit_rate", "percentage"],
  imported_entry_pages: ["visitors", "visits", "bounce_rate", "visit_duration", "percentage"],
  imported_exit_pages: ["visitors", "visits", "percentage"],
  imported_custom_events: ["visitors", "events", "percentage"],
  imported_custom_props: ["visitors", "events", "percentage"],
}

const isDimension = (grouping: Grouping) => grouping.by === "dimension"

/** Names of the dimensions that a query groups and filters by, `property` with its key. */
function usedNames({ groupings, filter }: Query): Set<string> {
  const named = ({ dimension, property }: { dimension: Dimension; property?: string }) =>
    dimension === "property" ? `property ${property}` : dimension
  return new Set([...groupings.filter(isDimension), ...leavesOf(filter, false)].map(named))
}

interface Table {
  kind: ImportedKind
  goals: readonly GoalRule[]
}

/** "All filter and breakdown dimensions (time excluded) must lie in one group"; "two goal kinds together use none". */
function tableOf(query: Query): Table | ImportExclusion {
  const { filter, metrics, groupings, site } = query
  if (["has_done", "people"].some((op) => JSON.stringify(filter ?? {}).includes(`"op":"${op}"`))) return "unsupported_filters"
  const names = usedNames(query)
  const isBy = (...dimensions: Dimension[]) => groupings.some((one) => one.by === "dimension" && dimensions.includes(one.dimension))
  const chosen = leavesOf(filter, false).filter(({ dimension }) => dimension === "goal")
  // A conversion rate by event or property is that of its own visitors, whatever the goals.
  const asksGoals = metrics.includes("conversions") || (metrics.includes("conversion_rate") && !isBy("event", "property"))
  const counted = isBy("goal") || asksGoals ? goalsInQuestion(filter, site) : []
  const tested = site.goals.filter(({ name }) => chosen.some((leaf) => textHolds(leaf, name)))
  const usesGoals = isBy("goal") || asksGoals || chosen.length > 0
  const kinds = new Set([...counted, ...tested].map(({ kind, props }) => (props ? "none" : kind)))
  if (kinds.size > 1 || kinds.has("none") || kinds.has("scroll")) return "unsupported_filters"
  const others = new Set(names)
  others.delete("goal")
  const isNarrowed = names.size > 0
  if (usesGoals) others.add(kinds.has("page") ? "page" : "event")
  const kind = groupOf(others)
  if (!kind) return "unsupported_filters"
  // Pageviews are events, too, but are not in the tables of custom events.
  const hasNoViews = kind === "imported_custom_events" || kind === "imported_custom_props"
  if (hasNoViews && filter && holds(filter, { kind, row: VIEW }, query)) return "unsupported_filters"
  const isOnlyOfConversions = leavesOf(filter, false).every(({ dimension }) => ["goal", "event", "property"].includes(dimension))
  if (metrics.includes("conversion_rate") && !isOnlyOfConversions) return "unsupported_filters"
  const own = METRICS[kind] ?? FIVE
  const conversions: Metric[] = ["conversions", "conversion_rate"]
  const allowed = (): readonly Metric[] => {
    if (!usesGoals) return kind === "imported_custom_events" ? [...own, "conversion_rate"] : own
    if (isBy("goal")) return ["visitors", "conversions", "conversion_rate", "percentage", "total_revenue"]
    if (chosen.length > 0) {
      const simple: Metric[] = ["visitors", "visits", "pageviews", "events", "percentage"]
      return [...own.filter((metric) => simple.includes(metric)), ...conversions]
    }
    return isNarrowed ? [...own, ...(kind === "imported_custom_events" ? conversions : []), ...conversions] : conversions
  }
  return metrics.every((metric) => allowed().includes(metric)) ? { kind, goals: counted } : "unsupported_metric"
}

/** A pageview as a row of custom events. */
const VIEW: ImportedRow = { day: "", texts: { name: "pageview" }, counts: {} }

function groupOf(names: ReadonlySet<string>): ImportedKind | undefined {
  const keys = [...names].filter((name) => name.startsWith("property "))
  const others = [...names].filter((name) => !name.startsWith("property "))
  if (keys.length > 0) {
    if (keys.every((key) => key === "property url" || key === "property path"))
      return others.every((name) => name === "event") ? "imported_custom_events" : undefined
    return keys.length === 1 && others.length === 0 ? "imported_custom_props" : undefined
  }
  return GROUPS.find(([, dimensions]) => others.every((name) => dimensions.some((dimension) => dimension === name)))?.[0]
}

function textIn({ kind, row }: RawTotal, dimension: Dimension, property: string | undefined): string {
  if (dimension === "event") return row.texts.name ?? ""
  if (dimension !== "property") return row.texts[dimension] ?? ""
  if (kind === "imported_custom_props") return row.texts.property === property ? (row.texts.value ?? "") : ""
  return (property === "url" ? row.texts.link_url : row.texts.path) ?? ""
}

function holds(filter: Filter, total: RawTotal, query: Query): boolean {
  if ("filters" in filter) {
    const each = (inner: Filter) => holds(inner, total, query)
    return filter.op === "and" ? filter.filters.every(each) : filter.filters.some(each)
  }
  if (filter.op === "people") throw new Error("Imported totals know no people")
  if ("filter" in filter) return !holds(filter.filter, total, query)
  if (filter.dimension === "goal") return query.site.goals.some((goal) => textHolds(filter, goal.name) && completesGoal(goal, total))
  return textHolds(filter, textIn(total, filter.dimension, filter.property))
}

function completesGoal(goal: GoalRule, { row }: RawTotal): boolean {
  if (goal.kind === "page") return row.texts.page !== undefined && row.texts.page !== "" && matches(goal, row.texts.page)
  const { name = "" } = row.texts
  return name !== "" && name !== "pageview" && matches(goal, name)
}

export function importedAnswer(imports: readonly RawImport[], query: Query, starts: readonly number[]): ImportedAnswer {
  const sums = new Map<string, number>()
  const rows = new Set<string>()
  const totals = { visitors: 0, audience: 0 }
  const answer = {
    facts: undefined as ImportFacts | undefined,
    sum: (name: ImportedSum, row: string) => sums.get(`${name} ${row}`) ?? 0,
    rows,
  }
  if (imports.length === 0) return { ...answer, ...totals }
  const table = tableOf(query)
  const ids: number[] = []
  const reasons: ImportExclusion[] = []
  const days = new Set<string>()
  const visitorRows = new Map<string, number>()
  const add = (name: ImportedSum, row: string, count: number) => {
    if (count === 0) return
    sums.set(`${name} ${row}`, (sums.get(`${name} ${row}`) ?? 0) + count)
    rows.add(row)
  }
  for (const one of imports) {
    const inRange = one.totals.filter(({ row }) => isInRange(one, row, query))
    if (one.totals.length === 0 && one.days.some((day) => overlaps(dayRange(day, day, one.timezone), query.range))) ids.push(one.id)
    if (inRange.length === 0) continue
    const fault = !query.importedTotals ? "disabled" : typeof table === "string" ? table : faultOf(query, table, one, inRange)
    if (fault || typeof table === "string") {
      reasons.push(fault ?? "unsupported_filters")
      continue
    }
    ids.push(one.id)
    const chosen = inRange.filter((total) => total.kind === table.kind && isChosen(total, query))
    for (const total of chosen) {
      days.add(total.row.day)
      for (const { key, completed } of placesOf(total, query, table, one.timezone, starts)) {
        for (const [name, count] of countsOf(total)) add(name, key, count)
        if ((total.row.counts.visitors ?? 0) > 0) visitorRows.set(key, (visitorRows.get(key) ?? 0) + 1)
        const conversions = total.row.counts[table.kind === "imported_pages" ? "pageviews" : "events"] ?? 0
        add("conversions", key, completed * conversions)
        if (completed > 0) add("converting", key, total.row.counts.visitors ?? 0)
      }
    }
    const whole = inRange.filter(({ kind }) => kind === "imported_visitors")
    const visitorsOf = (list: readonly RawTotal[]) => sum(list.map(({ row }) => row.counts.visitors ?? 0))
    totals.visitors += visitorsOf(query.filter || whole.length === 0 ? chosen : whole)
    totals.audience += visitorsOf(whole)
    if (addsEvents(query, table, whole))
      for (const total of inRange.filter(({ kind }) => kind === "imported_visitors" || kind === "imported_custom_events"))
        for (const { key } of placesOf(total, query, { ...table, goals: [] }, one.timezone, starts))
          add("events", key, total.row.counts[total.kind === "imported_visitors" ? "pageviews" : "events"] ?? 0)
  }
  const isOfVisitors = query.metrics.some((metric) => ["visitors", "percentage", "conversion_rate"].includes(metric))
  const isEstimated = days.size > 1 || (isOfVisitors && [...visitorRows.values()].some((count) => count > 1))
  const reason = reasons[0] ?? (ids.length === 0 ? ("none_in_range" as const) : undefined)
  const facts = { ids: ids.sort((a, b) => a - b), ...(reason && { reason }), ...(isEstimated && { isEstimated }) }
  return { ...answer, facts, ...totals }
}

const overlaps = (a: { from: number; to: number }, b: { from: number; to: number }) => a.from < b.to && a.to > b.from

function isInRange({ timezone, days }: RawImport, { day, hour }: ImportedRow, { range }: Query): boolean {
  if (!days.includes(day)) return false
  if (hour === undefined) return overlaps(dayRange(day, day, timezone), range)
  const at = hourStart(day, hour, timezone)
  return at >= range.from && at < range.to
}

function faultOf(query: Query, table: Table, { timezone }: RawImport, inRange: readonly RawTotal[]): ImportExclusion | undefined {
  const { range, groupings, metrics } = query
  if (timezone !== query.timezone) return "unsupported_timezone"
  const rows = inRange.filter(({ kind }) => kind === table.kind)
  if (rows.length === 0) return "unsupported_filters"
  const whole = inRange.filter(({ kind }) => kind === "imported_visitors")
  const timed = addsEvents(query, table, whole) ? [...rows, ...inRange.filter(({ kind }) => kind === "imported_custom_events")] : rows
  const interval = groupings.find((grouping) => grouping.by === "time")?.interval
  const isCut = (day: string) => {
    const { from, to } = dayRange(day, day, timezone)
    return (range.from > from && range.from < to) || (range.to > from && range.to < to)
  }
  const isTooCoarse = ({ row: { day, hour } }: RawTotal) => hour === undefined && (interval === "hour" || isCut(day))
  if (interval === "minute" || timed.some(isTooCoarse)) return "unsupported_interval"
  if (metrics.includes("conversion_rate") && whole.length === 0) return "unsupported_metric"
  const lacks = (name: string) => rows.every(({ row }) => (row.counts[name] ?? 0) === 0)
  const isLacking = (metric: Metric): boolean => {
    if (table.kind === "imported_pages") return (metric === "visits" && lacks("visits")) || (metric === "exit_rate" && lacks("exits"))
    if (lacks(table.kind === "imported_entry_pages" ? "entrances" : "visits")) return false
    if (metric === "bounce_rate" || metric === "visit_duration") return lacks("bounces") && lacks("visit_duration")
    return (metric === "views_per_visit" || metric === "pageviews") && lacks("pageviews")
  }
  return metrics.some(isLacking) ? "unsupported_metric" : undefined
}

const addsEvents = ({ metrics }: Query, { kind }: Table, whole: readonly RawTotal[]): boolean =>
  kind === "imported_visitors" && metrics.includes("events") && whole.every(({ row }) => (row.counts.events ?? 0) === 0)

function isChosen(total: RawTotal, query: Query): boolean {
  const key = [...usedNames(query)].find((name) => name.startsWith("property "))?.slice("property ".length)
  if (total.kind === "imported_custom_props" && total.row.texts.property !== key) return false
  const isBy = (dimension: Dimension) => query.groupings.some((one) => one.by === "dimension" && one.dimension === dimension)
  // The row of the missing value also has the pageviews, which the table does not have.
  const isOfProperty = isBy("property") && !isBy("event") && !isBy("goal") && !query.filter
  if (isOfProperty && textIn(total, "property", key) === "") return false
  return !query.filter || holds(query.filter, total, query)
}

/** Returns the rows of the table that a row of totals is added to, and how many goals it completes there. */
function placesOf(total: RawTotal, { groupings }: Query, { goals }: Table, timezone: string, starts: readonly number[]) {
  const completed = goals.filter((goal) => completesGoal(goal, total))
  const { day, hour } = total.row
  const at = hour === undefined ? dayRange(day, day, timezone).from : hourStart(day, hour, timezone)
  const keyOf = (goal: GoalRule | undefined) =>
    JSON.stringify(
      groupings.map((grouping) => {
        if (grouping.by === "time") return starts.findLast((start) => start <= at)!
        return grouping.dimension === "goal" ? goal!.name : textIn(total, grouping.dimension, grouping.property) || null
      }),
    )
  const isByGoal = groupings.some((grouping) => grouping.by === "dimension" && grouping.dimension === "goal")
  if (isByGoal) return completed.map((goal) => ({ key: keyOf(goal), completed: 1 }))
  return [{ key: keyOf(undefined), completed: completed.length }]
}

/** "Entry pages give visits (= entrances)"; so do exit pages with exits. */
function countsOf({ kind, row: { counts } }: RawTotal): [ImportedSum, number][] {
  const { entrances = 0, exits = 0, ...others } = counts
  // Every other column is summed under its own name. What a table has beside its metrics is not asked for.
  const same = Object.entries(others) as [ImportedSum, number][]
  if (kind === "imported_entry_pages") return [...same.filter(([name]) => name !== "pageviews"), ["visits", entrances]]
  if (kind === "imported_exit_pages") return [...same.filter(([name]) => name === "visitors"), ["visits", exits]]
  // Events that an import states; the others are added from two tables.
  return kind === "imported_pages" ? [...same, ["exits", exits]] : same
}

/** Plans rows of every table: whole days or hours, some tables without a column, as in older exports. */
export function planTotals(random: Random, days: readonly string[], timezone: string): RawTotal[] {
  const isHourly = random.chance(0.4)
  return IMPORTED_KINDS.flatMap((kind): RawTotal[] => {
    if (random.chance(0.1)) return []
    const missing = random.chance(0.3) ? random.some(IMPORTED_TABLES[kind].counts.slice(1) as readonly string[], 1, 2) : []
    return days.flatMap((day) =>
      Array.from({ length: random.pick([0, 1, 1, 2, 4]) }, (): RawTotal => {
        const hour = random.pick([0, 1, 2, 3, 12, 23])
        const isOfHour = (isHourly || random.chance(0.05)) && localDate(hourStart(day, hour, timezone), timezone) === day
        return { kind, row: { day, ...(isOfHour && { hour }), texts: planTexts(random, kind), counts: planCounts(random, kind, missing) } }
      }),
    )
  })
}

function planTexts(random: Random, kind: ImportedKind): Record<string, string> {
  if (kind === "imported_custom_props") {
    const property = random.pick(Object.keys(PROPERTIES))
    return { property, value: random.pick(PROPERTIES[property]!) }
  }
  const someText = (name: string): string => {
    if (name === "hostname") return random.pick(HOSTS)
    if (name === "name") return random.pick(NAMES)
    if (name === "link_url") return random.pick(["", ...PROPERTIES.url!])
    if (name === "path") return random.pick(["", "/404", "/a"])
    if (name.endsWith("page")) return random.pick(["", ...PAGES.slice(0, 5)])
    return random.pick(TRAIT_VALUES[name as keyof typeof TRAIT_VALUES]) // every other column is a trait
  }
  return Object.fromEntries(Object.keys(IMPORTED_TABLES[kind].texts).map((name) => [name, someText(name)]))
}

const planCounts = (random: Random, kind: ImportedKind, missing: readonly string[]): Record<string, number> =>
  Object.fromEntries(
    IMPORTED_TABLES[kind].counts.map((name) => [
      name,
      missing.includes(name) || (name === "events" && random.chance(0.5)) ? 0 : random.pick([0, 1, 2, 5, 40, random.whole(0, 999)]),
    ]),
  )

/** Metrics and dimensions of a table, for queries that it can answer. */
export const ANSWERABLE: readonly { dimensions: readonly Dimension[]; metrics: readonly Metric[] }[] = [
  ...GROUPS.map(([kind, dimensions]) => ({ dimensions, metrics: METRICS[kind] ?? FIVE })),
  { dimensions: ["event", "property"], metrics: ["visitors", "events", "percentage", "conversions", "conversion_rate"] },
  { dimensions: ["goal"], metrics: ["visitors", "conversions", "conversion_rate", "percentage", "total_revenue"] },
  { dimensions: ["property"], metrics: METRICS.imported_custom_props! },
  { dimensions: ["goal", "page"], metrics: ["visitors", "pageviews", "conversions", "percentage"] },
  { dimensions: [], metrics: ["conversions", "conversion_rate"] },
]
