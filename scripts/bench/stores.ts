/**
 * Storage and reports: the same visits in Footfall's store, in DuckDB and in SQLite rows, the same questions to each. All
 * answers must be equal before anything is timed.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Range } from "../../src/domain/query.ts"
import type { Contender } from "./contender.ts"
import { benchData, type DataOptions, KNOWN } from "./data.ts"
import { openDuckdb } from "./duckdb.ts"
import { openFootfall } from "./footfall.ts"
import { type Answer, DAY_MS, lastDays, type Report, reportsOver } from "./reports.ts"
import { openSqlite } from "./sqlite.ts"
import { count, ms, table, times } from "./table.ts"
import { geometricMean, type Timing, timed } from "./timing.ts"

export interface Filled {
  options: DataOptions
  /** Stored events, engagement included. */
  events: number
  folder: string
  /** Of Footfall's event store; its file lies alone in a folder that a server can take. */
  dataDir: string
  contenders: Awaited<ReturnType<typeof open>>
  [Symbol.asyncDispose](): Promise<void>
}

/** Loads everything anew and says what it took. */
export async function fill(options: DataOptions): Promise<Filled> {
  const folder = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  const dataDir = join(folder, "data")
  mkdirSync(dataDir, { mode: 0o700 })
  const contenders = await open(folder, dataDir, options)
  const seconds = new Map<Contender, number>()
  const onClock = async (contender: Contender, work: () => unknown) => {
    const from = performance.now()
    await work()
    seconds.set(contender, (seconds.get(contender) ?? 0) + (performance.now() - from) / 1000)
  }
  let events = 0
  for (const visits of benchData(options)) {
    events += visits.reduce((sum, visit) => sum + visit.events.length, 0)
    for (const contender of Object.values(contenders)) await onClock(contender, () => contender.load(visits))
  }
  for (const contender of Object.values(contenders)) await onClock(contender, () => contender.finish())
  const rows = Object.values(contenders).map((contender) => {
    const size = contender.bytes()
    const rate = count(events / seconds.get(contender)!)
    return [contender.name, (size / events).toFixed(1), (size / 2 ** 20).toFixed(1), rate]
  })
  console.log(`\n### ${title(options, events)}\n`)
  console.log(table(["Store", "Bytes per event", "MiB", "Events per second, in batches"], rows))
  return {
    ...{ options, events, folder, dataDir, contenders },
    async [Symbol.asyncDispose]() {
      for (const contender of Object.values(contenders)) await contender.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function open(folder: string, dataDir: string, { end, days }: DataOptions) {
  return { footfall: openFootfall(dataDir, end - days * DAY_MS), duckdb: await openDuckdb(folder, 2), sqlite: openSqlite(folder) }
}

function title({ sites, days }: DataOptions, events: number): string {
  return sites === 1
    ? `${count(events)} events of one site over ${days} days`
    : `${count(events)} events of ${sites} sites over ${days} days`
}

export async function compareReports(filled: Filled): Promise<void> {
  const siteId = Math.ceil(filled.options.sites / 2)
  const rows: Row[] = []
  for (const days of [30, 365]) {
    const range = lastDays(days, filled.options.end)
    for (const report of reportsOver(KNOWN)) rows.push({ days, report, ...(await race(filled.contenders, siteId, report, range)) })
  }
  const cells = rows.map(({ days, report, footfall, duckdb2, duckdb1, sqlite }) => [
    ...[report.name, days, ms(footfall.median), ms(footfall.p95), ms(duckdb2.median), ms(duckdb1.median), ms(sqlite.median)],
    ...[duckdb2, duckdb1, sqlite].map(({ median }) => times(median / footfall.median)),
  ])
  const head = ["Report", "Days", "Footfall ms", "p95", "DuckDB 2 threads", "DuckDB 1 thread", "SQLite"]
  console.log(`\n${table([...head, "DuckDB 2 ÷ Footfall", "DuckDB 1 ÷ Footfall", "SQLite ÷ Footfall"], cells)}\n`)
  for (const days of [30, 365])
    console.log(
      verdict(
        days,
        rows.filter((row) => row.days === days),
      ),
    )
}

interface Row extends Race {
  days: number
  report: Report
}
interface Race {
  footfall: Timing
  duckdb2: Timing
  duckdb1: Timing
  sqlite: Timing
}

/** Footfall answers on one thread; DuckDB with two and with one. */
async function race({ footfall, duckdb, sqlite }: Filled["contenders"], siteId: number, report: Report, range: Range): Promise<Race> {
  const ask = (contender: Contender) => contender.answer(siteId, report, range)
  refuseUnequal(report, [await ask(footfall), await ask(duckdb), await ask(sqlite)])
  const results = { footfall: await timed(() => ask(footfall)), duckdb2: await timed(() => ask(duckdb)) }
  await duckdb.use(1)
  const duckdb1 = await timed(() => ask(duckdb))
  await duckdb.use(2)
  return { ...results, duckdb1, sqlite: await timed(() => ask(sqlite)) }
}

function refuseUnequal(report: Report, answers: readonly Answer[]): void {
  const texts = answers.map((answer) => JSON.stringify(answer))
  if (texts.every((text) => text === texts[0])) return
  throw new Error(`The answers to ${report.name} differ:\n${texts.map((text) => text.slice(0, 2_000)).join("\n")}`)
}

function verdict(days: number, rows: readonly Row[]): string {
  const mean = (other: (row: Row) => Timing) => times(geometricMean(rows.map((row) => other(row).median / row.footfall.median)))
  const slowest = Math.max(...rows.map(({ footfall }) => footfall.median))
  const means = `DuckDB ${mean((row) => row.duckdb2)} with 2 threads, ${mean((row) => row.duckdb1)} with 1; SQLite ${mean((row) => row.sqlite)}`
  return `${days} days: slowest report ${ms(slowest)} ms; geometric mean of the others' times over Footfall's: ${means}. All answers equal.`
}
