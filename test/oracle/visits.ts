import type { NewEvent } from "../../src/domain/event.ts"
import type { SiteFacts } from "../../src/domain/query.ts"
import type { ListedVisit, TimelineEvent, VisitListQuery } from "../../src/domain/visit-list.ts"
import { completes, mayCount, satisfies } from "./conditions.ts"
import { counted, durationOf, entry, exit, isCounted, pageviews, type RawVisit, startOf } from "./raw.ts"
import { compareCodePoints } from "./rounding.ts"

/** A visit of the list, without the numbers that only the store knows. */
export type ShownVisit = Omit<ListedVisit, "visitor" | "sequence">

type Wanted = Pick<VisitListQuery, "site" | "range" | "filter" | "bounds">

/** Returns the recorded visits that start in the range, satisfy the filter with an event at any time, and are within the bounds: newest first. */
export const visitsAnswer = (visits: readonly RawVisit[], wanted: Wanted): RawVisit[] =>
  visits
    .filter((visit) => visit.importId === 0 && isChosen(visit, wanted))
    .sort((a, b) => startOf(b) - startOf(a) || b.sequence - a.sequence)

function isChosen(visit: RawVisit, { site, range, filter, bounds }: Wanted): boolean {
  const { minDurationMs = 0, minPageviews = 0, hasRevenue = false } = bounds
  return (
    startOf(visit) >= range.from &&
    startOf(visit) < range.to &&
    visit.events.some((event) => mayCount(event, visit, filter, site.goals) && satisfies(filter, event, visit, site.goals)) &&
    durationOf(visit) >= minDurationMs &&
    pageviews(visit).length >= minPageviews &&
    (!hasRevenue || visit.events.some(({ revenue }) => revenue !== undefined))
  )
}

export const shownVisit = (visit: RawVisit, site: SiteFacts): ShownVisit => ({
  visitor_kind: visit.kind,
  start: startOf(visit),
  durationMs: durationOf(visit),
  pageviews: pageviews(visit).length,
  events: counted(visit).length,
  entry_page: entry(visit, "page"),
  exit_page: exit(visit, "page"),
  hostname: entry(visit, "hostname"),
  ...visit.traits,
  goals: goalsOf(visit, site, visit.events),
  revenue: revenueOf(visit),
})

const goalsOf = (visit: RawVisit, { goals }: SiteFacts, events: readonly NewEvent[]): number[] =>
  goals.flatMap((goal, index) => (events.some((event) => completes(goal, event, visit)) ? [index] : []))

function revenueOf({ events }: RawVisit): ListedVisit["revenue"] {
  const sums: Record<string, number> = {}
  for (const { revenue } of events) if (revenue) sums[revenue.currency] = (sums[revenue.currency] ?? 0) + revenue.amount
  const currencies = Object.keys(sums).sort(compareCodePoints)
  return currencies.map((currency) => ({ currency, minor: sums[currency]! }))
}

/** Returns the pageviews and custom events of a visit. An engagement report belongs to the last pageview of its page before it. */
export function timelineAnswer(visit: RawVisit, site: SiteFacts): TimelineEvent[] {
  const isView = (event: NewEvent, page: string) => event.name === "pageview" && event.page === page
  return visit.events.flatMap((event, at) => {
    if (!isCounted(event)) return []
    const next = visit.events.findIndex((other, i) => i > at && isView(other, event.page))
    const until = visit.events.slice(at + 1, next === -1 ? undefined : next)
    const reports = event.name === "pageview" ? until.filter(({ name, page }) => name === "engagement" && page === event.page) : []
    return [shownEvent(event, reports, goalsOf(visit, site, [event, ...reports]))]
  })
}

function shownEvent({ at, name, page, hostname, title, props, revenue }: NewEvent, reports: readonly NewEvent[], goals: number[]) {
  const measured = reports.flatMap(({ engagement }) => engagement ?? [])
  const depths = measured.flatMap(({ scrollDepth }) => scrollDepth ?? [])
  return {
    ...{ at, name, page, hostname, title, goals },
    props: props.map(([key, value]): [string, string] => [key, value]),
    ...(revenue && { revenue: { currency: revenue.currency, minor: revenue.amount } }),
    ...(measured.length > 0 && { engagedMs: measured.reduce((sum, { engagedMs }) => sum + engagedMs, 0) }),
    ...(depths.length > 0 && { scrollDepth: Math.max(...depths) }),
  }
}
