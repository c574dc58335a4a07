/**
 * What is not sealed yet (issue 21): a back-fill of a year through the events API, half an hour of open visits, and the pauses of the
 * thread that answers while visits are sealed.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { plugins } from "../../../plugins/index.ts"
import type { NewEvent } from "../../../src/domain/event.ts"
import { recordEvent } from "../../../src/ingest/commit/visits.ts"
import type { Candidate } from "../../../src/ingest/draft.ts"
import { pluginFacts } from "../../../src/plugin/load.ts"
import { generateTraffic, type TrafficEvent } from "../../../src/services/demo/data.ts"
import { eventSchemas } from "../../../src/store/events/database.ts"
import { type EventStore, openEventStore } from "../../../src/store/events/events.ts"
import { askStats, type Prepared, prepareSite, type Served, serveFootfall } from "../../instance.ts"
import { askReport, builtBinary } from "../server/memory.ts"
import { type DataOptions, KNOWN, NO_TRAITS } from "../stores/data.ts"
import { DAY_MS, reportsOver } from "../stores/reports.ts"
import { count, ms, table } from "../table.ts"
import { geometricMean, quantile, timed } from "../timing.ts"
import { UNLIMITED } from "./ingest.ts"

const HOST = "shop.example.com"
const REQUEST_EVENTS = 1_000
const CONNECTIONS = 4
const SAMPLE_MS = 200
const OPEN_EVENTS = 1_800_000
const GROUP_EVENTS = 200
const IDLE_MS = 30 * 60_000
/** Events of closed visits that are sealed while the pauses are measured. */
const CLOSED_EVENTS = 300_000

const BARS = { resident: 400, slower: 3, restartMs: 1_000, bytes: 16, openRestartMs: 500, pauseMs: 15 } as const

type Row = [what: string, figure: string, bar: string, holds: "yes" | "no" | "–"]

/** Measures everything that the tail is bounded by. `events` is the size of the back-fill. */
export async function measureTail(options: DataOptions): Promise<void> {
  const command = await builtBinary()
  const rows = [...(await backFill(command, options)), ...(await openVisits(command)), ...(await sealingPause())]
  console.log(`\n### The tail: ${count(options.events)} events of the past year through the events API\n`)
  console.log(table(["What", "Figure", "Bar", "Holds"], rows))
}

const row = (what: string, value: number, shown: string, bar: number, unit: string): Row => [
  what,
  shown,
  `${bar} ${unit}`,
  value <= bar ? "yes" : "no",
]

async function backFill(command: readonly string[], options: DataOptions): Promise<Row[]> {
  const dataDir = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  const path = join(dataDir, "events.db")
  const serve = () => serveFootfall({ command, dataDir, flags: [...UNLIMITED, "--api-rate-limit", "0"] })
  try {
    const site = await prepareSite(command, dataDir)
    const filled = await using(await serve(), async (server) => {
      const sent = await sendAll(server, site, options)
      const { metrics } = await askStats(server.address, site, `summary?${rangeOf(options)}&metrics=events`)
      if (metrics.events !== sent.events) throw new Error(`${sent.events} events were accepted, ${metrics.events} are counted`)
      const unsealed = await timeReports(server, site, options)
      await server.kill("SIGKILL")
      return { ...sent, unsealed }
    })
    const from = performance.now()
    const restarted = await serve()
    const restart = performance.now() - from
    await restarted.kill("SIGTERM")
    const bytes = statSync(path).size / filled.events
    await sealAll(path)
    const sealed = await using(await serve(), (server) => timeReports(server, site, options))
    const ratio = geometricMean(filled.unsealed.map((time, report) => time / sealed[report]!))
    return [
      ["sent and acknowledged in, s", filled.seconds.toFixed(0), "–", "–"],
      row("resident at any time, MB", filled.resident / 1e6, (filled.resident / 1e6).toFixed(0), BARS.resident, "MB"),
      ["a summary of 30 days meanwhile, median and slowest ms", `${ms(filled.median)}, ${ms(filled.slowest)}`, "–", "–"],
      row("reports ÷ sealed, geometric mean", ratio, `${ratio.toFixed(2)}×`, BARS.slower, "×"),
      row("restart after a kill until it listens, ms", restart, ms(restart), BARS.restartMs, "ms"),
      row("file, bytes an event", bytes, bytes.toFixed(1), BARS.bytes, "B"),
    ]
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function using<Result>(server: Served, work: (server: Served) => Promise<Result>): Promise<Result> {
  await using running = server
  return await work(running)
}

const rangeOf = ({ end, days }: DataOptions): string => {
  const day = (at: number) => new Date(at).toISOString().slice(0, 10)
  return `from=${day(end - days * DAY_MS)}&to=${day(end)}`
}

/** Sends the traffic of a year in order of time over a few connections, and watches the memory of the server and a report. */
async function sendAll(server: Served, site: Prepared, options: DataOptions) {
  const over = new AbortController()
  const memory = watchMemory(server, over.signal)
  const reports = watchReport(server, site, over.signal)
  const bodies = requestBodies(options)
  let events = 0
  const from = performance.now()
  const send = async () => {
    for (let next = bodies.next(); !next.done; next = bodies.next()) {
      const headers = { authorization: `Bearer ${site.key}`, "content-type": "application/json" }
      const url = `${server.address}/api/public/v1/sites/${site.siteId}/events`
      const response = await fetch(url, { method: "POST", headers, body: next.value })
      if (response.status !== 202) throw new Error(`A request was answered with ${response.status}: ${await response.text()}`)
      events += ((await response.json()) as { accepted: number }).accepted
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, send))
  const seconds = (performance.now() - from) / 1_000
  over.abort()
  const times = await reports
  return { events, seconds, resident: await memory, median: quantile(times, 0.5), slowest: quantile(times, 1) }
}

async function watchMemory(server: Served, over: AbortSignal): Promise<number> {
  let largest = 0
  for (; !over.aborted; await Bun.sleep(SAMPLE_MS)) largest = Math.max(largest, (await server.memory()).resident)
  return largest
}

async function watchReport(server: Served, site: Prepared, over: AbortSignal): Promise<number[]> {
  const times: number[] = []
  for (; !over.aborted; await Bun.sleep(1_000)) {
    const from = performance.now()
    await askStats(server.address, site, "summary?period=30d")
    times.push(performance.now() - from)
  }
  return times
}

/** Yields the bodies of the requests. A server cannot send engagement, so more traffic is generated than is sent. */
function* requestBodies({ events, days, end, seed }: DataOptions): Generator<string> {
  const made = (number: number) => generateTraffic({ seed, from: end - days * DAY_MS, to: end, events: number, host: HOST })
  const isSent = ({ name }: TrafficEvent) => name !== "engagement"
  const share = [...made(20_000)].filter(isSent).length / 20_000
  let body: object[] = []
  for (const event of made(Math.round(events / share))) {
    if (!isSent(event)) continue
    body.push(serverEvent(event))
    if (body.length < REQUEST_EVENTS) continue
    yield JSON.stringify({ events: body })
    body = []
  }
  if (body.length > 0) yield JSON.stringify({ events: body })
}

const serverEvent = ({ at, name, url, title, referrer, props, revenue, client }: TrafficEvent): object => ({
  name,
  url,
  title,
  timestamp: at,
  ip: client.address,
  user_agent: client.userAgent,
  language: client.language,
  ...(referrer !== "" && { referrer }),
  ...(props && { props }),
  ...(revenue && { revenue: { amount: revenue.amount.toFixed(2), currency: revenue.currency } }),
})

/** Returns the median of each report over 30 and 365 days, in ms. */
async function timeReports(server: Served, site: Prepared, { end }: DataOptions): Promise<number[]> {
  const times: number[] = []
  for (const days of [30, 365])
    for (const report of reportsOver(KNOWN)) {
      if (report.ask.kind === "goals" || report.ask.kind === "funnel") continue
      times.push((await timed(() => askReport(server.address, site, report, days, end), { runs: 5 })).median)
    }
  return times
}

const openStore = (path: string, tailBytes?: number): EventStore =>
  openEventStore(path, { now: Date.now(), schemas: eventSchemas(pluginFacts(plugins)), ...(tailBytes && { tailBytes }) })

/** Seals and merges everything, as an hour without traffic would. */
async function sealAll(path: string): Promise<void> {
  const store = openStore(path)
  const later = Date.now() + 2 * DAY_MS
  await store.seal(later, true)
  await store.merge(later)
  await store.dropRetired(later + DAY_MS)
  store.checkpoint("truncate")
  store.close()
}

/** Restarts a server in which the events of the last half hour belong to open visits. */
async function openVisits(command: readonly string[]): Promise<Row[]> {
  const dataDir = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  const emptyDir = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  try {
    const site = await prepareSite(command, dataDir)
    await prepareSite(command, emptyDir)
    const now = Date.now()
    const store = openStore(join(dataDir, "events.db"))
    await record(store, site.siteId, { from: now - IDLE_MS + 60_000, to: now, events: OPEN_EVENTS })
    store.close()
    const times: number[] = []
    const empty: number[] = []
    let resident = 0
    for (let start = 0; start < 5; start++) {
      const before = await timeStart(command, emptyDir)
      const from = performance.now()
      await using server = await serveFootfall({ command, dataDir })
      if (start > 0) times.push(performance.now() - from) // the first start fills the page cache
      if (start > 0) empty.push(before)
      await askStats(server.address, site, "summary?period=today")
      resident = (await server.memory()).resident
      await server.kill("SIGKILL")
    }
    const restart = quantile(times, 0.5)
    const name = `restart with ${count(OPEN_EVENTS)} events of open visits until it listens, median ms`
    return [
      row(name, restart, ms(restart), BARS.openRestartMs, "ms"),
      ["start without events in turn with it, median ms", ms(quantile(empty, 0.5)), "–", "–"],
      ["the same, MB resident after a report", (resident / 1e6).toFixed(0), "–", "–"],
    ]
  } finally {
    for (const dir of [dataDir, emptyDir]) rmSync(dir, { recursive: true, force: true })
  }
}

async function timeStart(command: readonly string[], dataDir: string): Promise<number> {
  const from = performance.now()
  await using server = await serveFootfall({ command, dataDir })
  const started = performance.now() - from
  await server.kill("SIGKILL")
  return started
}

interface Recorded {
  from: number
  to: number
  events: number
}

/** Records traffic as it arrives, in group commits, and seals when the store asks for it. */
async function record(store: EventStore, siteId: number, { from, to, events }: Recorded): Promise<void> {
  let now = from
  let sealing = Promise.resolve()
  store.onSealDue(() => {
    sealing = store.seal(now)
    return sealing
  })
  const day = new Date(from).toISOString().slice(0, 10)
  let group: Candidate[] = []
  const commit = () => {
    store.append(now, (writer) => group.map((candidate) => recordEvent(writer, candidate)))
    group = []
  }
  for (const event of generateTraffic({ seed: 7, from, to, events, host: HOST })) {
    group.push(candidateOf(event, siteId, day))
    now = event.at
    if (group.length < GROUP_EVENTS) continue
    commit()
    // In half an hour, few events arrive during a seal. Here it would be most of them.
    await sealing
    await Bun.sleep(0)
  }
  commit()
  await sealing
}

function candidateOf({ at, person, name, url, title, engagement }: TrafficEvent, siteId: number, day: string): Candidate {
  const page = url.slice(`https://${HOST}`.length).split("?")[0]!
  const event: NewEvent = { at, name, page, hostname: HOST, title, interactive: true, props: [], ...(engagement && { engagement }) }
  const id = { high: Math.imul(person, 0x9e37_79b1) >>> 0, low: person }
  return {
    ...{ siteId, day, event, traits: NO_TRAITS, id: "", counters: [], identifies: false },
    identity: { current: { period: day, id }, previous: undefined, person: undefined },
  }
}

/** Measures how long nothing else can run while closed visits are sealed. The tail has no limit here, so that they are all sealed at once. */
async function sealingPause(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  try {
    const store = openStore(join(folder, "events.db"), 1 << 30)
    const now = Date.now()
    // The first seal of a process also compiles the code.
    await record(store, 1, { from: now - 6 * IDLE_MS, to: now - 5 * IDLE_MS, events: CLOSED_EVENTS / 3 })
    await store.seal(now, true)
    await record(store, 1, { from: now - 3 * IDLE_MS, to: now - 2 * IDLE_MS, events: CLOSED_EVENTS })
    await record(store, 1, { from: now - IDLE_MS / 2, to: now, events: CLOSED_EVENTS / 3 })
    store.checkpoint("truncate")
    let isOver = false
    let longest = 0
    const sealing = store.seal(now, true).finally(() => {
      isOver = true
    })
    for (let last = performance.now(); !isOver; ) {
      await Bun.sleep(0)
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }
    await sealing
    if (store.facts().hotRows > CLOSED_EVENTS / 2) throw new Error("The closed visits were not sealed")
    store.close()
    return [row(`longest pause while ${count(CLOSED_EVENTS)} events are sealed, ms`, longest, ms(longest), BARS.pauseMs, "ms")]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
