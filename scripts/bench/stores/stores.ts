/**
 * Storage and reports: the same visits in Footfall's store, in DuckDB, in ClickHouse if it is installed, and in SQLite rows, and the same
 * reports from each. All results must be equal before anything is timed.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Range } from "../../../src/domain/query.ts"
import { count, ms, table, times } from "../table.ts"
import { geometricMean, quantile, type Timing, timed } from "../timing.ts"
import { clickhouseMissing, openClickhouse } from "./clickhouse.ts"
import type { Contender } from "./contender.ts"
import { benchData, type DataOptions, KNOWN } from "./data.ts"
import { openDuckdb } from "./duckdb.ts"
import { openFootfall } from "./footfall.ts"
import { type Answer, DAY_MS, lastDays, type Report, reportsOver } from "./reports.ts"
import { openSqlite } from "./sqlite.ts"

export interface Filled {
  options: DataOptions
  /** Stored events including engagement; `counted` excludes it. */
  events: number
  counted: number
  /** Seconds for loading, by contender. */
  seconds: ReadonlyMap<Contender, number>
  folder: string
  contenders: Awaited<ReturnType<typeof open>>
  [Symbol.asyncDispose](): Promise<void>
}

/** Loads everything into new stores. */
export async function fill(options: DataOptions): Promise<Filled> {
  const folder = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  const contenders = await open(folder, options)
  const seconds = new Map<Contender, number>()
  const onClock = async (contender: Contender, work: () => unknown) => {
    const from = performance.now()
    await work()
    seconds.set(contender, (seconds.get(contender) ?? 0) + (performance.now() - from) / 1000)
  }
  let events = 0
  let counted = 0
  for (const visits of benchData(options)) {
    const names = visits.flatMap((visit) => visit.events.map(({ name }) => name))
    events += names.length
    counted += names.filter((name) => name !== "engagement").length
    for (const contender of Object.values(contenders)) await onClock(contender, () => contender.load(visits))
  }
  for (const contender of Object.values(contenders)) await onClock(contender, () => contender.finish())
  return {
    ...{ options, events, counted, seconds, folder, contenders },
    async [Symbol.asyncDispose]() {
      for (const contender of Object.values(contenders)) await contender.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function open(folder: string, { end, days }: DataOptions) {
  return {
    ...{ footfall: openFootfall(folder, end - days * DAY_MS), duckdb: await openDuckdb(folder, 2), sqlite: openSqlite(folder) },
    ...(clickhouseMissing() === undefined && { clickhouse: await openClickhouse(folder) }),
  }
}

export function printStorage({ options: { sites, days }, events, counted, seconds, contenders }: Filled): void {
  const rows = Object.values(contenders).map((contender) => {
    const size = contender.bytes()
    const mebibytes = (size / 2 ** 20).toFixed(1)
    return [contender.name, (size / events).toFixed(1), (size / counted).toFixed(1), mebibytes, count(events / seconds.get(contender)!)]
  })
  const of = sites === 1 ? "one site" : `${sites} sites`
  console.log(`\n### ${count(events)} events of ${of} over ${days} days\n`)
  console.log(`${count(counted)} page views and custom events, the others report engagement.\n`)
  console.log(table(["Store", "Bytes per event", "per page view or custom event", "MiB", "Events per second, in batches"], rows))
  const parts = contenders.footfall.parts().map(([name, bytes]) => [name, (bytes / events).toFixed(2)])
  console.log(`\n${table(["Footfall's bytes per event", "Figure"], parts)}`)
}

/** Throws at the first report with different results. */
export async function compareAnswers({ options, contenders }: Filled): Promise<void> {
  for (const { report, range } of timedReports(options)) {
    const answers: Answer[] = []
    for (const contender of Object.values(contenders)) answers.push(await contender.answer(siteOf(options), report, range))
    refuseUnequal(report, answers)
  }
}

/** Runs each report over 30 and over 365 days. */
function timedReports({ end }: DataOptions): { days: number; report: Report; range: Range }[] {
  return [30, 365].flatMap((days) => reportsOver(KNOWN).map((report) => ({ days, report, range: lastDays(days, end) })))
}

/** Chooses a site from the middle. */
const siteOf = ({ sites }: DataOptions): number => Math.ceil(sites / 2)

/** Number of starts after which answers are measured, and of these answers. */
const STARTS = 3
const ANSWERS = 20

/** The bar of each single report, as a multiple of Footfall's time. */
const BAR = 2

/** Compares all results before any report is timed. */
export async function timeReports(filled: Filled): Promise<void> {
  await compareAnswers(filled)
  const rows: Row[] = []
  for (const timed of timedReports(filled.options)) rows.push({ ...timed, ...(await race(filled, timed.report, timed.range)) })
  const cells = rows.map((row) => [
    ...[row.report.name, row.days, ms(row.footfall.median), ms(row.footfall.p95)],
    ...[ms(row.first), times(row.first / row.footfall.median), times(row.spread)],
    ...OTHERS.map(([key]) => (row[key] ? ms(row[key].median) : "–")),
    ...OTHERS.map(([key]) => (row[key] ? times(row[key].median / row.footfall.median) : "–")),
    holds(row) ? "yes" : "no",
  ])
  const head = [
    "Report",
    "Days",
    "Footfall ms",
    "p95",
    "after a start",
    "÷ median",
    `p95 ÷ median of ${ANSWERS} after a start`,
    ...OTHERS.map(([, name]) => name),
    ...OTHERS.map(([, , short]) => `${short} ÷ Footfall`),
  ]
  console.log(`\n${table([...head, `≥ ${BAR}× of DuckDB 2 and ClickHouse`], cells)}\n`)
  for (const days of [30, 365])
    console.log(
      verdict(
        days,
        rows.filter((row) => row.days === days),
      ),
    )
  const missing = clickhouseMissing()
  if (missing) console.log(missing)
}

interface Row extends Race {
  days: number
  report: Report
}
interface Race {
  footfall: Timing
  /** The median of first answers after a start, from what the thread has read ahead. */
  first: number
  /** The 95th percentile of the answers after a start over their median, the median of all starts. */
  spread: number
  duckdb2: Timing
  duckdb1: Timing
  clickhouse: Timing | undefined
  sqlite: Timing
}

const OTHERS = [
  ["duckdb2", "DuckDB 2 threads", "DuckDB 2"],
  ["duckdb1", "DuckDB 1 thread", "DuckDB 1"],
  ["clickhouse", "ClickHouse 1 thread", "ClickHouse 1"],
  ["sqlite", "SQLite", "SQLite"],
] as const

const holds = ({ footfall, duckdb2, clickhouse }: Race): boolean =>
  [duckdb2, clickhouse].every((other) => other === undefined || other.median >= BAR * footfall.median)

/** Footfall and ClickHouse run on one thread, DuckDB with two threads and with one. */
async function race({ options, contenders }: Filled, report: Report, range: Range): Promise<Race> {
  const { footfall, duckdb, clickhouse, sqlite } = contenders
  const race = (contender: Contender) => timed(() => contender.answer(siteOf(options), report, range))
  const firsts: number[] = []
  const spreads: number[] = []
  while (firsts.length < STARTS) {
    await footfall.restart()
    const answers: number[] = []
    while (answers.length < ANSWERS) answers.push((await timed(() => footfall.answer(siteOf(options), report, range), { runs: 1 })).median)
    firsts.push(answers[0]!)
    spreads.push(quantile(answers, 0.95) / quantile(answers, 0.5))
  }
  const after = { first: quantile(firsts, 0.5), spread: quantile(spreads, 0.5) }
  const results = { ...after, footfall: await race(footfall), duckdb2: await race(duckdb) }
  await duckdb.use(1)
  const duckdb1 = await race(duckdb)
  await duckdb.use(2)
  return { ...results, duckdb1, clickhouse: clickhouse && (await race(clickhouse)), sqlite: await race(sqlite) }
}

function refuseUnequal(report: Report, answers: readonly Answer[]): void {
  const texts = answers.map((answer) => JSON.stringify(answer))
  if (texts.every((text) => text === texts[0])) return
  throw new Error(`The answers to ${report.name} differ:\n${texts.map((text) => text.slice(0, 2_000)).join("\n")}`)
}

function verdict(days: number, rows: readonly Row[]): string {
  const means = OTHERS.flatMap(([key, , short]) => {
    const ratios = rows.flatMap((row) => (row[key] ? [row[key].median / row.footfall.median] : []))
    return ratios.length === 0 ? [] : [`${short} ${times(geometricMean(ratios))}`]
  })
  const slowest = Math.max(...rows.map(({ footfall }) => footfall.median))
  const below = rows.filter((row) => !holds(row)).map(({ report }) => report.name)
  const bar = below.length === 0 ? `Every report holds the bar of ${BAR}×.` : `Below the bar of ${BAR}×: ${below.join(", ")}.`
  const starts = rows.map(({ first, footfall }) => first / footfall.median)
  const spreads = rows.map(({ spread }) => spread)
  const spread = `p95 ÷ median of ${ANSWERS} answers after a start: ${times(geometricMean(spreads))}, at most ${times(Math.max(...spreads))} (bar: 2×).`
  const started = `${spread} First answers over later ones: ${times(geometricMean(starts))}, at most ${times(Math.max(...starts))}.`
  return `${days} days: slowest report ${ms(slowest)} ms; geometric mean of the others' times over Footfall's: ${means.join(", ")}. ${started} ${bar} All answers equal.`
}
