import { dimensionFacts, ENGAGEMENT, PAGEVIEW, VITALS } from "../../domain/dimension.ts"
import type { LastMatchQuery, LatestEvent, PulseQuery, PulseResult, RealtimeQuery, RealtimeResult } from "../../domain/query.ts"
import { compareCodePoints } from "../../domain/text.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { compileFilter, type Mask } from "../filter/filters.ts"
import { compileGoals } from "../filter/goals.ts"
import { textsOf } from "../rows/rows.ts"

const MINUTE_MS = 60_000
const MINUTES = 30
/** Time after an event during which its visitor counts as current. */
const CURRENT_MS = 300_000

type Top = RealtimeResult["pages"]
/** Dimensions of the top lists. Their dictionaries have the same names. */
type TopDimension = "page" | "source" | "country"

/**
 * Computes the realtime report (metrics.md section 14). Any event makes a visitor current, engagement included, because the reader of a
 * long page is still there. Minutes are clock minutes and include the current one.
 */
export function realtime(snapshot: Snapshot, query: RealtimeQuery, check: () => void): RealtimeResult {
  const { now, limit, latest: wanted } = query
  const filter = compileFilter(snapshot, query.filter, query.site)
  const newest = newestEvents(snapshot, wanted ?? 0)
  const from = Math.floor(now / MINUTE_MS) * MINUTE_MS - (MINUTES - 1) * MINUTE_MS
  const minutes = Array.from({ length: MINUTES }, (_, i) => ({ from: from + i * MINUTE_MS, visitors: new Set<number>(), pageviews: 0 }))
  const current = new Map<number, Current>()
  let pageviews = 0
  for (const part of snapshot.parts) {
    if (part.events === 0 || part.maxAt < Math.min(from, now - CURRENT_MS)) continue
    check()
    forEachEvent(part, filter.rows(part), from, now, (event) => {
      newest.add(part, event)
      const minute = minutes[Math.floor((event.at - from) / MINUTE_MS)]
      minute?.visitors.add(event.visitor)
      if (minute && event.isPageview) minute.pageviews++
      if (event.at <= now - CURRENT_MS) return
      if (event.isPageview) pageviews++
      current.set(event.visitor, latest(current.get(event.visitor), event))
    })
  }
  const visitors = [...current.values()]
  const top = (dimension: TopDimension, values: readonly number[]) => topValues(snapshot, dimension, values, limit)
  return {
    visitors: visitors.length,
    pageviews,
    pages: top(
      "page",
      visitors.map(({ event, pageview }) => pageview?.page ?? event.exitPage),
    ),
    sources: top(
      "source",
      visitors.map(({ event }) => event.source),
    ),
    countries: top(
      "country",
      visitors.map(({ event }) => event.country),
    ),
    minutes: minutes.map((minute) => ({ ...minute, visitors: minute.visitors.size })),
    ...(wanted !== undefined && { events: newest.list() }),
  }
}

export interface RecentEvent {
  row: number
  visitor: number
  at: number
  /** Sequence of its visit, which orders events of different visits at equal times. */
  sequence: number
  isPageview: boolean
  page: number
  exitPage: number
  source: number
  country: number
}

/** A visitor's latest event and latest pageview. */
interface Current {
  event: RecentEvent
  pageview: RecentEvent | undefined
}

function latest(before: Current | undefined, event: RecentEvent): Current {
  if (!before) return { event, pageview: event.isPageview ? event : undefined }
  const pageview = event.isPageview ? later(before.pageview, event) : before.pageview
  return { event: later(before.event, event), pageview }
}

const later = (before: RecentEvent | undefined, event: RecentEvent): RecentEvent =>
  before && (before.at > event.at || (before.at === event.at && before.sequence > event.sequence)) ? before : event

/** Calls `visit` for each event of the period. Events of a visit at equal times are passed in their order, in segments and in the tail. */
function forEachEvent(part: Part, mask: Mask, from: number, to: number, visit: (event: RecentEvent) => void): void {
  const [starts, sequences, visits, offset] = [part.starts(), part.sequences(), part.event("visit"), part.event("offset")]
  const [name, page, visitor, exitPage] = [part.event("name"), part.event("page"), part.visit("visitor"), part.visit("exit_page")]
  const [source, country] = [part.visit("source"), part.visit("country")]
  for (let row = 0; row < part.events; row++) {
    const at = visits[row]!
    const time = starts[at]! + offset[row]!
    if (time < from || time > to || (mask !== "all" && mask[row] === 0)) continue
    visit({
      row,
      visitor: visitor[at]!,
      at: time,
      sequence: sequences[at]!,
      isPageview: name[row] === PAGEVIEW,
      page: page[row]!,
      exitPage: exitPage[at]!,
      source: source[at]!,
      country: country[at]!,
    })
  }
}

/** Returns the values with the most visitors, ties by text, where a missing value counts as the text that it is shown as. */
function topValues(snapshot: Snapshot, dimension: TopDimension, values: readonly number[], limit: number): Top {
  const dictionary = snapshot.dictionary(dimension)
  const [missing] = dimensionFacts(dimension).missing
  const counts = new Map<number, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  const rows = [...counts].map(([value, visitors]) => ({ value: value === 0 ? null : dictionary.text(value), visitors }))
  return rows.sort((a, b) => b.visitors - a.visitors || compareCodePoints(a.value ?? missing, b.value ?? missing)).slice(0, limit)
}

interface PartEvent extends RecentEvent {
  part: Part
}

/** Collects events, and lists the newest `count` pageviews and custom events among them. */
export function newestEvents(snapshot: Snapshot, count: number) {
  let newest: PartEvent[] = []
  /** Called when the list has grown to several times its size, which is cheaper than inserting each event in order. */
  const cut = () => {
    newest = newest.sort((a, b) => b.at - a.at || b.sequence - a.sequence || b.row - a.row).slice(0, count)
  }
  return {
    add(part: Part, event: RecentEvent): void {
      const name = part.event("name")[event.row]!
      if (count === 0 || name === ENGAGEMENT || name === VITALS) return
      newest.push({ ...event, part })
      if (newest.length > 4 * count) cut()
    },
    list(): LatestEvent[] {
      cut()
      const texts = textsOf(snapshot)
      return newest.map(({ part, row, at }) => {
        const visit = part.event("visit")[row]!
        return {
          at,
          name: texts("name").text(part.event("name")[row]!),
          page: texts("page").text(part.event("page")[row]!),
          hostname: texts("hostname").text(part.event("hostname")[row]!),
          source: texts("source").text(part.visit("source")[visit]!),
          country: texts("country").text(part.visit("country")[visit]!),
          device: texts("device").text(part.visit("device")[visit]!),
          browser: texts("browser").text(part.visit("browser")[visit]!),
        }
      })
    },
  }
}

/**
 * Computes the current visitors of a site (metrics.md 5.2) and the time of its last event of any name. The number of visitors equals
 * that of the realtime report, but only the newest parts are read, because a list of sites runs this query for every site.
 */
export function pulse({ parts }: Snapshot, { now }: PulseQuery, check: () => void): PulseResult {
  const current = new Set<number>()
  let lastAt: number | undefined
  for (const part of parts) {
    if (part.events === 0) continue
    lastAt = Math.max(lastAt ?? part.maxAt, part.maxAt)
    if (part.maxAt <= now - CURRENT_MS) continue
    check()
    const columns = { visit: part.event("visit"), offset: part.event("offset"), starts: part.starts(), visitor: part.visit("visitor") }
    addCurrent(columns, part.events, { from: now - CURRENT_MS, to: now }, current)
  }
  return { visitors: current.size, ...(lastAt !== undefined && { lastAt }) }
}

/** Adds the visitors of events after `from` and not after `to`. */
function addCurrent(
  { visit, offset, starts, visitor }: { visit: Uint32Array; offset: Uint32Array; starts: Float64Array; visitor: Uint32Array },
  length: number,
  { from, to }: { from: number; to: number },
  current: Set<number>,
): void {
  for (let row = 0; row < length; row++) {
    const at = starts[visit[row]!]! + offset[row]!
    if (at > from && at <= to) current.add(visitor[visit[row]!]!)
  }
}

/** Returns the time of the last completion of a goal in epoch ms, or undefined without any. Starts with the parts that have the latest events. */
export function lastMatch(snapshot: Snapshot, { goal }: LastMatchQuery, check: () => void): number | undefined {
  const goals = compileGoals(snapshot, [goal])
  let latest: number | undefined
  for (const part of snapshot.parts.filter(({ events }) => events > 0).toSorted((a, b) => b.maxAt - a.maxAt)) {
    if (latest !== undefined && part.maxAt <= latest) break
    check()
    const { rows, count } = goals.completions(part)
    latest = latestOf(part, rows.subarray(0, count), latest)
  }
  return latest
}

function latestOf(part: Part, rows: Uint32Array, before: number | undefined): number | undefined {
  const [starts, visit, offset] = [part.starts(), part.event("visit"), part.event("offset")]
  let latest = before
  for (const row of rows) {
    const at = starts[visit[row]!]! + offset[row]!
    if (latest === undefined || at > latest) latest = at
  }
  return latest
}
