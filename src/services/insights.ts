import type {
  BusyHours,
  CampaignMatrix,
  ComparedBreakdown,
  FunnelInsight,
  Journeys,
  Properties,
  RealtimePanel,
  Suggestions,
} from "../domain/insight.ts"
import type { Site } from "../domain/site.ts"
import { foldHours } from "../query/busy-hours.ts"
import { campaignMatrix } from "./campaign-matrix.ts"
import { funnelInsight } from "./funnel-insight.ts"
import { journeysReport } from "./journeys.ts"
import { type Asking, openReports } from "./open-report.ts"
import { propertyInsight } from "./property-insight.ts"
import { realtimePanel } from "./realtime-panel.ts"
import { reportFacts } from "./report-facts.ts"
import { queryOf } from "./report-query.ts"
import type { Stats, StatsOptions } from "./stats.ts"
import { suggestedValues } from "./suggested-values.ts"

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
  events(site: Site, given: Record<string, unknown>, asking?: Asking): Promise<ComparedBreakdown>
  /** Property keys of an event, or of all, with their values. */
  properties(site: Site, given: Record<string, unknown>, asking?: Asking): Promise<Properties>
  /** Tagged visits by source, medium and campaign together. */
  campaigns(site: Site, given: Record<string, unknown>, asking?: Asking): Promise<CampaignMatrix>
  journeys(site: Site, given: Record<string, unknown>, asking?: Asking): Promise<Journeys>
  /** The funnel's report, with `compare`, and split by a dimension of visits with `breakdown`. */
  funnel(site: Site, given: Record<string, unknown>, asking?: Asking): Promise<FunnelInsight>
}

export interface InsightsOptions extends StatsOptions {
  stats: Pick<Stats, "breakdown">
}

export function createInsights(options: InsightsOptions): Insights {
  return {
    realtime: (site, given, asking) => realtimePanel(options, site, given, asking),
    values: (site, given, asking) => suggestedValues(options, site, given, asking),
    async busyHours(site, given, asking = {}) {
      const report = await openReports(options)("visits", site, given, asking)
      const query = queryOf(report, { metrics: ["visits"], groupings: [{ by: "time", interval: "hour" }] })
      const { rows } = await options.engine.aggregate(query, report.asker)
      return { ...reportFacts(report, { otherCurrencies: [] }, false), grid: foldHours(rows, report.question.range.timezone) }
    },
    events: (site, given, asking) => {
      const metrics = given.metrics ?? (asking?.form === "text" ? "visitors,events" : ["visitors", "events"])
      return options.stats.breakdown(site, { ...given, dimension: "event", metrics }, asking)
    },
    properties: (site, given, asking) => propertyInsight(options, site, given, asking),
    campaigns: (site, given, asking) => campaignMatrix(options, site, given, asking),
    journeys: (site, given, asking) => journeysReport(options, site, given, asking),
    funnel: (site, given, asking) => funnelInsight(options, site, given, asking),
  }
}
