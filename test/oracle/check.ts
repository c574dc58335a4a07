import { expect } from "bun:test"
import { PERIODS } from "../../src/domain/period.ts"
import type { Query } from "../../src/domain/query.ts"
import { funnel } from "../../src/query/funnel/funnel.ts"
import { aggregate } from "../../src/query/measure/aggregate.ts"
import { comparedRange } from "../../src/query/parse/compare.ts"
import { daysRange, periodRange } from "../../src/query/parse/period.ts"
import { realtime } from "../../src/query/realtime/realtime.ts"
import type { VisitRow } from "../../src/query/rows/rows.ts"
import { rowBatches } from "../query/engine/row-batches.ts"
import { realtimeAnswer } from "./current.ts"
import { difference, smaller } from "./difference.ts"
import { answer } from "./oracle.ts"
import { comparedDays, last24Hours, periodDays, rangeOf } from "./periods.ts"
import { someComparison, someDays, someFunnel, someMoment, someQuery, someRows, someSite, someZone } from "./questions.ts"
import type { Random } from "./random.ts"
import { rowsAnswer } from "./records.ts"
import { funnelAnswer } from "./steps.ts"
import type { Time } from "./traffic.ts"
import type { World } from "./world.ts"

export interface ReportOptions {
  world: World
  random: Random
  time: Time
}

const never = () => {}

/** A table of the engine against that of the oracle; a difference is shown by the smallest question that has it. */
export function checkQuery(world: World, query: Query): void {
  const visits = world.visits(query.site.id)
  const differs = (asked: Query) => difference(answer(visits, asked), aggregate(world.snapshot(asked.site.id), asked, never), asked)
  if (differs(query) === undefined) return
  let least = query
  for (let next: Query | undefined = query; next; next = smaller(least).find((each) => differs(each) !== undefined)) least = next
  const { site, range, ...asked } = least
  throw new Error(`${differs(least)}\n${JSON.stringify({ site: site.id, from: new Date(range.from), to: new Date(range.to), ...asked })}`)
}

export const checkTable = ({ world, random, time }: ReportOptions): void =>
  checkQuery(
    world,
    someQuery(random, time, (siteId) => world.visits(siteId)),
  )

export function checkFunnel({ world, random, time }: ReportOptions): void {
  const query = someFunnel(random, time, (siteId) => world.visits(siteId))
  const expected = funnelAnswer(world.visits(query.site.id), query)
  expect(funnel(world.snapshot(query.site.id), query, never), JSON.stringify(query)).toEqual(expected)
}

export function checkRealtime({ world, random, time }: ReportOptions): void {
  const site = someSite(random)
  const visits = world.visits(site.id)
  const query = { site, now: someMoment(random, visits, time), limit: random.pick([2, 50]) }
  expect(realtime(world.snapshot(site.id), query, never), `${site.id} ${query.now}`).toEqual(realtimeAnswer(visits, query))
}

/** Raw rows: the visits, and that their visitors are as many and as different as they were. */
export function checkRows({ world, random, time }: ReportOptions): void {
  const query = someRows(random, time, (siteId) => world.visits(siteId))
  const found = [...rowBatches(world.snapshot(query.site.id), query)].flat()
  const ordered = found.sort((a, b) => a.started_at - b.started_at || a.sequence - b.sequence)
  const shown = ordered.map(({ visitor: _, sequence: __, ...visit }: VisitRow) => visit)
  expect(shown, JSON.stringify(query)).toEqual(rowsAnswer(world.visits(query.site.id), query))
}

/** A question over a range of days and over the range it is compared with. */
export function checkComparison({ world, random, time }: ReportOptions): void {
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
  const asked = { ...query, timezone, groupings, order: [], fillBuckets: query.fillBuckets && groupings.length === 1 }
  checkQuery(world, { ...asked, range: base.range })
  checkQuery(world, { ...asked, range: compared.range })
}

/** The ranges that periods stand for at any moment of any zone. */
export function checkPeriods({ world, random, time }: ReportOptions): void {
  const timezone = someZone(random, time)
  const now = someMoment(random, world.visits(1), time)
  for (const period of PERIODS) {
    if (period === "all") continue
    const found = periodRange(period, { now, timezone })
    const told = `${period} ${timezone} ${now}`
    if (period === "24h") {
      const last = last24Hours(now, timezone)
      expect(found.range, told).toEqual(last)
      const before = comparedRange(found, { mode: "previous_period", matchWeekday: false })
      expect(before.range, told).toEqual({ from: last.from - (last.to - last.from), to: last.from })
    } else {
      const days = periodDays(period, now, timezone)
      expect(found, told).toEqual({ ...days, range: rangeOf(days, timezone), timezone, hours: false })
    }
  }
}
