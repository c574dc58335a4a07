import { expect, test } from "bun:test"
import { dimensionFacts, FLAT_DIMENSIONS } from "../../src/domain/dimension.ts"
import type { FLAT_METRICS } from "../../src/domain/metric.ts"
import type { Site } from "../../src/domain/site.ts"
import { createInsights, type Insights } from "../../src/services/stats/insights.ts"
import { createStats, type Stats } from "../../src/services/stats/stats.ts"
import { ORACLE_QUERIES, SEED } from "../size.ts"
import { engineOf, sites } from "./engine.ts"
import { type FlatFilter, someFlatFilters, somePropertyKey } from "./filters.ts"
import { STATES } from "./life.ts"
import { someDays, someSite, someZone } from "./queries.ts"
import { type Random, seededRandom } from "./random.ts"
import { TIMES, type Time } from "./traffic.ts"
import { SITES } from "./values.ts"
import { World } from "./world.ts"

/**
 * Compares the queries that only the dashboard makes with reports that the oracle verifies: suggested values are the rows of a
 * breakdown, and a row is compared with the row of the same value in the other range. Random queries through the services.
 */
const ROUNDS = Math.ceil(ORACLE_QUERIES / 150)

interface Trial {
  stats: Stats
  insights: Insights
  site: Site
  random: Random
  about: Record<string, unknown>
  filters: FlatFilter[]
}

function servicesOf(world: World): { stats: Stats; insights: Insights } {
  const goals = { rules: (siteId: number) => [...SITES.find(({ id }) => id === siteId)!.goals] }
  const clock = { now: () => Date.parse("2030-01-01") }
  const options = {
    engine: engineOf(world),
    imports: { firstAt: () => undefined, of: () => [] },
    goals,
    funnels: { all: () => [] },
    clock,
    hasLateEvents: () => false,
  }
  const stats = createStats(options)
  return { stats, insights: createInsights({ ...options, stats }) }
}

async function valuesAreRows({ stats, insights, site, random, about, filters }: Trial): Promise<void> {
  const dimension = random.pick(FLAT_DIMENSIONS.filter((name) => name !== "goal"))
  const by = { dimension, ...(dimension === "property" && { property: somePropertyKey(random) }) }
  const q = random.pick(["", "", "a", "E", "/", "1", "zzz"])
  const { data } = await insights.values(site, { ...about, ...by, filters, q, limit: 100 })
  // A breakdown omits some event names, and countries are also suggested by name.
  if (dimension === "event" || (dimension === "country" && q !== "")) return
  const query = { ...about, ...by, filters, metrics: ["visitors"], limit: 100 }
  const { rows, total_rows } = await stats.breakdown(site, query)
  const holds = (value: string) => q === "" || (value !== missing && value.toLowerCase().includes(q.toLowerCase()))
  const [missing] = dimensionFacts(dimension).missing
  // A visit may start in the range and have its event with the value after the end: a row without visitors and no suggestion.
  const found = rows.filter(({ value, visitors }) => visitors! > 0 && holds(value)).map(({ share: _, ...row }) => row)
  expect(total_rows).toBeLessThanOrEqual(100)
  expect(data, `${site.id} ${q} ${JSON.stringify(query)}`).toEqual(found as typeof data)
}

async function comparedRowsAreRows({ stats, site, random, about, filters }: Trial): Promise<void> {
  const dimension = random.pick(FLAT_DIMENSIONS.filter((name) => name !== "event"))
  const by = { dimension, ...(dimension === "property" && { property: somePropertyKey(random) }) }
  const metrics = random.some(["visitors", "visits", "pageviews", "events", "conversions"], 1, 5)
  const query = { ...about, ...by, filters, metrics, limit: 100 }
  const trial = { comparesRows: true }
  const { rows, comparison } = await stats.breakdown(site, { ...query, compare: "previous_period", limit: random.pick([3, 100]) }, trial)
  const { from, to } = comparison!.range
  const before = await stats.breakdown(site, { ...query, from, to })
  for (const row of rows) {
    const old = before.rows.find(({ value }) => value === row.value)
    const shown = [...metrics, ...(metrics.includes("visitors") ? ["share"] : [])] as const
    const values = shown.map((metric) => [metric, old?.[metric as (typeof FLAT_METRICS)[number]] ?? 0])
    expect(row.comparison!.metrics, `${site.id} ${row.value} ${JSON.stringify(query)}`).toEqual(Object.fromEntries(values))
  }
}

test.each(Array.from({ length: TIMES.length }, (_, i) => SEED * 2_000 + i))(
  "the dashboard's own queries agree with the reports in every state of the store, seed %d",
  async (seed) => {
    const random = seededRandom(seed)
    const time = TIMES[seed % TIMES.length]!
    using world = new World(random, time)
    const services = servicesOf(world)
    for (const [name, reach] of STATES) {
      await reach(world, random)
      try {
        for (let left = ROUNDS * 4; left > 0; left--) await checkAll(services, random, time)
      } catch (error) {
        throw new Error(`${name}, seed ${seed}, ${time.day}:\n${error instanceof Error ? error.message : error}`)
      }
    }
  },
  { timeout: 600_000 },
)

async function checkAll(services: { stats: Stats; insights: Insights }, random: Random, time: Time): Promise<void> {
  const facts = someSite(random)
  const site = sites.find(({ id }) => id === facts.id)!
  const about = { ...someDays(random, time), timezone: someZone(random, time) }
  const trial = { ...services, site, random, about, filters: someFlatFilters(random, facts) }
  await valuesAreRows(trial)
  await comparedRowsAreRows(trial)
}
