import { currencyDecimals } from "../../domain/currency.ts"
import { currencyStyle } from "../../domain/currency-style.ts"
import { dimensionFacts } from "../../domain/dimension.ts"
import type { Metric } from "../../domain/metric.ts"
import type { Key, Query, Row, Table } from "../../domain/query.ts"
import type { AnswerRow, AnswerValue } from "../../domain/query-answer.ts"
import type { Partner } from "../parse/array-query.ts"
import { queryLabel } from "../parse/buckets.ts"
import { changePercent } from "../parse/compare.ts"

/** Metrics whose value is null, and not 0, when nothing was measured (api.md 7.6). */
const UNMEASURED: readonly Metric[] = [
  "time_on_page",
  "time_on_page_median",
  "scroll_depth",
  "total_revenue",
  "average_revenue",
  "lcp_p75",
  "inp_p75",
  "cls_p75",
  "fcp_p75",
  "ttfb_p75",
]

/** Creates the formatter for the rows of a query: values in the order of the request, texts at full length. */
export function rowFormatter({ groupings, metrics, timezone, site }: Query) {
  const money = moneyTexts(site.revenueCurrency)
  const decimals = currencyDecimals(site.revenueCurrency) ?? 2

  const label = (key: Key, place: number): string => {
    const grouping = groupings[place]!
    // The keys of a time grouping are starts of buckets.
    if (grouping.by === "time") return queryLabel(Number(key), grouping.interval, timezone)
    return key === null ? dimensionFacts(grouping.dimension).missing[1] : String(key)
  }
  const value = (number: number | null, place: number): AnswerValue => {
    if (number === null || !metrics[place]!.endsWith("_revenue")) return number
    const amount = number / 10 ** decimals
    return { value: amount, currency: site.revenueCurrency, ...money(amount) }
  }
  return {
    labels: (keys: readonly Key[]) => keys.map(label),
    values: (numbers: readonly (number | null)[]) => numbers.map(value),
  }
}
type RowFormatter = ReturnType<typeof rowFormatter>

export const shownRow = ({ keys, values }: Row, formatter: RowFormatter): AnswerRow => ({
  dimensions: formatter.labels(keys),
  metrics: formatter.values(values),
})

/**
 * Returns rows with the rows they are compared with. A row whose values did not occur in the compared range is compared with zeros, a
 * row whose time bucket does not exist there with nulls.
 */
export function comparedRows(rows: readonly Row[], compared: Table, partner: Partner, query: Query): AnswerRow[] {
  const formatter = rowFormatter(query)
  const byKeys = new Map(compared.rows.map(({ keys, values }) => [JSON.stringify(keys), values]))
  const zeros = query.metrics.map((metric) => (UNMEASURED.includes(metric) ? null : 0))
  const time = query.groupings.findIndex((grouping) => grouping.by === "time")
  return rows.map((row) => {
    const keys = partner(row.keys)
    const before = keys ? (byKeys.get(JSON.stringify(keys)) ?? zeros) : zeros.map(() => null)
    const dimensions = keys ? formatter.labels(keys) : formatter.labels(row.keys).map((label, place) => (place === time ? null : label))
    const change = row.values.map((value, i) => changeOf(value, before[i] ?? null))
    return { ...shownRow(row, formatter), comparison: { dimensions, metrics: formatter.values(before), change } }
  })
}

const changeOf = (value: number | null, before: number | null): number | null =>
  value === null || before === null ? null : (changePercent(value, before) ?? null)

/** An amount as text: `€500.2M` and `€500,200,700.25`. */
interface MoneyTexts {
  short: string
  long: string
}

/** Creates the function that formats amounts of a currency, in major units, in English. */
export function moneyTexts(currency: string): (amount: number) => MoneyTexts {
  const style = currencyStyle(currency)
  const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 }
  const short = new Intl.NumberFormat("en-US", { ...style, ...digits, notation: "compact" })
  const long = new Intl.NumberFormat("en-US", style)
  return (amount) => ({ short: short.format(amount), long: long.format(amount) })
}
