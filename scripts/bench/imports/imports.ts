/**
 * Imports: rows per second from the command to the visible import, compared with live ingestion; acknowledgement of events during an
 * import; memory of a large import; reports and bytes of imported events compared with the same events recorded natively; and undo. Ends
 * with a table of all bars. `--events 1000000` measures the large import with as many rows as the others, in a few minutes.
 */
import { Database } from "bun:sqlite"
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { askStats, footfall, type Prepared, prepareSite, type Served, serveFootfall } from "../../instance.ts"
import { loadFootfall, UNLIMITED } from "../ingest/ingest.ts"
import { steadyLoad } from "../ingest/pressure.ts"
import { askReport, builtBinary } from "../server/memory.ts"
import { KNOWN } from "../stores/data.ts"
import { openFootfall } from "../stores/footfall.ts"
import { DAY_MS, reportsOver } from "../stores/reports.ts"
import { count, ms, table, times } from "../table.ts"
import { quantile, timedInTurn } from "../timing.ts"
import { exportableVisits, type ImportSize, writeAccessLog, writePlausible, writeUmami } from "./files.ts"

/** Longer than the release of memory that only the start needed. */
const IDLE_MS = 4_000
/** Longer than a minute, as the jobs of every minute map parts of the program again. An instance has them, whether it imports or not. */
const SETTLED_MS = 70_000
const SAMPLE_MS = 25
const LOAD_SECONDS = 5
const PRESSURE_ROUNDS = 5
/** How often each report is timed on either instance, in turn. */
const REPORT_RUNS = 31
const FLAGS = [...UNLIMITED, "--api-rate-limit", "0"]

/** A figure that must hold. */
interface Bar {
  what: string
  value: number
  /** Unit of the figure, as it follows the number. */
  unit: "×" | " MiB" | " s"
  /** The figure is at most this, or with `isLeast` at least. */
  limit: number
  isLeast?: boolean
}

type Source = "umami" | "server_log" | "plausible"

/** `large`: rows of the import whose memory and reports are measured. The other imports have `rows`. */
export async function measureImports({ large, ...size }: ImportSize & { large: number }): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "footfall-exports-"))
  try {
    const command = await builtBinary()
    const exports = writeExports(folder, size)
    const bars = [
      ...(await measureSpeed(command, exports, size.rows)),
      await measurePressure(command, exports.umami, size.rows),
      ...(await measureLarge(command, folder, { ...size, rows: large })),
    ]
    console.log("\n### Bars of imports\n")
    console.log(table(["What", "Measured", "Bar", "Holds"], bars.map(barCells)))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function writeExports(folder: string, size: ImportSize): Record<Source, string[]> {
  const [umami, log] = [join(folder, "website_event.csv"), join(folder, "access.log")]
  writeUmami(umami, exportableVisits(size))
  writeAccessLog(log, size)
  return { umami: [umami], server_log: [log], plausible: writePlausible(folder, size) }
}

const barCells = ({ what, value, unit, limit, isLeast = false }: Bar): string[] => [
  what,
  `${value.toFixed(unit === " MiB" ? 0 : 2)}${unit}`,
  `${isLeast ? "≥" : "≤"} ${limit}${unit}`,
  (isLeast ? value >= limit : value <= limit) ? "yes" : "no",
]

/** Runs every import on a new instance, and undoes the one of Umami. */
async function measureSpeed(command: readonly string[], exports: Record<Source, string[]>, rows: number): Promise<Bar[]> {
  const { perSecond: live } = await loadFootfall()
  const kinds: readonly (readonly [Source, string, number])[] = [
    ["umami", "Umami, rows of `website_event.csv`", 1.5],
    ["server_log", "combined log, lines", 1],
    ["plausible", "Plausible, rows of totals", 3],
  ]
  const cells: (string | number)[][] = [["live ingestion, one core", count(live), "", "1.0×"]]
  const bars: Bar[] = []
  for (const [source, label, bar] of kinds) {
    await using instance = await startInstance(command)
    const seconds = await instance.import(source, exports[source])
    const perSecond = rows / seconds
    cells.push([label, count(perSecond), seconds.toFixed(1), times(perSecond / live)])
    bars.push({ what: `${label}, against live ingestion`, value: perSecond / live, unit: "×", limit: bar, isLeast: true })
    if (source === "umami") bars.push({ what: `undo of ${count(rows)} rows`, value: await undo(instance), unit: " s", limit: 10 })
  }
  console.log(`\n### Imports of ${count(rows)} rows, from the command until they are visible\n`)
  console.log(table(["What", "per second", "seconds", "÷ live"], cells))
  return bars
}

/** Undoes the only import. Returns the seconds until all work is finished. Throws unless its rows are gone from the next query on. */
async function undo({ server, dataDir, site, command }: Instance): Promise<number> {
  const from = performance.now()
  await footfall(command, dataDir, "import", "undo", "--site", String(site.siteId), "1")
  const { metrics } = await askStats(server.address, site, "summary?period=all&metrics=pageviews")
  if (metrics.pageviews !== 0) throw new Error(`${metrics.pageviews} pageviews are left after the undo.`)
  await footfall(command, dataDir, "import", "undo", "--site", String(site.siteId), "--wait", "1")
  return (performance.now() - from) / 1_000
}

/** Measures the time to acknowledge events at a steady rate, idle and during an import, in rounds on new instances. */
async function measurePressure(command: readonly string[], files: readonly string[], rows: number): Promise<Bar> {
  const p99 = (latencies: readonly number[]): number => quantile(latencies, 0.99)
  const rounds: { idle: number[]; busy: number[] }[] = []
  while (rounds.length < PRESSURE_ROUNDS) rounds.push(await pressureRound(command, files))
  const cells = rounds.map(({ idle, busy }, round) => [
    round + 1,
    ...[quantile(idle, 0.5), p99(idle), quantile(busy, 0.5), p99(busy)].map(ms),
    times(p99(busy) / p99(idle)),
  ])
  console.log(`\n### Ingestion at 300 events a second, idle and during an import of ${count(rows)} rows\n`)
  console.log(table(["Round", "idle p50 ms", "p99 ms", "during the import p50 ms", "p99 ms", "p99 ÷ idle"], cells))
  const ratio = quantile(
    rounds.map(({ idle, busy }) => p99(busy) / p99(idle)),
    0.5,
  )
  return { what: "p99 of an acknowledgement during an import, against idle, median of the rounds", value: ratio, unit: "×", limit: 3 }
}

async function pressureRound(command: readonly string[], files: readonly string[]) {
  await using instance = await startInstance(command)
  const send = () => steadyLoad(instance.server.address, instance.site.trackingId, LOAD_SECONDS)
  await send() // warm-up
  const idle = [...(await send()), ...(await send())]
  let isOver = false
  const importing = instance.import("umami", files).finally(() => {
    isOver = true
  })
  const busy: number[] = []
  while (!isOver) busy.push(...(await send()))
  await importing
  return { idle, busy }
}

async function measureLarge(command: readonly string[], folder: string, size: ImportSize): Promise<Bar[]> {
  const file = join(folder, "large", "website_event.csv")
  mkdirSync(join(folder, "large"))
  writeUmami(file, exportableVisits(size))
  await using imported = await startInstance(command)
  const fresh = await imported.server.memory()
  await Bun.sleep(SETTLED_MS)
  const { idle, most, result: seconds } = await watchMemory(imported.server, () => imported.run("umami", [file]))
  const { most: afterwards } = await watchMemory(imported.server, () => imported.firstReport())
  rmSync(file)
  console.log(`\n### An import of ${count(size.rows)} rows of Umami, compared with the same events recorded natively\n`)
  console.log(`It took ${seconds.toFixed(0)} s.\n`)
  const cells = (when: string, { resident, own }: Memory): string[] => [when, toMib(resident).toFixed(0), toMib(own).toFixed(0)]
  const rows = [
    cells("idle, seconds after the start", fresh),
    cells("idle, after a minute", idle),
    cells("at most during the import", most),
    cells("at most during the first report about it", afterwards),
  ]
  console.log(`${table(["Memory in MiB", "resident", "private"], rows)}\n`)
  await using native = await startInstance(command, async (dataDir) => {
    const store = openFootfall(dataDir, size.end - size.days * DAY_MS)
    for (const visits of exportableVisits(size)) await store.load(visits)
    await store.finish()
  })
  const slowest = await compareReports(imported, native, size)
  const [own, other] = [bytesInUse(imported.dataDir) / size.rows, bytesInUse(native.dataDir) / size.rows]
  console.log(`\nBytes per event: ${own.toFixed(1)}, recorded natively ${other.toFixed(1)}.`)
  const large = `${count(size.rows)} rows`
  return [
    { what: `memory above idle, ${large}`, value: toMib(most.resident - idle.resident), unit: " MiB", limit: 128 },
    { what: "memory above idle seconds after the start", value: toMib(most.resident - fresh.resident), unit: " MiB", limit: 128 },
    { what: `slowest report over 30 days of ${large}, against native events`, value: slowest, unit: "×", limit: 1.5 },
    { what: `bytes per event of ${large}, against native events`, value: own / other, unit: "×", limit: 1.2 },
  ]
}

const toMib = (bytes: number): number => bytes / 2 ** 20

type Memory = Awaited<ReturnType<Served["memory"]>>

/** Runs work and returns the memory before it, and the most of each kind while it runs. */
async function watchMemory<Result>(server: Served, work: () => Promise<Result>) {
  const idle = await server.memory()
  let [most, isOver] = [idle, false]
  const result = work().finally(() => {
    isOver = true
  })
  while (!isOver) {
    const { resident, own } = await server.memory()
    most = { resident: Math.max(most.resident, resident), own: Math.max(most.own, own) }
    await Bun.sleep(SAMPLE_MS)
  }
  return { idle, most, result: await result }
}

/**
 * Times the reports over 30 days over HTTP, and returns the highest ratio. Throws if a report that does not depend on the derivation of
 * sources differs.
 */
async function compareReports(imported: Instance, native: Instance, { end }: ImportSize): Promise<number> {
  const reports = reportsOver(KNOWN).filter(({ ask }) => ask.kind !== "goals" && ask.kind !== "funnel")
  const rows: (string | number)[][] = []
  let highest = 0
  for (const report of reports) {
    const ask = ({ server, site }: Instance) => askReport(server.address, site, report, 30, end)
    const isDerived = report.name.includes("source")
    if (!isDerived && !Bun.deepEquals(await ask(imported), await ask(native))) throw new Error(`The answers to ${report.name} differ.`)
    const [own, other] = await timedInTurn([() => ask(imported), () => ask(native)], REPORT_RUNS)
    const ratio = own! / other!
    highest = Math.max(highest, ratio)
    rows.push([report.name, ms(own!), ms(other!), times(ratio)])
  }
  console.log(table(["Report over 30 days, over HTTP", "imported ms", "native ms", "imported ÷ native"], rows))
  console.log("\nThe answers are equal.")
  return highest
}

/** Returns the bytes of the event store without its free pages. */
function bytesInUse(dataDir: string): number {
  using db = new Database(join(dataDir, "events.db"), { readonly: true })
  const read = (name: string) => Object.values(db.query<Record<string, number>, []>(`pragma ${name}`).get()!)[0]!
  return (read("page_count") - read("freelist_count")) * read("page_size")
}

interface Instance extends AsyncDisposable {
  command: readonly string[]
  dataDir: string
  site: Prepared
  server: Served
  /** Imports files and returns the seconds until the import is visible. */
  run(source: Source, files: readonly string[]): Promise<number>
  /** Requests a report over all events. Returns its pageviews. */
  firstReport(): Promise<number>
  /** Imports files and returns the seconds until a report includes them. */
  import(source: Source, files: readonly string[]): Promise<number>
}

/** Starts an idle instance with a site. `fill` gets the data folder before the start. */
async function startInstance(command: readonly string[], fill?: (dataDir: string) => Promise<void>): Promise<Instance> {
  const dataDir = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  const site = await prepareSite(command, dataDir)
  await fill?.(dataDir)
  const server = await serveFootfall({ command, dataDir, flags: FLAGS })
  await Bun.sleep(IDLE_MS)
  const instance = {
    ...{ command, dataDir, site, server },
    async run(source: Source, files: readonly string[]) {
      const from = performance.now()
      const words = ["import", "run", "--site", String(site.siteId), "--source", source, "--wait", ...files]
      const { rows } = await footfall<{ rows: { imported: number } }>(command, dataDir, ...words)
      if (rows.imported === 0) throw new Error("Nothing was imported.")
      return (performance.now() - from) / 1_000
    },
    async firstReport() {
      const { metrics } = await askStats(server.address, site, "summary?period=all&metrics=pageviews")
      return metrics.pageviews ?? 0
    },
  }
  return {
    ...instance,
    async import(source, files) {
      const from = performance.now()
      await instance.run(source, files)
      const pageviews = await instance.firstReport()
      if (source !== "plausible" && pageviews === 0) throw new Error("No report includes the import.")
      const seconds = (performance.now() - from) / 1_000
      await emptied(dataDir)
      return seconds
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** Waits until the staged files, which are deleted in the background, are gone. */
async function emptied(dataDir: string): Promise<void> {
  const staged = () => readdirSync(dataDir, { recursive: true }).filter((name) => String(name).startsWith("staging/imports/"))
  for (let tries = 0; staged().length > 0; tries++) {
    if (tries === 100) throw new Error(`Staged files are left: ${staged().join(", ")}`)
    await Bun.sleep(100)
  }
}
