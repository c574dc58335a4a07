import type { Dimension } from "../../src/domain/dimension.ts"
import { METRICS, OWN_METRICS } from "../../src/domain/metric.ts"
import { COMPARISONS } from "../../src/domain/period.ts"
import {
  type FunnelQuery,
  type FunnelStep,
  type Grouping,
  INTERVALS,
  type Query,
  type Range,
  type RowsQuery,
  type SiteFacts,
} from "../../src/domain/query.ts"
import type { Comparison } from "../../src/query/parse/compare.ts"
import { dayRange, plusDays } from "./days.ts"
import { someDimension, someFilter, somePropertyKey } from "./filters.ts"
import { ANSWERABLE } from "./imported.ts"
import { type Days, rangeOf } from "./periods.ts"
import type { Random } from "./random.ts"
import type { RawVisit } from "./raw.ts"
import { edgesAround, type Time } from "./traffic.ts"
import { NAMES, PAGES, SITES } from "./values.ts"

const HOUR = 3_600_000
/** Zones in addition to those of the traffic, with every kind of offset and clock change. */
const ZONES = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "Asia/Kathmandu",
  "America/St_Johns",
  "Pacific/Apia",
  "Africa/Casablanca",
  "America/Sao_Paulo",
  "America/Havana",
  "Pacific/Chatham",
]

export const someSite = (random: Random): SiteFacts => random.pick([SITES[0]!, SITES[0]!, SITES[0]!, SITES[1]!, SITES[2]!])
export const someZone = (random: Random, { zones }: Time): string => random.pick(random.chance(0.7) ? zones : ZONES)

/** Returns whole local days, or a range of instants: at an event, just before or after one, or at a clock change. */
export function someRange(random: Random, time: Time, timezone: string, visits: readonly RawVisit[]): Range {
  if (random.chance(0.5)) return rangeOf(someDays(random, time), timezone)
  const instants = [...edgesAround(time), ...visits.flatMap(({ events }) => events.map(({ at }) => at))]
  const [a, b] = [random.pick(instants) + random.pick([-1, 0, 0, 1]), random.pick(instants) + random.pick([-1, 0, 0, 1])]
  return a < b ? { from: a, to: b } : { from: b, to: a + 1 }
}

export function someDays(random: Random, { day }: Time): Days {
  const from = plusDays(day, random.whole(-4, 2))
  return { from, to: plusDays(from, random.pick([0, 0, 1, 2, 4, 7, 33])) }
}

/** Returns a comparison. Custom ranges lie in, before or after the traffic. */
export function someComparison(random: Random, time: Time): Exclude<Comparison, { mode: "custom_hours" }> {
  const matchWeekday = random.chance(0.5)
  const mode = random.pick(COMPARISONS.filter((each) => each !== "none"))
  if (mode !== "custom") return { mode, matchWeekday }
  const { from, to } = someDays(random, time)
  return { mode, from: Temporal.PlainDate.from(from), to: Temporal.PlainDate.from(to), matchWeekday }
}

export function someRows(random: Random, time: Time, visits: (siteId: number) => readonly RawVisit[]): RowsQuery {
  const site = someSite(random)
  const range = someRange(random, time, someZone(random, time), visits(site.id))
  return { site, range, ...(random.chance(0.7) && { filter: someFilter(random, site) }) }
}

/** Returns a query with the dimensions and metrics of one table of imported totals, mostly over whole days. */
export function someImportedQuery(random: Random, time: Time): Query {
  const site = { ...SITES[0]!, goals: someGoals(random, SITES[0]!.goals) }
  const { dimensions, metrics } = random.pick(ANSWERABLE)
  const timezone = time.zones[random.pick([0, 0, 1, 2])]!
  const of = (dimension: Dimension): Grouping => ({
    by: "dimension",
    dimension,
    ...(dimension === "property" && { property: random.pick(["url", "url", "path", "plan"]) }),
  })
  const grouped = random.some(dimensions, 0, Math.min(2, dimensions.length)).map(of)
  const interval = random.pick(["hour", "day", "day", "week", "month"] as const)
  const groupings: Grouping[] = random.chance(0.4) ? [{ by: "time", interval }, ...grouped] : grouped
  const filtered = dimensions.filter((dimension) => dimension !== "property")
  const hasFilter = filtered.length > 0 && random.chance(0.5)
  const range = random.chance(0.85) ? rangeOf(someDays(random, time), timezone) : someRange(random, time, timezone, [])
  const isTimeline = groupings.length === 1 && groupings[0]!.by === "time"
  return {
    site,
    range,
    timezone,
    now: Date.parse(`${time.day}T00:00:00Z`) + 60 * 24 * HOUR,
    metrics: random.some(metrics, 1, 4),
    groupings,
    ...(hasFilter && { filter: someFilter(random, site, { of: filtered, depth: random.pick([1, 2, 3]) }) }),
    order: [],
    limit: 10_000,
    offset: 0,
    fillBuckets: isTimeline && random.chance(0.5),
    ...(random.chance(0.95) && { importedTotals: true }),
  }
}

/** Returns goals of one kind, or of all kinds. */
function someGoals(random: Random, goals: SiteFacts["goals"]): SiteFacts["goals"] {
  const kind = random.pick(["event", "event", "page", "page", "all"] as const)
  return kind === "all" ? goals : goals.filter((goal) => goal.kind === kind && !goal.props)
}

export function someQuery(random: Random, time: Time, visits: (siteId: number) => readonly RawVisit[]): Query {
  const site = someSite(random)
  const timezone = someZone(random, time)
  const range = someRange(random, time, timezone, visits(site.id))
  const groupings = someGroupings(random, range)
  const metrics = random.some([...METRICS, ...OWN_METRICS], 1, 8)
  const isTimeline = groupings.length === 1 && groupings[0]!.by === "time"
  const pages = random.chance(0.8) ? { limit: 10_000, offset: 0 } : { limit: random.whole(1, 6), offset: random.whole(0, 8) }
  return {
    site,
    range,
    timezone,
    now: Date.parse(`${time.day}T00:00:00Z`) + 60 * 24 * HOUR,
    metrics,
    groupings,
    ...(random.chance(0.75) && { filter: someFilter(random, site) }),
    order: someOrder(random, metrics.length, groupings.length),
    ...pages,
    fillBuckets: isTimeline && random.chance(0.6),
    ...(random.chance(0.08) && { anyEvent: true }),
    ...(random.chance(0.8) && { importedTotals: true }),
  }
}

function someGroupings(random: Random, { from, to }: Range): Grouping[] {
  const count = random.pick([0, 0, 1, 1, 1, 1, 2, 2, 3])
  const groupings: Grouping[] = Array.from({ length: count }, () => {
    const dimension = someDimension(random)
    return { by: "dimension", dimension, ...(dimension === "property" && { property: somePropertyKey(random) }) }
  })
  if (count > 0 && random.chance(0.4)) {
    const intervals = INTERVALS.filter((interval) => interval !== "minute" || to - from <= 24 * HOUR)
    groupings[random.whole(0, count - 1)] = { by: "time", interval: random.pick(intervals) }
  }
  // The dimensions of a query are unique.
  const known = new Set<string>()
  return groupings.filter((grouping) => known.size < known.add(JSON.stringify(grouping)).size)
}

function someOrder(random: Random, metrics: number, groupings: number): Query["order"] {
  return Array.from({ length: random.pick([0, 1, 1, 2]) }, () => {
    const isOfGrouping = groupings > 0 && random.chance(0.25)
    const index = random.whole(0, (isOfGrouping ? groupings : metrics) - 1)
    return { by: isOfGrouping ? ("grouping" as const) : ("metric" as const), index, descending: random.chance(0.7) }
  })
}

export function someFunnel(random: Random, time: Time, visits: (siteId: number) => readonly RawVisit[]): FunnelQuery {
  const site = someSite(random)
  const timezone = someZone(random, time)
  return {
    site,
    range: random.chance(0.6)
      ? someRange(random, time, timezone, visits(site.id))
      : dayRange(plusDays(time.day, -5), plusDays(time.day, 5), timezone),
    steps: Array.from({ length: random.whole(2, 5) }, () => someStep(random)),
    order: random.pick(["sequential", "strict"]),
    ...(random.chance(0.5) && { windowMs: random.pick([1, 5_000, 60_000, 600_000, HOUR, 24 * HOUR, 72 * HOUR]) }),
    ...(random.chance(0.4) && { filter: someFilter(random, site) }),
    ...(random.chance(0.2) && { identifiedOnly: true }),
  }
}

function someStep(random: Random): FunnelStep {
  if (random.chance(0.3)) return { type: "event", match: "wildcard", value: random.pick(["*", "S*", "*p*"]) }
  if (random.chance(0.3)) return { type: "page", match: random.pick(["prefix", "contains"]), value: random.pick(["/", "/a"]) }
  const match = random.pick(["exact", "prefix", "contains", "wildcard"] as const)
  return random.chance(0.5)
    ? { type: "event", match, value: random.pick(NAMES) }
    : { type: "page", match, value: random.pick(PAGES.slice(0, 6)) }
}

/** Returns a moment at or shortly after an event. */
export function someMoment(random: Random, visits: readonly RawVisit[], { day }: Time): number {
  const instants = visits.flatMap(({ events }) => events.map(({ at }) => at))
  const at = instants.length > 0 ? random.pick(instants) : Date.parse(`${day}T00:00:00Z`)
  return at + random.pick([0, 0, 1, 30_000, 299_999, 300_000, 1_700_000])
}
