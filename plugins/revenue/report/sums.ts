import {
  type AmountGroup,
  bucketsOf,
  type Conversion,
  dayStart,
  type LocalRange,
  localDay,
  type Range,
  type RowCondition,
  sql,
  type TransactionType,
} from "#plugin"
import { touchColumn } from "../packed/packed.ts"
import { addSums, type CurrencySums, minorFactor, noSums, type Sums, sumsOf } from "./figures.ts"
import type { Asked } from "./report.ts"
import { type Group, modelBit, type RevenueRequest, TOUCH_GROUPS, VISIT_GROUPS } from "./request.ts"

/** What the transactions of a range add up to. */
export interface RangeSums {
  /** By currency, unconverted. */
  currencies: CurrencySums
  /** What the report shows: by currency, or in the one to which amounts are converted. */
  shown: CurrencySums
  /** Amounts that have no rate, in their own currency. Empty without conversion. */
  unconverted: CurrencySums
  /** The same by day of the sale, latest first. */
  missingRates: { day: string; currency: string; sums: Sums }[]
  unattributed: CurrencySums
  buckets: CurrencySums[]
  /** By value of the group. */
  groups: Map<string | number, CurrencySums>
  /** By currency, and of the converted amounts by `CONVERTED`. */
  counts: Map<string, Counts>
  /** Ordinals of the visitors with a sale. */
  visitors: Float64Array
  hasUnverified: boolean
  /** Kinds of the visitors of the transactions. */
  visitorKinds: ReadonlySet<string>
}

/** Distinct visitors with a sale, and orders without a visitor; orders with a refund. */
export interface Counts {
  customers: number
  refundedOrders: number
}

export const CONVERTED = ""

const SALES: RowCondition = { column: "type", values: ["sale"] }
const RETURNS: RowCondition = { column: "type", values: ["refund", "dispute"] }

/** Conditions on all transactions of a report. */
export const keptOf = ({ isVerified, recurring }: RevenueRequest, bit: number): RowCondition[] => [
  { column: "models", bits: bit },
  ...(isVerified ? [{ column: "trust", values: ["server", "webhook"] }] : []),
  ...(recurring ? [{ column: "recurring", values: [recurring] }] : []),
]

/** Column of packed transactions with the value of a group. Undefined for groups that are computed otherwise. */
export function columnOf(group: Group): string | undefined {
  const touch = TOUCH_GROUPS.find((name) => name === group)
  if (touch) return touchColumn(touch)
  if (VISIT_GROUPS.some((name) => name === group)) return group
  return { goal: "event", link: "link_id", recurring: "recurring", product: undefined, cohort: undefined }[group as "goal"]
}

export const timeColumn = ({ basis }: Pick<RevenueRequest, "basis">): "at" | "sale_at" => (basis === "order_date" ? "sale_at" : "at")

/** Statement that reads the chunks with transactions of a range. */
export const chunksOf = (siteId: number, request: Pick<RevenueRequest, "basis">, { from, to }: Range) =>
  request.basis === "order_date"
    ? sql`select rows from revenue_chunks where site_id = ${siteId} and max_sale_at >= ${from} and min_sale_at < ${to} order by chunk`
    : sql`select rows from revenue_chunks where site_id = ${siteId} and max_at >= ${from} and min_at < ${to} order by chunk`

/** Adds up the transactions of a range. `group` is a column of packed transactions. */
export async function sumRange(asked: Asked, { range, timezone }: LocalRange, group: string | undefined): Promise<RangeSums> {
  const { host, site, request } = asked
  const { edges } = bucketsOf(range, request.interval, timezone)
  const { target, open } = request
  const conversion = target === undefined ? undefined : await conversionTo(target, asked, range)
  const converted = conversion ? ["converted"] : []
  const columns = ["currency", "type", ...converted]
  const bit = modelBit(request.model)
  const result = await host.rows.amounts(
    {
      site: { id: site.id },
      statement: chunksOf(site.id, request, range),
      time: { column: timeColumn(request), edges: [...edges] },
      keep: keptOf(request, bit),
      ...(open.parsed.filter && { filter: open.parsed.filter }),
      ...(conversion && { conversion }),
      isShared: request.model === "linear",
      sums: [
        ["bucket", "is_attributed", "is_known", "trust", "visitor_kind", ...columns],
        ...(group ? [[group, "is_attributed", ...columns]] : []),
        ...(conversion ? [["converted", "rate_day", "currency", "type"]] : []),
      ],
      distinct: [
        { by: ["currency"], of: "visitor", among: SALES },
        { by: ["currency"], of: "sale_id", among: RETURNS },
        ...(conversion
          ? [
              { by: converted, of: "visitor", among: SALES },
              { by: converted, of: "sale_id", among: RETURNS },
            ]
          : []),
      ],
      visitorsOf: SALES,
    },
    open.caller,
  )
  const sums: RangeSums = {
    ...{ currencies: new Map(), shown: new Map(), unconverted: new Map(), unattributed: new Map(), groups: new Map(), counts: new Map() },
    buckets: Array.from({ length: edges.length - 1 }, () => new Map()),
    visitors: result.visitors,
    missingRates: conversion ? missingRates(result.sums.at(-1)!, conversion, site.timezone) : [],
    hasUnverified: result.sums[0]!.some(({ keys }) => keys[3] === "client"),
    visitorKinds: new Set(result.sums[0]!.map(({ keys }) => String(keys[4])).filter((kind) => kind !== "")),
  }
  for (const { keys, original, ...added } of result.sums[0]!) {
    const [bucket, isAttributed, isKnown, , , currency, type, isConverted] = keys as TotalKeys
    const own = { ...added, amount: original ?? added.amount }
    addTo(sums.currencies, currency, type, own)
    if (isKnown === 0) countsOf(sums.counts, currency).customers += added.weight / 100
    if (target !== undefined && isConverted === 0) {
      addTo(sums.unconverted, currency, type, own)
      continue
    }
    if (target !== undefined && isKnown === 0) countsOf(sums.counts, CONVERTED).customers += added.weight / 100
    addTo(sums.shown, target ?? currency, type, added)
    addTo(sums.buckets[bucket]!, target ?? currency, type, added)
    if (isAttributed === 0) addTo(sums.unattributed, target ?? currency, type, added)
  }
  for (const { keys, ...added } of group ? result.sums[1]! : []) {
    const [value, isAttributed, currency, type, isConverted] = keys as [string | number, number, string, TransactionType, number]
    if (target !== undefined && isConverted === 0) continue
    const key = isAttributed === 0 && value === "" ? UNATTRIBUTED : value
    const own = sums.groups.get(key) ?? new Map()
    sums.groups.set(key, own)
    addTo(own, target ?? currency, type, added)
  }
  const [customers = [], returned = [], allCustomers = [], allReturned = []] = result.distinct
  for (const { keys, count } of customers) countsOf(sums.counts, String(keys[0])).customers += count
  for (const { keys, count } of returned) countsOf(sums.counts, String(keys[0])).refundedOrders += count
  for (const { keys, count } of allCustomers) if (keys[0] === 1) countsOf(sums.counts, CONVERTED).customers += count
  for (const { keys, count } of allReturned) if (keys[0] === 1) countsOf(sums.counts, CONVERTED).refundedOrders += count
  return sums
}

function missingRates(groups: readonly AmountGroup[], { edges }: Conversion, timezone: string): RangeSums["missingRates"] {
  const found = new Map<string, RangeSums["missingRates"][number]>()
  for (const { keys, ...added } of groups) {
    const [isConverted, at, currency, type] = keys as [number, number, string, TransactionType]
    if (isConverted === 1) continue
    const day = localDay(edges[at]!, timezone).toString()
    const missing = found.get(`${day} ${currency}`) ?? { day, currency, sums: noSums() }
    found.set(`${day} ${currency}`, missing)
    addSums(missing.sums, type, added)
  }
  return [...found.values()].sort((a, b) => (`${a.day} ${a.currency}` < `${b.day} ${b.currency}` ? 1 : -1))
}

/** Returns the counts of a currency, and creates them. */
function countsOf(all: Map<string, Counts>, currency: string): Counts {
  const found = all.get(currency) ?? { customers: 0, refundedOrders: 0 }
  all.set(currency, found)
  return found
}

type TotalKeys = [
  bucket: number,
  isAttributed: number,
  isKnown: number,
  trust: string,
  kind: string,
  currency: string,
  type: TransactionType,
  isConverted: number,
]

/** Key of the transactions whose visit is unknown. */
export const UNATTRIBUTED = "(unattributed)"

const addTo = (all: CurrencySums, currency: string, type: TransactionType, added: Pick<AmountGroup, "amount" | "weight">): void =>
  addSums(sumsOf(all, currency), type, added)

/** Returns the factors to a currency on the days of the rates of a range: the days of the sales, which can be earlier than the range. */
export async function conversionTo(target: string, { host, rates, site, request }: Asked, range: Range): Promise<Conversion> {
  const { caller } = request.open
  const bounds =
    request.basis === "order_date"
      ? sql`max_sale_at >= ${range.from} and min_sale_at < ${range.to}`
      : sql`max_at >= ${range.from} and min_at < ${range.to}`
  const [span] = await host.rows.read<{ first: number | null; last: number | null }>(
    sql`select min(min_sale_at) as first, max(max_sale_at) as last from revenue_chunks where site_id = ${site.id} and ${bounds}`,
    caller,
  )
  if (!span || span.first === null || span.last === null) return { column: "sale_at", edges: [], factors: {} }
  const [from, to] = [localDay(span.first, site.timezone), localDay(span.last, site.timezone)]
  const lookup = await rates.lookup(site, from.toString(), to.toString(), caller)
  const days = Array.from({ length: from.until(to).days + 1 }, (_, i) => from.add({ days: i }))
  const lists = await host.rows.read<{ currencies: string }>(
    sql`select distinct currencies from revenue_chunks where site_id = ${site.id} and ${bounds}`,
    caller,
  )
  const currencies = [...new Set(lists.flatMap(({ currencies: codes }) => codes.split(" ")))]
  const factors = currencies.map((currency) => {
    const list = days.map((day) => {
      const factor = lookup(currency, target, day.toString())
      return factor ? minorFactor(factor, currency, target) : null
    })
    return [currency, list] as const
  })
  const edges = [...days, to.add({ days: 1 })].map((day) => dayStart(day, site.timezone))
  return { column: "sale_at", edges, factors: Object.fromEntries(factors) }
}
