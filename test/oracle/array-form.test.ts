import { expect, test } from "bun:test"
import type { ApiKey } from "../../src/domain/key.ts"
import type { Key, Query, Row } from "../../src/domain/query.ts"
import type { QueryAnswer } from "../../src/domain/query-answer.ts"
import { DEFAULT_SETTINGS, type Site } from "../../src/domain/site.ts"
import { aggregate, comparedTables } from "../../src/query/measure/aggregate.ts"
import { createSiteDirectory } from "../../src/services/sites/directory.ts"
import { createQueryForm, type QueryForm } from "../../src/services/stats/query-form.ts"
import { ORACLE_QUERIES, SEED } from "../size.ts"
import { type ArrayQuery, missingText, someArrayQuery } from "./array-queries.ts"
import { bucketStarts } from "./days.ts"
import { STATES } from "./life.ts"
import { answer } from "./oracle.ts"
import { comparedDays, rangeOf } from "./periods.ts"
import { someComparison } from "./queries.ts"
import { type Random, seededRandom } from "./random.ts"
import { rounded } from "./rounding.ts"
import { TIMES, type Time } from "./traffic.ts"
import { SITES } from "./values.ts"
import { World } from "./world.ts"

/**
 * Compares queries in the array form, through parser and service, with the oracle: every metric, dimension, filter tree, order,
 * page and comparison.
 */
const ROUNDS = Math.ceil(ORACLE_QUERIES / 60)
/** Later than all events, so that no range is clipped. */
const NOW = Date.parse("2030-01-01")

const KEY: ApiKey = {
  id: 1,
  organization_id: 1,
  name: "Oracle",
  prefix: "ff_",
  last4: "0000",
  scopes: ["stats:read"],
  site_ids: null,
  ip_allow: [],
  rate_limit: null,
  owner_user_id: null,
  created_by: null,
  created_at: 0,
  expires_at: null,
  expired_at: null,
  last_used_at: null,
  last_used_ip_prefix: null,
  last_used_agent: null,
  revoked_at: null,
  version: 1,
}

/** Returns a query service over the current state of the world's store, running on this thread. */
function formOf(world: World): QueryForm {
  const directory = createSiteDirectory({ hasEventsFrom: () => false })
  for (const { id, revenueCurrency, bounceEngagedSeconds } of SITES) directory.put(siteOf(id, revenueCurrency, bounceEngagedSeconds))
  return createQueryForm({
    hasLateEvents: () => false,
    engine: {
      aggregate: async (query) => aggregate(world.snapshot(query.site.id), query, () => {}),
      compare: async (query) => comparedTables(world.snapshot(query.site.id), query, () => {}),
    },
    imports: { firstAt: () => undefined },
    sites: { directory, list: async (organizationId) => directory.ofOrganization(organizationId) },
    goals: { rules: (siteId) => [...SITES.find(({ id }) => id === siteId)!.goals] },
    clock: { now: () => NOW },
  })
}

const siteOf = (id: number, revenue_currency: string, bounce_engaged_seconds: number): Site => ({
  id,
  organization_id: 1,
  name: `Site ${id}`,
  hosts: [`${id}.example.com`],
  hosts_listed_at: {},
  timezone: "Europe/Berlin",
  retention_days: null,
  revenue_currency,
  tracking_id: `site-${id}`,
  settings: { ...DEFAULT_SETTINGS, bounce_engaged_seconds },
  identity_history: [],
  created_at: 0,
  updated_at: 0,
  version: 1,
})

async function checkRows(world: World, form: QueryForm, { query, body }: ArrayQuery): Promise<void> {
  const expected = answer(world.visits(query.site.id), query)
  const found = await form.answer(KEY, { ...body, include: { total_rows: true } })
  expect(found.results.map(withoutTexts)).toEqual(expected.rows.map((row) => shownRow(row, query)))
  expect(found.meta.total_rows).toBe(expected.totalRows)
  const warned = found.meta.metric_warnings
  expect(Object.keys(warned ?? {})).toEqual(
    expected.otherCurrencies.length > 0 ? query.metrics.filter((metric) => metric.endsWith("_revenue")) : [],
  )
}

/** "Each row gets `comparison`": from the row with the same values and the bucket at the same position. */
async function checkComparison(world: World, form: QueryForm, random: Random, time: Time, sample: ArrayQuery): Promise<void> {
  const { query, body, days } = sample
  if (!days) return
  const comparison = someComparison(random, time)
  const compared = comparedDays(days, comparison)
  const range = rangeOf(compared, query.timezone)
  const old = answer(world.visits(query.site.id), { ...query, range, order: [], limit: 1e9, offset: 0 })
  const comparisons = {
    mode: comparison.mode === "previous_year" ? "year_over_year" : comparison.mode,
    match_day_of_week: comparison.matchWeekday,
    ...(comparison.mode === "custom" && { date_range: [comparison.from.toString(), comparison.to.toString()] }),
  }
  const rows = answer(world.visits(query.site.id), query).rows
  const found = await form.answer(KEY, { ...body, include: { comparisons } })
  const timePlace = query.groupings.findIndex(({ by }) => by === "time")
  const expected = rows.map((row) => {
    const keys = partnerKeys(row.keys, timePlace, query, range)
    const before = old.rows.find((each) => JSON.stringify(each.keys) === JSON.stringify(keys))
    return { row, keys, values: keys ? (before?.values ?? query.metrics.map(valueOfNothing)) : query.metrics.map(() => null) }
  })
  expect(found.results.map(withoutTexts)).toEqual(
    expected.map(({ row, keys, values }) => ({
      ...shownRow(row, query),
      comparison: {
        dimensions: keys
          ? keys.map((key, i) => labelOf(key, i, query))
          : row.keys.map((key, i) => (i === timePlace ? null : labelOf(key, i, query))),
        metrics: shownRow({ keys: [], values }, query).metrics,
        change: row.values.map((value, i) => changeOf(value, values[i] ?? null)),
      },
    })),
  )
}

/** Returns the bucket at the same position, or undefined if the compared range has fewer. */
function partnerKeys(
  keys: readonly Key[],
  time: number,
  { groupings, range, timezone }: Query,
  compared: Query["range"],
): Key[] | undefined {
  const grouping = groupings[time]
  if (grouping?.by !== "time") return [...keys]
  const place = bucketStarts(range, grouping.interval, timezone).indexOf(Number(keys[time]))
  const start = bucketStarts(compared, grouping.interval, timezone)[place]
  return start === undefined ? undefined : keys.with(time, start)
}

const valueOfNothing = (metric: string): number | null => (/^(time_on_page|scroll_depth)|_revenue$|_p75$/.test(metric) ? null : 0)

/** "(new − old) / old in percent with one decimal", for money in minor units, `null` if the old value is 0 or null. */
function changeOf(value: number | null, old: number | null): number | null {
  if (value === null || old === null || old === 0) return null
  const [now, before] = [Math.round(value * 10_000), Math.round(old * 10_000)]
  return before < 0 ? rounded(100 * (before - now), -before, 1) : rounded(100 * (now - before), before, 1)
}

/** Removes `short` and `long`, which other tests check with written-out values. */
function withoutTexts(row: QueryAnswer["results"][number]) {
  const values = (list: typeof row.metrics) => list.map((value) => (typeof value === "object" && value ? { amount: value.value } : value))
  const { comparison, ...own } = row
  return { ...own, metrics: values(own.metrics), ...(comparison && { comparison: { ...comparison, metrics: values(comparison.metrics) } }) }
}

function shownRow({ keys, values }: Row, query: Query) {
  return {
    dimensions: keys.map((key, i) => labelOf(key, i, query)),
    metrics: values.map((value, i) => (value !== null && query.metrics[i]!.endsWith("_revenue") ? { amount: value / 100 } : value)),
  }
}

function labelOf(key: Key, place: number, { groupings, timezone }: Query): string {
  const grouping = groupings[place]!
  if (grouping.by === "dimension") return key === null ? missingText(grouping.dimension) : String(key)
  const local = wallClock(Number(key), timezone)
  if (grouping.interval !== "hour" && grouping.interval !== "minute") return local.slice(0, 10)
  const text = `${local.slice(0, 10)} ${grouping.interval === "hour" ? `${local.slice(11, 13)}:00` : local.slice(11, 16)}:00`
  return isRepeated(Number(key), timezone) ? `${text}${offsetOf(Number(key), timezone)}` : text
}

const zonedText = (at: number, zone: string) =>
  new Temporal.ZonedDateTime(BigInt(at) * 1_000_000n, zone).toString({ timeZoneName: "never" })
const wallClock = (at: number, zone: string) => zonedText(at, zone).slice(0, 19)
const offsetOf = (at: number, zone: string) => zonedText(at, zone).slice(-6)

/** Reports whether the same wall-clock time occurred in the two hours before, checking each quarter of an hour. */
const isRepeated = (at: number, zone: string): boolean =>
  Array.from({ length: 8 }, (_, i) => at - (i + 1) * 900_000).some((before) => wallClock(before, zone) === wallClock(at, zone))

test.each(Array.from({ length: TIMES.length }, (_, i) => SEED * 1_000 + i))(
  "the array form agrees with the oracle in every state of the store, seed %d",
  async (seed) => {
    const random = seededRandom(seed)
    const time = TIMES[seed % TIMES.length]!
    using world = new World(random, time)
    const form = formOf(world)
    for (const [name, reach] of STATES) {
      await reach(world, random)
      for (let left = ROUNDS; left > 0; left--) {
        const sample = someArrayQuery(random, time, (siteId) => world.visits(siteId))
        if (!sample) continue
        try {
          await checkRows(world, form, sample)
          await checkComparison(world, form, random, time, sample)
        } catch (error) {
          const refused = JSON.stringify((error as { members?: unknown }).members ?? "")
          const context = `${name}, seed ${seed}, ${time.day}: ${JSON.stringify(sample.body)}`
          throw new Error(`${context}\n${error instanceof Error ? error.message : error} ${refused}`)
        }
      }
    }
  },
  { timeout: 600_000 },
)
