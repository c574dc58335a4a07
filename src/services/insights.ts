import type { Filter } from "../domain/filter.ts"
import type { BusyHours, FunnelInsight, Journeys, Properties, RealtimePanel, Suggestions } from "../domain/insight.ts"
import { QUERY } from "../domain/limits.ts"
import { instantText } from "../domain/moment.ts"
import type { Query } from "../domain/query.ts"
import type { Breakdown } from "../domain/report.ts"
import type { Site } from "../domain/site.ts"
import { foldHours } from "../query/busy-hours.ts"
import { flatQuery } from "../query/flat-query.ts"
import { parseRealtime } from "../query/parse.ts"
import { readProperties } from "../query/property-arguments.ts"
import { shownValue } from "../query/result.ts"
import { readSuggestions, suggestionFilter } from "../query/suggestions.ts"
import { splitArguments, withAllFaults } from "./all-faults.ts"
import { funnelInsight } from "./funnel-insight.ts"
import { journeysReport } from "./journeys.ts"
import { type Asking, askerOf, both, openReports } from "./open-report.ts"
import { type OpenReport, reportFacts, siteFacts } from "./report-facts.ts"
import { realtimeOf, type Stats, type StatsOptions } from "./stats.ts"

/**
 * The statistics that the dashboard alone asks (areas/10 section 2): the same questions as everywhere, over the same engine.
 * Bad arguments are `invalid_query` or `validation_failed`, by their form, with all faults at once.
 */
export interface Insights {
  /** What realtime says, with the last 30 minutes one by one and the last events. */
  realtime(site: Site, given: Record<string, unknown>, asking?: Asking): Promise<RealtimePanel>
  /** Values of a dimension that hold a text, by visitors. */
  values(site: Site, given: Record<string, unknown>, asking?: Asking): Promise<Suggestions>
  /** Visits by weekday and hour. */
  busyHours(site: Site, given: Record<string, unknown>, asking?: Asking): Promise<BusyHours>
  /** Event names with their totals: a breakdown by `event`. */
  events(site: Site, given: Record<string, unknown>, asking?: Asking): Promise<Breakdown>
  /** Property keys of an event, or of all, with their values. */
  properties(site: Site, given: Record<string, unknown>, asking?: Asking): Promise<Properties>
  journeys(site: Site, given: Record<string, unknown>, asking?: Asking): Promise<Journeys>
  /** The funnel's report, with `compare`, and split by a dimension of visits with `breakdown`. */
  funnel(site: Site, given: Record<string, unknown>, asking?: Asking): Promise<FunnelInsight>
}

export interface InsightsOptions extends StatsOptions {
  stats: Pick<Stats, "breakdown">
}

export function createInsights(options: InsightsOptions): Insights {
  const { engine, goals, clock, stats } = options
  const open = openReports(options)

  /** What a report about the range would ask, of other metrics and groupings. */
  const asked = (report: OpenReport, rest: Partial<Query>): Query => ({
    ...flatQuery(report.question, { site: report.facts, now: report.now }),
    order: [],
    offset: 0,
    limit: Number.MAX_SAFE_INTEGER,
    ...rest,
  })
  const withFilter = (report: OpenReport, more: Filter | undefined): { filter?: Filter } => {
    const filter = both(report.question.filter, more)
    return filter ? { filter } : {}
  }
  const factsOf = (report: OpenReport) => reportFacts(report, { otherCurrencies: [] }, false)

  return {
    async realtime(site, given, asking = {}) {
      const { limit } = parseRealtime(given, asking.form ?? "json")
      const now = clock.now()
      const { locked } = asking
      const facts = siteFacts(site, goals.rules(site.id))
      const query = { site: facts, now, limit, latest: QUERY.realtimeEvents, ...(locked && { filter: locked }) }
      const found = await engine.realtime(query, askerOf(site, asking))
      return {
        ...realtimeOf(site, now, found),
        minutes: found.minutes.map(({ from, ...counts }) => ({ time: instantText(from), ...counts })),
        events: (found.events ?? []).map(({ at, page, name, source, ...event }) => ({
          at: instantText(at),
          name: shownValue("event", name).value,
          page: shownValue("page", page || null).value,
          source: shownValue("source", source || null).value,
          ...event,
        })),
      }
    },
    async values(site, given, asking = {}) {
      const { own, ranged } = splitArguments(given, ["dimension", "property", "q", "limit"])
      const form = asking.form ?? "json"
      const [report, wanted] = await withAllFaults(form, open("visits", site, ranged, asking), () => readSuggestions(own, form))
      const { dimension, property, q, limit } = wanted
      const { rows } = await engine.aggregate(
        asked(report, {
          metrics: ["visitors"],
          groupings: [{ by: "dimension", dimension, ...(property !== undefined && { property }) }],
          order: [{ by: "metric", index: 0, descending: true }],
          // Events that complete a goal of the name complete others too: of goals the names are looked at afterwards.
          ...(dimension !== "goal" && { limit, ...withFilter(report, suggestionFilter(wanted)) }),
        }),
        report.asker,
      )
      const found = rows.map(({ keys: [key = null], values: [visitors] }) => ({ ...shownValue(dimension, key), visitors: visitors ?? 0 }))
      const named = dimension === "goal" ? found.filter(({ value }) => value.toLowerCase().includes(q.toLowerCase())) : found
      return { data: named.slice(0, limit) }
    },
    async busyHours(site, given, asking = {}) {
      const report = await open("visits", site, given, asking)
      const query = asked(report, { metrics: ["visits"], groupings: [{ by: "time", interval: "hour" }] })
      const { rows } = await engine.aggregate(query, report.asker)
      return { ...factsOf(report), grid: foldHours(rows, report.question.range.timezone) }
    },
    events: (site, given, asking) => {
      const metrics = given.metrics ?? (asking?.form === "text" ? "visitors,events" : ["visitors", "events"])
      return stats.breakdown(site, { ...given, dimension: "event", metrics }, asking)
    },
    async properties(site, given, asking = {}) {
      const { own, ranged } = splitArguments(given, ["event", "limit"])
      const form = asking.form ?? "json"
      const [report, { event, limit }] = await withAllFaults(form, open("visits", site, ranged, asking), () => readProperties(own, form))
      const isEvent = event === undefined ? undefined : nameIs(event)
      const { facts, asker, question } = report
      const filtered = withFilter(report, isEvent)
      const keys = await engine.propertyKeys({ site: facts, range: question.range.range, ...filtered }, asker)
      const valuesOf = async (property: string) => {
        const grouping = { by: "dimension" as const, dimension: "property" as const, property }
        const metrics = ["visitors", "events"] as const
        const carries: Filter = { op: "not", filter: { ...nameIs(""), dimension: "property", property, values: [], missing: true } }
        const order = [{ by: "metric" as const, index: 1, descending: true }]
        const more = withFilter(report, both(isEvent, carries))
        return engine.aggregate(asked(report, { metrics, groupings: [grouping], order, limit: QUERY.propertyValues, ...more }), asker)
      }
      const shown = keys.slice(0, limit)
      const tables = await Promise.all(shown.map(({ property }) => valuesOf(property)))
      return {
        ...factsOf(report),
        ...(event !== undefined && { event }),
        data: shown.map(({ property, events }, i) => ({
          property,
          events,
          values: tables[i]!.rows.map(({ keys: [key = null], values: [visitors, count] }) => ({
            ...shownValue("property", key),
            visitors: visitors ?? 0,
            events: count ?? 0,
          })),
          total_values: tables[i]!.totalRows,
        })),
        total_properties: keys.length,
      }
    },
    journeys: (site, given, asking) => journeysReport(options, site, given, asking),
    funnel: (site, given, asking) => funnelInsight(options, site, given, asking),
  }
}

const nameIs = (name: string) => ({ op: "is", dimension: "event", values: [name], missing: false, caseSensitive: true }) satisfies Filter
