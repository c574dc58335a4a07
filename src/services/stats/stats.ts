import type { ComparedBreakdown } from "../domain/insight.ts"
import { instantText } from "../domain/moment.ts"
import type { CodeNames } from "../domain/place-names.ts"
import type { Key, RealtimeResult, Table } from "../domain/query.ts"
import type { FunnelReport, GoalReport, Realtime, Summary, Timeseries } from "../domain/report.ts"
import type { Site } from "../domain/site.ts"
import { bucketsOf, flatLabel, isPartial } from "../query/buckets.ts"
import { changePercent } from "../query/compare.ts"
import type { Engine } from "../query/engine.ts"
import { flatMetrics, flatQuery, shownRows } from "../query/flat-query.ts"
import { parseRealtime } from "../query/parse.ts"
import type { LocalRange } from "../query/period.ts"
import { shownMetrics, shownValue } from "../query/result.ts"
import { codeNames, type NamesOptions } from "./code-names.ts"
import { funnelReport } from "./funnel-report.ts"
import type { Funnels } from "./funnels.ts"
import { type Asking, askerOf, type OpenReportOptions, openReports } from "./open-report.ts"
import { decimalsOf, type OpenReport, reportFacts, shownRange, siteFacts } from "./report-facts.ts"

/**
 * The statistics of a site in the flat form (api.md section 6): one function each for REST, MCP and the dashboard. Bad
 * arguments are `invalid_query` or `validation_failed`, by their form, with all faults at once; whoever calls has been let
 * in to the site.
 */
export interface Stats {
  summary(site: Site, given: Record<string, unknown>, asking?: Asking): Promise<Summary>
  timeseries(site: Site, given: Record<string, unknown>, asking?: Asking): Promise<Timeseries>
  /** With `comparesRows` in the asking, rows can be compared. */
  breakdown(site: Site, given: Record<string, unknown>, asking?: Asking): Promise<ComparedBreakdown>
  realtime(site: Site, given: Record<string, unknown>, asking?: Asking): Promise<Realtime>
  /** All goals with their conversions, and the saved funnels. */
  goals(site: Site, given: Record<string, unknown>, asking?: Asking): Promise<GoalReport>
  /**
   * Of the saved funnel `funnel_id`, or of `steps` with `order` and `window_hours`; with `funnelId` in the asking of that one,
   * whatever the arguments say of the range.
   */
  funnel(site: Site, given: Record<string, unknown>, asking?: Asking & { funnelId?: number }): Promise<FunnelReport>
}

export interface StatsOptions extends OpenReportOptions, NamesOptions {
  engine: Engine
  funnels: Pick<Funnels, "kept">
}

export function createStats(options: StatsOptions): Stats {
  const { engine, goals, funnels, clock } = options
  const open = openReports(options)

  /** The answer and, if one is asked for, that of the compared range. */
  const tablesOf = async ({ question, facts, now, asker, records }: OpenReport): Promise<{ table: Table; before?: Table }> => {
    const query = { ...flatQuery(question, { site: facts, now }), ...(records && { records }) }
    return question.compared ? engine.compare(query, question.compared.range, asker) : { table: await engine.aggregate(query, asker) }
  }

  return {
    async summary(site, given, asking) {
      const report = await open("summary", site, given, asking)
      const { table, before } = await tablesOf(report)
      return { ...factsOf(report, table), ...summaryOf(report, table, before) }
    },
    async timeseries(site, given, asking) {
      const report = await open("timeseries", site, given, asking)
      const { table, before } = await tablesOf(report)
      return { ...factsOf(report, table), ...timeseriesOf(report, table, before) }
    },
    async breakdown(site, given, asking) {
      const report = await open("breakdown", site, given, asking)
      const { table, before } = await tablesOf(report)
      const names = await codeNames(options, report.question.dimension)
      return { ...factsOf(report, table), ...breakdownOf(report, table, before, names) }
    },
    async realtime(site, given, asking = {}) {
      const { limit } = parseRealtime(given, asking.form ?? "json")
      const now = clock.now()
      const query = { site: siteFacts(site, goals.rules(site.id)), now, limit, ...(asking.locked && { filter: asking.locked }) }
      return realtimeOf(site, now, await engine.realtime(query, askerOf(site, asking)))
    },
    async goals(site, given, asking) {
      const report = await open("goals", site, given, asking)
      const { table } = await tablesOf(report)
      const shown = goalsOf(report, table)
      const showsRevenue = shown.some(({ revenue }) => revenue !== undefined)
      return { ...reportFacts(report, table, showsRevenue), goals: shown, funnels: funnels.kept(site.id).map(shownFunnel) }
    },
    async funnel(site, given, asking = {}) {
      return funnelReport({
        site,
        given,
        form: asking.form ?? "json",
        ...(asking.funnelId !== undefined && { funnelId: asking.funnelId }),
        saved: funnels.kept(site.id),
        open: (ranged) => open("funnel", site, ranged, asking),
        ask: (query, { asker }) => engine.funnel(query, asker),
      })
    },
  }
}

const factsOf = (report: OpenReport, table: Table) => reportFacts(report, table, report.question.metrics.includes("revenue"))

/** A row's values by metric. */
const shown = ({ question, site }: OpenReport, values: readonly (number | null)[]) =>
  shownMetrics(flatMetrics(question), values, decimalsOf(site))

function summaryOf(report: OpenReport, table: Table, before: Table | undefined): Pick<Summary, "metrics" | "comparison"> {
  const { compared } = report.question
  const metrics = shown(report, table.rows[0]?.values ?? [])
  if (!compared || !before) return { metrics }
  const old = shown(report, before.rows[0]?.values ?? [])
  return { metrics, comparison: { range: shownRange(compared, report.now), metrics: old, change_percent: changes(metrics, old) } }
}

/** Of what both have; left out where there was nothing before. */
function changes(metrics: Record<string, number>, before: Record<string, number>): Record<string, number> {
  const changed = Object.entries(metrics).map(([name, value]) => [name, changePercent(value, before[name] ?? 0)] as const)
  return Object.fromEntries(changed.filter((entry): entry is readonly [string, number] => entry[1] !== undefined))
}

function timeseriesOf(report: OpenReport, table: Table, before: Table | undefined): Pick<Timeseries, "interval" | "points" | "comparison"> {
  const { range, compared, interval = "day" } = report.question
  const points = pointsOf(report, range, table)
  if (!compared || !before) return { interval, points }
  const old = pointsOf(report, compared, before).map(({ partial: _, ...point }) => point)
  return { interval, points, comparison: { range: shownRange(compared, report.now), points: old } }
}

/** Every bucket is a row, in order. */
function pointsOf(report: OpenReport, { range, timezone }: LocalRange, { rows }: Table): Timeseries["points"] {
  const { interval = "day" } = report.question
  const buckets = bucketsOf(range, interval, timezone)
  return rows.map(({ values }, i) => ({
    time: flatLabel(buckets.edges[i]!, interval, timezone),
    ...(isPartial(buckets, i, report.now) && { partial: true }),
    ...shown(report, values),
  }))
}

type BreakdownRows = Pick<ComparedBreakdown, "dimension" | "property" | "rows" | "total_rows" | "has_more" | "comparison">

function breakdownOf(report: OpenReport, table: Table, before: Table | undefined, names: CodeNames | undefined): BreakdownRows {
  const { dimension = "page", property, offset, compared } = report.question
  const compare = compared && before && rowComparison(report, before)
  const { rows, totalRows } = shownRows(report.question, table)
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

/** What a row was before. Of a value that did not occur then there was nothing: zeros, and no times that nobody measured. */
function rowComparison(report: OpenReport, before: Table) {
  const names = flatMetrics(report.question)
  const byKey = new Map(before.rows.map(({ keys: [key = null], values }) => [key, values]))
  const nothing = names.map((name) => (UNMEASURED.includes(name) ? null : 0))
  return (key: Key, values: readonly (number | null)[]) => {
    const old = byKey.get(key)
    // Nobody is told whether it was nothing or a small group.
    if (!old && report.question.leastVisitors !== undefined) return {}
    const metrics = shown(report, old ?? nothing)
    const { share: _, ...changed } = changes(shown(report, values), metrics)
    return { comparison: { metrics, change_percent: changed } }
  }
}

const UNMEASURED: readonly string[] = ["time_on_page", "scroll_depth"]

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

/** All goals, those without conversions too, unless small groups are left out; revenue of those that earned some. */
function goalsOf({ question, facts, site }: OpenReport, { rows }: Table): GoalReport["goals"] {
  const byName = new Map(rows.map(({ keys, values }) => [keys[0], values]))
  const goals = question.leastVisitors === undefined ? facts.goals : facts.goals.filter(({ name }) => byName.has(name))
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

type KeptFunnel = ReturnType<Funnels["kept"]>[number]

const shownFunnel = ({ id, name, steps, order, window_hours }: KeptFunnel): GoalReport["funnels"][number] => ({
  funnel_id: id,
  name,
  steps: steps.map(({ type, match, value, name }) => ({ type, match, value, name })),
  order,
  ...(window_hours !== null && { window_hours }),
})
