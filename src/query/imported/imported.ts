import { dimensionFacts } from "../../domain/dimension.ts"
import type { Condition, Filter } from "../../domain/filter.ts"
import { IMPORTED_KINDS, type ImportedKind, type VisibleImport, WHOLE_DAY } from "../../domain/imported.ts"
import type { ImportExclusion, ImportFacts, Query, Range } from "../../domain/query.ts"
import type { Snapshot } from "../../store/events/part.ts"
import type { TotalsPart } from "../../store/events/totals.ts"
import { type ValueMask, valueMask } from "../filter/masks.ts"
import { bucketAt } from "../measure/row-lists.ts"
import { columnOf, type GoalMatch, goalMatches, propertyOf, tableFor } from "./fit.ts"

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
  /** Returns a sum over all groups, each visitor of a day counted once: the denominator of a share. */
  total(name: "visitors"): number
  hasRows(group: number): boolean
}

/** What is summed. `visits` are entrances where the table has entry pages. */
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
  /** Visitors who could have converted: those of the whole site. */
  | "audience"

/** What the merge needs of the measures: the codes of each grouping, and the groups they form together with the native rows. */
export interface ImportGroups {
  assign(codes: readonly Uint32Array[], count: number, out: Uint32Array): void
  size(): number
  /** Edges of the time buckets, if a grouping is by time. */
  edges: Float64Array | undefined
}

export function readImported(snapshot: Snapshot, query: Query, groups: ImportGroups): ImportedTotals {
  const sums = new Sums()
  const totals = { visitors: 0 }
  const facts = snapshot.imports.length === 0 || query.records ? undefined : include(snapshot, query, groups, sums, totals)
  return {
    facts,
    sum: (name) => sums.of(name),
    total: (name) => totals[name],
    hasRows: (group) => sums.hasRows(group),
  }
}

function include(snapshot: Snapshot, query: Query, groups: ImportGroups, sums: Sums, totals: { visitors: number }): ImportFacts {
  const days = new LocalTimes(query.timezone)
  const inRange = snapshot.imports.filter(({ spans }) => spans.some((span) => overlaps(span, query.range)))
  const withTotals = inRange.filter((one) => hasTotals(snapshot, one, query.range, days))
  const ids = new Set(inRange.filter((one) => !withTotals.includes(one) || hasVisits(snapshot, one)).map(({ id }) => id))
  let reason: ImportExclusion | undefined = inRange.length === 0 ? "none_in_range" : undefined
  const table = tableFor(query)
  let isEstimated = false
  for (const one of withTotals) {
    const fault = !query.importedTotals ? "disabled" : "reason" in table ? table.reason : faultOf(snapshot, query, table.kind, one, days)
    if (fault) {
      reason ??= fault
      continue
    }
    if ("reason" in table) continue
    ids.add(one.id)
    isEstimated ||= addImport(snapshot, query, table.kind, one, { groups, sums, totals, days })
  }
  return { ids: [...ids].sort((a, b) => a - b), ...(reason && { reason }), ...(isEstimated && { isEstimated }) }
}

const overlaps = (a: Range, b: Range): boolean => a.from < b.to && a.to > b.from

const hasVisits = ({ parts }: Snapshot, { id }: VisibleImport): boolean => parts.some(({ importId }) => importId === id)

function hasTotals(snapshot: Snapshot, one: VisibleImport, range: Range, days: LocalTimes): boolean {
  return IMPORTED_KINDS.some((kind) =>
    partsOf(snapshot, kind, one).some((part) => rowsIn(part, one, range, days.in(one.timezone)).length > 0),
  )
}

const partsOf = (snapshot: Snapshot, kind: ImportedKind, { id }: VisibleImport): readonly TotalsPart[] =>
  snapshot.totals(kind).filter(({ importId }) => importId === id)

/** Returns why an import cannot answer a query from a table, or undefined if it can. */
function faultOf(snapshot: Snapshot, query: Query, kind: ImportedKind, one: VisibleImport, days: LocalTimes): ImportExclusion | undefined {
  const { range, timezone, groupings } = query
  if (one.timezone !== timezone) return "unsupported_timezone"
  const rows = partsOf(snapshot, kind, one).map((part) => ({ part, rows: rowsIn(part, one, range, days) }))
  if (rows.every(({ rows }) => rows.length === 0)) return "none_in_range"
  const isByHour = groupings.some((grouping) => grouping.by === "time" && (grouping.interval === "hour" || grouping.interval === "minute"))
  if (groupings.some((grouping) => grouping.by === "time" && grouping.interval === "minute")) return "unsupported_interval"
  const needsHours = isByHour || !days.isWhole(range.from) || !days.isWhole(range.to)
  if (needsHours && rows.some(({ part, rows }) => rows.some((row) => part.hours()[row] === WHOLE_DAY))) return "unsupported_interval"
  const isMissing = (name: string) => rows.every(({ part, rows }) => rows.every((row) => part.count(name)[row] === 0))
  // Older exports lack these columns; adding only the visitors of their pages would distort the rates.
  if (kind === "imported_pages" && query.metrics.includes("visits") && isMissing("visits")) return "unsupported_metric"
  if (kind === "imported_pages" && query.metrics.includes("exit_rate") && isMissing("exits")) return "unsupported_metric"
  return undefined
}

/** Returns the rows of a part that lie on effective days and in the range. */
function rowsIn(part: TotalsPart, { days }: VisibleImport, range: Range, times: LocalTimes): number[] {
  const [first, last] = [times.dayOf(range.from), times.dayOf(range.to - 1)]
  if (part.lastDay < first || part.firstDay > last) return []
  const [day, hour] = [part.days(), part.hours()]
  const rows: number[] = []
  for (let row = 0; row < part.rows; row++) {
    if (day[row]! < first || day[row]! > last) continue
    if (!days.some((span) => day[row]! >= span.first && day[row]! <= span.last)) continue
    const at = times.start(day[row]!, hour[row]!)
    if (hour[row] === WHOLE_DAY || (at >= range.from && at < range.to)) rows.push(row)
  }
  return rows
}

interface Target {
  groups: ImportGroups
  sums: Sums
  totals: { visitors: number }
  days: LocalTimes
}

/** Adds an import's rows to the sums. Returns whether they lie on more than one day, so that visitors are estimated. */
function addImport(snapshot: Snapshot, query: Query, kind: ImportedKind, one: VisibleImport, target: Target): boolean {
  const { sums, totals, days } = target
  const seenDays = new Set<number>()
  const goals = goalMatches(snapshot, query)
  for (const part of partsOf(snapshot, kind, one)) {
    const isChosen = chosenRows(snapshot, query, kind, part)
    const rows = rowsIn(part, one, query.range, days).filter(isChosen)
    for (const row of rows) seenDays.add(part.days()[row]!)
    const list = listRows(part, rows, query, goals)
    const grouped = groupsOf(part, list, query, target)
    sums.add(kind, part, list.rows, grouped, target.groups.size(), query)
  }
  const whole = query.filter ? kind : "imported_visitors"
  for (const part of partsOf(snapshot, whole, one)) {
    const isChosen = chosenRows(snapshot, query, whole, part)
    for (const row of rowsIn(part, one, query.range, days)) if (isChosen(row)) totals.visitors += part.count("visitors")[row]!
  }
  addOfWholeSite(snapshot, query, kind, one, target)
  return seenDays.size > 1
}

/**
 * Adds what only the table of the whole site has: the audience of conversions, and the custom events of a summary whose import states
 * no events.
 */
function addOfWholeSite(snapshot: Snapshot, query: Query, kind: ImportedKind, one: VisibleImport, target: Target): void {
  const byTime = { ...query, groupings: query.groupings.filter(({ by }) => by === "time") }
  if (query.metrics.some((metric) => metric.endsWith("conversion_rate"))) {
    for (const part of partsOf(snapshot, "imported_visitors", one)) {
      for (const row of rowsIn(part, one, query.range, target.days)) target.sums.addTotal("audience", part.count("visitors")[row]!)
    }
  }
  if (kind !== "imported_visitors" || !query.metrics.includes("events")) return
  const stated = partsOf(snapshot, kind, one).some((part) =>
    rowsIn(part, one, query.range, target.days).some((row) => part.count("events")[row]! > 0),
  )
  if (stated) return
  const add = (part: TotalsPart, column: "pageviews" | "events") => {
    const rows = Uint32Array.from(rowsIn(part, one, query.range, target.days))
    target.sums.addColumn("events", part.count(column), rows, groupsOf(part, { rows }, byTime, target), target.groups.size())
  }
  for (const part of partsOf(snapshot, "imported_visitors", one)) add(part, "pageviews")
  for (const part of partsOf(snapshot, "imported_custom_events", one)) add(part, "events")
}

interface RowsOfTotals {
  rows: Uint32Array
  /** Index of the goal of each row. A row that completes several goals is listed once for each. */
  goals?: Uint32Array
}

function listRows(part: TotalsPart, rows: readonly number[], { groupings }: Query, goals: readonly GoalMatch[]): RowsOfTotals {
  if (!groupings.some((grouping) => grouping.by === "dimension" && grouping.dimension === "goal")) return { rows: Uint32Array.from(rows) }
  const found = rows.flatMap((row) => goals.flatMap(({ matches }, goal) => (matches(part, row) ? [{ row, goal }] : [])))
  return { rows: Uint32Array.from(found, ({ row }) => row), goals: Uint32Array.from(found, ({ goal }) => goal) }
}

function groupsOf(part: TotalsPart, { rows, goals }: RowsOfTotals, { groupings }: Query, { groups, days }: Target): Uint32Array {
  const codes = groupings.map((grouping) => {
    if (grouping.by === "time") return rows.map((row) => bucketAt(groups.edges!, days.start(part.days()[row]!, part.hours()[row]!)))
    if (grouping.dimension === "goal") return goals!
    const column = part.text(columnOf(grouping))
    return rows.map((row) => column[row]!)
  })
  const out = new Uint32Array(rows.length)
  groups.assign(codes, rows.length, out)
  return out
}

/** Returns a test of rows: the filter, and for properties the key that the query names. */
function chosenRows(snapshot: Snapshot, query: Query, kind: ImportedKind, part: TotalsPart): (row: number) => boolean {
  const mask = query.filter && filterMask(snapshot, query, part, query.filter)
  if (kind !== "imported_custom_props") return (row) => !mask || mask[row] === 1
  const key = snapshot.dictionary("property").find(propertyOf(query) ?? "")
  const keys = part.text("property")
  return (row) => keys[row] === key && (!mask || mask[row] === 1)
}

/** Returns 1 for each row that satisfies a filter. All its dimensions are columns of the table, which `tableFor` has checked. */
function filterMask(snapshot: Snapshot, query: Query, part: TotalsPart, filter: Filter): Uint8Array {
  switch (filter.op) {
    case "and":
    case "or": {
      const masks = filter.filters.map((inner) => filterMask(snapshot, query, part, inner))
      const holds = (row: number) => (filter.op === "and" ? masks.every((mask) => mask[row] === 1) : masks.some((mask) => mask[row] === 1))
      return Uint8Array.from({ length: part.rows }, (_, row) => Number(holds(row)))
    }
    case "not":
      return filterMask(snapshot, query, part, filter.filter).map((holds) => 1 - holds)
    case "has_done":
      throw new Error("No table of imported totals can answer has_done")
    default: {
      if (filter.dimension === "goal") {
        const goals = goalMatches(snapshot, query, filter)
        return Uint8Array.from({ length: part.rows }, (_, row) => Number(goals.some(({ matches }) => matches(part, row))))
      }
      const column = columnOf(filter)
      const values = conditionMask(snapshot, filter)
      return Uint8Array.from(part.text(column), (id) => values[id] ?? 0)
    }
  }
}

function conditionMask(snapshot: Snapshot, condition: Condition): ValueMask {
  if (condition.dimension !== "property") return valueMask(snapshot.dictionary(dictionaryOf(condition)), condition)
  const key = snapshot.dictionary("property").find(condition.property ?? "") ?? 0
  return valueMask(snapshot.dictionary(`property:${key}`), condition)
}

const dictionaryOf = ({ dimension }: Condition) => dimensionFacts(dimension).dictionary! // goals and properties are handled before

/** Local days of a zone as numbers since 1970, and their instants. */
class LocalTimes {
  readonly #starts = new Map<number, number>()
  readonly #zones = new Map<string, LocalTimes>()

  constructor(readonly timezone: string) {}

  in(timezone: string): LocalTimes {
    if (timezone === this.timezone) return this
    const known = this.#zones.get(timezone) ?? new LocalTimes(timezone)
    this.#zones.set(timezone, known)
    return known
  }

  dayOf(at: number): number {
    const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(this.timezone).toPlainDate()
    return EPOCH.until(local).days
  }

  /** Returns whether an instant is the start of a local day. */
  isWhole(at: number): boolean {
    return this.start(this.dayOf(at), WHOLE_DAY) === at
  }

  /** Returns the instant at which a local hour begins, or the day. */
  start(day: number, hour: number): number {
    const key = day * 256 + hour
    const known = this.#starts.get(key)
    if (known !== undefined) return known
    const date = EPOCH.add({ days: day })
    const at =
      hour === WHOLE_DAY
        ? date.toZonedDateTime(this.timezone).epochMilliseconds
        : date.toPlainDateTime({ hour }).toZonedDateTime(this.timezone).epochMilliseconds
    this.#starts.set(key, at)
    return at
  }
}

const EPOCH = Temporal.PlainDate.from("1970-01-01")

/** Sums by name and group. */
class Sums {
  readonly #sums = new Map<ImportedSum, Float64Array>()
  readonly #totals = new Map<ImportedSum, number>()
  #rows = new Uint8Array(0)

  of(name: ImportedSum): (group: number) => number {
    const total = this.#totals.get(name)
    if (total !== undefined) return () => total
    const sums = this.#sums.get(name)
    return sums ? (group) => sums[group] ?? 0 : () => 0
  }

  hasRows(group: number): boolean {
    return this.#rows[group] === 1
  }

  /** Adds a number that is the same for every group. */
  addTotal(name: ImportedSum, count: number): void {
    this.#totals.set(name, (this.#totals.get(name) ?? 0) + count)
  }

  add(kind: ImportedKind, part: TotalsPart, rows: Uint32Array, groups: Uint32Array, size: number, { metrics }: Query): void {
    if (this.#rows.length < size) {
      const grown = new Uint8Array(size)
      grown.set(this.#rows)
      this.#rows = grown
    }
    for (const group of groups) this.#rows[group] = 1
    for (const [name, column] of COLUMNS[kind] ?? SAME_OF_FIVE) this.addColumn(name, part.count(column), rows, groups, size)
    if (metrics.includes("conversions")) {
      const column = kind === "imported_pages" ? "pageviews" : "events"
      if (kind === "imported_pages" || kind === "imported_custom_events")
        this.addColumn("conversions", part.count(column), rows, groups, size)
    }
  }

  addColumn(name: ImportedSum, column: Float64Array, rows: Uint32Array, groups: Uint32Array, size: number): void {
    let sums = this.#sums.get(name) ?? new Float64Array(size)
    if (sums.length < size) {
      const grown = new Float64Array(size)
      grown.set(sums)
      sums = grown
    }
    for (let i = 0; i < rows.length; i++) sums[groups[i]!]! += column[rows[i]!]!
    this.#sums.set(name, sums)
  }
}

type Sources = readonly (readonly [sum: ImportedSum, column: string])[]

const same = (...names: ImportedSum[]): Sources => names.map((name) => [name, name] as const)
const SAME_OF_FIVE = same("visitors", "pageviews", "visits", "bounces", "visit_duration")

/** Sums of each table and the columns they are of. Tables that are not listed have the five counts. */
const COLUMNS: Partial<Record<ImportedKind, Sources>> = {
  imported_visitors: [...SAME_OF_FIVE, ...same("events")],
  imported_pages: same(
    "visitors",
    "visits",
    "pageviews",
    "exits",
    "scroll_depth_sum",
    "scroll_depth_visits",
    "time_on_page",
    "time_on_page_visits",
  ),
  imported_entry_pages: [...same("visitors", "bounces", "visit_duration"), ["visits", "entrances"]],
  imported_exit_pages: same("visitors"),
  imported_custom_events: same("visitors", "events"),
  imported_custom_props: same("visitors", "events"),
}
