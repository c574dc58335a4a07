/** The report on revenue in SQL, over the transactions of `revenue-data.ts`. */

import { DAY_MS } from "../stores/reports.ts"
import type { Dialect } from "../stores/sql.ts"
import { CSV_COLUMNS, priceOf } from "./data.ts"

/** The figures of a report that are compared, for each of its ranges. */
export interface RevenueAnswer {
  totals: [currency: string, gross: string, refunds: string, orders: number, refundedOrders: number, customers: number][]
  series: [day: string, currency: string, gross: string, refunds: string, orders: number][]
  groups: [source: string, currency: string, gross: string, refunds: string, orders: number][]
  visitors: [source: string, visitors: number, rate: number][]
  allVisitors: [visitors: number, rate: number][]
}

type All = Dialect["all"]

export async function loadTransactions(all: All, csv: string, [from, to]: readonly [number, number]): Promise<void> {
  const types = ["uinteger", "bigint", "uinteger", "bigint", "boolean", "bigint", "varchar", "varchar", "uinteger", "boolean"]
  const columns = CSV_COLUMNS.map((name, i) => `'${name}': '${types[i]}'`).join(", ")
  await all("create type currency as enum ('EUR', 'USD', 'JPY')")
  await all(`create table transactions as select * replace (currency::currency as currency, coalesce(source, '') as source)
    from read_csv('${csv}', header = true, columns = {${columns}}) order by at_ms`)
  await all("create table rates (day bigint, currency currency, price bigint)")
  const rows: string[] = []
  for (let day = from / DAY_MS - 1; day < to / DAY_MS; day++)
    for (const currency of ["USD", "JPY"]) rows.push(`(${day}, '${currency}', ${priceOf(currency, day)})`)
  await all(`insert into rates values ${rows.join(", ")}`)
}

/** Answers for one range; amounts are converted to euros on the day of the sale, rounded half to even, or each currency is on its own. */
export async function revenueInSql(all: All, [from, to]: readonly [number, number], isConverted: boolean): Promise<RevenueAnswer> {
  const source = isConverted ? convertedRows(from, to) : `select * from transactions where at_ms >= ${from} and at_ms < ${to}`
  const sums = await all(`with t as (${source})
    select grouping(day)::integer, grouping(source)::integer, day, source, currency::varchar,
      sum(amount) filter (is_sale)::varchar, sum(amount) filter (not is_sale)::varchar, (count(*) filter (is_sale))::integer,
      case when grouping(day) = 1 and grouping(source) = 1 then (count(distinct sale_id) filter (not is_sale))::integer end,
      case when grouping(day) = 1 and grouping(source) = 1 then (count(distinct visitor) filter (is_sale))::integer end
    from (select *, at_ms // ${DAY_MS} as day from t) group by grouping sets ((day, currency), (source, currency), (currency))`)
  const people = await all(`with buyers as (select distinct visitor from transactions where is_sale and at_ms >= ${from} and at_ms < ${to})
    select grouping(s.text)::integer, s.text, count(distinct v.visitor)::integer, count(distinct b.visitor)::integer
    from visits v join texts s on s.dictionary = 'source' and s.id = v.source left join buyers b on b.visitor = v.visitor
    where v.start >= ${from} and v.start < ${to} group by grouping sets ((s.text), ())`)
  const text = (value: unknown, currency: unknown): string => major(BigInt(String(value ?? 0)), String(currency))
  const figures = (row: (typeof sums)[number]) => [text(row[5], row[4]), text(row[6], row[4]), Number(row[7])] as const
  const named = (value: unknown): string => (value === "" ? "Direct" : String(value))
  const rate = (converted: unknown, visitors: unknown): number => Math.round((1_000 * Number(converted)) / Number(visitors)) / 10
  return {
    totals: sums
      .filter(([noDay, noSource]) => noDay === 1 && noSource === 1)
      .map((row) => [String(row[4]), ...figures(row), Number(row[8]), Number(row[9])]),
    series: sums
      .filter(([noDay]) => noDay === 0)
      .map((row) => [new Date(Number(row[2]) * DAY_MS).toISOString().slice(0, 10), String(row[4]), ...figures(row)]),
    groups: sums.filter(([, noSource]) => noSource === 0).map((row) => [named(row[3]), String(row[4]), ...figures(row)]),
    visitors: people
      .filter(([none]) => none === 0)
      .map(([, key, visitors, buyers]) => [named(key), Number(visitors), rate(buyers, visitors)]),
    allVisitors: people.filter(([none]) => none === 1).map(([, , visitors, buyers]) => [Number(visitors), rate(buyers, visitors)]),
  }
}

function convertedRows(from: number, to: number): string {
  return `select t.* exclude (amount, currency), 'EUR' as currency, case when t.currency = 'EUR' then t.amount else
      dividend // price + case when 2 * (dividend % price) > price or (2 * (dividend % price) = price and (dividend // price) % 2 = 1) then 1 else 0 end
      end as amount
    from (select *, sale_ms // ${DAY_MS} as sale_day, amount * case currency when 'JPY' then 100000 else 1000 end as dividend
      from transactions where at_ms >= ${from} and at_ms < ${to}) t
    left join rates r on r.day = t.sale_day and r.currency = t.currency`
}

function major(minor: bigint, currency: string): string {
  if (currency === "JPY") return String(minor)
  const digits = String(minor).padStart(3, "0")
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}
