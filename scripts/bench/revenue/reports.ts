/** The report on revenue over HTTP, beside DuckDB over the same rows, and the memory of a CSV download. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ReportResponse } from "../../../plugins/revenue/report/responses.ts"
import { FROM_SOURCE, prepareSite, prepareUser, type Served, serveFootfall } from "../../instance.ts"
import { type Client, signedIn } from "../people/writes.ts"
import { openDuckdb } from "../stores/duckdb.ts"
import { openFootfall } from "../stores/footfall.ts"
import { DAY_MS } from "../stores/reports.ts"
import { count, ms, table, times } from "../table.ts"
import { quantile, timed } from "../timing.ts"
import { rangesUntil, visitsOf, writeTransactions } from "./data.ts"
import { loadTransactions, type RevenueAnswer, revenueInSql } from "./sql.ts"

export interface RevenueReportOptions {
  /** Transactions in the range. */
  transactions: number
  /** Transactions in the range that it is compared with. */
  compared: number
  end: number
}

const DAYS = 30
const BARS = new Map([
  [100_000, 150],
  [1_000_000, 1_200],
])
const MEMORY_EVERY_MS = 50

export async function measureRevenueReports({ transactions, compared, end }: RevenueReportOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  const ranges = rangesUntil(end, DAYS, [compared, transactions])
  const [{ from }, { from: middle }] = ranges
  const duckdb = await openDuckdb(folder, 2)
  try {
    await prepareUser(FROM_SOURCE, folder)
    const { siteId } = await prepareSite(FROM_SOURCE, folder)
    const store = openFootfall(folder, from)
    for (const range of ranges)
      for (const visits of visitsOf(range)) {
        await store.load(visits)
        await duckdb.load(visits)
      }
    await store.finish()
    await duckdb.finish()
    await loadTransactions(duckdb.all, writeTransactions(folder, ranges), [from, end])
    await using server = await serveFootfall({ dataDir: folder, flags: ["--private-rate", "100000"] })
    const client = await signedIn(server.address, siteId)
    const rows: (string | number)[][] = []
    for (const currency of ["each", "EUR"]) {
      const ask = () => client.send<ReportResponse>("GET", pathOf(middle, end, currency))
      const inSql = async () => [
        await revenueInSql(duckdb.all, [middle, end], currency !== "each"),
        await revenueInSql(duckdb.all, [from, middle], currency !== "each"),
      ]
      compare(await ask(), await inSql(), currency)
      const own = await timed(ask, { budgetMs: 8_000 })
      const other = await timed(inSql, { budgetMs: 8_000 })
      const bar = BARS.get(transactions)
      rows.push([
        currency === "each" ? "each currency" : "converted to EUR",
        ...[ms(own.median), ms(own.p95), bar ?? "–", ms(other.median), times(other.median / own.median)],
        bar === undefined ? "–" : own.median <= bar ? "yes" : "no",
      ])
    }
    console.log(`\n### Revenue report over HTTP, ${count(transactions)} transactions in range, ${count(compared)} in the compared one\n`)
    console.log(table(["Report", "Footfall ms", "p95", "Bar ms", "DuckDB 2 threads", "DuckDB ÷ Footfall", "Bar met"], rows))
    console.log(`\n${await downloadMemory(server, client, compared + transactions)}`)
  } finally {
    await duckdb.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

const pathOf = (from: number, to: number, currency: string): string =>
  `/revenue/report?from=${dayOf(from)}&to=${dayOf(to - DAY_MS)}&compare=previous_period&interval=day&group_by=source&currency=${currency}`

/** Throws when the answers differ, with the first rows that only one of them has. */
function compare(report: ReportResponse, inSql: readonly RevenueAnswer[], currency: string): void {
  for (const [i, part] of [report, report.comparison!].entries()) {
    const own = answerOf(part, currency)
    for (const name of Object.keys(own) as (keyof RevenueAnswer)[]) {
      const [mine, other] = [own[name], inSql[i]![name]].map((rows) => new Set(rows.map((row) => JSON.stringify(row))))
      const different = [...mine!.symmetricDifference(other!)].sort()
      if (different.length > 0) throw new Error(`${name} with currency=${currency} differ:\n${different.slice(0, 20).join("\n")}`)
    }
  }
}

type Part = NonNullable<ReportResponse["comparison"]>

function answerOf({ currencies, base, timeseries, breakdown, visitors, conversion_rate }: Part, currency: string): RevenueAnswer {
  const totals = currency === "each" ? currencies : [base!]
  return {
    totals: totals.map((one) => [one.currency, one.gross.amount, one.refunds.amount, one.orders, one.refunded_orders, one.customers]),
    series: timeseries.flatMap(({ time, by_currency }) =>
      by_currency.map((one): RevenueAnswer["series"][number] => [time, one.currency, one.gross.amount, one.refunds.amount, one.orders]),
    ),
    groups: breakdown.flatMap(({ key, by_currency }) =>
      by_currency.map((one): RevenueAnswer["groups"][number] => [key, one.currency, one.gross.amount, one.refunds.amount, one.orders]),
    ),
    visitors: breakdown.map(({ key, visitors: each, conversion_rate: rate }) => [key, each ?? 0, rate ?? 0]),
    allVisitors: [[visitors, conversion_rate]],
  }
}

/** Downloads all transactions, and says how much memory the server used meanwhile. */
async function downloadMemory(server: Served, client: Client, transactions: number): Promise<string> {
  const before = (await server.memory()).resident
  const samples: number[] = []
  const response = await client.fetch("/revenue/transactions.csv")
  let [bytes, last] = [0, performance.now()]
  const from = performance.now()
  for await (const chunk of response.body!) {
    bytes += chunk.length
    if (performance.now() - last < MEMORY_EVERY_MS) continue
    samples.push((await server.memory()).resident)
    last = performance.now()
  }
  const [first, end] = [samples.slice(0, samples.length >> 2), samples.slice(-(samples.length >> 2))].map(
    (part) => quantile(part, 0.5) / 1e6,
  )
  const took = ((performance.now() - from) / 1_000).toFixed(1)
  return `All ${count(transactions)} transactions as CSV: ${(bytes / 1e6).toFixed(0)} MB in ${took} s. Resident memory was ${(before / 1e6).toFixed(0)} MB before, ${first!.toFixed(0)} MB in the first quarter and ${end!.toFixed(0)} MB in the last.`
}
