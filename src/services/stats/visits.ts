import { AppError } from "../../domain/error.ts"
import { modeAt } from "../../domain/identity.ts"
import { instantText } from "../../domain/moment.ts"
import { formatMoney } from "../../domain/money.ts"
import { revenueProperties } from "../../domain/permission.ts"
import type { CodeNames } from "../../domain/place-names.ts"
import type { SiteFacts } from "../../domain/query.ts"
import { fault } from "../../domain/shape.ts"
import type { Site } from "../../domain/site.ts"
import { VISIT_EVENTS } from "../../domain/visit.ts"
import type {
  ListedVisit,
  ListedVisitResponse,
  TimelineEvent,
  VisitBounds,
  VisitListResponse,
  VisitPlace,
  VisitResponse,
} from "../../domain/visit-list.ts"
import type { Engine } from "../../query/engine/engine.ts"
import type { ArgumentReader } from "../../query/parse/arguments.ts"
import { HIDDEN } from "../../query/parse/array-dimensions.ts"
import { hoursRange, type LocalRange } from "../../query/parse/period.ts"
import { numbersOfPseudonyms, pseudonyms } from "../../query/show/pseudonyms.ts"
import { shownValue } from "../../query/show/result.ts"
import { cursorOf, readPlace, readSortedPaging } from "../lists/paging.ts"
import type { SiteKeys } from "../sites/site-keys.ts"
import {
  callerOf,
  codeNames,
  hidesRevenue,
  type NamesOptions,
  type OpenReportOptions,
  openReports,
  type ReportOptions,
  reportFacts,
  siteFacts,
  splitArguments,
  withAllFaults,
} from "./open-report.ts"

/**
 * Single visits of a site and their timelines. Visitors and visits have pseudonyms; no answer contains a user id, an address or a key.
 * The caller has checked the permission `people:read`.
 */
export interface Visits {
  /** Lists the recorded visits that start in the range, newest first. Throws `invalid_query` with all faults, or `invalid_cursor`. */
  list(site: Site, given: Record<string, unknown>, options: ReportOptions): Promise<VisitListResponse>
  /** Returns a visit with its events, oldest first. Throws `visit_not_found`. */
  timeline(site: Site, visit: string, given: Record<string, unknown>, options: ReportOptions): Promise<VisitResponse>
}

export interface VisitsOptions extends OpenReportOptions, NamesOptions {
  engine: Pick<Engine, "visitList" | "visitTimeline">
  siteKeys: Pick<SiteKeys, "siteKey">
}

const BOUNDS = ["from_hour", "to_hour", "min_duration", "min_pageviews", "revenue"]
const DAY_SECONDS = 86_400
const NOT_IMPORTED = "Imported visits are not listed."

export function createVisits(options: VisitsOptions): Visits {
  const { engine, siteKeys, goals, imports } = options
  const open = openReports(options)

  /** Returns the function that shows visits with pseudonyms and names. */
  async function display(site: Site, facts: SiteFacts, sight: ReportOptions) {
    const key = await siteKeys.siteKey(site.id)
    const [visitors, visits] = [pseudonyms(key, "visitor"), pseudonyms(key, "visit")]
    const [regions, cities] = await Promise.all([codeNames(options, "region"), codeNames(options, "city")])
    const names = { goals: facts.goals.map(({ name }) => name), regions, cities }
    const showsRevenue = !hidesRevenue(site, sight)
    return (page: readonly ListedVisit[]): ListedVisitResponse[] => {
      const who = visitors(page.map(({ visitor }) => visitor))
      const which = visits(page.map(({ sequence }) => sequence))
      return page.map((visit, i) => ({ visit: which[i]!, visitor: who[i]!, ...shownVisit(visit, names, showsRevenue) }))
    }
  }

  return {
    async list(site, given, sight) {
      const { own, ranged } = splitArguments(given, ["limit", "cursor", "count", ...BOUNDS])
      const name = `visits of ${site.id} ${Bun.hash.wyhash(JSON.stringify(ranged)).toString(36)}`
      const isHidden = hidesRevenue(site, sight)
      const [report, paging] = await withAllFaults("text", open("visit_list", site, ranged, sight), () =>
        readSortedPaging(name, own, BOUNDS, (reader) => readBounds(reader, isHidden)),
      )
      const { list, limit, count, cursor, filters } = paging
      const { hours, bounds } = filters
      const range = hours ? withinHours(report.parsed.range, hours) : report.parsed.range
      const { filter } = report.parsed
      const before = cursor === undefined ? undefined : placeIn(list, cursor)
      const query = { site: report.facts, range: range.range, ...(filter && { filter }), bounds, limit, count, ...(before && { before }) }
      const [found, show] = await Promise.all([engine.visitList(query, report.caller), display(site, report.facts, sight)])
      const last = found.visits.at(-1)
      const { notes = [], ...facts } = reportFacts({ ...report, parsed: { ...report.parsed, range } }, { otherCurrencies: [] }, false)
      const allNotes = imports.of(site.id).length > 0 ? [...notes, NOT_IMPORTED] : notes
      return {
        data: show(found.visits),
        has_more: found.hasMore,
        next_cursor: found.hasMore && last ? cursorOf(list, [last.start, last.sequence]) : null,
        ...(found.total !== undefined && { total: found.total }),
        meta: { ...facts, ...(allNotes.length > 0 && { notes: allNotes }) },
      }
    },

    async timeline(site, visit, given, sight) {
      const { list, limit, cursor } = readSortedPaging(`events of ${site.id} ${visit}`, given, [], () => ({}))
      const [offset] = cursor === undefined ? [0] : numbersIn(list, cursor, 1)
      const facts = siteFacts(site, goals.rules(site.id))
      const sequence = await sequenceOf(site, visit)
      const found =
        sequence === undefined
          ? undefined
          : await engine.visitTimeline({ site: facts, sequence, offset: offset!, limit }, callerOf(site, sight))
      if (!found) throw new AppError("visit_not_found", "This visit doesn't exist on the site, or it was removed.")
      const [shown] = (await display(site, facts, sight))([found.visit])
      const hidden = hidesRevenue(site, sight) ? revenueProperties(site) : undefined
      const names = facts.goals.map(({ name }) => name)
      return {
        ...shown!,
        ...traitsOf(found.visit),
        identity_mode: modeAt(site, found.visit.start),
        timeline: {
          data: found.events.map((event) => shownEvent(event, names, hidden)),
          has_more: found.hasMore,
          next_cursor: found.hasMore ? cursorOf(list, [offset! + found.events.length]) : null,
        },
      }
    },
  }

  async function sequenceOf({ id }: Site, visit: string): Promise<number | undefined> {
    if (!/^[0-9a-f]{16}$/.test(visit)) return undefined
    const [sequence] = numbersOfPseudonyms(await siteKeys.siteKey(id), "visit")([visit])
    return sequence
  }
}

interface Bounds {
  bounds: VisitBounds
  hours: Hours | undefined
}

/** Local hours, both inclusive: of the first and of the last day of the range. */
interface Hours {
  from: number
  to: number
}

function readBounds(reader: ArgumentReader, isRevenueHidden: boolean): Bounds {
  const seconds = reader.integer("min_duration", { min: 0, max: DAY_SECONDS })
  const minPageviews = reader.integer("min_pageviews", { min: 0, max: VISIT_EVENTS })
  const hasRevenue = reader.choice("revenue", ["true", "false"]) === "true"
  if (isRevenueHidden && reader.has("revenue")) reader.refuse(fault("/revenue", HIDDEN.code, HIDDEN.detail))
  const [from = 0, to = 23] = ["from_hour", "to_hour"].map((name) => reader.integer(name, { min: 0, max: 23 }))
  return {
    hours: reader.has("from_hour") || reader.has("to_hour") ? { from, to } : undefined,
    bounds: {
      ...(seconds !== undefined && { minDurationMs: seconds * 1000 }),
      ...(minPageviews !== undefined && { minPageviews }),
      ...(hasRevenue && { hasRevenue }),
    },
  }
}

/** Narrows a range to hours of its first and last day. An hour that the clock passes twice counts as one. */
function withinHours(range: LocalRange, hours: Hours): LocalRange {
  const start = (day: string, hour: number) =>
    Temporal.PlainDate.from(day).toZonedDateTime({ timeZone: range.timezone, plainTime: { hour } }).epochMilliseconds
  const end = hours.to === 23 ? range.range.to : start(range.to, hours.to + 1)
  const [from, to] = [Math.max(range.range.from, start(range.from, hours.from)), Math.min(range.range.to, end)]
  if (from < to) return hoursRange({ from, to }, range.timezone)
  const reversed = fault("/from_hour", "invalid_range", "must not be after to_hour, or the range has no such hours")
  throw new AppError("invalid_query", reversed.detail, { errors: [reversed] })
}

function placeIn(list: string, cursor: string): VisitPlace {
  const [start, sequence] = numbersIn(list, cursor, 2)
  return { start: start!, sequence: sequence! }
}

/** Returns the numbers of a cursor. A caller can encode any text as a cursor. */
function numbersIn(list: string, cursor: string, count: number): number[] {
  const numbers = readPlace(list, cursor).map(Number)
  if (numbers.length === count && numbers.every(Number.isSafeInteger)) return numbers
  throw new AppError("invalid_cursor", "The cursor is unreadable or belongs to another list.")
}

const textOrNull = (dimension: Parameters<typeof shownValue>[0], text: string): string | null =>
  text === "" ? null : shownValue(dimension, text).value

interface Names {
  goals: readonly string[]
  regions: CodeNames | undefined
  cities: CodeNames | undefined
}

function shownVisit(
  visit: ListedVisit,
  { goals, regions, cities }: Names,
  showsRevenue: boolean,
): Omit<ListedVisitResponse, "visit" | "visitor"> {
  const text = (dimension: "entry_page" | "exit_page" | "hostname" | "source" | "channel" | "country" | "device" | "browser" | "os") =>
    textOrNull(dimension, visit[dimension])
  const place = (dimension: "region" | "city", names: CodeNames | undefined): string | null =>
    textOrNull(dimension, names?.get(visit[dimension]) ?? visit[dimension])
  return {
    visitor_kind: visit.visitor_kind,
    started_at: instantText(visit.start),
    duration: Math.round(visit.durationMs / 1000),
    pageviews: visit.pageviews,
    events: visit.events,
    hostname: text("hostname"),
    entry_page: text("entry_page"),
    exit_page: text("exit_page"),
    source: text("source"),
    channel: text("channel"),
    country: text("country"),
    region: place("region", regions),
    city: place("city", cities),
    device: text("device"),
    browser: text("browser"),
    os: text("os"),
    goals: visit.goals.map((index) => goals[index]!),
    ...(showsRevenue && { revenue: visit.revenue.map(({ currency, minor }) => formatMoney(minor, currency)) }),
  }
}

const TRAITS = [
  ...["referrer", "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"],
  ...["language", "size", "browser_version", "os_version"],
] as const

const traitsOf = (visit: ListedVisit) =>
  Object.fromEntries(TRAITS.map((trait) => [trait, textOrNull(trait, visit[trait])])) as Record<(typeof TRAITS)[number], string | null>

/** Shows an event. `hidden` are the properties that reveal revenue, for those who may not see it. */
function shownEvent(
  { at, name, page, hostname, title, props, revenue, goals, engagedMs, scrollDepth }: TimelineEvent,
  names: readonly string[],
  hidden: ReadonlySet<string> | undefined,
): VisitResponse["timeline"]["data"][number] {
  const visible = props.filter(([key]) => !hidden?.has(key))
  const clean = (text: string) => shownValue("property", text).value
  return {
    at: new Date(at).toISOString(),
    name: shownValue("event", name).value,
    page: textOrNull("page", page),
    hostname: textOrNull("hostname", hostname),
    title: textOrNull("title", title),
    properties: Object.fromEntries(visible.map(([key, value]) => [clean(key), clean(value)])),
    ...(revenue && !hidden && { revenue: formatMoney(revenue.minor, revenue.currency) }),
    goals: goals.map((index) => names[index]!),
    ...(engagedMs !== undefined && { engaged_seconds: Math.round(engagedMs / 1000) }),
    ...(scrollDepth !== undefined && { scroll_depth: scrollDepth }),
  }
}
