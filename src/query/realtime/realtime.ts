import { dimensionFacts, PAGEVIEW } from "../domain/dimension.ts"
import type { RealtimeQuery, RealtimeResult } from "../domain/query.ts"
import type { Part, Snapshot } from "../store/events/part.ts"
import { compareCodePoints } from "./code-points.ts"
import { compileFilter, type Mask } from "./filters.ts"
import { newestEvents } from "./newest-events.ts"

const MINUTE_MS = 60_000
const MINUTES = 30
/** How long a visitor counts as current. */
const CURRENT_MS = 300_000

type Top = RealtimeResult["pages"]
/** Their values lie in dictionaries of the same names. */
type Shown = "page" | "source" | "country"

/**
 * What the last minutes hold (metrics.md section 14). Visitors are those with any event, engagement included: who reads a
 * long page is there. Minutes are those of the clock, the running one included.
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
      newest.offer(part, event)
      const minute = minutes[Math.floor((event.at - from) / MINUTE_MS)]
      minute?.visitors.add(event.visitor)
      if (minute && event.isPageview) minute.pageviews++
      if (event.at <= now - CURRENT_MS) return
      if (event.isPageview) pageviews++
      current.set(event.visitor, latest(current.get(event.visitor), event))
    })
  }
  const seen = [...current.values()]
  const top = (dimension: Shown, values: readonly number[]) => topValues(snapshot, dimension, values, limit)
  return {
    visitors: seen.length,
    pageviews,
    pages: top(
      "page",
      seen.map(({ event, pageview }) => pageview?.page ?? event.exitPage),
    ),
    sources: top(
      "source",
      seen.map(({ event }) => event.source),
    ),
    countries: top(
      "country",
      seen.map(({ event }) => event.country),
    ),
    minutes: minutes.map((minute) => ({ ...minute, visitors: minute.visitors.size })),
    ...(wanted !== undefined && { events: newest.list() }),
  }
}

export interface SeenEvent {
  row: number
  visitor: number
  at: number
  /** Of its visit: orders events of two visits at one moment. */
  sequence: number
  isPageview: boolean
  page: number
  exitPage: number
  source: number
  country: number
}

/** A visitor's latest event and latest pageview. */
interface Current {
  event: SeenEvent
  pageview: SeenEvent | undefined
}

function latest(before: Current | undefined, event: SeenEvent): Current {
  if (!before) return { event, pageview: event.isPageview ? event : undefined }
  const pageview = event.isPageview ? later(before.pageview, event) : before.pageview
  return { event: later(before.event, event), pageview }
}

const later = (before: SeenEvent | undefined, event: SeenEvent): SeenEvent =>
  before && (before.at > event.at || (before.at === event.at && before.sequence > event.sequence)) ? before : event

/** A visit's events of one moment come in their order, in segments as in the tail; few rows lie in the last half hour. */
function forEachEvent(part: Part, mask: Mask, from: number, to: number, visit: (event: SeenEvent) => void): void {
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

/** Largest first, then by text, a missing value as the text it is shown as. */
function topValues(snapshot: Snapshot, dimension: Shown, values: readonly number[], limit: number): Top {
  const dictionary = snapshot.dictionary(dimension)
  const [missing] = dimensionFacts(dimension).missing
  const counts = new Map<number, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  const rows = [...counts].map(([value, visitors]) => ({ value: value === 0 ? null : dictionary.text(value), visitors }))
  return rows.sort((a, b) => b.visitors - a.visitors || compareCodePoints(a.value ?? missing, b.value ?? missing)).slice(0, limit)
}
