/** The histogram of active days and engagement, in Footfall and in SQL. */
import { activeDays } from "../../../src/query/people/active-days.ts"
import { engagement } from "../../../src/query/people/engagement.ts"
import type { Duckdb } from "../stores/duckdb.ts"
import { DAY_MS } from "../stores/reports.ts"
import type { PeopleBench, PeopleCase } from "./people.ts"

const unwatched = () => {}

export function activeCases(bench: PeopleBench): PeopleCase[] {
  return [histogramOf(28, 60, bench), engagementOver(90, 150, bench)]
}

/** Returns the edges of whole days up to a time. */
const dayEdges = (days: number, end: number): number[] => Array.from({ length: days + 1 }, (_, day) => end - (days - day) * DAY_MS)

function histogramOf(window: number, barMs: number, { site, scope, end }: PeopleBench): PeopleCase {
  const [days, previous] = [dayEdges(window, end), dayEdges(window, end - window * DAY_MS)]
  const [from, before] = [days[0]!, previous[0]!]
  return {
    name: `histogram of ${window} days`,
    barMs,
    footfall(snapshot) {
      const { people, previous: earlier, tenths } = activeDays(snapshot, { site, scope, days, previous }, unwatched)
      return [people, earlier, tenths]
    },
    async duckdb(all) {
      // The bits of a number are faster than distinct days.
      const rows = await all(`
        with own as (
          select visitor,
            bit_count(bit_or(case when start >= ${from} then 1::uinteger << ((start - ${from}) // ${DAY_MS})::uinteger else 0 end)) as days,
            bit_count(bit_or(case when start < ${from} then 1::uinteger << ((start - ${before}) // ${DAY_MS})::uinteger else 0 end)) as earlier,
            sum(events) filter (where start >= ${from}) as events
          from visits where site_id = ${site.id} and start >= ${before} and start < ${end} group by visitor
        ), ranked as (select events, ntile(10) over (order by days desc, events desc) as tenth from own where days > 0)
        select 0 as list, days as place, count(*) as figure from own where days > 0 group by days
        union all select 1, earlier, count(*) from own where earlier > 0 group by earlier
        union all select 2, tenth, sum(events) from ranked group by tenth`)
      const lists = [window, window, 10].map((length) => new Array<number>(length).fill(0))
      for (const [list, place, figure] of rows) lists[Number(list)]![Number(place) - 1] = Number(figure)
      return lists
    },
  }
}

function engagementOver(days: number, barMs: number, { site, scope, end }: PeopleBench): PeopleCase {
  const edges = dayEdges(days + 1, end)
  const query = { site, scope, edges, days: dayEdges(days + 28, end) }
  return {
    name: `engagement over ${days} days`,
    barMs,
    footfall: (snapshot) => engagement(snapshot, query, unwatched).points.map((point) => Object.values(point)),
    duckdb: (all) => engagementInSql(all, site.id, { first: query.days[0]!, from: 28, days }),
  }
}

/**
 * Computes engagement by day. Each active day of a person adds the person to the windows that end on it and on the days after it, except
 * those that the previous active day already counts for: without a join of every day with the days before it.
 */
async function engagementInSql(all: Duckdb["all"], siteId: number, { first, from, days }: { first: number; from: number; days: number }) {
  const changes = (name: string, length: number) => `
    ${name} as (select day, sum(change) as change from (
      select greatest(day, coalesce(before + ${length}, day)) as day, 1 as change from pairs
      union all select day + ${length}, -1 from pairs) group by day)`
  const windowOf = (name: string) => `(select sum(change) from ${name} where ${name}.day <= point.day)`
  const rows = await all(`
    with seen as (select visitor, min(start - ${first}) // ${DAY_MS} as first from visits where site_id = ${siteId} group by visitor),
    active as (select distinct visitor, (start - ${first}) // ${DAY_MS} as day from visits where site_id = ${siteId} and start >= ${first}),
    pairs as materialized (
      select day, first, lag(day) over (partition by visitor order by day) as before from active join seen using (visitor)),
    ${changes("weekly", 7)}, ${changes("monthly", 28)},
    points as (
      select day, count(*) as dau, count(*) filter (where first = day) as new, count(*) filter (where before = day - 1) as back
      from pairs group by day)
    select dau, ${windowOf("weekly")}, ${windowOf("monthly")}, new, back, dau - new - back, lag(dau) over (order by day) - back
    from points point order by day`)
  return rows.slice(from, from + days).map((row) => row.map(Number))
}
