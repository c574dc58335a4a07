import type { NewEvent, Vitals } from "../../src/domain/event.ts"
import type { Metric } from "../../src/domain/metric.ts"
import type { Query } from "../../src/domain/query.ts"
import type { ImportedAnswer, ImportedSum } from "./imported.ts"
import { durationOf, engagedMs, exit, isBounce, isCounted, pageviews, type RawVisit } from "./raw.ts"
import { distinct, median, percentile, rounded, sum } from "./rounding.ts"
import { entryGroupings, isByGoal, isConversionGrouping, type Match, namesExitPage, pageGroupings, type Sets } from "./sets.ts"
import { EXITS, namesPage, renamed, withoutConverting } from "./variants.ts"

/** Values by row, keyed by the JSON of the row's keys. */
export type RowValue = (row: string) => number | null

const visitors = (matches: readonly Match[] | undefined) => distinct((matches ?? []).map(({ visit }) => visit.visitor))

/** Returns a function per metric that computes it over plain lists, following the wording of metrics.md 5.2. */
export function metricsOf(sets: Sets, query: Query, { sum: imported, ...totals }: ImportedAnswer): Record<Metric, () => RowValue> {
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
  /** The mean over visits. Of imports, `name` is the sum in units of the result; without it, their visits have no value. */
  const mean = (of: (visit: RawVisit) => number, unit: number, decimals: number, name?: ImportedSum) => () => (row: string) => {
    const visits = started(row).length + (name ? imported("visits", row) : 0)
    return rounded(sum(started(row).map(of)) + (name ? unit * imported(name, row) : 0), visits * unit, decimals)
  }
  const converting = groupings.some(isConversionGrouping) ? events : completions
  /** Visits whose bounces count: by entry page and its host where the query names a page or host. */
  const entryVisits = () => {
    const isOfEntries = namesPage(filter) || entryGroupings(groupings).some((grouping, i) => grouping !== groupings[i])
    if (!isOfEntries) return visits
    return sets.started(renamed(filter, { page: "entry_page", hostname: "entry_page_hostname" }), entryGroupings(groupings))
  }
  const bouncesOf = (entries: ReturnType<typeof entryVisits>) => (row: string) =>
    (entries.get(row) ?? []).filter((visit) => isBounce(visit, site.bounceEngagedSeconds)).length + imported("bounces", row)

  return {
    visitors: () => (row) => visitors(anyone.get(row)) + imported("visitors", row),
    visits: () => (row) => started(row).length + imported("visits", row),
    pageviews: () => (row) => inRow(row).filter(({ name }) => name === "pageview").length + imported("pageviews", row),
    events: () => (row) => inRow(row).filter(isCounted).length + imported("events", row),
    views_per_visit: mean((visit) => pageviews(visit).length, 1, 2, "pageviews"),
    bounce_rate: () => {
      const entries = entryVisits()
      const bounces = bouncesOf(entries)
      return (row) => rounded(100 * bounces(row), (entries.get(row) ?? []).length + imported("visits", row), 1)
    },
    bounces: () => bouncesOf(entryVisits()),
    visit_duration: mean(durationOf, 1000, 0, "visit_duration"),
    total_duration: () => (row) => rounded(sum(started(row).map(durationOf)) + 1000 * imported("visit_duration", row), 1000, 0),
    engaged_time: mean(engagedMs, 1000, 0),
    time_on_page: () => {
      const add = (name: ImportedSum, row: string, own: number, unit: number) => own + unit * imported(name, row)
      const times = onPages(sets, (list) => list)
      return (row) => {
        const own = times(row) ?? []
        const visits = add("time_on_page_visits", row, own.length, 1)
        return visits === 0 ? null : rounded(add("time_on_page", row, sum(own), 1000), visits * 1000, 0)
      }
    },
    time_on_page_median: () => onPages(sets, (times) => median(times, 1000)),
    scroll_depth: () => {
      const depths = scrollDepths(sets)
      return (row) => {
        const count = depths(row).length + imported("scroll_depth_visits", row)
        return count === 0 ? null : rounded(sum(depths(row)) + imported("scroll_depth_sum", row), count, 0)
      }
    },
    exit_rate: () => {
      const exitFilter = renamed(filter, EXITS)
      const page = groupings.findIndex((grouping) => grouping.by === "dimension" && grouping.dimension === "page")
      const passing = new Set(sets.matching(exitFilter, false).map(({ visit }) => visit))
      const isExit = (visit: RawVisit, row: string) => page === -1 || (exit(visit, "page") || null) === JSON.parse(row)[page]
      const onPages = namesExitPage(query)
        ? sets.events(sets.matching(renamed(filter, { exit_page: "page" }), isByGoal(query)), pageGroupings(groupings))
        : events
      return (row) => {
        const exits = started(row).filter((visit) => isExit(visit, row) && passing.has(visit)).length + imported("exits", row)
        const views = (onPages.get(row) ?? []).filter(({ event }) => event.name === "pageview").length + imported("pageviews", row)
        return Math.min(100, rounded(100 * exits, views, 1))
      }
    },
    percentage: () => (row) =>
      rounded(100 * (visitors(anyone.get(row)) + imported("visitors", row)), visitors(everybody.get("[]")) + totals.visitors, 1),
    conversions: () => (row) => (completions.get(row) ?? []).length + imported("conversions", row),
    conversion_rate: () => {
      const audience = sets.events(sets.matching(withoutConverting(filter), false), [])
      const name = groupings.some(isConversionGrouping) ? "visitors" : "converting"
      return (row) =>
        rounded(100 * (visitors(converting.get(row)) + imported(name, row)), visitors(audience.get("[]")) + totals.audience, 1)
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
    measured_loads: () => {
      const rows = sets.measured(["vitals"])
      return (row) => (rows.get(row) ?? []).filter(({ event }) => event.vitals !== undefined).length
    },
  }
}

const amountsOf = (events: readonly NewEvent[], currency: string): number[] =>
  events.flatMap(({ revenue }) => (revenue?.currency === currency ? [revenue.amount] : []))

/** Aggregates each visit's engaged time on the matching pages in the range. Visits with a pageview and no report have 0. */
function onPages<Value>(sets: Sets, of: (times: number[]) => Value): (row: string) => Value | null {
  const rows = sets.measured(["pageview", "engagement"])
  return (row) => {
    const matches = rows.get(row) ?? []
    if (!matches.some(({ event }) => event.name === "engagement")) return null
    const byVisit = Map.groupBy(matches, ({ visit }) => visit)
    return of(Array.from(byVisit.values(), (list) => sum(list.map(({ event }) => event.engagement?.engagedMs ?? 0))))
  }
}

/** "Per visit and page the largest scroll depth in R; mean over those pairs." Returns the depths of the pairs. */
function scrollDepths(sets: Sets): (row: string) => number[] {
  const rows = sets.measured(["engagement"])
  return (row) => {
    const reports = (rows.get(row) ?? []).filter(({ event }) => event.engagement?.scrollDepth !== undefined)
    const pairs = Array.from(Map.groupBy(reports, ({ visit }) => visit).values()).flatMap((list) => [
      ...Map.groupBy(list, ({ event }) => event.page).values(),
    ])
    return pairs.map((list) => Math.max(...list.map(({ event }) => event.engagement!.scrollDepth!)))
  }
}

function vital(sets: Sets, of: (vitals: Vitals) => number | undefined): RowValue {
  const rows = sets.measured(["vitals"])
  return (row) => {
    const values = (rows.get(row) ?? []).map(({ event }) => of(event.vitals!)).filter((value) => value !== undefined)
    return values.length === 0 ? null : percentile(values, 75)
  }
}
