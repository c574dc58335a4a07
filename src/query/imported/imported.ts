import { IMPORTED_KINDS, WHOLE_DAY } from "../../domain/imported.ts"
import type { Metric } from "../../domain/metric.ts"
import type { GoalRule, Grouping, ImportExclusion, ImportFacts, Query, Range } from "../../domain/query.ts"
import type { Snapshot } from "../../store/events/part.ts"
import type { TotalsPart } from "../../store/events/totals.ts"
import { bucketAt } from "../parse/buckets.ts"
import { type ChosenTable, columnOf, tableFor } from "./fit.ts"
import { chosenRows, goalMask } from "./masks.ts"
import { type ImportRows, importRows, LocalTimes, type RowsInRange } from "./rows.ts"
import { type ImportedSum, Sums } from "./sums.ts"

/**
 * Imported totals in answers (areas/02 section 4): the only place that knows how they merge. Counts are added to the native ones by
 * group, before any rate is computed, so a rate is always formed from summed numerators and denominators. An import takes part only if
 * one of its tables has all dimensions of the query; otherwise the answer is exactly the native one and says why.
 */
export interface ImportedTotals {
  /** Undefined for a site without imports. */
  facts: ImportFacts | undefined
  /** Returns the sum of a count in a group. 0 where no import takes part. */
  sum(name: ImportedSum): (group: number) => number
  /** Visitors of all groups, each visitor of a day counted once: the denominator of a share. */
  visitors: number
  /** Visitors of the whole site: the denominator of a conversion rate. */
  audience: number
  hasRows(group: number): boolean
}

/** What the merge needs of the measures: the groups that the codes of a row form together with those of the native rows. */
export interface ImportGroups {
  assign(codes: readonly Uint32Array[], count: number, out: Uint32Array): void
  size(): number
  /** Edges of the time buckets, if a grouping is by time. */
  edges: Float64Array | undefined
}

export function readImported(snapshot: Snapshot, query: Query, groups: ImportGroups): ImportedTotals {
  const sums = new Sums()
  const totals = { visitors: 0, audience: 0 }
  const facts = snapshot.imports.length === 0 || query.records ? undefined : include(snapshot, query, { groups, sums, totals })
  return { facts, sum: (name) => sums.of(name), ...totals, hasRows: (group) => sums.hasRows(group) }
}

/** What the rows of all imports are added to. */
interface Target {
  groups: ImportGroups
  sums: Sums
  totals: { visitors: number; audience: number }
}

function include(snapshot: Snapshot, query: Query, target: Target): ImportFacts {
  const { ids, reason, withTotals } = rowLevelFacts(snapshot, query.range)
  const excluded: ImportExclusion[] = reason ? [reason] : []
  const table = tableFor(query)
  const days = new Set<number>()
  for (const rows of withTotals) {
    const fault = !query.importedTotals ? "disabled" : "reason" in table ? table.reason : faultOf(query, table, rows)
    if (fault) excluded.push(fault)
    if (fault || "reason" in table) continue
    ids.push(rows.one.id)
    addImport(snapshot, query, table, rows, target, days)
  }
  const isEstimated = days.size > 1 || (target.sums.isEstimated && query.metrics.some((metric) => OF_VISITORS.includes(metric)))
  return factsOf(ids, excluded[0], isEstimated)
}

const OF_VISITORS: readonly Metric[] = ["visitors", "percentage", "conversion_rate"]

const factsOf = (ids: readonly number[], reason: ImportExclusion | undefined, isEstimated = false): ImportFacts => ({
  ids: [...new Set(ids)].sort((a, b) => a - b),
  ...(reason && { reason }),
  ...(isEstimated && { isEstimated }),
})

/** A query for the imports of a report that totals cannot answer. */
export interface ImportFactsQuery {
  site: { id: number }
  range: Range
  /** Whether the caller wants imported totals. */
  importedTotals?: boolean
}

/** Returns which imports are part of a report on visits alone: of those with totals in the range, only their visits. */
export function importFacts(snapshot: Snapshot, { range, importedTotals }: ImportFactsQuery): ImportFacts | undefined {
  if (snapshot.imports.length === 0) return undefined
  const { ids, reason, withTotals } = rowLevelFacts(snapshot, range)
  const excluded = importedTotals ? "unsupported_filters" : "disabled"
  return factsOf(ids, withTotals.length > 0 ? excluded : reason)
}

/** Returns the imports in a range whose visits are included, and those that have totals there. */
function rowLevelFacts(snapshot: Snapshot, range: Range): { ids: number[]; reason?: ImportExclusion; withTotals: readonly ImportRows[] } {
  const inRange = snapshot.imports.filter(({ spans }) => spans.some(({ from, to }) => from < range.to && to > range.from))
  const all = inRange.map((one) => importRows(snapshot, one, range))
  const withTotals = all.filter((rows) => IMPORTED_KINDS.some(rows.has))
  const hasVisits = (id: number) =>
    snapshot.parts.some(({ importId, minAt, maxAt }) => importId === id && minAt < range.to && maxAt >= range.from)
  const totalsOf = new Set(IMPORTED_KINDS.flatMap((kind) => snapshot.totals(kind).map(({ importId }) => importId)))
  // An import without any totals is one of visits, which are part of the report even if none lie in the range.
  const ids = inRange.filter(({ id }) => !totalsOf.has(id) || hasVisits(id)).map(({ id }) => id)
  return { ids, withTotals, ...(ids.length + withTotals.length === 0 && { reason: "none_in_range" as const }) }
}

/** Returns why an import cannot answer a query from a table, or undefined if it can. */
function faultOf(query: Query, { kind }: ChosenTable, rows: ImportRows): ImportExclusion | undefined {
  if (rows.one.timezone !== query.timezone) return "unsupported_timezone"
  if (!rows.has(kind)) return "unsupported_filters"
  // Events that an import does not state are read from two tables.
  const kinds = [kind, ...(addsEvents(query, kind, rows) ? (["imported_custom_events"] as const) : [])]
  if (kinds.some((each) => !fitsTimes(query, each, rows))) return "unsupported_interval"
  if (query.metrics.includes("conversion_rate") && !rows.has("imported_visitors")) return "unsupported_metric"
  const isMissing = (name: string) => !rows.some(kind, (part, row) => part.count(name)[row]! > 0)
  return query.metrics.some((metric) => isDistorted(metric, kind, isMissing)) ? "unsupported_metric" : undefined
}

/** Returns whether the totals of a table are fine enough for the buckets and the ends of the range of a query. */
function fitsTimes({ range, timezone, groupings }: Query, kind: ChosenTable["kind"], rows: ImportRows): boolean {
  const intervals = groupings.flatMap((grouping) => (grouping.by === "time" ? [grouping.interval] : []))
  if (intervals.includes("minute")) return false
  const times = new LocalTimes(timezone)
  const cut = [range.from, range.to].filter((at) => !times.isWhole(at)).map((at) => times.dayOf(at))
  if (!intervals.includes("hour") && cut.length === 0) return true
  const needsHours = (day: number) => intervals.includes("hour") || cut.includes(day)
  return !rows.some(kind, (part, row) => part.hours()[row] === WHOLE_DAY && needsHours(part.days()[row]!))
}

/**
 * Returns whether a metric would be wrong because the source lacks a column: a rate, if visits are added to its denominator and nothing
 * to its numerator. A count that is absent everywhere is not distorted, but incomplete, as the source is.
 */
function isDistorted(metric: Metric, kind: ChosenTable["kind"], isMissing: (name: string) => boolean): boolean {
  if (kind === "imported_pages") return (metric === "visits" && isMissing("visits")) || (metric === "exit_rate" && isMissing("exits"))
  const visits = kind === "imported_entry_pages" ? "entrances" : "visits"
  const isOfVisits = metric === "bounce_rate" || metric === "visit_duration"
  if (isOfVisits && !isMissing(visits)) return isMissing("bounces") && isMissing("visit_duration")
  return (metric === "views_per_visit" || metric === "pageviews") && !isMissing(visits) && isMissing("pageviews")
}

/** Adds an import's rows to the sums, and their days to `days`. */
function addImport(snapshot: Snapshot, query: Query, table: ChosenTable, all: ImportRows, target: Target, days: Set<number>): void {
  const { sums, totals, groups } = target
  const { kind, goals } = table
  const isByGoal = query.groupings.some(isGoal)
  for (const { part, rows } of chosenIn(snapshot, query, kind, all)) {
    const day = part.days()
    for (const row of rows) days.add(day[row]!)
    const list = isByGoal ? rowsOfGoals(snapshot, part, rows, goals) : { rows }
    const grouped = { part, rows: list.rows, groups: groupsOf(part, list, query, all, groups) }
    sums.addAll(kind, grouped, groups.size())
    if (goals.length > 0) addConversions(snapshot, query, table, grouped, target)
  }
  if (addsEvents(query, kind, all)) addEvents(query, all, target)
  // The visitors of a day are counted once where the table of the whole site is stated.
  const whole = query.filter || !all.has("imported_visitors") ? kind : "imported_visitors"
  totals.visitors += visitorsIn(chosenIn(snapshot, query, whole, all))
  totals.audience += visitorsIn(all.of("imported_visitors"))
}

const isGoal = (grouping: Grouping): boolean => grouping.by === "dimension" && grouping.dimension === "goal"

function visitorsIn(parts: readonly RowsInRange[]): number {
  let sum = 0
  for (const { part, rows } of parts) {
    const visitors = part.count("visitors")
    for (const row of rows) sum += visitors[row]!
  }
  return sum
}

function chosenIn(snapshot: Snapshot, query: Query, kind: ChosenTable["kind"], all: ImportRows): readonly RowsInRange[] {
  return all.of(kind).map(({ part, rows }) => {
    const mask = kind === "imported_visitors" ? undefined : chosenRows(snapshot, query, kind, part)
    return { part, rows: mask ? rows.filter((row) => mask[row] === 1) : rows }
  })
}

interface RowList {
  rows: Uint32Array
  /** Index of the goal of each row. */
  goals?: Uint32Array
}

/** Lists the rows that complete goals, each once for every goal that it completes. */
function rowsOfGoals(snapshot: Snapshot, part: TotalsPart, rows: Uint32Array, goals: readonly GoalRule[]): Required<RowList> {
  const masks = goals.map((goal) => goalMask(snapshot, part, goal))
  const found: { row: number; goal: number }[] = []
  for (const row of rows) for (let goal = 0; goal < masks.length; goal++) if (masks[goal]![row] === 1) found.push({ row, goal })
  return { rows: Uint32Array.from(found, ({ row }) => row), goals: Uint32Array.from(found, ({ goal }) => goal) }
}

/** Adds completions, one for each goal that a row completes, and the visitors who completed any. */
function addConversions(
  snapshot: Snapshot,
  query: Query,
  { kind, goals }: ChosenTable,
  grouped: { part: TotalsPart; rows: Uint32Array; groups: Uint32Array },
  { sums, groups }: Target,
): void {
  const column = kind === "imported_pages" ? "pageviews" : "events"
  const add = (name: ImportedSum, of: string, isChosen: (row: number) => boolean) => {
    const places = grouped.rows
      .keys()
      .filter((i) => isChosen(grouped.rows[i]!))
      .toArray()
    const chosen = { rows: Uint32Array.from(places, (i) => grouped.rows[i]!), groups: Uint32Array.from(places, (i) => grouped.groups[i]!) }
    sums.add(name, { part: grouped.part, ...chosen }, of, groups.size())
  }
  // A row of a goal is listed once for each of its goals already.
  if (query.groupings.some(isGoal)) {
    add("conversions", column, () => true)
    return
  }
  const masks = goals.map((goal) => goalMask(snapshot, grouped.part, goal))
  for (const mask of masks) add("conversions", column, (row) => mask[row] === 1)
  add("converting", "visitors", (row) => masks.some((mask) => mask[row] === 1))
}

/** Returns whether events are the pageviews and custom events of an import, because it does not state their sum. */
const addsEvents = ({ metrics }: Query, kind: ChosenTable["kind"], rows: ImportRows): boolean =>
  kind === "imported_visitors" && metrics.includes("events") && !rows.some(kind, (part, row) => part.count("events")[row]! > 0)

function addEvents(query: Query, all: ImportRows, { sums, groups }: Target): void {
  const add = (kind: ChosenTable["kind"], column: string) => {
    for (const { part, rows } of all.of(kind))
      sums.add("events", { part, rows, groups: groupsOf(part, { rows }, query, all, groups) }, column, groups.size())
  }
  add("imported_visitors", "pageviews")
  add("imported_custom_events", "events")
}

function groupsOf(
  part: TotalsPart,
  { rows, goals }: RowList,
  { groupings }: Query,
  { one }: ImportRows,
  groups: ImportGroups,
): Uint32Array {
  const times = new LocalTimes(one.timezone)
  const [days, hours] = [part.days(), part.hours()]
  const codes = groupings.map((grouping) => {
    if (grouping.by === "time") return rows.map((row) => bucketAt(groups.edges!, times.start(days[row]!, hours[row]!)))
    if (grouping.dimension === "goal") return goals! // rows of goals are listed with them
    const column = part.text(columnOf(grouping))
    return rows.map((row) => column[row]!)
  })
  const out = new Uint32Array(rows.length)
  groups.assign(codes, rows.length, out)
  return out
}
