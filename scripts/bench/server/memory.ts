/** Memory and start time: a new server, and one that opens ten million events and then answers every report over HTTP. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { askStats, type Prepared, prepareSite, type prepareUser, type Served, serveFootfall } from "../../instance.ts"
import { benchData, type DataOptions, KNOWN } from "../stores/data.ts"
import { openFootfall } from "../stores/footfall.ts"
import { DAY_MS, type Report, reportsOver } from "../stores/reports.ts"
import { count, ms, table } from "../table.ts"
import { quantile } from "../timing.ts"

const IDLE_MS = 3_000
const STARTS = 9

export async function measureMemory(options: DataOptions): Promise<void> {
  const command = await builtBinary()
  const idle = await idleMemory(command)
  await using filled = await fillDataDir(command, options)
  const starts = await timeStarts(command, filled)
  await using server = await serveFootfall({ command, dataDir: filled.dataDir })
  for (const report of reportsOver(KNOWN))
    for (const days of [30, 365]) await askReport(server.address, filled.site, report, days, options.end)
  const after = await server.memory()
  console.log("\n### Memory and start of the compiled binary\n")
  const rows = [
    ["fresh instance, idle, MB resident (own)", mb(idle)],
    [`after all reports over ${count(options.events)} events, MB resident (own)`, mb(after)],
    [`start with ${count(options.events)} events until it listens, median ms of ${STARTS}`, ms(quantile(starts.listening, 0.5))],
    ["the same until its first answer, ms", ms(quantile(starts.answered, 0.5))],
  ]
  console.log(table(["What", "Figure"], rows))
}

/** Measures the time from the start of the process to its first answer over HTTP, with the files in the page cache. */
async function timeStarts(command: readonly string[], { dataDir, site }: FilledDataDir) {
  const times = { listening: [] as number[], answered: [] as number[] }
  for (let start = 0; start <= STARTS; start++) {
    const from = performance.now()
    await using server = await serveFootfall({ command, dataDir })
    const listening = performance.now() - from
    await askStats(server.address, site, "summary?period=30d")
    const answered = performance.now() - from
    await server.kill("SIGTERM")
    if (start === 0) continue // the first start fills the page cache
    times.listening.push(listening)
    times.answered.push(answered)
  }
  return times
}

type Memory = Awaited<ReturnType<Served["memory"]>>
/** The part that is not private is the program's file, which the kernel shares and can drop. */
const mb = ({ resident, own }: Memory): string => `${(resident / 1e6).toFixed(0)} (${(own / 1e6).toFixed(0)})`

/** Builds the compiled file, which is what users run, so that the current code is measured. */
export async function builtBinary(): Promise<readonly string[]> {
  const root = join(import.meta.dir, "../../..")
  const build = Bun.spawn([process.execPath, "scripts/build.ts"], { cwd: root, stdout: "ignore" })
  if ((await build.exited) !== 0) throw new Error("The binary could not be built")
  return [join(root, `dist/footfall-${process.platform}-${process.arch}`)]
}

async function idleMemory(command: readonly string[]): Promise<Memory> {
  const dataDir = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  try {
    await using server = await serveFootfall({ command, dataDir })
    await Bun.sleep(IDLE_MS)
    return await server.memory()
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

export interface FilledDataDir extends AsyncDisposable {
  dataDir: string
  site: Prepared
}

/** Prepares a data folder with a site and its events, which no process has open. `prepare` creates the owner of the site. */
export async function fillDataDir(command: readonly string[], options: DataOptions, prepare?: typeof prepareUser): Promise<FilledDataDir> {
  const dataDir = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  await prepare?.(command, dataDir)
  const site = await prepareSite(command, dataDir)
  const store = openFootfall(dataDir, options.end - options.days * DAY_MS)
  for (const visits of benchData(options)) await store.load(visits)
  await store.finish()
  return { dataDir, site, [Symbol.asyncDispose]: async () => rmSync(dataDir, { recursive: true, force: true }) }
}

/** Asks one of the reports of the other cases over HTTP. Returns its metrics or rows. Goals and funnels need definitions, and are left out. */
export async function askReport(address: string, site: Prepared, { ask, filter }: Report, days: number, end: number): Promise<unknown> {
  const day = (at: number) => new Date(at).toISOString().slice(0, 10)
  const filters = JSON.stringify(filter.map(([dimension, value]) => ({ dimension, values: [value] })))
  const range = `from=${day(end - days * DAY_MS)}&to=${day(end - DAY_MS)}&filters=${encodeURIComponent(filters)}`
  // At most 1,000 points are allowed.
  const interval = days > 1_000 ? "month" : "day"
  const path =
    ask.kind === "days" ? `timeseries?interval=${interval}&` : ask.kind === "breakdown" ? `breakdown?dimension=${ask.by}&` : "summary?"
  if (ask.kind === "goals" || ask.kind === "funnel") return undefined
  const { metrics, rows } = await askStats<{ metrics?: unknown; rows?: unknown }>(address, site, path + range)
  return { metrics, rows }
}
