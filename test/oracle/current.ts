import type { NewEvent } from "../../src/domain/event.ts"
import type { RealtimeQuery, RealtimeResult } from "../../src/domain/query.ts"
import { exit, type RawVisit } from "./raw.ts"
import { compareCodePoints, distinct } from "./rounding.ts"

interface Seen {
  visit: RawVisit
  event: NewEvent
}

/** Computes realtime (metrics.md sections 5.2 and 14): the last 300 s, including `now`, and the last 30 clock minutes. */
export function realtimeAnswer(visits: readonly RawVisit[], { now, limit }: RealtimeQuery): RealtimeResult {
  const ordered = [...visits].sort((a, b) => a.sequence - b.sequence)
  const seen = ordered.flatMap((visit) => visit.events.map((event) => ({ visit, event }))).sort((a, b) => a.event.at - b.event.at)
  const last = seen.filter(({ event }) => event.at > now - 300_000 && event.at <= now)
  const people = [...Map.groupBy(last, ({ visit }) => visit.visitor).values()]
  const top = (values: readonly string[], missing: string) =>
    [...Map.groupBy(values, (value) => value)]
      .map(([value, list]) => ({ value: value || null, visitors: list.length }))
      .sort((a, b) => b.visitors - a.visitors || compareCodePoints(a.value ?? missing, b.value ?? missing))
      .slice(0, limit)
  const firstMinute = Math.floor(now / 60_000) * 60_000 - 29 * 60_000
  return {
    visitors: people.length,
    pageviews: last.filter(({ event }) => event.name === "pageview").length,
    pages: top(people.map(currentPage), "(none)"),
    sources: top(
      people.map((list) => list.at(-1)!.visit.traits.source),
      "Direct",
    ),
    countries: top(
      people.map((list) => list.at(-1)!.visit.traits.country),
      "(none)",
    ),
    minutes: Array.from({ length: 30 }, (_, i) => minuteOf(seen, firstMinute + i * 60_000, now)),
  }
}

/** "The visitor's latest pageview in the last 5 minutes, else the exit page of the visit." */
const currentPage = (list: readonly Seen[]): string =>
  list.findLast(({ event }) => event.name === "pageview")?.event.page ?? exit(list.at(-1)!.visit, "page")

function minuteOf(seen: readonly Seen[], from: number, now: number) {
  const inside = seen.filter(({ event }) => event.at >= from && event.at < from + 60_000 && event.at <= now)
  return {
    from,
    visitors: distinct(inside.map(({ visit }) => visit.visitor)),
    pageviews: inside.filter(({ event }) => event.name === "pageview").length,
  }
}
