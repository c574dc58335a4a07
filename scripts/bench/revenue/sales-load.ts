/**
 * What revenue costs ingestion over HTTP. Three servers run side by side and are loaded in turn, in many short rounds: other load on the
 * machine meets all of them, and what is compared are neighbouring rounds. The processor time of a server includes what follows from the
 * events of a round, such as folding its sales.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { askStats, FROM_SOURCE, type Prepared, prepareSite, prepareUser, type Served, serveFootfall, USER } from "../../instance.ts"
import { SERVER_CORE, send, UNLIMITED } from "../ingest/ingest.ts"
import type { LoadResult } from "../ingest/request-loop.ts"
import { count, table } from "../table.ts"
import { quantile } from "../timing.ts"

const ROUNDS = 10
const LOAD = { connections: 128, seconds: 1, warmUpSeconds: 0 }
const WARM_UP = { connections: 128, seconds: 5, warmUpSeconds: 0 }
/** Time after a round in which the server does what follows from its events. */
const SETTLE_MS = 4_000
/** Ids of events are unique over all rounds. */
const IDS_PER_ROUND = 1_000_000

type Case = "revenue is off, no sales" | "no sales" | "5 % sales"
const CASES: readonly Case[] = ["revenue is off, no sales", "no sales", "5 % sales"]

interface Stand {
  name: Case
  server: Served
  site: Prepared
  accepted: number
  /** Milliseconds of processor time per second without events. */
  idle: number
  rounds: { perSecond: number; cpuPerEvent: number }[]
}

export async function measureSalesLoad(): Promise<void> {
  await using servers = new AsyncDisposableStack()
  const stands: Stand[] = []
  for (const name of CASES) {
    const dataDir = mkdtempSync(join(tmpdir(), "footfall-bench-"))
    servers.defer(() => rmSync(dataDir, { recursive: true, force: true }))
    await prepareUser(FROM_SOURCE, dataDir)
    const site = await prepareSite(FROM_SOURCE, dataDir)
    const server = servers.use(await serveFootfall({ dataDir, flags: UNLIMITED, core: SERVER_CORE }))
    if (name === "revenue is off, no sales") await turnOffRevenue(server)
    stands.push({ name, server, site, accepted: 0, idle: 0, rounds: [] })
  }
  for (const stand of stands) await load(stand, 0, WARM_UP)
  await Bun.sleep(SETTLE_MS)
  for (const stand of stands) {
    const before = processorMs(stand.server.pid)
    await Bun.sleep(SETTLE_MS)
    stand.idle = ((processorMs(stand.server.pid) - before) * 1_000) / SETTLE_MS
  }
  for (let round = 1; round <= ROUNDS; round++) {
    // Each case is first as often as the others.
    for (let i = 0; i < stands.length; i++) await measureRound(stands[(round + i) % stands.length]!, round)
  }
  for (const stand of stands) await expectCounted(stand)
  print(stands)
}

async function measureRound(stand: Stand, round: number): Promise<void> {
  const { pid } = stand.server
  const [before, begun] = [processorMs(pid), performance.now()]
  const { perSecond, answers } = await load(stand, round, LOAD)
  await Bun.sleep(SETTLE_MS)
  const idle = (stand.idle * (performance.now() - begun)) / 1_000
  stand.rounds.push({ perSecond, cpuPerEvent: (processorMs(pid) - before - idle) / (answers["202"] ?? 0) })
}

async function load(stand: Stand, round: number, options: typeof LOAD): Promise<LoadResult> {
  const port = Number(new URL(stand.server.address).port)
  const sales = stand.name === "5 % sales" ? { saleEvery: 20 } : {}
  const result = await send({ ...options, port, trackingId: stand.site.trackingId, firstId: round * IDS_PER_ROUND, ...sales })
  stand.accepted += result.answers["202"] ?? 0
  return result
}

async function expectCounted({ name, server, site, accepted }: Stand): Promise<void> {
  const { metrics } = await askStats(server.address, site, "summary?period=7d&metrics=events")
  if (metrics.events !== accepted) throw new Error(`${name}: ${accepted} events were accepted, ${metrics.events} are counted`)
}

function print(stands: readonly Stand[]): void {
  const median = (values: readonly number[]) => quantile(values, 0.5)
  const [off, plain, sales] = stands as [Stand, Stand, Stand]
  const rows = stands.map(({ name, rounds }) => [
    name,
    count(median(rounds.map(({ perSecond }) => perSecond))),
    Math.round(1_000 * median(rounds.map(({ cpuPerEvent }) => cpuPerEvent))),
  ])
  console.log(`\n### Ingestion over HTTP with and without revenue, servers on one core, medians of ${ROUNDS} rounds in turn\n`)
  console.log(table(["Events", "Requests per second", "Processor time per event, µs"], rows))
  const loss = (of: Stand, to: Stand, bar: number) => {
    const ratios = of.rounds.map((round, i) => to.rounds[i]!.cpuPerEvent / round.cpuPerEvent)
    const rates = of.rounds.map((round, i) => round.perSecond / to.rounds[i]!.perSecond)
    const share = (ratio: number) => (100 * (1 - ratio)).toFixed(1)
    const [low, high] = [quantile(ratios, 0.75), quantile(ratios, 0.25)]
    return [
      `${share(median(ratios))} (${share(low)} to ${share(high)})`,
      share(median(rates)),
      bar,
      1 - median(ratios) <= bar / 100 ? "yes" : "no",
    ]
  }
  const losses = [
    ["no sales, because revenue is on", ...loss(plain, off, 1)],
    ["5 % sales, with their folding", ...loss(sales, plain, 5)],
  ]
  console.log(`\n${table(["Loss of rate, %", "By processor time (middle half)", "By requests", "Bar", "Bar met"], losses)}`)
}

/** Turns the plugin off, as an instance admin does. */
async function turnOffRevenue({ address }: Served): Promise<void> {
  const headers = { "content-type": "application/json", origin: address }
  const login = await fetch(`${address}/api/private/auth/login`, { method: "POST", headers, body: JSON.stringify(USER) })
  const cookie = login.headers.get("set-cookie")!.split(";")[0]!
  const body = JSON.stringify({ id: "revenue", enabled: false })
  const answer = await fetch(`${address}/api/private/admin/plugins`, { method: "PATCH", headers: { ...headers, cookie }, body })
  if (!answer.ok) throw new Error(`Revenue could not be turned off: ${answer.status} ${await answer.text()}`)
}

/** Returns the processor time of all threads of a process, also of those that have ended. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ")
  return (Number(fields[11]) + Number(fields[12])) * 10 // user and system time, in hundredths of a second
}

if (import.meta.main) await measureSalesLoad()
