import type { Filter } from "../../domain/filter.ts"
import type {
  BusyHours,
  CampaignMatrix,
  ComparedBreakdown,
  FunnelInsight,
  Properties,
  RealtimePanel,
  Suggestions,
} from "../../domain/insight.ts"
import type { Journeys } from "../../domain/journey.ts"
import { QUERY } from "../../domain/limits.ts"
import { instantText } from "../../domain/moment.ts"
import type { CodeNames } from "../../domain/place-names.ts"
import type { Table } from "../../domain/query.ts"
import type { Site } from "../../domain/site.ts"
import type { WebVitals, WebVitalsBreakdown } from "../../domain/web-vitals.ts"
import type { Engine } from "../../query/engine/engine.ts"
import type { ImportedLookup } from "../../query/imported/lookups.ts"
import { ArgumentReader, type Form, readProperties, refuseArguments } from "../../query/parse/arguments.ts"
import { flatQuery } from "../../query/parse/flat-query.ts"
import { parseRealtime } from "../../query/parse/parse.ts"
import { readSuggestions, type SuggestedValue } from "../../query/rows/suggest.ts"
import { foldHours, shownValue } from "../../query/show/result.ts"
import { funnelInsight } from "./funnel-insight.ts"
import { importsOf, visitImports } from "./import-facts.ts"
import { journeysReport } from "./journeys.ts"
import {
  both,
  callerOf,
  codeNames,
  hiding,
  lateFact,
  type OpenReport,
  type OpenReportOptions,
  openReports,
  queryOf,
  type ReportOptions,
  readLocked,
  reportFacts,
  siteFacts,
  splitArguments,
  withAllFaults,
  withFilter,
} from "./open-report.ts"
import { realtimeOf, realtimeRange, type Stats, type StatsOptions } from "./stats.ts"
import { webVitalsBreakdown, webVitalsReport } from "./web-vitals.ts"

/**
 * Reports that only the dashboard uses (areas/10 section 2), computed by the same engine as all others. Invalid arguments throw
 * `invalid_query` or `validation_failed`, depending on their form, with all faults at once.
 */
export interface Insights {
  /** Returns the realtime report with the last 30 minutes one by one and the latest events. */
  realtime(site: Site, given: Record<string, unknown>, reportOptions?: ReportOptions): Promise<RealtimePanel>
  /** Suggests values of a dimension that contain a text, ordered by visitors. */
  values(site: Site, given: Record<string, unknown>, reportOptions?: ReportOptions): Promise<Suggestions>
  /** Counts visits by weekday and hour. */
  busyHours(site: Site, given: Record<string, unknown>, reportOptions?: ReportOptions): Promise<BusyHours>
  /** Returns event names with their totals, as a breakdown by `event`. */
  events(site: Site, given: Record<string, unknown>, reportOptions?: ReportOptions): Promise<ComparedBreakdown>
  /** Returns the property keys of one event or of all events, with their most frequent values. */
  properties(site: Site, given: Record<string, unknown>, reportOptions?: ReportOptions): Promise<Properties>
  /** Counts tagged visits by the combination of source, medium and campaign. */
  campaigns(site: Site, given: Record<string, unknown>, reportOptions?: ReportOptions): Promise<CampaignMatrix>
  journeys(site: Site, given: Record<string, unknown>, reportOptions?: ReportOptions): Promise<Journeys>
  /** Returns the 75th percentiles of web vitals. */
  webVitals(site: Site, given: Record<string, unknown>, reportOptions?: ReportOptions): Promise<WebVitals>
  /** Returns them by the values of a dimension. */
  webVitalsBy(site: Site, given: Record<string, unknown>, reportOptions?: ReportOptions): Promise<WebVitalsBreakdown>
  /** Returns a funnel report that supports `compare` and a `breakdown` by a dimension of visits. */
  funnel(site: Site, given: Record<string, unknown>, reportOptions?: ReportOptions): Promise<FunnelInsight>
}

export interface InsightsOptions extends StatsOptions {
  stats: Pick<Stats, "breakdown">
}

export function createInsights(options: InsightsOptions): Insights {
  return {
    realtime: (site, given, reportOptions) => realtimePanel(options, site, given, reportOptions),
    values: (site, given, reportOptions) => suggestedValues(options, site, given, reportOptions),
    async busyHours(site, given, reportOptions = {}) {
      const report = await openReports(options)("visits", site, given, reportOptions)
      const query = queryOf(report, { metrics: ["visits"], groupings: [{ by: "time", interval: "hour" }] })
      const table = await options.engine.aggregate(query, report.caller)
      const facts = reportFacts(report, { ...table, otherCurrencies: [] }, false)
      return { ...facts, grid: foldHours(table.rows, report.parsed.range.timezone) }
    },
    events: (site, given, reportOptions) => {
      const metrics = given.metrics ?? (reportOptions?.form === "text" ? "visitors,events" : ["visitors", "events"])
      return options.stats.breakdown(site, { ...given, dimension: "event", metrics }, reportOptions)
    },
    properties: (site, given, reportOptions) => propertyInsight(options, site, given, reportOptions),
    campaigns: (site, given, reportOptions) => campaignMatrix(options, site, given, reportOptions),
    journeys: (site, given, reportOptions) => journeysReport(options, site, given, reportOptions),
    webVitals: (site, given, reportOptions) => webVitalsReport(options, site, given, reportOptions),
    webVitalsBy: (site, given, reportOptions) => webVitalsBreakdown(options, site, given, reportOptions),
    funnel: (site, given, reportOptions) => funnelInsight(options, site, given, reportOptions),
  }
}

/** Returns the realtime report with the last 30 minutes one by one and the latest events. */
export async function realtimePanel(
  { engine, goals, clock, hasLateEvents, savedSets }: StatsOptions,
  site: Site,
  given: Record<string, unknown>,
  reportOptions: ReportOptions = {},
): Promise<RealtimePanel> {
  const { limit } = parseRealtime(given, reportOptions.form ?? "json")
  const now = clock.now()
  const { parsed: filter } = await readLocked(savedSets, site, reportOptions, realtimeRange(now))
  const facts = siteFacts(site, goals.rules(site.id))
  const query = { site: facts, now, limit, latest: QUERY.realtimeEvents, ...(filter && { filter }) }
  const isLate = hasLateEvents()
  const found = await engine.realtime(query, callerOf(site, reportOptions))
  return {
    ...realtimeOf(site, now, found),
    ...lateFact(isLate),
    minutes: found.minutes.map(({ from, ...counts }) => ({ time: instantText(from), ...counts })),
    events: (found.events ?? []).map(({ at, page, name, source, ...event }) => ({
      at: instantText(at),
      name: shownValue("event", name).value,
      page: shownValue("page", page || null).value,
      source: shownValue("source", source || null).value,
      ...event,
    })),
  }
}

/** Suggests values of a dimension that contain a text, ordered by visitors. */
export async function suggestedValues(
  options: StatsOptions,
  site: Site,
  given: Record<string, unknown>,
  reportOptions: ReportOptions = {},
): Promise<Suggestions> {
  const { own, ranged } = splitArguments(given, ["dimension", "property", "q", "limit"])
  const form = reportOptions.form ?? "json"
  const [report, wanted] = await withAllFaults(form, openReports(options)("visits", site, ranged, reportOptions), () =>
    readSuggestions(own, form, hiding(site, reportOptions)),
  )
  const { dimension, q, limit } = wanted
  const { caller } = report
  const names = await codeNames(options, dimension)
  const named = names && q !== "" ? codesNamed(names, q) : []
  const found =
    dimension === "goal"
      ? await goalNames(options, report, q)
      : await options.engine.suggest({ ...wanted, named, ...lookupOf(report) }, caller)
  return { data: found.slice(0, limit).map(({ key, visitors }) => ({ ...shownValue(dimension, key, { names }), visitors })) }
}

/** Returns the codes whose names contain a text. There are tens of thousands of cities, so this loop avoids copies. */
function codesNamed(names: CodeNames, q: string): string[] {
  const part = q.toLowerCase()
  const codes: string[] = []
  for (const [code, name] of names) if (name.toLowerCase().includes(part)) codes.push(code)
  return codes
}

/** Suggests goals by name. The names are filtered afterwards, because an event that completes one goal may complete others, too. */
async function goalNames({ engine }: StatsOptions, report: OpenReport, q: string): Promise<SuggestedValue[]> {
  const groupings = [{ by: "dimension" as const, dimension: "goal" as const }]
  const order = [{ by: "metric" as const, index: 0, descending: true }]
  const { rows } = await engine.aggregate(queryOf(report, { metrics: ["visitors"], groupings, order }), report.caller)
  const found = rows.map(({ keys: [key = null], values: [visitors] }) => ({ key, visitors: visitors ?? 0 }))
  const part = q.toLowerCase()
  return found.filter(({ key }) => String(key).toLowerCase().includes(part))
}

/** Returns the property keys of one event or of all events, with their most frequent values. */
export async function propertyInsight(
  options: StatsOptions,
  site: Site,
  given: Record<string, unknown>,
  reportOptions: ReportOptions = {},
): Promise<Properties> {
  const { own, ranged } = splitArguments(given, ["event", "limit"])
  const form = reportOptions.form ?? "json"
  const opening = openReports(options)("visits", site, ranged, reportOptions)
  const [report, { event, limit }] = await withAllFaults(form, opening, () => readProperties(own, form))
  const isEvent = event === undefined ? undefined : nameIs(event)
  const { hides = () => false } = hiding(site, reportOptions)
  const found = await options.engine.propertyKeys(lookupOf(report, isEvent), report.caller)
  const keys = found.filter(({ property }) => !hides(property))
  const shown = keys.slice(0, limit)
  const tables = await Promise.all(shown.map(({ property }) => valuesOf(options, report, property, isEvent)))
  const imports = tables.length > 0 ? tables.reduce(importsOf, {}) : await visitImports(options, report)
  const opened = { ...report, parsed: { ...report.parsed, omitsRevenue: keys.length < found.length } }
  return {
    ...reportFacts(opened, { otherCurrencies: [], smallRows: sumOf(tables), ...imports }, false),
    ...(event !== undefined && { event }),
    data: shown.map(({ property, events }, i) => ({ property, events, ...shownTable(tables[i]!) })),
    total_properties: keys.length,
  }
}

/** Returns the arguments of a lookup over the report's range and filter. */
const lookupOf = (report: OpenReport, more?: Filter): ImportedLookup => ({
  site: report.facts,
  range: report.parsed.range.range,
  timezone: report.parsed.range.timezone,
  ...(report.parsed.imports && { importedTotals: true }),
  ...withFilter(report, more),
})

/** Returns the values of one property that have the most events. */
function valuesOf({ engine }: StatsOptions, report: OpenReport, property: string, isEvent: Filter | undefined): Promise<Table> {
  const grouping = { by: "dimension" as const, dimension: "property" as const, property }
  const metrics = ["visitors", "events"] as const
  const carries: Filter = { op: "not", filter: { ...nameIs(""), dimension: "property", property, values: [], missing: true } }
  const order = [{ by: "metric" as const, index: 1, descending: true }]
  const more = withFilter(report, both(isEvent, carries))
  return engine.aggregate(queryOf(report, { metrics, groupings: [grouping], order, limit: QUERY.propertyValues, ...more }), report.caller)
}

const sumOf = (tables: readonly Table[]): number => tables.reduce((sum, { smallRows = 0 }) => sum + smallRows, 0)

const shownTable = ({ rows, totalRows }: Table) => ({
  values: rows.map(({ keys: [key = null], values: [visitors, count] }) => ({
    ...shownValue("property", key),
    visitors: visitors ?? 0,
    events: count ?? 0,
  })),
  total_values: totalRows,
})

const nameIs = (name: string) => ({ op: "is", dimension: "event", values: [name], missing: false, caseSensitive: true }) satisfies Filter

/** Bounds of `offset`. An export reads all rows, so there is no upper bound. */
const ANY_OFFSET = { min: 0, max: Number.MAX_SAFE_INTEGER }
const OWN = ["limit", "offset"]
const TAGS = ["utm_source", "utm_medium", "utm_campaign"] as const

/**
 * Counts tagged visits by the combination of source, medium and campaign, most visitors first. Visits without any of the three
 * tags are not included.
 */
export async function campaignMatrix(
  options: OpenReportOptions & { engine: Pick<Engine, "aggregate"> },
  site: Site,
  given: Record<string, unknown>,
  reportOptions: ReportOptions = {},
): Promise<CampaignMatrix> {
  const { own, ranged } = splitArguments(given, OWN)
  const form = reportOptions.form ?? "json"
  const [report, page] = await withAllFaults(form, openReports(options)("visits", site, ranged, reportOptions), () => readPage(own, form))
  const filter = both(report.parsed.filter, TAGGED)
  const { rows, totalRows, ...table } = await options.engine.aggregate(
    {
      ...flatQuery(report.parsed, { site: report.facts, now: report.now }),
      metrics: ["visitors", "conversions", "group_conversion_rate"],
      groupings: TAGS.map((dimension) => ({ by: "dimension", dimension })),
      ...(filter && { filter }),
      order: [{ by: "metric", index: 0, descending: true }],
      ...page,
    },
    report.caller,
  )
  return {
    ...reportFacts(report, { ...table, otherCurrencies: [] }, false),
    rows: rows.map(({ keys, values: [visitors, conversions, rate] }) => {
      const [source, medium, campaign] = TAGS.map((dimension, i) => shownValue(dimension, keys[i] ?? null).value)
      return {
        source: source!,
        medium: medium!,
        campaign: campaign!,
        visitors: visitors ?? 0,
        conversions: conversions ?? 0,
        conversion_rate: rate ?? 0,
      }
    }),
    total_rows: totalRows,
    has_more: page.offset + rows.length < totalRows,
  }
}

const isMissing = (dimension: (typeof TAGS)[number]): Filter => ({ op: "is", dimension, values: [], missing: true, caseSensitive: true })
const TAGGED: Filter = { op: "not", filter: { op: "and", filters: TAGS.map(isMissing) } }

function readPage(given: Record<string, unknown>, form: Form): { limit: number; offset: number } {
  const reader = new ArgumentReader(given, OWN)
  const limit = reader.integer("limit", QUERY.campaigns) ?? QUERY.campaigns.default
  const offset = reader.integer("offset", ANY_OFFSET) ?? 0
  refuseArguments(reader, form)
  return { limit, offset }
}
