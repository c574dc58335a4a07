import type { Dimension } from "../../domain/dimension.ts"
import type { Filter } from "../../domain/filter.ts"
import type { Metric } from "../../domain/metric.ts"
import type { Grouping, Query, SiteFacts } from "../../domain/query.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { countedGoals } from "../filter/counted-goals.ts"
import {
  audienceFilter,
  choosingFilter,
  entryFilter,
  exitedFilter,
  exitFilter,
  hasOwnLeafOf,
  hasPageOrHost,
  pageFilter,
} from "../filter/filter-variants.ts"
import { compileFilter } from "../filter/filters.ts"
import { compileGoals } from "../filter/goals.ts"
import { type ImportedTotals, readImported } from "../imported/imported.ts"
import { type Buckets, bucketsOf } from "../parse/buckets.ts"
import type { Summable } from "../parts/sums.ts"
import { type CodeSource, codeSource } from "./codes.ts"
import { type Conversions, conversions } from "./conversions.ts"
import { type EventCounts, eventCounts } from "./event-counts.ts"
import { groupIndex } from "./group-index.ts"
import { type Vital, type VitalValues, vitalValues } from "./grouped-values.ts"
import { pageRows } from "./page-rows.ts"
import { type PageTimes, pageTimes } from "./page-times.ts"
import { type RevenueSums, revenueSums } from "./revenue-sums.ts"
import { type Chosen, selection } from "./selection.ts"
import { type Total, type VisitTotals, visitTotals } from "./visit-totals.ts"

/**
 * The measures of a query. Each reads the parts once and keeps sums by group. Only those that the metrics need exist.
 *
 * The comments of this folder use three names (metrics.md 5.1). E is the set of counted events in the range that satisfy the filter.
 * V is the set of visits that start in the range and have an event, at any time, that satisfies the filter. Vₑ is V with the conditions
 * on page and host tested on the entry page and its host.
 */
export interface Measures {
  chosen: Chosen
  buckets: Buckets | undefined
  /** Counts over E. */
  events: EventCounts
  /** Sums over V. */
  visits: VisitTotals
  /** Sums over Vₑ when the filter or a grouping is by page or host, else over V. */
  entries: VisitTotals
  /** Counts over E for the pages whose exits are counted, when the query names them as exit pages. Otherwise the same as `events`. */
  exited: EventCounts
  /** Counts of events of any name. Present only when visitors are counted by them. */
  anyEvents: EventCounts | undefined
  /** Counts over E without groupings. */
  total: EventCounts
  conversions: Conversions
  /** Visitors who could have converted: E without the conditions of conversions, in total and by the other groupings. */
  audience: EventCounts
  groupAudience: EventCounts
  groupAudienceChosen: Chosen
  revenue: RevenueSums
  pages: PageTimes
  vitals: VitalValues
  /** Totals of imports, which are added to all of the above. */
  imported: ImportedTotals
  read(part: Part): void
  /** What `read` adds to. Complete without `UNKEPT` metrics. */
  sums: readonly SummedGroups[]
}

/** Measures with the same groups: those of a choice, or others than the groups of events and visits. */
interface SummedGroups {
  chosen?: Chosen
  summables: readonly Summable[]
}

/** `returning` has a bit for each visitor who can have several visits in what is read. It is used only with groupings. */
export function openMeasures(context: MeasureContext, returning: Int32Array): Measures {
  const { snapshot, query, chosen } = context
  const visitors = { limit: snapshot.visitorLimit, returning }
  const hasEntries = needsEntries(query)
  const entries = hasEntries ? entryVisits(context) : undefined
  const exited = needsExited(query) ? eventCounts(selection(exitedPages(context)), visitors) : undefined
  const groupAudienceChosen = audienceOf(context, (grouping) => !isOfConversions(grouping))
  const rows = pageRows(
    { ...chosen, filter: context.compile(query.filter && pageFilter(query.filter)) },
    context.compile(choosingFilter(query.filter)),
  )
  const selected = selection(chosen)
  const visits = visitTotals(selected, {
    totals: totalsOf(query.metrics, hasEntries),
    bounceEngagedMs: bounceMs(query.site),
    exitPages: exitPages(context),
  })
  const events = eventCounts(selected, visitors)
  const measures = {
    chosen,
    buckets: context.buckets,
    events,
    visits,
    entries: entries ?? visits,
    exited: exited ?? events,
    anyEvents: query.anyEvent ? eventCounts(selection({ ...chosen, anyName: true }), visitors) : undefined,
    total: eventCounts(selection(ungrouped({ ...chosen, ...(query.anyEvent && { anyName: true }) })), visitors),
    conversions: conversions(chosen, selected, context.goals, visitors),
    audience: eventCounts(selection(audienceOf(context, () => false)), visitors),
    groupAudience: eventCounts(selection(groupAudienceChosen), visitors),
    groupAudienceChosen,
    revenue: openRevenue(context),
    pages: pageTimes(rows, {
      pages: () => Math.max(1, snapshot.dictionary("page").size),
      size: () => chosen.index.size,
      hasMedian: query.metrics.includes("time_on_page_median"),
    }),
    vitals: vitalValues(rows, vitalsOf(query.metrics), () => chosen.index.size),
    imported: readImported(snapshot, query, {
      assign: (codes, count, out) => chosen.index.assign(codes, count, out),
      size: () => chosen.index.size,
      edges: context.buckets?.edges,
    }),
  }
  const needed = neededMeasures({ ...measures, entries, exited }, query)
  const read = (part: Part) => {
    for (const one of needed) one.read(part)
  }
  return { ...measures, read, sums: sumsOf(needed, measures) }
}

/** The parts of a query that its measures share. */
export interface MeasureContext {
  snapshot: Snapshot
  query: Query
  chosen: Chosen
  buckets: Buckets | undefined
  goals: ReturnType<typeof compileGoals>
  compile: (filter: Filter | undefined) => ReturnType<typeof compileFilter>
  source: (grouping: Grouping) => CodeSource
}

/** Compiles the filter and the groupings of a query. */
export function measureContext(snapshot: Snapshot, query: Query): MeasureContext {
  const { site, range, filter, groupings, timezone } = query
  const counted = countedGoals(filter, site)
  const time = groupings.find((grouping) => grouping.by === "time")
  const buckets = time && bucketsOf(range, time.interval, timezone)
  const source = (grouping: Grouping) => codeSource(grouping, { snapshot, buckets, goalNames: counted.map(({ name }) => name) })
  const sources = groupings.map(source)
  const goals = compileGoals(snapshot, counted)
  const chosen = {
    filter: compileFilter(snapshot, filter, site),
    goals: groupings.some((grouping) => grouping.by === "dimension" && grouping.dimension === "goal") ? goals : undefined,
    sources,
    index: groupIndex(sources.map(({ width }) => width)),
    range,
    edges: buckets?.edges ?? Float64Array.of(range.from, range.to),
  }
  return { snapshot, query, chosen, buckets, goals, source, compile: (of) => compileFilter(snapshot, of, site) }
}

const bounceMs = (site: SiteFacts): number => (site.bounceEngagedSeconds > 0 ? site.bounceEngagedSeconds * 1000 : Number.POSITIVE_INFINITY)

const ENTRIES = { page: "entry_page", hostname: "entry_page_hostname" } as const

const entryGrouping = (grouping: Grouping): Grouping =>
  grouping.by === "dimension" && (grouping.dimension === "page" || grouping.dimension === "hostname")
    ? { by: "dimension", dimension: ENTRIES[grouping.dimension] }
    : grouping

const needsEntries = ({ metrics, filter, groupings }: Query): boolean =>
  (metrics.includes("bounce_rate") || metrics.includes("bounces")) &&
  ((filter !== undefined && hasPageOrHost(filter)) || groupings.some((grouping) => entryGrouping(grouping) !== grouping))

/** Selects Vₑ. Its groups are those of the query, because an entry page has the dictionary number of the page. */
function entryVisits({ query, chosen, compile, source }: MeasureContext): VisitTotals {
  const sources = query.groupings.map((grouping) => source(entryGrouping(grouping)))
  const entered = selection({ ...chosen, filter: compile(query.filter && entryFilter(query.filter)), sources })
  return visitTotals(entered, { totals: ["bounced"], bounceEngagedMs: bounceMs(query.site) })
}

const TOTALS: Partial<Record<Metric, Total>> = {
  views_per_visit: "pageviews",
  visit_duration: "duration",
  total_duration: "duration",
  engaged_time: "engaged",
  bounce_rate: "bounced",
  bounces: "bounced",
}

/** Returns the totals over V that the metrics need. Bounces are counted over Vₑ if there is one. */
const totalsOf = (metrics: readonly Metric[], hasEntries: boolean): Total[] =>
  metrics.flatMap((metric) => TOTALS[metric] ?? []).filter((total) => !hasEntries || total !== "bounced")

function exitPages({ query, chosen, compile }: MeasureContext) {
  if (!query.metrics.includes("exit_rate")) return undefined
  const page = query.groupings.findIndex((grouping) => grouping.by === "dimension" && grouping.dimension === "page")
  return {
    filter: compile(query.filter && exitFilter(query.filter)),
    pageOf: page === -1 ? undefined : (group: number) => chosen.index.codeOf(group, page),
  }
}

const isBy = ({ groupings }: Query, name: Dimension): boolean =>
  groupings.some((grouping) => grouping.by === "dimension" && grouping.dimension === name)

/** Returns whether the exits of the named exit pages are counted. A condition or grouping by page takes precedence. */
function needsExited(query: Query): boolean {
  const names = (name: Dimension) => isBy(query, name) || (query.filter !== undefined && hasOwnLeafOf(query.filter, [name]))
  return query.metrics.includes("exit_rate") && names("exit_page") && !names("page")
}

/** Selects the pageviews of exit pages. Their groups are those of the query, because an exit page has the dictionary number of the page. */
function exitedPages({ query, chosen, compile, source }: MeasureContext): Chosen {
  const page: Grouping = { by: "dimension", dimension: "page" }
  const sources = query.groupings.map((grouping) =>
    source(grouping.by === "dimension" && grouping.dimension === "exit_page" ? page : grouping),
  )
  return { ...chosen, filter: compile(query.filter && exitedFilter(query.filter)), sources }
}

const ungrouped = (chosen: Chosen): Chosen => {
  const { from, to } = chosen.range
  return { ...chosen, goals: undefined, sources: [], index: groupIndex([]), edges: Float64Array.of(from, to) }
}

/** Selects E without the goal, event and property conditions, grouped by some of the groupings. */
function audienceOf({ query, chosen, compile, source }: MeasureContext, isKept: (grouping: Grouping) => boolean): Chosen {
  const sources = query.groupings.filter(isKept).map(source)
  const filter = compile(query.filter && audienceFilter(query.filter))
  const edges = sources.some(({ grouping }) => grouping.by === "time") ? chosen.edges : ungrouped(chosen).edges
  return { ...chosen, filter, goals: undefined, sources, index: groupIndex(sources.map(({ width }) => width)), edges }
}

/** Returns whether the rows of a grouping consist of converting visitors. */
export const isOfConversions = (grouping: Grouping): boolean =>
  grouping.by === "dimension" && (grouping.dimension === "goal" || grouping.dimension === "event" || grouping.dimension === "property")

function openRevenue({ snapshot, query, chosen }: MeasureContext): RevenueSums {
  return revenueSums(chosen, () => {
    const currencies = snapshot.dictionary("currency")
    return { own: currencies.find(query.site.revenueCurrency), size: Math.max(1, currencies.size) }
  })
}

const VITALS: Partial<Record<Metric, Vital>> = { lcp_p75: "lcp", inp_p75: "inp", fcp_p75: "fcp", ttfb_p75: "ttfb", cls_p75: "cls" }
const vitalsOf = (metrics: readonly Metric[]): Vital[] => metrics.flatMap((metric) => VITALS[metric] ?? [])

interface NeededMeasure {
  read(part: Part): void
}

/** Metrics for which a measure must be read. */
const NEEDED_BY = {
  events: ["visitors", "pageviews", "events", "exit_rate", "percentage"],
  visits: ["visits", "views_per_visit", "bounce_rate", "visit_duration", "engaged_time", "exit_rate", "bounces", "total_duration"],
  total: ["percentage"],
  conversions: ["conversions", "conversion_rate", "group_conversion_rate"],
  audience: ["conversion_rate"],
  groupAudience: ["group_conversion_rate"],
  revenue: ["total_revenue", "average_revenue"],
  pages: ["time_on_page", "time_on_page_median", "scroll_depth"],
  vitals: ["lcp_p75", "inp_p75", "fcp_p75", "ttfb_p75", "cls_p75", "measured_loads"],
} as const satisfies Record<string, readonly Metric[]>

type Opened = Omit<Measures, "read" | "sums">
type Openable = Omit<Opened, "entries" | "exited"> & { entries: VisitTotals | undefined; exited: EventCounts | undefined }

function neededMeasures(measures: Openable, query: Query): NeededMeasure[] {
  const names = Object.keys(NEEDED_BY) as (keyof typeof NEEDED_BY)[] // The keys of a literal.
  const requested = names.filter((name) => NEEDED_BY[name].some((metric) => query.metrics.includes(metric)))
  // Rows are the groups of E and V, whatever the metrics.
  const needed = new Set(query.groupings.length > 0 ? [...requested, "events" as const] : requested)
  const others = [measures.anyEvents, measures.entries, measures.exited].filter((measure) => measure !== undefined)
  const all: NeededMeasure[] = [...Array.from(needed, (name) => measures[name]), ...others]
  if (needed.has("visits")) return all
  const { visits } = measures
  return [...all, { ...visits, read: (part) => isRowless(part, measures, query) || visits.read(part) }]
}

/** The metrics that need more than sums which can be kept. */
export const UNKEPT: readonly Metric[] = [...NEEDED_BY.pages, ...NEEDED_BY.vitals]

function sumsOf(needed: readonly NeededMeasure[], measures: Opened): SummedGroups[] {
  const { chosen, groupAudienceChosen, conversions, revenue, total, audience, groupAudience } = measures
  const single: readonly NeededMeasure[] = [total, audience]
  const own = needed.filter(isSummable)
  const grouped = own.filter((measure) => !single.includes(measure) && measure !== groupAudience)
  return [
    { chosen, summables: needed.includes(conversions) ? [...grouped, ...conversions.sums] : grouped },
    { chosen: groupAudienceChosen, summables: own.filter((measure) => measure === groupAudience) },
    { summables: [...own.filter((measure) => single.includes(measure)), ...(needed.includes(revenue) ? [revenue.currencies] : [])] },
  ]
}

const isSummable = (measure: NeededMeasure): measure is NeededMeasure & Summable => "take" in measure

/** Returns whether every group of V in this part is also one of E: all its events are in the range, and no grouping is by time. */
function isRowless(part: Part, { buckets }: Openable, { range, groupings, fillBuckets }: Query): boolean {
  if (groupings.length === 0 || fillBuckets) return true
  return buckets === undefined && part.minStart >= range.from && part.minAt >= range.from && part.maxAt < range.to
}
