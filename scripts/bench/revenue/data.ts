/** Transactions and visits of a shop, the same for every contender. */
import { closeSync, openSync, writeSync } from "node:fs"
import { join } from "node:path"
import { plugins } from "../../../plugins/index.ts"
import { packTransactions } from "../../../plugins/revenue/packed/chunks.ts"
import { pluginFacts } from "../../../src/plugin/load.ts"
import { eventSchemas } from "../../../src/store/events/database.ts"
import { openEventStore } from "../../../src/store/events/events.ts"
import { raw, sql } from "../../../src/store/sql.ts"
import { type BenchVisit, NO_TRAITS } from "../stores/data.ts"
import { DAY_MS } from "../stores/reports.ts"

export interface RevenueRange {
  from: number
  to: number
  /** Transactions in it. */
  count: number
  /** Transactions and visits before it. */
  before: { transactions: number; visits: number }
}

/** Returns two ranges of as many days, the earlier one first. */
export function rangesUntil(end: number, days: number, [earlier, later]: readonly [number, number]): [RevenueRange, RevenueRange] {
  const middle = end - days * DAY_MS
  const before = { transactions: earlier, visits: visitsIn(earlier) }
  return [
    { from: middle - days * DAY_MS, to: middle, count: earlier, before: { transactions: 0, visits: 0 } },
    { from: middle, to: end, count: later, before },
  ]
}

/** A transaction. One in eleven is the refund of an earlier one. */
interface BenchTransaction {
  /** From 1. */
  id: number
  at: number
  /** Of a refund, that of its sale. */
  saleId: number
  saleAt: number
  isSale: boolean
  amount: number
  currency: string
  /** The last touch, and an earlier one of the same visitor. "" is a direct visit. */
  source: string
  earlier: string | undefined
  isVerified: boolean
  /** Number of the visit, from 0. Each is of another visitor. */
  visit: number
}

const SOURCES = ["Google", "Google", "Google", "", "", "newsletter", "Bing", "Reddit", "YouTube", "GitHub", "Hacker News", "DuckDuckGo"]
const CURRENCIES = ["EUR", "EUR", "EUR", "EUR", "EUR", "EUR", "EUR", "USD", "USD", "JPY"]
const REFUND_EVERY = 11
const REFUNDED_BEFORE = 5

const mixed = (number: number, salt: number): number => Math.imul(Math.imul(number + 1, 0x9e3779b1) ^ salt, 0x85ebca6b) >>> 8
const pick = <Value>(list: readonly Value[], number: number): Value => list[number % list.length]!

/** Returns a transaction of a range by its number, from 0. */
function transactionAt(number: number, range: RevenueRange): BenchTransaction {
  const { from, to, count, before } = range
  const at = from + Math.floor((number * (to - from)) / count)
  const id = before.transactions + number + 1
  if (number % REFUND_EVERY === REFUND_EVERY - 1) {
    const sale = transactionAt(number - REFUNDED_BEFORE, range)
    return { ...sale, id, at, isSale: false, amount: Math.ceil(sale.amount / (1 + (number % 2))) }
  }
  const order = number - Math.floor(number / REFUND_EVERY)
  const visit = before.visits + visitOf(order)
  return {
    ...{ id, at, saleId: id, saleAt: at, isSale: true },
    amount: 500 + (mixed(number, 1) % 20_000),
    currency: pick(CURRENCIES, mixed(number, 2)),
    source: sourceOf(visit),
    earlier: mixed(number, 3) % 3 === 0 ? "newsletter" : undefined,
    isVerified: mixed(number, 4) % 5 < 2,
    visit,
  }
}

/** Of three visits, one has no order, one has one and one has two. */
const visitOf = (order: number): number => order + (order % 3 === 2 ? 0 : 1)
const visitsIn = (transactions: number): number => transactions - Math.floor(transactions / REFUND_EVERY) + 1
const sourceOf = (visit: number): string => pick(SOURCES, mixed(visit, 5))

/** Yields batches of visits, each with a pageview. */
export function* visitsOf({ from, to, count, before }: RevenueRange): Generator<BenchVisit[]> {
  const visits = visitsIn(count)
  const batch = 5_000
  for (let first = 0; first < visits; first += batch)
    yield Array.from({ length: Math.min(batch, visits - first) }, (_, i) => {
      const number = first + i
      const source = sourceOf(before.visits + number)
      return {
        ...{ siteId: 1, visitor: before.visits + number + 1, kind: "rotating" },
        traits: { ...NO_TRAITS, source, channel: source === "" ? "Direct" : "Referral", country: "DE", device: "Desktop" },
        events: [
          {
            ...{
              at: from + Math.floor((number * (to - from)) / visits),
              name: "pageview",
              page: `/products/${number % 60}`,
              title: "Shop",
            },
            ...{ hostname: "shop.example.com", interactive: true, props: [] },
          },
        ],
      }
    })
}

/** The price of one euro on a day, in thousandths. */
export const priceOf = (currency: string, day: number): number => (currency === "USD" ? 1_050 : 160_000) + (mixed(day, 6) % 100)

const WRITE_BATCH = 5_000
/** Columns of the CSV file from which SQL contenders load the transactions. `source` is the last touch that is not direct. */
export const CSV_COLUMNS = [
  "id",
  "at_ms",
  "sale_id",
  "sale_ms",
  "is_sale",
  "amount",
  "currency",
  "source",
  "visitor",
  "is_verified",
] as const

/** Writes the transactions to the event store of a data folder, as the area of revenue stores them, and to a CSV file. Returns its path. */
export function writeTransactions(dataDir: string, ranges: readonly RevenueRange[]): string {
  const path = join(dataDir, "transactions.csv")
  const store = openEventStore(join(dataDir, "events.db"), { now: ranges.at(-1)!.to, schemas: eventSchemas(pluginFacts(plugins)) })
  const file = openSync(path, "w")
  writeSync(file, `${CSV_COLUMNS.join(",")}\n`)
  // Visitors were numbered in the order of their visits.
  const numberer = (names: readonly string[]) => names.map(Number)
  for (const batch of ranges.flatMap(batchesOf)) {
    const transactions = batch()
    store.rows((rows) => {
      for (const one of transactions) rows.run(insertOf(one))
      packTransactions(
        rows,
        1,
        transactions.map(({ id }) => id),
        numberer,
      )
    })
    writeSync(file, transactions.map(lineOf).join(""))
  }
  store.rows(({ run }) => {
    for (let day = ranges[0]!.from - DAY_MS; day < ranges.at(-1)!.to; day += DAY_MS)
      for (const quote of ["USD", "JPY"])
        run(sql`insert into revenue_rates (site_id, day, base, quote, rate, source)
          values (1, ${new Date(day).toISOString().slice(0, 10)}, 'EUR', ${quote}, ${(priceOf(quote, day / DAY_MS) / 1_000).toFixed(3)}, 'manual')`)
  })
  store.checkpoint("truncate")
  store.close()
  closeSync(file)
  return path
}

const batchesOf = (range: RevenueRange): (() => BenchTransaction[])[] =>
  Array.from({ length: Math.ceil(range.count / WRITE_BATCH) }, (_, batch) => () => {
    const first = batch * WRITE_BATCH
    return Array.from({ length: Math.min(WRITE_BATCH, range.count - first) }, (_, i) => transactionAt(first + i, range))
  })

function lineOf({ id, at, saleId, saleAt, isSale, amount, currency, source, earlier, visit, isVerified }: BenchTransaction): string {
  const credited = source || (earlier ?? "")
  return `${[id, at, saleId, saleAt, Number(isSale), amount, currency, credited, visit + 1, Number(isVerified)].join(",")}\n`
}

const COLUMNS = raw(
  ["site_id", "provider", "external_id", "type", "parent_id", "amount_minor", "currency", "trust", "occurred_at", "received_at", "visitor"]
    .concat(["visitor_kind", "visit_started_at", "is_announced", "dims_json", "touches_json"])
    .join(", "),
)

function insertOf({ id, at, saleId, isSale, amount, currency, source, earlier, isVerified, visit }: BenchTransaction) {
  const touch = (name: string, before: number) => ({
    ...{ at: at - before, sequence: before, ...(name && { source: name }), channel: name === "" ? "Direct" : "Referral", entry_page: "/" },
  })
  const touches = isSale ? [...(earlier ? [touch(earlier, 2_000)] : []), touch(source, 1_000)] : []
  const dims = isSale ? { ...(source && { source }), channel: source === "" ? "Direct" : "Referral", country: "DE", event: "purchase" } : {}
  return sql`insert into revenue_transactions (${COLUMNS}) values (1, 'stripe', ${`tx_${id}`}, ${isSale ? "sale" : "refund"},
    ${isSale ? null : saleId}, ${amount}, ${currency}, ${isVerified ? "webhook" : "client"}, ${at}, ${at},
    ${isSale ? String(visit) : null}, ${isSale ? "rotating" : null}, ${isSale ? at : null}, 1, ${JSON.stringify(dims)}, ${JSON.stringify(touches)})`
}
