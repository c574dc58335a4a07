/** Cohorts of people and their return, in Footfall and in SQL. */
import type { RetentionQuery } from "../../../src/domain/people.ts"
import { retention } from "../../../src/query/retention/retention.ts"
import type { Duckdb } from "../stores/duckdb.ts"
import { DAY_MS } from "../stores/reports.ts"
import type { PeopleBench, PeopleCase } from "./people.ts"

const unwatched = () => {}

export function retentionCases(bench: PeopleBench): PeopleCase[] {
  return [
    anyEvent("12 weeks", { days: 7, cohorts: 12, barMs: 120, ratio: 3 }, bench),
    anyEvent("30 days", { days: 1, cohorts: 30, barMs: 30 }, bench),
  ]
}

interface Shape {
  /** Days of a period. */
  days: number
  cohorts: number
  barMs: number
  ratio?: number
}

/** First time over all stored data, any event. */
function anyEvent(length: string, { days, cohorts, ...bars }: Shape, { site, scope, end }: PeopleBench): PeopleCase {
  const edges = Array.from({ length: cohorts + 1 }, (_, i) => end - (cohorts - i) * days * DAY_MS)
  const query: RetentionQuery = {
    ...{ site, scope, edges, cohorts, periods: cohorts, returnCount: 1, isSame: true },
    ...{ mode: "first_time", firstEver: false, counting: "exact", elapsed: false },
  }
  return {
    name: `retention of ${length}`,
    ...bars,
    footfall: (snapshot) => retention(snapshot, query, unwatched).rows.map(({ counts }) => counts),
    duckdb: (all) => retentionInSql(all, { siteId: site.id, from: edges[0]!, period: days * DAY_MS, cohorts }),
  }
}

/**
 * Counts cohorts with a bit for the time before the first period and one for each period, which is faster than distinct pairs. A visit
 * has its first and its last event in the periods of its ends, and is shorter than a period.
 */
async function retentionInSql(
  all: Duckdb["all"],
  { siteId, from, period, cohorts }: { siteId: number; from: number; period: number; cohorts: number },
): Promise<number[][]> {
  const bit = (time: string) => `(1::bigint << (case when ${time} < ${from} then 0 else (${time} - ${from}) // ${period} + 1 end)::int)`
  const rows = await all(`
    with own as (
      select bit_or(${bit("start")} | ${bit("start + duration")}) as bits from visits where site_id = ${siteId} group by visitor
    ), patterns as (
      select bits, log2(bits & -bits)::int as first, count(*) as people from own where bits & 1 = 0 group by bits
    )
    select first - 1, later, sum(people) from patterns, range(${cohorts}) periods(later)
    where (bits >> (first + later)::int) & 1 = 1 group by 1, 2`)
  const cells = Array.from({ length: cohorts }, () => new Array<number>(cohorts).fill(0))
  for (const [cohort, later, people] of rows) cells[Number(cohort)]![Number(later)] = Number(people)
  return cells
}
