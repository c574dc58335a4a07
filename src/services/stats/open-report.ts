import type { Clock } from "../../domain/clock.ts"
import { currencyDecimals } from "../../domain/currency.ts"
import type { Dimension } from "../../domain/dimension.ts"
import { AppError } from "../../domain/error.ts"
import type { Filter } from "../../domain/filter.ts"
import type { PeopleIdentity } from "../../domain/identity.ts"
import { instantText } from "../../domain/moment.ts"
import { isRevenueOpen } from "../../domain/permission.ts"
import type { CodeNames, PlaceNames } from "../../domain/place-names.ts"
import type { GoalRule, Query, Range, SiteFacts, Table } from "../../domain/query.ts"
import type { RecordKind } from "../../domain/record.ts"
import type { ReportFacts, ReportRange } from "../../domain/report.ts"
import type { SavedFilter } from "../../domain/segment.ts"
import type { Site } from "../../domain/site.ts"
import type { IdentityMode } from "../../domain/visit.ts"
import type { Caller } from "../../query/engine/pool.ts"
import type { Form } from "../../query/parse/arguments.ts"
import type { Hiding } from "../../query/parse/array-dimensions.ts"
import type { SavedFilters } from "../../query/parse/array-filters.ts"
import { readFilterList } from "../../query/parse/flat-filters.ts"
import { flatQuery } from "../../query/parse/flat-query.ts"
import { type ParsedQuery, parseQuery, type Report } from "../../query/parse/parse.ts"
import { dayStart, type LocalRange, localDay, today } from "../../query/parse/period.ts"
import type { Goals } from "../definitions/goals.ts"
import type { VisibleImports } from "../imports/visible-imports.ts"
import { type FilteredRequest, hiddenProperties, type ReadRequest, type SavedSets, segmentsOnly } from "../people/visitor-sets.ts"
import { shownImports } from "./import-facts.ts"

/** Options of a report: the form of its arguments, an abort signal, and what the caller may see. */
export interface ReportOptions {
  /** Form of the arguments: the text of a query string, or JSON (default). */
  form?: Form
  signal?: AbortSignal
  /** User whose personal segments can be named. Without it only the site's shared segments can. */
  userId?: number
  /**
   * Rejects metrics and properties that reveal revenue, and omits them from the defaults. Default: whether the site keeps its revenue to
   * some roles, as for API keys.
   */
  hidesRevenue?: boolean
  /** Allows `compare` in a breakdown. The public API does not offer it. */
  comparesRows?: boolean
  /** Omits groups with fewer visitors. The answer then contains a note. */
  minVisitors?: number
  /** Filter that always applies, in addition to the filters in the arguments. */
  locked?: Filter
  /** The same as it is stored. If it names a segment or cohort that is not available, the report is empty. */
  lockedFilters?: readonly SavedFilter[]
  /** Whether the caller sees groups smaller than `min_group`, by the permission `people:read`. Default: no. */
  seesPeople?: boolean
  /** Whether no one waits for the report, so that its query gives way to those of people. */
  isBackground?: boolean
  /** Reports on these records instead of visits. Only the metrics `visitors` and `events` are meaningful then. */
  records?: RecordKind
}

export interface OpenReportOptions {
  imports: Pick<VisibleImports, "firstAt" | "of">
  goals: Pick<Goals, "rules">
  clock: Pick<Clock, "now">
  /** Returns whether events that were acknowledged a while ago may be missing in answers. */
  hasLateEvents(): boolean
  /** Saved segments and cohorts that filters may refer to. Default: none. */
  savedSets?: SavedSets
}

/** Turns arguments of the flat form into an open report. Throws all faults of the arguments at once. */
export type OpenReports = (report: Report, site: Site, given: Record<string, unknown>, options?: ReportOptions) => Promise<OpenReport>

export function openReports({ imports, goals, clock, hasLateEvents, savedSets }: OpenReportOptions): OpenReports {
  return async (report, site, given, options = {}) => {
    const { comparesRows = false, records, minVisitors, form = "json" } = options
    const firstAt = given.period === "all" ? imports.firstAt(site.id, records) : undefined
    const now = clock.now()
    const moment = { now, timezone: site.timezone, firstAt }
    const parse = (saved: SavedFilters) => parseQuery(report, given, moment, form, { saved, comparesRows, minVisitors })
    const { parsed, identity } = await readFiltered({ savedSets, site, options, parse })
    return {
      site,
      facts: siteFacts(site, goals.rules(site.id)),
      parsed,
      now,
      isLate: hasLateEvents(),
      caller: callerOf(site, options),
      ...(identity && { identity }),
      ...(records && { records }),
    }
  }
}

interface Filtered<Parsed> {
  savedSets: SavedSets | undefined
  site: Site
  options: ReportOptions
  parse(saved: SavedFilters): Parsed
}

/** Parses arguments whose filters can name segments and cohorts, and adds the filters that always apply. */
export async function readFiltered<Parsed extends Pick<ParsedQuery, "range" | "compared" | "filter">>({
  savedSets = NOTHING_SAVED,
  site,
  options,
  parse,
}: Filtered<Parsed>): Promise<ReadRequest<Parsed>> {
  return readWith(savedSets, site, options, {
    parse(saved) {
      const parsed = parse(saved)
      const filter = both(lockedFilter(options, saved), parsed.filter)
      return { ...parsed, ...(filter && { filter }) }
    },
    ranges: ({ range, compared }) => [range.range, ...(compared ? [compared.range] : [])],
    timezone: ({ range }) => range.timezone,
  })
}

/** Returns the filter that always applies to a report without a range of its own, over the range that it covers. */
export async function readLocked(savedSets: SavedSets = NOTHING_SAVED, site: Site, options: ReportOptions, range: Range) {
  const parse = (saved: SavedFilters) => lockedFilter(options, saved)
  return readWith(savedSets, site, options, { parse, ranges: () => [range] })
}

function readWith<Parsed>(
  savedSets: SavedSets,
  site: Site,
  options: ReportOptions,
  request: Pick<FilteredRequest<Parsed>, "parse" | "ranges" | "timezone">,
): Promise<ReadRequest<Parsed>> {
  const { userId, seesPeople = false } = options
  return savedSets.read({
    site,
    userId,
    seesPeople,
    seesRevenue: !hidesRevenue(site, options),
    caller: callerOf(site, options),
    ...request,
  })
}

/** Returns whether a caller may not see the revenue of a site. */
export const hidesRevenue = (site: Site, options: Pick<ReportOptions, "hidesRevenue">): boolean =>
  options.hidesRevenue ?? !isRevenueOpen(site)

/** Returns what is hidden from a caller who may not see the revenue of a site. */
export const hiding = (site: Site, options: Pick<ReportOptions, "hidesRevenue">): Hiding =>
  hidesRevenue(site, options) ? hiddenProperties(site) : {}

/** Knows no segments and no cohorts. */
export const NOTHING_SAVED = segmentsOnly(() => () => undefined)

/** Returns the filter that always applies. A deleted segment excludes everything, because a report must not show more than before. */
function lockedFilter({ locked, lockedFilters = [] }: ReportOptions, saved: SavedFilters): Filter | undefined {
  if (lockedFilters.length === 0) return locked
  // Each filter is read alone, because those of a dashboard and of its share are together more than a request can have.
  const read = lockedFilters.map((one) => readFilterList([one], "", saved))
  return read.reduce((all, { filter, faults }) => both(all, faults.length > 0 || !filter ? NOTHING : filter), locked)
}

const NOTHING: Filter = { op: "or", filters: [] }

export const callerOf = (site: Site, { signal, isBackground = false }: ReportOptions): Caller => ({
  organizationId: site.organization_id,
  isBackground,
  ...(signal && { signal }),
})

/** Combines two optional filters so that both apply. */
export const both = (one: Filter | undefined, other: Filter | undefined): Filter | undefined =>
  one && other ? { op: "and", filters: [one, other] } : (one ?? other)

/** A parsed query of the flat form with everything needed to answer it. */
export interface OpenReport {
  site: Site
  facts: SiteFacts
  parsed: ParsedQuery
  now: number
  /** Whether events that were acknowledged a while before the report may be missing. */
  isLate: boolean
  caller: Caller
  /** How people are recognized. Present if a filter names a cohort. */
  identity?: PeopleIdentity
  /** Records to count instead of visits. */
  records?: RecordKind
}

export const siteFacts = (site: Site, goals: readonly GoalRule[]): SiteFacts => ({
  id: site.id,
  bounceEngagedSeconds: site.settings.bounce_engaged_seconds,
  revenueCurrency: site.revenue_currency,
  goals,
})

export const decimalsOf = ({ revenue_currency }: Site): number => currencyDecimals(revenue_currency) ?? 2

/** Returns the part of a report that explains its numbers: the range that was used, how visitors are counted, and notes. */
export function reportFacts(
  report: OpenReport,
  table: Pick<Table, "otherCurrencies" | "smallRows" | "imports">,
  showsRevenue: boolean,
): ReportFacts {
  const { site, parsed, now } = report
  const notes = notesOf(report, table)
  return {
    site_id: site.id,
    range: shownRange(parsed.range, now),
    ...visitorFacts(site, parsed.range),
    ...(report.identity && { identity: report.identity }),
    ...shownImports(table.imports),
    ...lateFact(report.isLate),
    ...(notes.length > 0 && { notes }),
    ...(showsRevenue && { revenue_currency: site.revenue_currency }),
  }
}

export function shownRange({ range, from, to, timezone, hours }: LocalRange, now: number): ReportRange {
  const day = today({ now, timezone }).toString()
  const times = { from_time: instantText(range.from), to_time: instantText(range.to) }
  return { from, to, timezone, includes_today: from <= day && day <= to, ...(hours && times) }
}

function notesOf(
  { site, facts, parsed, now, isLate }: OpenReport,
  { otherCurrencies, smallRows = 0 }: Pick<Table, "otherCurrencies" | "smallRows">,
): string[] {
  const { report, metrics, dimension, filtered } = parsed
  const notes = rangeNotes(site, parsed, now)
  // Events and properties have conversion rates of their own, which do not depend on goals.
  const hasOwnRate = dimension === "event" || dimension === "property"
  const asksGoals = report !== "funnel" && (metrics.includes("conversions") || (metrics.includes("conversion_rate") && !hasOwnRate))
  const isByGoal = asksGoals || dimension === "goal" || filtered.includes("goal")
  if (isByGoal && facts.goals.length === 0) notes.push(NO_GOALS)
  if (metrics.includes("revenue") && otherCurrencies.length > 0) notes.push(otherCurrenciesNote("revenue", site, otherCurrencies))
  if (parsed.omitsRevenue) notes.push(HIDDEN_REVENUE)
  if (isLate) notes.push(LATE_EVENTS)
  if (smallRows > 0) notes.push(`Groups of fewer than ${parsed.minVisitors} visitors are not shown.`)
  return notes
}

type VisitorWindow = NonNullable<ReportFacts["visitor_window"]>

/**
 * Returns the period in which a visitor is counted once, if the range covers more than one of the site's days. On a day when the
 * identity mode changed a visitor may be counted twice, so `visitor_window` is present even in a report on that single day.
 */
export function visitorFacts(site: Site, range: LocalRange): { visitor_window?: VisitorWindow } {
  if (isModeChanged(site, range)) return { visitor_window: "mixed" }
  return coversDays(range, site.timezone) ? { visitor_window: visitorWindow(site, range) } : {}
}

/** Returns notes about days that were cut off because they lie in the future or were removed by the site's retention. */
export function rangeNotes(site: Site, { range, clipped }: { range: LocalRange; clipped: boolean }, now: number): string[] {
  const cutoff = retentionStart(site, now)
  const isCut = cutoff !== undefined && range.range.from < cutoff
  return [
    ...(clipped ? [`to was in the future and was set to today, ${range.to}.`] : []),
    ...(isCut ? [`Data is kept for ${site.retention_days} days. Older data is not included.`] : []),
  ]
}

/** Returns the member of an answer that states that events which were acknowledged a while before may be missing. */
export const lateFact = (isLate: boolean): Pick<ReportFacts, "late_events"> => (isLate ? { late_events: true } : {})

export const LATE_EVENTS = "Some events of the last time are still being stored and are not included yet."

export const HIDDEN_REVENUE = "Revenue is not included, because this site shows it only to some roles."

export const NO_GOALS = "The site has no goals, so conversions are 0."

export const otherCurrenciesNote = (metric: string, { revenue_currency }: Site, others: readonly string[]): string =>
  `Amounts in ${others.join(", ")} are not part of ${metric}, which is in ${revenue_currency}.`

const WINDOWS: Record<IdentityMode, VisitorWindow> = {
  daily: "day",
  weekly: "week",
  monthly: "month",
  identified: "identified",
  persistent: "persistent",
}

function visitorWindow({ settings, identity_history }: Site, { range }: LocalRange): VisitorWindow {
  const inRange = identity_history.filter(
    ({ from }, i) => from < range.to && (identity_history[i + 1]?.from ?? Number.POSITIVE_INFINITY) > range.from,
  )
  const [mode = settings.identity_mode, ...others] = new Set(inRange.map(({ identity_mode }) => identity_mode))
  return others.length > 0 ? "mixed" : WINDOWS[mode]
}

/** Returns whether the identity mode changed on one of the site's days in the range. */
function isModeChanged({ timezone, identity_history }: Site, { range }: LocalRange): boolean {
  const [first, last] = [localDay(range.from, timezone).toString(), localDay(range.to - 1, timezone).toString()]
  return identity_history.some(({ mode_changed_on = [] }) => mode_changed_on.some((day) => first <= day && day <= last))
}

/** Visitors are recognized per day in the site's time zone, whatever time zone the report uses. */
const coversDays = ({ range }: LocalRange, timezone: string): boolean =>
  !localDay(range.from, timezone).equals(localDay(range.to - 1, timezone))

function retentionStart({ retention_days, timezone }: Site, now: number): number | undefined {
  return retention_days === null ? undefined : dayStart(today({ now, timezone }).subtract({ days: retention_days }), timezone)
}

/** Returns a query over the report's range and filter with other metrics and groupings: unordered and without a limit. */
export const queryOf = (report: OpenReport, rest: Partial<Query>): Query => ({
  ...flatQuery(report.parsed, { site: report.facts, now: report.now }),
  order: [],
  offset: 0,
  limit: Number.MAX_SAFE_INTEGER,
  ...rest,
})

/** Returns the report's filter, combined with another one if given. */
export function withFilter(report: OpenReport, more?: Filter): { filter?: Filter } {
  const filter = both(report.parsed.filter, more)
  return filter ? { filter } : {}
}

/** Source of the names of regions and cities. Without a geolocation database no names are known. */
export interface NamesOptions {
  placeNames?: (() => Promise<PlaceNames>) | undefined
}

/** Returns the names of region and city codes. The names of countries are built in. */
export const codeNames = async ({ placeNames }: NamesOptions, dimension: Dimension | undefined): Promise<CodeNames | undefined> =>
  dimension === "region" || dimension === "city" ? (await placeNames?.())?.[dimension] : undefined

const MAX_FAULTS = 20
/** Codes of errors that contain faults of arguments. */
const FAULT_CODES: readonly string[] = ["invalid_query", "validation_failed"]

/** Waits for two readers of the same arguments and throws the faults of both together. Any other error of either takes precedence. */
export async function withAllFaults<One, Other>(
  form: Form,
  opening: Promise<One>,
  work: () => Other | Promise<Other>,
): Promise<[One, Other]> {
  const [one, other] = await Promise.allSettled([opening, (async () => work())()])
  if (one.status === "fulfilled" && other.status === "fulfilled") return [one.value, other.value]
  const reasons = [one, other].flatMap((part) => (part.status === "rejected" ? [part.reason] : []))
  const errors = reasons.flatMap((reason) => (reason instanceof AppError ? (reason.members.errors ?? []) : []))
  const unlike = reasons.find((reason) => !(reason instanceof AppError) || !FAULT_CODES.includes(reason.code))
  if (unlike || errors.length === 0) throw unlike
  const count = errors.length === 1 ? "1 argument is" : `${errors.length} arguments are`
  throw new AppError(form === "text" ? "invalid_query" : "validation_failed", `${count} not valid.`, {
    errors: errors.slice(0, MAX_FAULTS),
  })
}

/** Splits arguments into those with the given names and the rest. Omitted arguments appear in neither part. */
export function splitArguments(given: Record<string, unknown>, names: readonly string[]) {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  return {
    own: Object.fromEntries(entries.filter(([name]) => names.includes(name))),
    ranged: Object.fromEntries(entries.filter(([name]) => !names.includes(name))),
  }
}
