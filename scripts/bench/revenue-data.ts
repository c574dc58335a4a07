/** Transactions and visits of a shop, the same for every contender. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { plugins } from "../../plugins/index.ts"
import { packTransactions } from "../../plugins/revenue/transactions/chunks.ts"
import { pluginFacts } from "../../src/plugin/load.ts"
import { eventSchemas } from "../../src/store/events/database.ts"
import { openEventStore } from "../../src/store/events/events.ts"
import { raw, sql } from "../../src/store/sql.ts"
import { type BenchVisit, NO_TRAITS } from "./data.ts"
import { DAY_MS } from "./reports.ts"

export interface RevenueRange {
  from: number
  to: number
  /** Transactions in it. */
  count: number
}

/** A transaction. One in eleven is the refund of an earlier one. */
export interface BenchTransaction {
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

/** Returns a transaction by its number, from 0. */
export function transactionAt(number: number, { from, to, count }: RevenueRange): BenchTransaction {
  const at = from + Math.floor((number * (to - from)) / count)
  if (number % REFUND_EVERY === REFUND_EVERY - 1) {
    const sale = transactionAt(number - REFUNDED_BEFORE, { from, to, count })
    return { ...sale, id: number + 1, at, isSale: false, amount: Math.ceil(sale.amount / (1 + (number % 2))) }
  }
  const order = number - Math.floor(number / REFUND_EVERY)
  return {
    ...{ id: number + 1, at, saleId: number + 1, saleAt: at, isSale: true },
    amount: 500 + (mixed(number, 1) % 20_000),
    currency: pick(CURRENCIES, mixed(number, 2)),
    source: sourceOf(visitOf(order)),
    earlier: mixed(number, 3) % 3 === 0 ? "newsletter" : undefined,
    isVerified: mixed(number, 4) % 5 < 2,
    visit: visitOf(order),
  }
}

/** Of three visits, one has no order, one has one and one has two. */
const visitOf = (order: number): number => order + (order % 3 === 2 ? 0 : 1)
const sourceOf = (visit: number): string => pick(SOURCES, mixed(visit, 5))

/** Yields batches of visits, each with a pageview. */
export function* visitsOf({ from, to, count }: RevenueRange): Generator<BenchVisit[]> {
  const visits = count - Math.floor(count / REFUND_EVERY) + 1
  const batch = 5_000
  for (let first = 0; first < visits; first += batch)
    yield Array.from({ length: Math.min(batch, visits - first) }, (_, i) => {
      const number = first + i
      const source = sourceOf(number)
      return {
        ...{ siteId: 1, visitor: number + 1, kind: "rotating" },
        traits: { ...NO_TRAITS, source, channel: source === "" ? "Direct" : "Referral", country: "DE", device: "Desktop" },
        events: [
          {
            ...{ at: from + Math.floor((number * (to - from)) / visits), name: "pageview", page: `/products/${number % 60}`, title: "Shop" },
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
export const CSV_COLUMNS = ["id", "at_ms", "sale_id", "sale_ms", "is_sale", "amount", "currency", "source", "visitor", "is_verified"] as const

/** Writes the transactions to the event store of a data folder, as the area of revenue stores them, and to a CSV file. Returns its path. */
export function writeTransactions(dataDir: string, range: RevenueRange): string {
  const store = openEventStore(join(dataDir, "events.db"), { now: range.to, schemas: eventSchemas(pluginFacts(plugins)) })
  const lines = [CSV_COLUMNS.join(",")]
  // Visitors were numbered in the order of their visits.
  const numberer = (names: readonly string[]) => names.map(Number)
  for (let first = 0; first < range.count; first += WRITE_BATCH) {
    const batch = Array.from({ length: Math.min(WRITE_BATCH, range.count - first) }, (_, i) => transactionAt(first + i, range))
    store.rows((rows) => {
      for (const one of batch) {
        rows.run(insertOf(one))
        const fields = [one.id, one.at, one.saleId, one.saleAt, Number(one.isSale), one.amount, one.currency, one.source || (one.earlier ?? ""), one.visit + 1]
        lines.push([...fields, Number(one.isVerified)].join(","))
      }
      packTransactions(rows, 1, batch.map(({ id }) => id), numberer)
    })
  }
  store.rows(({ run }) => {
    for (let day = range.from - DAY_MS; day < range.to; day += DAY_MS)
      for (const quote of ["USD", "JPY"])
        run(sql`insert into revenue_rates (site_id, day, base, quote, rate, source)
          values (1, ${new Date(day).toISOString().slice(0, 10)}, 'EUR', ${quote}, ${(priceOf(quote, day / DAY_MS) / 1_000).toFixed(3)}, 'manual')`)
  })
  store.checkpoint("truncate")
  store.close()
  const path = join(dataDir, "transactions.csv")
  writeFileSync(path, `${lines.join("\n")}\n`)
  return path
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
