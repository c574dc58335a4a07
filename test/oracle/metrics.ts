import type { NewEvent, Vitals } from "../../src/domain/event.ts"
import type { Metric } from "../../src/domain/metric.ts"
import type { Query } from "../../src/domain/query.ts"
import { durationOf, engagedMs, exit, isBounce, isCounted, pageviews, type RawVisit } from "./raw.ts"
import { distinct, median, percentile, rounded, sum } from "./rounding.ts"
import { entryGroupings, isByGoal, isConversionGrouping, type Match, namesExitPage, pageGroupings, type Sets } from "./sets.ts"
import { EXITS, namesPage, renamed, withoutConverting } from "./variants.ts"

/** Values by row, keyed by the JSON of the row's keys. */
export type RowValue = (row: string) => number | null

const visitors = (matches: readonly Match[] | undefined) => distinct((matches ?? []).map(({ visit }) => visit.visitor))

/** Returns a function per metric that computes it over plain lists, following the wording of metrics.md 5.2. */
export function metricsOf(sets: Sets, query: Query): Record<Metric, () => RowValue> {
  const { filter, groupings, site } = query
  const found = sets.matching(filter, isByGoal(query))
  const events = sets.events(found)
  const completions = sets.events(sets.matching(filter, true))
  const visits = sets.started(filter)
  const inRow = (row: string) => (events.get(row) ?? []).map(({ event }) => event)
  const started = (row: string) => visits.get(row) ?? []
  // "Counts visitors with any event, engagement included, that pass the filters"; a goal's row counts the visitors who completed it.
  const anyone = query.anyEvent && !isByGoal(query) ? sets.events(sets.matching(filter, false, sets.anyEvent)) : events
  const everybody = sets.events(query.anyEvent ? sets.matching(filter, false, sets.anyEvent) : sets.matching(filter, false), [])
  const mean = (of: (visit: RawVisit) => number, unit: number, decimals: number) => () => (row: string) =>
    rounded(sum(started(row).map(of)), started(row).length * unit, decimals)
  const converting = groupings.some(isConversionGrouping) ? events : completions

  return {
    visitors: () => (row) => visitors(anyone.get(row)),
    visits: () => (row) => started(row).length,
    pageviews: () => (row) => inRow(row).filter(({ name }) => name === "pageview").length,
    events: () => (row) => inRow(row).filter(isCounted).length,
    views_per_visit: mean((visit) => pageviews(visit).length, 1, 2),
    bounce_rate: () => {
      const isOfEntries = namesPage(filter) || entryGroupings(groupings).some((grouping, i) => grouping !== groupings[i])
      const entries = isOfEntries
        ? sets.started(renamed(filter, { page: "entry_page", hostname: "entry_page_hostname" }), entryGroupings(groupings))
        : visits
      return (row) => {
        const all = entries.get(row) ?? []
        return rounded(100 * all.filter((visit) => isBounce(visit, site.bounceEngagedSeconds)).length, all.length, 1)
      }
    },
    visit_duration: mean(durationOf, 1000, 0),
    engaged_time: mean(engagedMs, 1000, 0),
    time_on_page: () => onPages(sets, (times) => rounded(sum(times), times.length * 1000, 0)),
    time_on_page_median: () => onPages(sets, (times) => median(times, 1000)),
    scroll_depth: () => scrollDepth(sets),
    exit_rate: () => {
      const exitFilter = renamed(filter, EXITS)
      const page = groupings.findIndex((grouping) => grouping.by === "dimension" && grouping.dimension === "page")
      const passing = new Set(sets.matching(exitFilter, false).map(({ visit }) => visit))
      const isExit = (visit: RawVisit, row: string) => page === -1 || (exit(visit, "page") || null) === JSON.parse(row)[page]
      const onPages = namesExitPage(query)
        ? sets.events(sets.matching(renamed(filter, { exit_page: "page" }), isByGoal(query)), pageGroupings(groupings))
        : events
      return (row) => {
        const exits = started(row).filter((visit) => isExit(visit, row) && passing.has(visit)).length
        return Math.min(100, rounded(100 * exits, (onPages.get(row) ?? []).filter(({ event }) => event.name === "pageview").length, 1))
      }
    },
    percentage: () => (row) => rounded(100 * visitors(anyone.get(row)), visitors(everybody.get("[]")), 1),
    conversions: () => (row) => (completions.get(row) ?? []).length,
    conversion_rate: () => {
      const audience = sets.events(sets.matching(withoutConverting(filter), false), [])
      return (row) => rounded(100 * visitors(converting.get(row)), visitors(audience.get("[]")), 1)
    },
    group_conversion_rate: () => {
      const kept = groupings.filter((grouping) => !isConversionGrouping(grouping))
      const audience = sets.events(sets.matching(withoutConverting(filter), false), kept)
      const keptKeys = (row: string) =>
        JSON.stringify((JSON.parse(row) as unknown[]).filter((_, i) => !isConversionGrouping(groupings[i]!)))
      return (row) => rounded(100 * visitors(converting.get(row)), visitors(audience.get(keptKeys(row))), 1)
    },
    // "null (no revenue in the site's currency)", api.md 7.6
    total_revenue: () => (row) => {
      const amounts = amountsOf(inRow(row), site.revenueCurrency)
      return amounts.length === 0 ? null : sum(amounts)
    },
    average_revenue: () => (row) => {
      const amounts = amountsOf(inRow(row), site.revenueCurrency)
      return amounts.length === 0 ? null : rounded(sum(amounts), amounts.length, 0)
    },
    lcp_p75: () => vital(sets, ({ lcp }) => lcp),
    inp_p75: () => vital(sets, ({ inp }) => inp),
    fcp_p75: () => vital(sets, ({ fcp }) => fcp),
    ttfb_p75: () => vital(sets, ({ ttfb }) => ttfb),
    cls_p75: () => vital(sets, ({ cls }) => cls),
  }
}

const amountsOf = (events: readonly NewEvent[], currency: string): number[] =>
  events.flatMap(({ revenue }) => (revenue?.currency === currency ? [revenue.amount] : []))

/** Aggregates each visit's engaged time on the matching pages in the range. Visits with a pageview and no report have 0. */
function onPages(sets: Sets, of: (times: number[]) => number): RowValue {
  const rows = sets.measured(["pageview", "engagement"])
  return (row) => {
    const matches = rows.get(row) ?? []
    if (!matches.some(({ event }) => event.name === "engagement")) return null
    const byVisit = Map.groupBy(matches, ({ visit }) => visit)
    return of(Array.from(byVisit.values(), (list) => sum(list.map(({ event }) => event.engagement?.engagedMs ?? 0))))
  }
}

/** "Per visit and page the largest scroll depth in R; mean over those pairs." */
function scrollDepth(sets: Sets): RowValue {
  const rows = sets.measured(["engagement"])
  return (row) => {
    const reports = (rows.get(row) ?? []).filter(({ event }) => event.engagement?.scrollDepth !== undefined)
    const pairs = Array.from(Map.groupBy(reports, ({ visit }) => visit).values()).flatMap((list) => [
      ...Map.groupBy(list, ({ event }) => event.page).values(),
    ])
    const largest = pairs.map((list) => Math.max(...list.map(({ event }) => event.engagement!.scrollDepth!)))
    return largest.length === 0 ? null : rounded(sum(largest), largest.length, 0)
  }
}

function vital(sets: Sets, of: (vitals: Vitals) => number | undefined): RowValue {
  const rows = sets.measured(["vitals"])
  return (row) => {
    const values = (rows.get(row) ?? []).map(({ event }) => of(event.vitals!)).filter((value) => value !== undefined)
    return values.length === 0 ? null : percentile(values, 75)
  }
}
