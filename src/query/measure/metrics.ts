import { type Metric, roundedRatio } from "../../domain/metric.ts"
import type { Grouping, Query } from "../../domain/query.ts"
import type { ImportedSum } from "../imported/sums.ts"
import type { Vital } from "./grouped-values.ts"
import { isOfConversions, type Measures } from "./measures.ts"

/** Returns the value of a metric in a group, rounded by metrics.md 5.2. Null when nothing was measured. */
export type MetricValue = (group: number) => number | null

/** Returns the function that computes a metric by group. Called once all parts are read. */
export function metricValue(metric: Metric, measures: Measures, query: Query): MetricValue {
  return VALUES[metric](measures, query)
}

const VALUES: Record<Metric, (measures: Measures, query: Query) => MetricValue> = {
  visitors: (measures) => visitorsOf(measures),
  visits: (measures) => plus(measures.visits.visits, measures, "visits"),
  pageviews: (measures) => plus(measures.events.pageviews, measures, "pageviews"),
  events: (measures) => plus(measures.events.events, measures, "events"),
  views_per_visit: (measures) => {
    const [pageviews, visits] = [plus(measures.visits.pageviews, measures, "pageviews"), visitsOf(measures)]
    return (group) => roundedRatio(pageviews(group), visits(group), 2)
  },
  bounce_rate: (measures) => {
    const [bounced, visits] = [plus(measures.entries.bounced, measures, "bounces"), plus(measures.entries.visits, measures, "visits")]
    return (group) => roundedRatio(100 * bounced(group), visits(group), 1)
  },
  visit_duration: (measures) => {
    const [duration, visits] = [plus(measures.visits.durationMs, measures, "visit_duration", 1000), visitsOf(measures)]
    return (group) => roundedRatio(duration(group), visits(group) * 1000, 0)
  },
  bounces: (measures) => plus(measures.entries.bounced, measures, "bounces"),
  total_duration: (measures) => {
    const duration = plus(measures.visits.durationMs, measures, "visit_duration", 1000)
    return (group) => roundedRatio(duration(group), 1000, 0)
  },
  engaged_time:
    ({ visits }) =>
    (group) =>
      roundedRatio(visits.engagedMs(group), visits.visits(group) * 1000, 0),
  time_on_page: (measures) => {
    const time = plus(measures.pages.engagedMs, measures, "time_on_page", 1000)
    const visits = plus(measures.pages.visits, measures, "time_on_page_visits")
    const [importedTime, importedVisits] = [measures.imported.sum("time_on_page"), measures.imported.sum("time_on_page_visits")]
    return (group) => {
      if (measures.pages.isMeasured(group)) return roundedRatio(time(group), visits(group) * 1000, 0)
      // Visits whose time was not measured are not visits of 0 seconds.
      return importedVisits(group) > 0 ? roundedRatio(importedTime(group), importedVisits(group), 0) : null
    }
  },
  time_on_page_median: medianTime,
  scroll_depth: (measures) => {
    const depths = plus(measures.pages.depths, measures, "scroll_depth_sum")
    const scrolled = plus(measures.pages.scrolled, measures, "scroll_depth_visits")
    return (group) => (scrolled(group) > 0 ? roundedRatio(depths(group), scrolled(group), 0) : null)
  },
  exit_rate: (measures) => {
    const [exits, pageviews] = [plus(measures.visits.exits, measures, "exits"), plus(measures.exited.pageviews, measures, "pageviews")]
    return (group) => Math.min(100, roundedRatio(100 * exits(group), pageviews(group), 1))
  },
  percentage: share,
  conversions: (measures) => plus(measures.conversions.count, measures, "conversions"),
  conversion_rate: conversionRate,
  group_conversion_rate: groupConversionRate,
  total_revenue:
    ({ revenue }) =>
    (group) =>
      revenue.count(group) > 0 ? revenue.total(group) : null,
  average_revenue:
    ({ revenue }) =>
    (group) =>
      revenue.count(group) > 0 ? roundedRatio(revenue.total(group), revenue.count(group), 0) : null,
  lcp_p75: (measures) => percentile(measures, "lcp", 1),
  inp_p75: (measures) => percentile(measures, "inp", 1),
  cls_p75: (measures) => percentile(measures, "cls", 1000),
  fcp_p75: (measures) => percentile(measures, "fcp", 1),
  ttfb_p75: (measures) => percentile(measures, "ttfb", 1),
  measured_loads:
    ({ vitals }) =>
    (group) =>
      vitals.loads(group),
}

/** Returns the visitors by group, counted by events of any name if the query says so. Conversion rates are never computed from those. */
export const visitorsOf = (measures: Measures): ((group: number) => number) =>
  plus((measures.anyEvents ?? measures.events).visitors(), measures, "visitors")

/** Adds the imported sum to a native one. `unit` converts seconds to milliseconds where native sums are. */
function plus(native: (group: number) => number, { imported }: Measures, name: ImportedSum, unit = 1): (group: number) => number {
  const sum = imported.sum(name)
  return (group) => native(group) + unit * sum(group)
}

const visitsOf = (measures: Measures) => plus(measures.visits.visits, measures, "visits")

function medianTime({ pages, chosen }: Measures): MetricValue {
  const times = pages.perVisit.sorted(chosen.index.size)
  return (group) => {
    if (!pages.isMeasured(group)) return null
    const last = times.count(group) - 1
    return roundedRatio(times.at(group, last >>> 1) + times.at(group, (last + 1) >>> 1), 2000, 0)
  }
}

function share(measures: Measures): MetricValue {
  const visitors = visitorsOf(measures)
  const all = measures.total.visitors()(0) + measures.imported.visitors
  return (group) => roundedRatio(100 * visitors(group), all, 1)
}

function conversionRate(measures: Measures, query: Query): MetricValue {
  const imported = query.groupings.some(isOfConversions) ? "visitors" : "converting"
  const converting = plus(convertingOf(measures, query.groupings), measures, imported)
  const audience = measures.audience.visitors()(0) + measures.imported.audience
  return (group) => roundedRatio(100 * converting(group), audience, 1)
}

/** Returns the share of the visitors who have the same values in the other groupings, apart from goal, event and property. */
function groupConversionRate(measures: Measures, query: Query): MetricValue {
  const converting = convertingOf(measures, query.groupings)
  const audience = measures.groupAudience.visitors()
  const groupOf = audienceGroups(measures)
  return (group) => roundedRatio(100 * converting(group), audience(groupOf[group]!), 1)
}

/** Returns the converting visitors: all in the row if grouped by goal, event or property, otherwise those who completed a counted goal. */
const convertingOf = ({ events, conversions }: Measures, groupings: readonly Grouping[]): ((group: number) => number) =>
  (groupings.some(isOfConversions) ? events : conversions).visitors()

/** Returns the group of the audience that has the same values, by group. */
function audienceGroups({ chosen, groupAudienceChosen }: Measures): Uint32Array {
  const size = chosen.index.size
  const groupings = groupAudienceChosen.sources.map(({ grouping }) => chosen.sources.findIndex((source) => source.grouping === grouping))
  const codes = groupings.map((grouping) => Uint32Array.from({ length: size }, (_, group) => chosen.index.codeOf(group, grouping)))
  const groups = new Uint32Array(size)
  groupAudienceChosen.index.assign(codes, size, groups)
  return groups
}

/** Returns the 75th percentile by nearest rank: the smallest value that at least three quarters of the values do not exceed. */
function percentile({ vitals, chosen }: Measures, vital: Vital, unit: number): MetricValue {
  const values = vitals.values[vital]?.sorted(chosen.index.size)
  return (group) => {
    const count = values?.count(group) ?? 0
    return count === 0 ? null : values!.at(group, Math.ceil((count * 3) / 4) - 1) / unit
  }
}
