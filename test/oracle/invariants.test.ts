import { expect, test } from "bun:test"
import { type Dimension, FLAT_DIMENSIONS } from "../../src/domain/dimension.ts"
import { AppError } from "../../src/domain/error.ts"
import type { Funnel } from "../../src/domain/funnel.ts"
import { FLAT_METRICS, type FlatMetric } from "../../src/domain/metric.ts"
import type { Site } from "../../src/domain/site.ts"
import { createStats, type Stats } from "../../src/services/stats/stats.ts"
import { ORACLE_QUERIES, SEED } from "../size.ts"
import { engineOf, sites } from "./engine.ts"
import { type FlatFilter, someFlatFilters, somePropertyKey } from "./filters.ts"
import { STATES } from "./life.ts"
import { someDays, someFunnel, someSite, someZone } from "./queries.ts"
import { type Random, seededRandom } from "./random.ts"
import { rounded, sum } from "./rounding.ts"
import { TIMES, type Time } from "./traffic.ts"
import { SITES } from "./values.ts"
import { World } from "./world.ts"

/**
 * Checks what api.md 6.4 promises to every user: points add up to the summary, rows of pages to its pageviews; the row of a value
 * equals the summary filtered by it; omitting small rows leaves the large ones; a saved funnel equals its inline steps. Random
 * queries through the service.
 */
const ROUNDS = Math.ceil(ORACLE_QUERIES / 150)

interface Trial {
  stats: Stats
  site: Site
  random: Random
  time: Time
  /** Range and zone of a query. The filters are separate because checks add some. */
  about: Record<string, unknown>
  filters: FlatFilter[]
}

/** Returns a stats service that queries the current state of the world's store on this thread. */
function statsOf(world: World, now: number, funnels: readonly Funnel[]): Stats {
  const goals = { rules: (siteId: number) => [...SITES.find(({ id }) => id === siteId)!.goals] }
  return createStats({
    hasLateEvents: () => false,
    engine: engineOf(world),
    imports: { firstAt: () => undefined, of: () => [] },
    goals,
    funnels: { all: () => funnels },
    clock: { now: () => now },
  })
}

async function pointsAddUp({ stats, site, random, about, filters }: Trial): Promise<void> {
  const metrics = ["visits", "pageviews", "events", "conversions"] as const
  const query = { ...about, filters, metrics }
  const { points } = await stats.timeseries(site, { ...query, interval: random.pick(["hour", "day", "week", "month"]) })
  const summary = await stats.summary(site, query)
  const added = metrics.map((metric) => [metric, sum(points.map((point) => point[metric]!))])
  expect(Object.fromEntries(added), JSON.stringify(query)).toEqual(summary.metrics)
}

async function pageRowsAddUp({ stats, site, about, filters }: Trial): Promise<void> {
  const query = { ...about, filters, metrics: ["pageviews"] }
  const { rows, total_rows } = await stats.breakdown(site, { ...query, dimension: "page", limit: 100 })
  const { metrics } = await stats.summary(site, query)
  expect(rows.length).toBe(total_rows)
  expect(sum(rows.map(({ pageviews }) => pageviews!)), JSON.stringify(query)).toBe(metrics.pageviews!)
}

async function rowsEqualSummaries({ stats, site, random, about, filters }: Trial): Promise<void> {
  const dimension = random.pick(FLAT_DIMENSIONS)
  const by = { dimension, ...(dimension === "property" && { property: somePropertyKey(random) }) }
  const metrics = random.some(
    rowMetrics(
      dimension,
      filters.some((filter) => filter.dimension === "page"),
    ),
    1,
    10,
  )
  const { rows } = await stats.breakdown(site, { ...about, ...by, filters, metrics, limit: 100 })
  for (const { value, label: _, truncated, share: __, ...row } of random.some(rows, 0, 5)) {
    if (truncated) continue
    const query = { ...about, filters: [...filters, { ...by, operator: "is", values: [value] }], metrics }
    const summary = await stats.summary(site, query)
    expect(row, `${site.id} ${JSON.stringify(query)}`).toEqual(summary.metrics)
  }
}

/** Large rows keep their order, no other rows appear, and a comparison is shown only if the earlier row was large enough. */
async function smallRowsAreLeftOut({ stats, site, random, about, filters }: Trial): Promise<void> {
  const dimension = random.pick(FLAT_DIMENSIONS)
  const by = { dimension, ...(dimension === "property" && { property: somePropertyKey(random) }) }
  const minVisitors = random.pick([2, 3, 5])
  const metrics = ["visitors", "events"]
  const query = { ...about, ...by, filters, metrics, limit: 100, compare: "previous_period" }
  const whole = await stats.breakdown(site, query, { comparesRows: true })
  if (whole.total_rows > whole.rows.length) return
  const rows = whole.rows
    .filter(({ visitors = 0 }) => visitors >= minVisitors)
    .map(({ comparison, ...row }) => ((comparison?.metrics.visitors ?? 0) >= minVisitors ? { ...row, comparison } : row))
  const large = await stats.breakdown(site, query, { comparesRows: true, minVisitors })
  expect(large, JSON.stringify({ query, minVisitors })).toMatchObject({ rows, total_rows: rows.length, has_more: false })
  expect(large.rows.map(({ comparison }) => comparison !== undefined)).toEqual(rows.map((row) => "comparison" in row))
  const page = await stats.breakdown(site, { ...query, limit: 2, offset: 1 }, { comparesRows: true, minVisitors })
  expect(page.rows).toEqual(large.rows.slice(1, 3))
}

/** Returns all metrics that the dimension allows, except `conversion_rate` by event and property (metrics.md 11). */
function rowMetrics(dimension: Dimension, hasPage: boolean): FlatMetric[] {
  const isOfEvents = ["event", "goal", "property", "title"].includes(dimension)
  const ofVisits: FlatMetric[] = ["bounce_rate", "visit_duration", "views_per_visit", "engaged_time"]
  const ofPages: FlatMetric[] = ["time_on_page", "scroll_depth", "exit_rate"]
  return FLAT_METRICS.filter((metric) => {
    if (metric === "conversion_rate") return dimension !== "event" && dimension !== "property"
    if (ofVisits.includes(metric)) return !isOfEvents
    return !ofPages.includes(metric) || hasPage || dimension === "page"
  })
}

async function comparisonsAreSummaries({ stats, site, random, about, filters }: Trial): Promise<void> {
  const metrics = random.some(["visitors", "visits", "pageviews", "bounce_rate", "visit_duration", "views_per_visit", "revenue"], 1, 7)
  const comparing = { compare: random.pick(["previous_period", "previous_year"]), match_weekday: random.chance(0.5) }
  const { comparison, metrics: shown } = await stats.summary(site, { ...about, filters, metrics, ...comparing })
  const { from, to } = comparison!.range
  const before = await stats.summary(site, { ...about, from, to, filters, metrics })
  expect(comparison!.metrics).toEqual(before.metrics)
  const changed = Object.entries(comparison!.metrics).filter(([, old]) => old !== 0)
  const changes = changed.map(([metric, old]) => [
    metric,
    changeOf(Math.round(shown[metric as FlatMetric]! * 10_000), Math.round(old * 10_000)),
  ])
  expect(comparison!.change_percent).toEqual(Object.fromEntries(changes))
}

/** Returns (new − old) / old in percent with one decimal. */
const changeOf = (value: number, old: number): number =>
  old < 0 ? rounded(100 * (old - value), -old, 1) : rounded(100 * (value - old), old, 1)

async function savedFunnelsEqualInline(world: World, { stats, site, about }: Trial, saved: Funnel): Promise<void> {
  const { steps, order, window_hours } = saved
  const inline = {
    steps: steps.map(({ type, match, value }) => ({ type, match, value })),
    order,
    ...(window_hours !== null && { window_hours }),
  }
  const {
    funnel_id,
    name: _,
    ...shown
  } = await statsOf(world, Date.parse("2030-01-01"), [saved]).funnel(site, { ...about, funnel_id: saved.id })
  expect(funnel_id).toBe(saved.id)
  const { name: __, ...other } = await stats.funnel(site, { ...about, ...inline })
  expect(shown).toEqual(other)
}

function someSavedFunnel(random: Random, time: Time, world: World, site: Site): Funnel {
  const { steps, order } = someFunnel(random, time, (siteId) => world.visits(siteId))
  // A saved wildcard pattern must contain a star.
  const patterns = steps.map((step) => (step.match === "wildcard" ? { ...step, value: `${step.value}*` } : step))
  const named = patterns.map((step) => ({ ...step, name: step.value }))
  const window_hours = random.pick([null, 1, 24])
  return { id: 5, site_id: site.id, name: "Saved", steps: named, order, window_hours, created_at: 0, updated_at: 0, version: 1 }
}

test.each(Array.from({ length: TIMES.length }, (_, i) => SEED * 1_000 + i))(
  "keeps the promises of the public API in every state of the store, seed %d",
  async (seed) => {
    const random = seededRandom(seed)
    const time = TIMES[seed % TIMES.length]!
    using world = new World(random, time)
    const stats = statsOf(world, Date.parse("2030-01-01"), [])
    for (const [name, reach] of STATES) {
      await reach(world, random)
      try {
        for (let left = ROUNDS; left > 0; left--) await checkAll(world, stats, random, time)
      } catch (error) {
        const refused = error instanceof AppError ? JSON.stringify(error.members.errors) : ""
        throw new Error(`${name}, seed ${seed}, ${time.day}:\n${error instanceof Error ? error.message : error} ${refused}`)
      }
    }
  },
  { timeout: 600_000 },
)

async function checkAll(world: World, stats: Stats, random: Random, time: Time): Promise<void> {
  const facts = someSite(random)
  const site = sites.find(({ id }) => id === facts.id)!
  const about = { ...someDays(random, time), timezone: someZone(random, time) }
  const trial = { stats, site, random, time, about, filters: someFlatFilters(random, facts) }
  await pointsAddUp(trial)
  await pageRowsAddUp(trial)
  await rowsEqualSummaries(trial)
  await comparisonsAreSummaries(trial)
  await smallRowsAreLeftOut(trial)
  await savedFunnelsEqualInline(world, trial, someSavedFunnel(random, time, world, site))
}
