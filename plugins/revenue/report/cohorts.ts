import {
  type CellState,
  callerOf,
  cellStates,
  dayStart,
  flatLabel,
  formatMoney,
  hasLongKeys,
  localDay,
  type RowCondition,
  sql,
  type TransactionType,
} from "#plugin"
import { addSums, byOrders, type CurrencySums, netOf, ordersOf, sumsOf } from "./figures.ts"
import type { Asked } from "./report.ts"
import { modelBit, type RevenueRequest } from "./request.ts"
import type { Cohort } from "./responses.ts"
import { conversionTo, keptOf } from "./sums.ts"

const SALES: RowCondition = { column: "type", values: ["sale"] }
/** Visitors who are recognized over periods. */
const LONG_KEYS: RowCondition = { column: "visitor_kind", values: ["device", "user"] }

/**
 * Returns revenue by period of the first purchase. Only people with a user id or device id count; a site without any is refused, because
 * each of their purchases would look like a first one.
 */
export async function cohortSums(asked: Asked, { by, periods }: NonNullable<RevenueRequest["cohorts"]>): Promise<Cohort[]> {
  const { host, site, request, options } = asked
  const { open, target } = request
  const [first, last] = [open.parsed.range.from, open.parsed.range.to].map((day) => Temporal.PlainDate.from(day)) as [
    Temporal.PlainDate,
    Temporal.PlainDate,
  ]
  const edges = periodEdges(by, periodOf(first, by), localDay(open.now, site.timezone), site.timezone)
  const end = dayStart(periodOf(last, by).add({ [`${by}s`]: 1 }), site.timezone)
  const cohorts = edges.findIndex((edge) => edge >= end)
  const range = { from: edges[0]!, to: edges.at(-1)! }
  // Throws for a site that recognizes visitors within a day, week or month only, unless it has people from an earlier mode.
  const counted = await host.services.people.resolve({
    site,
    range,
    ...(hasLongKeys(site.settings.identity_mode) && { restrict: "identified" as const }),
  })
  const { scope } = await host.services.people.resolve({ site, range, restrict: "identified" })
  counted.identity(await host.engine.coverage({ site: scope.site, scope, range }, callerOf(site, options)))
  const conversion = target === undefined ? undefined : await conversionTo(target, asked, { from: 0, to: range.to })
  const result = await host.rows.amounts(
    {
      site: { id: site.id },
      statement: sql`select rows from revenue_chunks where site_id = ${site.id} order by chunk`,
      time: { column: "at", edges },
      keep: [...keptOf(request, modelBit("last_touch")), LONG_KEYS],
      ...(open.parsed.filter && { filter: open.parsed.filter }),
      ...(conversion && { conversion }),
      first: SALES,
      sums: [["first", "bucket", "currency", "type", ...(conversion ? ["converted"] : [])]],
      distinct: [
        { by: ["first"], of: "visitor", among: SALES },
        { by: ["first", "bucket"], of: "visitor" },
      ],
    },
    open.caller,
  )
  const count = cohorts === -1 ? edges.length - 1 : cohorts
  const [sizes, buyers] = result.distinct.map((list) => new Map(list.map(({ keys, count: people }) => [keys.join(" "), people])))
  const sums = new Map<string, CurrencySums>()
  for (const { keys, ...added } of result.sums[0]!) {
    const [cohort, bucket, currency, type, isConverted] = keys as [number, number, string, TransactionType, number]
    if (conversion && isConverted === 0) continue
    const cell = sums.get(`${cohort} ${bucket}`) ?? new Map()
    sums.set(`${cohort} ${bucket}`, cell)
    addSums(sumsOf(cell, target ?? currency), type, added)
  }
  const states = cellStates(
    { edges, cohorts: count, periods, isSame: true, counting: "exact", elapsed: false, now: open.now },
    counted.recognizes,
  )
  const least = options.seesPeople ? 0 : Math.max(site.settings.min_group, options.minVisitors ?? 0)
  const isSmall = (people: number): boolean => people > 0 && people < least
  return Array.from({ length: count }, (_, cohort): Cohort => {
    const size = sizes!.get(String(cohort)) ?? 0
    return {
      cohort: flatLabel(edges[cohort]!, by, site.timezone),
      size: isSmall(size) ? null : size,
      cells: states[cohort]!.map((known, period) => {
        const key = `${cohort} ${cohort + period}`
        const state: CellState =
          (known === "complete" || known === "partial") && (isSmall(size) || isSmall(buyers!.get(key) ?? 0)) ? "suppressed" : known
        return { period, state, by_currency: state === "complete" || state === "partial" ? figures(sums.get(key)) : null }
      }),
    }
  })
}

const figures = (sums: CurrencySums = new Map()): NonNullable<Cohort["cells"][number]["by_currency"]> =>
  [...sums].sort(byOrders).map(([currency, each]) => ({ currency, net: formatMoney(netOf(each), currency), orders: ordersOf(each) }))

type By = NonNullable<RevenueRequest["cohorts"]>["by"]

/** Returns the first day of the period that contains a day. */
function periodOf(day: Temporal.PlainDate, by: By): Temporal.PlainDate {
  if (by === "week") return day.subtract({ days: day.dayOfWeek - 1 })
  return by === "month" ? day.with({ day: 1 }) : day
}

/** Returns the starts of the periods from a day on, and the end of the one that contains today. */
function periodEdges(by: By, first: Temporal.PlainDate, today: Temporal.PlainDate, timezone: string): number[] {
  const edges = [dayStart(first, timezone)]
  for (let step = 1, day = first; Temporal.PlainDate.compare(day, today) <= 0; step++) {
    day = first.add({ [`${by}s`]: step })
    edges.push(dayStart(day, timezone))
  }
  return edges
}
