import type { Range } from "../../../src/domain/query.ts"

/** A report that every contender answers. Conditions are `is` on a visit dimension or the page. */
export interface Report {
  name: string
  ask:
    | { kind: "summary" }
    | { kind: "days" }
    | { kind: "breakdown"; by: VisitDimension | "page" | "event" }
    | { kind: "goals"; goals: readonly Goal[] }
    | { kind: "funnel"; steps: readonly Goal[] }
  filter: readonly (readonly [dimension: VisitDimension | "page", value: string])[]
}

export const VISIT_DIMENSIONS = ["source", "country", "entry_page", "browser", "device"] as const
export type VisitDimension = (typeof VISIT_DIMENSIONS)[number]

/** A goal, or a step of a funnel. */
export interface Goal {
  kind: "event" | "page"
  match: "exact" | "prefix"
  value: string
}

/** Rows with a key (a text, the start of a day or nothing) and numbers. A breakdown has the ten rows with most visitors. */
export type Answer = readonly (readonly (string | number | null)[])[]

export const ROWS_SHOWN = 10
export const DAY_MS = 86_400_000

/** Values that occur in the generated data. */
export interface Known {
  page: string
  country: string
  source: string
  device: string
  goals: readonly Goal[]
  steps: readonly Goal[]
}

export function reportsOver(known: Known): Report[] {
  const breakdowns = ["page", "source", "country", "entry_page", "browser", "event"] as const
  const summary = { kind: "summary" } as const
  const byCountry = [["country", known.country]] as const
  return [
    { name: "summary", ask: summary, filter: [] },
    { name: "timeseries by day", ask: { kind: "days" }, filter: [] },
    ...breakdowns.map((by): Report => ({ name: `breakdown of ${by}`, ask: { kind: "breakdown", by }, filter: [] })),
    { name: "summary of a country", ask: summary, filter: byCountry },
    { name: "summary of a page", ask: summary, filter: [["page", known.page]] },
    {
      name: "summary of source and device",
      ask: summary,
      filter: [
        ["source", known.source],
        ["device", known.device],
      ],
    },
    { name: "pages of a country", ask: { kind: "breakdown", by: "page" }, filter: byCountry },
    { name: "goal conversions", ask: { kind: "goals", goals: known.goals }, filter: [] },
    { name: "funnel of 3 steps", ask: { kind: "funnel", steps: known.steps }, filter: [] },
  ]
}

/** Returns whole UTC days up to that of the newest data. */
export function lastDays(days: number, end: number): Range {
  return { from: end - days * DAY_MS, to: end }
}

/** Sums over visits and matching events, from which the rates of all contenders are computed in the same way. */
export interface Sums {
  visitors: number
  pageviews: number
  events: number
  visits: number
  visitPageviews: number
  durationMs: number
  /** Denominator of the bounce rate: all visits, or with a page condition those that entered there. */
  entries: number
  bounces: number
}

export const NO_SUMS: Sums = { visitors: 0, pageviews: 0, events: 0, visits: 0, visitPageviews: 0, durationMs: 0, entries: 0, bounces: 0 }

/** Returns the metrics of a summary in the order of `SUMMARY_METRICS`. */
export function summaryOf(sums: Sums): number[] {
  return [
    sums.visitors,
    sums.visits,
    sums.pageviews,
    sums.events,
    ratio(sums.visitPageviews, sums.visits, 2),
    ratio(sums.bounces * 100, sums.entries, 1),
    ratio(sums.durationMs / 1000, sums.visits, 0),
  ]
}
export const SUMMARY_METRICS = ["visitors", "visits", "pageviews", "events", "views_per_visit", "bounce_rate", "visit_duration"] as const

/** Returns the quotient rounded half away from zero, or 0 without a denominator (metrics.md 5.2). */
function ratio(numerator: number, denominator: number, decimals: number): number {
  if (denominator === 0) return 0
  const scale = 10 ** decimals
  return Math.round((numerator / denominator) * scale) / scale
}
