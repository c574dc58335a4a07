import { expect } from "bun:test"
import { PERIODS } from "../../src/domain/period.ts"
import type { FunnelQuery, Query } from "../../src/domain/query.ts"
import type { ListedVisit } from "../../src/domain/visit-list.ts"
import { funnel } from "../../src/query/funnel/funnel.ts"
import { aggregate } from "../../src/query/measure/aggregate.ts"
import { comparedRange } from "../../src/query/parse/compare.ts"
import { daysRange, periodRange } from "../../src/query/parse/period.ts"
import { realtime } from "../../src/query/realtime/realtime.ts"
import type { VisitRow } from "../../src/query/rows/rows.ts"
import { visitTimeline } from "../../src/query/visits/timeline.ts"
import { visitList } from "../../src/query/visits/visits.ts"
import { rowBatches } from "../query/engine/row-batches.ts"
import { realtimeAnswer } from "./current.ts"
import { difference, smaller } from "./difference.ts"
import { answer } from "./oracle.ts"
import { comparedDays, last24Hours, periodDays, rangeOf } from "./periods.ts"
import { someComparison, someDays, someFunnel, someImportedQuery, someMoment, someQuery, someRows, someSite, someZone } from "./queries.ts"
import type { Random } from "./random.ts"
import { rowsAnswer } from "./records.ts"
import { funnelAnswer } from "./steps.ts"
import type { Time } from "./traffic.ts"
import { shownVisit, timelineAnswer, visitsAnswer } from "./visits.ts"
import type { World } from "./world.ts"

export interface Trial {
  world: Pick<World, "visits" | "imports" | "snapshot">
  random: Random
  time: Time
  /** Queries that were checked before. */
  earlier: { tables: Query[]; funnels: FunnelQuery[] }
}

const neverStop = () => {}

/** Compares a table of the engine with the oracle's. Reports a difference by the smallest query that reproduces it. */
export function checkQuery(world: Trial["world"], query: Query): void {
  const visits = world.visits(query.site.id)
  const differs = (variant: Query) =>
    difference(
      answer(visits, variant, world.imports(query.site.id)),
      aggregate(world.snapshot(variant.site.id), variant, neverStop),
      variant,
    )
  if (differs(query) === undefined) return
  let smallest = query
  for (let next: Query | undefined = query; next; next = smaller(smallest).find((each) => differs(each) !== undefined)) smallest = next
  const { site, range, ...variant } = smallest
  throw new Error(
    `${differs(smallest)}\n${JSON.stringify({ site: site.id, from: new Date(range.from), to: new Date(range.to), ...variant })}`,
  )
}

/** Checks a query that a table of imported totals can mostly answer. */
export const checkImported = ({ world, random, time }: Trial): void => checkQuery(world, someImportedQuery(random, time))

export function checkTable({ world, random, time, earlier }: Trial): void {
  const query = someQuery(random, time, (siteId) => world.visits(siteId))
  checkQuery(world, query)
  earlier.tables.push(query)
}

/** Checks earlier queries again, in the present state and often over another range, because parts of their results can be kept. */
function checkAgain({ world, random, time, earlier }: Trial): void {
  const query = random.pick(earlier.tables)
  const { range } = someQuery(random, time, (siteId) => world.visits(siteId))
  const isByMinute = query.groupings.some((grouping) => grouping.by === "time" && grouping.interval === "minute")
  checkQuery(world, isByMinute || random.chance(0.3) ? query : { ...query, range })
}

export function checkFunnel({ world, random, time, earlier }: Trial): void {
  const query = someFunnel(random, time, (siteId) => world.visits(siteId))
  compareFunnel(world, query)
  earlier.funnels.push(query)
  const again = random.pick(earlier.funnels)
  compareFunnel(world, random.chance(0.3) ? again : { ...again, range: query.range })
}

function compareFunnel(world: Trial["world"], query: FunnelQuery): void {
  const expected = funnelAnswer(world.visits(query.site.id), query)
  expect(funnel(world.snapshot(query.site.id), query, neverStop), JSON.stringify(query)).toEqual(expected)
}

export function checkRealtime({ world, random, time }: Trial): void {
  const site = someSite(random)
  const visits = world.visits(site.id)
  const query = { site, now: someMoment(random, visits, time), limit: random.pick([2, 50]) }
  expect(realtime(world.snapshot(site.id), query, neverStop), `${site.id} ${query.now}`).toEqual(realtimeAnswer(visits, query))
}

/** Compares the raw visits. */
export function checkRows({ world, random, time }: Trial): void {
  const query = someRows(random, time, (siteId) => world.visits(siteId))
  const found = [...rowBatches(world.snapshot(query.site.id), query)].flat()
  const ordered = found.sort((a, b) => a.started_at - b.started_at || a.sequence - b.sequence)
  const shown = ordered.map(({ visitor: _, sequence: __, ...visit }: VisitRow) => visit)
  expect(shown, JSON.stringify(query)).toEqual(rowsAnswer(world.visits(query.site.id), query))
}

/** Compares the list of recorded visits, page by page, and the timelines of the visits on it. */
export function checkVisits({ world, random, time }: Trial): void {
  const rows = someRows(random, time, (siteId) => world.visits(siteId))
  const bounds = {
    ...(random.chance(0.3) && { minDurationMs: random.pick([1, 5_000, 60_000]) }),
    ...(random.chance(0.3) && { minPageviews: random.whole(1, 4) }),
    ...(random.chance(0.2) && { hasRevenue: true }),
  }
  const query = { ...rows, bounds, limit: random.pick([1, 3, 50]), count: random.chance(0.3) }
  const { site } = query
  const expected = visitsAnswer(world.visits(site.id), query)
  const found: ListedVisit[] = []
  for (let before: ListedVisit | undefined, hasMore = true; hasMore; before = found.at(-1)) {
    const page = visitList(world.snapshot(site.id), { ...query, ...(before && { before }) }, neverStop)
    expect(page.total, JSON.stringify(query)).toBe(query.count ? expected.length : undefined)
    expect(page.visits.length, JSON.stringify(query)).toBe(Math.min(query.limit, expected.length - found.length))
    found.push(...page.visits)
    hasMore = page.hasMore
  }
  const shown = found.map(({ visitor: _, sequence: __, ...visit }) => visit)
  expect(shown, JSON.stringify(query)).toEqual(expected.map((visit) => shownVisit(visit, site)))
  for (const i of random.some([...found.keys()], 0, Math.min(3, found.length))) {
    const whole = timelineAnswer(expected[i]!, site)
    const [offset, limit] = random.pick([
      [0, 200],
      [random.whole(0, whole.length), random.whole(1, 3)],
    ] as const)
    expect(
      visitTimeline(world.snapshot(site.id), { site, sequence: found[i]!.sequence, offset, limit }, neverStop),
      `${offset} ${limit}`,
    ).toEqual({
      visit: found[i]!,
      events: whole.slice(offset, offset + limit),
      hasMore: whole.length > offset + limit,
    })
  }
}

/** Checks a query over a range of days and over the range that it is compared with. */
export function checkComparison({ world, random, time }: Trial): void {
  const timezone = someZone(random, time)
  const days = someDays(random, time)
  const comparison = someComparison(random, time)
  const base = daysRange(Temporal.PlainDate.from(days.from), Temporal.PlainDate.from(days.to), timezone)
  const compared = comparedRange(base, comparison)
  const expected = comparedDays(days, comparison)
  expect(base.range, `${timezone} ${JSON.stringify(days)}`).toEqual(rangeOf(days, timezone))
  expect(compared, `${timezone} ${JSON.stringify([days, comparison])}`).toEqual({
    ...expected,
    range: rangeOf(expected, timezone),
    timezone,
    hours: false,
  })
  const query = someQuery(random, time, (siteId) => world.visits(siteId))
  const groupings = query.groupings.filter((grouping) => grouping.by !== "time" || grouping.interval !== "minute")
  const variant = { ...query, timezone, groupings, order: [], fillBuckets: query.fillBuckets && groupings.length === 1 }
  checkQuery(world, { ...variant, range: base.range })
  checkQuery(world, { ...variant, range: compared.range })
}

/** Checks the range of every period at a random moment in a random zone. */
export function checkPeriods({ world, random, time }: Trial): void {
  const timezone = someZone(random, time)
  const now = someMoment(random, world.visits(1), time)
  const counted = [`${random.whole(1, 3_000)}d`, `${random.whole(1, 100)}mo`] as const
  for (const period of [...PERIODS, "last_week" as const, ...counted]) {
    if (period === "all") continue
    const found = periodRange(period, { now, timezone })
    const context = `${period} ${timezone} ${now}`
    if (period === "24h") {
      const last = last24Hours(now, timezone)
      expect(found.range, context).toEqual(last)
      const before = comparedRange(found, { mode: "previous_period", matchWeekday: false })
      expect(before.range, context).toEqual({ from: last.from - (last.to - last.from), to: last.from })
    } else {
      const days = periodDays(period, now, timezone)
      expect(found, context).toEqual({ ...days, range: rangeOf(days, timezone), timezone, hours: false })
    }
  }
}

/** Checks and how often each runs per table. */
const CHECKS: readonly [check: (trial: Trial) => void, often: number][] = [
  [checkTable, 1],
  [checkAgain, 0.5],
  [checkImported, 1],
  [checkFunnel, 0.5],
  [checkRealtime, 0.25],
  [checkRows, 0.1],
  [checkVisits, 0.25],
  [checkComparison, 0.1],
  [checkPeriods, 0.05],
]

/** Runs all checks in one state of a store, with so many tables. An error names the state. */
export function checkState(trial: Trial, tables: number, state: string): void {
  try {
    for (const [check, often] of CHECKS) for (let left = Math.ceil(often * tables); left > 0; left--) check(trial)
  } catch (error) {
    throw new Error(`${state}, ${trial.time.day}:\n${error instanceof Error ? error.message : error}`)
  }
}
