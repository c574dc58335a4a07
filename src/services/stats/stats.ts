import { AppError, type Fault } from "../../domain/error.ts"
import type { VisibleImport } from "../../domain/imported.ts"
import type { ComparedBreakdown } from "../../domain/insight.ts"
import { instantText } from "../../domain/moment.ts"
import type { CodeNames } from "../../domain/place-names.ts"
import type { Key, Range, RealtimeResult, Table } from "../../domain/query.ts"
import type { FunnelReport, GoalReport, Realtime, Summary, Timeseries } from "../../domain/report.ts"
import { DEFAULT_SETTINGS, type Site } from "../../domain/site.ts"
import type { Engine } from "../../query/engine/engine.ts"
import { bucketsOf, flatLabel, isPartial } from "../../query/parse/buckets.ts"
import { changePercent } from "../../query/parse/compare.ts"
import { flatMetrics, flatQuery, shownRows } from "../../query/parse/flat-query.ts"
import { parseQuery, parseRealtime } from "../../query/parse/parse.ts"
import type { LocalRange } from "../../query/parse/period.ts"
import { shownMetrics, shownValue } from "../../query/show/result.ts"
import type { Funnels } from "../definitions/goals.ts"
import { funnelReport, requestedFunnel, splitFunnel } from "./funnel-report.ts"
import { importsOf, visitImports } from "./import-facts.ts"
import {
  callerOf,
  codeNames,
  decimalsOf,
  lateFact,
  type NamesOptions,
  type OpenReport,
  type OpenReportOptions,
  openReports,
  type ReportOptions,
  readLocked,
  reportFacts,
  shownRange,
  siteFacts,
} from "./open-report.ts"

/**
 * Reports on a site in the flat form (api.md section 6), shared by REST, MCP and the dashboard. Invalid arguments throw
 * `invalid_query` or `validation_failed`, depending on their form, with all faults at once. The caller has already authorized
 * the user or the key.
 */
export interface Stats {
  summary(site: Site, given: Record<string, unknown>, options?: ReportOptions): Promise<Summary>
  timeseries(site: Site, given: Record<string, unknown>, options?: ReportOptions): Promise<Timeseries>
  /** Returns metrics per value of a dimension. With the option `comparesRows`, rows can be compared. */
  breakdown(site: Site, given: Record<string, unknown>, options?: ReportOptions): Promise<ComparedBreakdown>
  realtime(site: Site, given: Record<string, unknown>, options?: ReportOptions): Promise<Realtime>
  /** Returns all goals with their conversions, and the saved funnels. */
  goals(site: Site, given: Record<string, unknown>, options?: ReportOptions): Promise<GoalReport>
  /**
   * Returns the report of the saved funnel `funnel_id`, or of inline `steps` with `order` and `window_hours`. With the option
   * `funnelId` the funnel is fixed and the arguments only describe the range.
   */
  funnel(site: Site, given: Record<string, unknown>, options?: ReportOptions & { funnelId?: number }): Promise<FunnelReport>
}

export interface StatsOptions extends OpenReportOptions, NamesOptions {
  engine: Engine
  funnels: Pick<Funnels, "all">
}

export function createStats(options: StatsOptions): Stats {
  const { engine, goals, funnels, clock } = options
  const open = openReports(options)

  /** Runs the query of a report, and the same query over the compared range if there is one. */
  const tablesOf = async ({ parsed, facts, now, caller, records }: OpenReport): Promise<{ table: Table; before?: Table }> => {
    const query = { ...flatQuery(parsed, { site: facts, now }), ...(records && { records }) }
    return parsed.compared
      ? engine.compare({ ...query, compared: parsed.compared.range }, caller)
      : { table: await engine.aggregate(query, caller) }
  }

  return {
    async summary(site, given, reportOptions) {
      const report = await open("summary", site, given, reportOptions)
      const { table, before } = await tablesOf(report)
      return { ...factsOf(report, table, before), ...summaryOf(report, table, before) }
    },
    async timeseries(site, given, reportOptions) {
      const report = await open("timeseries", site, given, reportOptions)
      const { table, before } = await tablesOf(report)
      const imported = options.imports.of(site.id)
      return { ...factsOf(report, table, before), ...timeseriesOf(report, imported, table, before) }
    },
    async breakdown(site, given, reportOptions) {
      const report = await open("breakdown", site, given, reportOptions)
      const { table, before } = await tablesOf(report)
      const names = await codeNames(options, report.parsed.dimension)
      return { ...factsOf(report, table, before), ...breakdownOf(report, table, before, names) }
    },
    async realtime(site, given, reportOptions = {}) {
      const { limit } = parseRealtime(given, reportOptions.form ?? "json")
      const now = clock.now()
      const { parsed: filter } = await readLocked(options.savedSets, site, reportOptions, realtimeRange(now))
      const query = { site: siteFacts(site, goals.rules(site.id)), now, limit, ...(filter && { filter }) }
      const isLate = options.hasLateEvents()
      return { ...realtimeOf(site, now, await engine.realtime(query, callerOf(site, reportOptions))), ...lateFact(isLate) }
    },
    async goals(site, given, reportOptions) {
      const report = await open("goals", site, given, reportOptions)
      const { table } = await tablesOf(report)
      const shown = goalsOf(report, table)
      const showsRevenue = shown.some(({ revenue }) => revenue !== undefined)
      return { ...reportFacts(report, table, showsRevenue), goals: shown, funnels: funnels.all(site.id).map(shownFunnel) }
    },
    async funnel(site, given, reportOptions = {}) {
      return funnelReport({
        site,
        given,
        form: reportOptions.form ?? "json",
        ...(reportOptions.funnelId !== undefined && { funnelId: reportOptions.funnelId }),
        saved: funnels.all(site.id),
        open: (ranged) => open("funnel", site, ranged, reportOptions),
        ask: (query, { caller }) => engine.funnel(query, caller),
        importsOf: (report) => visitImports(options, report),
      })
    },
  }
}

const factsOf = (report: OpenReport, table: Table, before: Table | undefined) =>
  reportFacts(report, { ...table, ...importsOf(table, before) }, report.parsed.metrics.includes("revenue"))

/** Returns the values of a row by metric. */
const shown = ({ parsed, site }: OpenReport, values: readonly (number | null)[]) =>
  shownMetrics(flatMetrics(parsed), values, decimalsOf(site))

function summaryOf(report: OpenReport, table: Table, before: Table | undefined): Pick<Summary, "metrics" | "comparison"> {
  const { compared } = report.parsed
  const metrics = shown(report, table.rows[0]?.values ?? [])
  if (!compared || !before) return { metrics }
  const old = shown(report, before.rows[0]?.values ?? [])
  return { metrics, comparison: { range: shownRange(compared, report.now), metrics: old, change_percent: changes(metrics, old) } }
}

/** Returns the change of each metric in percent. Metrics that were 0 before are omitted. */
function changes(metrics: Record<string, number>, before: Record<string, number>): Record<string, number> {
  const changed = Object.entries(metrics).map(([name, value]) => [name, changePercent(value, before[name] ?? 0)] as const)
  return Object.fromEntries(changed.filter((entry): entry is readonly [string, number] => entry[1] !== undefined))
}

function timeseriesOf(
  report: OpenReport,
  visible: readonly VisibleImport[],
  table: Table,
  before: Table | undefined,
): Pick<Timeseries, "interval" | "points" | "comparison"> {
  const { range, compared, interval = "day" } = report.parsed
  const points = pointsOf(report, visible, range, table)
  if (!compared || !before) return { interval, points }
  const old = pointsOf(report, visible, compared, before).map(({ partial: _, ...point }) => point)
  return { interval, points, comparison: { range: shownRange(compared, report.now), points: old } }
}

/** Returns a point per time bucket. The table has a row for every bucket, in order. */
function pointsOf(
  report: OpenReport,
  visible: readonly VisibleImport[],
  { range, timezone }: LocalRange,
  { rows, imports }: Table,
): Timeseries["points"] {
  const { interval = "day" } = report.parsed
  const buckets = bucketsOf(range, interval, timezone)
  const spans = visible.filter(({ id }) => imports?.ids.includes(id)).flatMap((one) => one.spans)
  const isImported = (i: number) => spans.some(({ from, to }) => from < buckets.edges[i + 1]! && to > buckets.edges[i]!)
  return rows.map(({ values }, i) => ({
    time: flatLabel(buckets.edges[i]!, interval, timezone),
    ...(isPartial(buckets, i, report.now) && { partial: true }),
    ...(isImported(i) && { imported: true }),
    ...shown(report, values),
  }))
}

type BreakdownRows = Pick<ComparedBreakdown, "dimension" | "property" | "rows" | "total_rows" | "has_more" | "comparison">

function breakdownOf(report: OpenReport, table: Table, before: Table | undefined, names: CodeNames | undefined): BreakdownRows {
  const { dimension = "page", property, offset, compared } = report.parsed
  const compare = compared && before && rowComparison(report, before)
  const { rows, totalRows } = shownRows(report.parsed, table)
  return {
    dimension,
    ...(property !== undefined && { property }),
    rows: rows.map(({ keys: [key = null], values }) => ({
      ...shownValue(dimension, key, { names }),
      ...shown(report, values),
      ...compare?.(key, values),
    })),
    total_rows: totalRows,
    has_more: offset + rows.length < totalRows,
    ...(compare && { comparison: { range: shownRange(compared, report.now) } }),
  }
}

/**
 * Returns a function that compares a row with its earlier values. A value that did not occur earlier counts as zeros, except for
 * times, which were not measured.
 */
function rowComparison(report: OpenReport, before: Table) {
  const names = flatMetrics(report.parsed)
  const byKey = new Map(before.rows.map(({ keys: [key = null], values }) => [key, values]))
  const nothing = names.map((name) => (UNMEASURED.includes(name) ? null : 0))
  return (key: Key, values: readonly (number | null)[]) => {
    const old = byKey.get(key)
    // With a minimum group size, "no visitors" and "a small group" must look the same.
    if (!old && report.parsed.minVisitors !== undefined) return {}
    const metrics = shown(report, old ?? nothing)
    const { share: _, ...changed } = changes(shown(report, values), metrics)
    return { comparison: { metrics, change_percent: changed } }
  }
}

const UNMEASURED: readonly string[] = ["time_on_page", "scroll_depth"]

/** Returns the range that the realtime report covers. */
export const realtimeRange = (now: number): Range => ({ from: now - REALTIME_MS, to: now + 1 })
const REALTIME_MS = 30 * 60_000

export function realtimeOf(site: Site, now: number, { visitors, pageviews, pages, sources, countries }: RealtimeResult): Realtime {
  const top = (dimension: "page" | "source" | "country", rows: RealtimeResult["pages"]) =>
    rows.map(({ value, visitors }) => {
      const { truncated: _, ...named } = shownValue(dimension, value)
      return { ...named, visitors }
    })
  return {
    site_id: site.id,
    at: instantText(now),
    window_minutes: 5,
    visitors,
    pageviews,
    pages: top("page", pages),
    sources: top("source", sources),
    countries: top("country", countries),
  }
}

/**
 * Returns all goals, including those without conversions unless small groups are hidden. Revenue is included for goals that
 * earned some.
 */
function goalsOf({ parsed, facts, site }: OpenReport, { rows }: Table): GoalReport["goals"] {
  const byName = new Map(rows.map(({ keys, values }) => [keys[0], values]))
  const goals = parsed.minVisitors === undefined ? facts.goals : facts.goals.filter(({ name }) => byName.has(name))
  return goals.map(({ id, name, kind, match, value, threshold }) => {
    const [visitors, conversions, rate, revenue] = byName.get(name) ?? []
    return {
      goal_id: id,
      name,
      kind,
      match,
      value,
      ...(threshold !== undefined && { threshold }),
      visitors: visitors ?? 0,
      conversions: conversions ?? 0,
      conversion_rate: rate ?? 0,
      ...(typeof revenue === "number" && { revenue: revenue / 10 ** decimalsOf(site) }),
    }
  })
}

type SavedFunnel = ReturnType<Funnels["all"]>[number]

const shownFunnel = ({ id, name, steps, order, window_hours }: SavedFunnel): GoalReport["funnels"][number] => ({
  funnel_id: id,
  name,
  steps: steps.map(({ type, match, value, name }) => ({ type, match, value, name })),
  order,
  ...(window_hours !== null && { window_hours }),
})

/**
 * Returns the faults of a report's JSON arguments without knowing the site, for callers that named none. Arguments are checked
 * as for a site with default settings in UTC.
 */
export function argumentFaults(report: keyof Stats, given: Record<string, unknown>, now: number): readonly Fault[] {
  if (report === "realtime") return faultsOf(() => parseRealtime(given, "json"))
  const moment = { now, timezone: "UTC" }
  if (report !== "funnel") return faultsOf(() => parseQuery(report, given, moment, "json", ANY_SAVED))
  const { requested, ranged } = splitFunnel(given)
  const parsers = [
    () => requestedFunnel(requested, { settings: DEFAULT_SETTINGS }, []),
    () => parseQuery(report, ranged, moment, "json", ANY_SAVED),
  ]
  return parsers.flatMap(faultsOf)
}

/** Accepts any segment: which ones exist depends on the site. */
const ANY_SAVED = { saved: () => ({ op: "and", filters: [] }) as const }

function faultsOf(parse: () => unknown): readonly Fault[] {
  try {
    parse()
    return []
  } catch (error) {
    // A saved funnel cannot be looked up without its site, so its absence is not a fault of the arguments.
    if (error instanceof AppError) return error.members.errors ?? []
    throw error
  }
}
