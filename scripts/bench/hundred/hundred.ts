/**
 * A hundred million events of one site over ten years, and as many of 1,000 sites: start, reports, memory, retention, erasure, backup and
 * restore of the compiled binary, each next to its bar (issue 21).
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { plugins } from "../../../plugins/index.ts"
import { pluginFacts } from "../../../src/plugin/load.ts"
import { personOf } from "../../../src/services/demo/people.ts"
import { eventSchemas } from "../../../src/store/events/database.ts"
import { openEventStore } from "../../../src/store/events/events.ts"
import { askStats, footfall, type Prepared, prepareSite, type Served, serveFootfall } from "../../instance.ts"
import { UNLIMITED } from "../ingest/ingest.ts"
import { askReport, builtBinary } from "../server/memory.ts"
import { type DataOptions, KNOWN } from "../stores/data.ts"
import { DAY_MS, type Report, reportsOver } from "../stores/reports.ts"
import { count, ms, table } from "../table.ts"
import { quantile, timed } from "../timing.ts"
import { type Copied, fillCopies } from "./fill.ts"
import { besidePings, betweenTurns, type Pauses } from "./pauses.ts"

const TEN_YEARS = 3_650
const RANGES = [
  { days: 30, bar: 30 },
  { days: 365, bar: 250 },
  { days: TEN_YEARS, bar: 2_500 },
] as const
const BARS = { listensMs: 300, answersMs: 500, bytes: 8, afterReportsMb: 600, loadedMb: 400, pauseMs: 15 } as const
const STARTS = 5
const PER_SECOND = 1_000
const LOAD_SECONDS = 20
/** The first events after a start, whose sites and texts are not in memory yet. */
const FIRST_EVENTS = 2 * PER_SECOND
/** Sites that are asked for reports when there are many. */
const ASKED_SITES = 5
/** Retention that removes a day of the ten years, as every night, and one that removes most of them. */
const KEPT_DAYS = [TEN_YEARS - 1, 365] as const

type Row = [what: string, figure: string, bar: string, holds: "yes" | "no" | "–"]

const row = (what: string, value: number, bar: number, unit: string): Row => [
  `${what}, ${unit}`,
  ms(value),
  `≤ ${count(bar)}`,
  value <= bar ? "yes" : "no",
]
const figure = (what: string, shown: string): Row => [what, shown, "–", "–"]

interface HundredOptions {
  events: number
  seed: number
  /** End of the last day, epoch milliseconds. */
  end: number
}

export async function measureHundred(options: HundredOptions): Promise<void> {
  const command = await builtBinary()
  for (const sites of [1, 1_000]) {
    const dataDir = mkdtempSync(join(tmpdir(), "footfall-bench-"))
    try {
      const instance = { command, dataDir, data: { ...options, sites, days: TEN_YEARS } }
      const rows = await measureInstance(instance)
      console.log(`\n### ${count(options.events)} events of ${sites === 1 ? "one site" : `${count(sites)} sites`} over ten years\n`)
      console.log(table(["What", "Figure", "Bar", "Holds"], rows))
    } finally {
      rmSync(dataDir, { recursive: true, force: true })
    }
  }
}

interface Instance {
  command: readonly string[]
  dataDir: string
  data: DataOptions
}

const serve = ({ command, dataDir }: Instance): Promise<Served> =>
  serveFootfall({ command, dataDir, flags: [...UNLIMITED, "--api-rate-limit", "0"] })

async function measureInstance(instance: Instance): Promise<Row[]> {
  const sites = await prepareSites(instance)
  const filled = await fillCopies(join(instance.dataDir, "events.db"), instance.data)
  return [
    figure("filled, events a second", count(filled.events / filled.seconds)),
    row("file, without row tables of sales", filled.bytes / filled.events, BARS.bytes, "bytes an event"),
    ...(await measureStarts(instance, sites[0]!)),
    ...(await measureReports(instance, sites)),
    ...(await measureFirstAnswers(instance, sites)),
    ...(await measureLoad(instance, sites)),
    ...(await measureUpkeep(instance, filled)),
    ...(await measureBackup(instance, sites[0]!)),
    ...(await measureRetention(instance, sites[0]!)),
  ]
}

/** A site with a key that can do what the reports need, and the host of its pages. */
interface BenchSite extends Prepared {
  host: string
  /** Present when the site is asked for reports. */
  funnelId?: number
}

/** Creates the sites, and the goals and the funnel of those that are asked for reports. */
async function prepareSites(instance: Instance): Promise<BenchSite[]> {
  const { command, dataDir, data } = instance
  const first = await prepareSite(command, dataDir)
  const scopes = "stats:read,events:write,sites:write,goals:write,funnels:write"
  const { key } = await footfall<{ key: string }>(command, dataDir, "key", "create", "--name", "Bench", "--scopes", scopes)
  const sites: BenchSite[] = [{ ...first, key, host: "shop.example.com" }]
  await using server = await serve(instance)
  while (sites.length < data.sites) {
    const host = `shop-${sites.length + 1}.example.com`
    const made = await post<{ id: number; tracking_id: string }>(server, key, "", { name: host, hosts: [host], timezone: "UTC" })
    sites.push({ siteId: made.id, trackingId: made.tracking_id, key, host })
  }
  const steps = KNOWN.steps.map(({ kind, ...step }) => ({ type: kind, ...step }))
  for (const site of askedSites(sites)) {
    for (const goal of KNOWN.goals) await post(server, key, `/${site.siteId}/goals`, goal)
    site.funnelId = (await post<{ id: number }>(server, key, `/${site.siteId}/funnels`, { name: "Order", steps })).id
  }
  await server.kill("SIGTERM")
  return sites
}

async function post<Answer>({ address }: Served, key: string, path: string, body: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  const response = await fetch(`${address}/api/public/v1/sites${path}`, { method: "POST", headers, body: JSON.stringify(body) })
  if (response.status !== 201) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Answer // the caller knows the route
}

function askedSites(sites: readonly BenchSite[]): BenchSite[] {
  const step = Math.max(1, Math.floor(sites.length / ASKED_SITES))
  return sites.filter((_, index) => index % step === 0).slice(0, ASKED_SITES)
}

/** Measures from the start of the process, with the files in the page cache. */
async function measureStarts(instance: Instance, site: BenchSite): Promise<Row[]> {
  const times = { listening: [] as number[], answered: [] as number[] }
  for (let start = 0; start <= STARTS; start++) {
    const from = performance.now()
    await using server = await serve(instance)
    const listening = performance.now() - from
    await askStats(server.address, site, "summary?period=30d")
    const answered = performance.now() - from
    await server.kill("SIGTERM")
    if (start === 0) continue
    times.listening.push(listening)
    times.answered.push(answered)
  }
  return [
    row("until it listens, median", quantile(times.listening, 0.5), BARS.listensMs, "ms"),
    row("first answer, median", quantile(times.answered, 0.5), BARS.answersMs, "ms"),
  ]
}

async function measureReports(instance: Instance, sites: readonly BenchSite[]): Promise<Row[]> {
  await using server = await serve(instance)
  const rows: Row[] = []
  const failed: string[] = []
  for (const { days, bar } of RANGES) {
    const times: { name: string; median: number; cold: number }[] = []
    for (const site of askedSites(sites))
      for (const report of reportsOver(KNOWN)) {
        // A report that exceeds the time limit counts with the time until then, so that the others are still measured.
        const ask = () =>
          askAny(server, site, report, days, instance.data.end).catch(({ message }) => failed.push(`${report.name}: ${message}`))
        const from = performance.now()
        await ask()
        const cold = performance.now() - from
        times.push({ name: report.name, cold, median: (await timed(ask, { runs: 5 })).median })
      }
    const slowest = times.reduce((slowest, time) => (time.median > slowest.median ? time : slowest))
    const cold = times.reduce((slowest, time) => (time.cold > slowest.cold ? time : slowest))
    rows.push(row(`slowest report over ${count(days)} days: ${slowest.name}`, slowest.median, bar, "ms"))
    rows.push(figure(`the slowest of them when first asked: ${cold.name}, ms`, ms(cold.cold)))
  }
  if (failed.length > 0) rows.push([`reports that failed, first: ${failed[0]}`, count(failed.length), "0", "no"])
  const { resident } = await server.memory()
  rows.push(row("resident after all reports", resident / 1e6, BARS.afterReportsMb, "MB"))
  return rows
}

/** Asks each report once after a restart. */
async function measureFirstAnswers(instance: Instance, sites: readonly BenchSite[]): Promise<Row[]> {
  await using server = await serve(instance)
  const rows: Row[] = []
  for (const { days } of RANGES) {
    const times: number[] = []
    for (const site of askedSites(sites))
      for (const report of reportsOver(KNOWN)) {
        const from = performance.now()
        await askAny(server, site, report, days, instance.data.end)
        times.push(performance.now() - from)
      }
    rows.push(figure(`slowest report over ${count(days)} days when first asked after a restart, ms`, ms(Math.max(...times))))
  }
  return rows
}

/** Asks any of the reports. Goals and funnels have routes of their own. */
async function askAny({ address }: Served, site: BenchSite, report: Report, days: number, end: number): Promise<unknown> {
  const { kind } = report.ask
  if (kind !== "goals" && kind !== "funnel") return askReport(address, site, report, days, end)
  const day = (at: number) => new Date(at).toISOString().slice(0, 10)
  const range = `from=${day(end - days * DAY_MS)}&to=${day(end - DAY_MS)}`
  return askStats(address, site, kind === "goals" ? `goals?${range}` : `../funnels/${site.funnelId}/report?${range}`)
}

/** Sends events of all sites at a steady rate, each when it is due. */
async function measureLoad(instance: Instance, sites: readonly BenchSite[]): Promise<Row[]> {
  await using server = await serve(instance)
  let resident = 0
  let isOver = false
  const watched = (async () => {
    for (; !isOver; await Bun.sleep(200)) resident = Math.max(resident, (await server.memory()).resident)
  })()
  const latencies: number[] = []
  const later: number[] = []
  const start = performance.now()
  const send = async (number: number) => {
    const due = start + (number * 1_000) / PER_SECOND
    await Bun.sleep(due - performance.now())
    await sendPageview(server, sites[number % sites.length]!, number)
    const latency = performance.now() - due
    latencies.push(latency)
    if (number >= FIRST_EVENTS) later.push(latency)
  }
  await Promise.all(Array.from({ length: PER_SECOND * LOAD_SECONDS }, (_, number) => send(number)))
  isOver = true
  await watched
  return [
    row(`resident at ${count(PER_SECOND)} events a second`, resident / 1e6, BARS.loadedMb, "MB"),
    figure("p99 of an acknowledgement meanwhile, ms", ms(quantile(latencies, 0.99))),
    figure("the same without the first two seconds, ms", ms(quantile(later, 0.99))),
  ]
}

async function sendPageview({ address }: Served, { trackingId, host }: BenchSite, number: number): Promise<void> {
  const person = personOf(7, number % 20_000)
  const headers = { "content-type": "text/plain", "user-agent": person.userAgent, "x-forwarded-for": person.address }
  const url = `https://${host}/products/${number % 60}`
  const body = JSON.stringify({ name: "pageview", d: trackingId, url, tz: person.timezone })
  const response = await fetch(`${address}/api/event`, { method: "POST", headers, body })
  if (response.status !== 202) throw new Error(`An event was answered with ${response.status}: ${await response.text()}`)
}

const pausesOf = (what: string, { longest, own }: Pauses): Row[] => [
  row(what, longest, BARS.pauseMs, "ms"),
  row("the same without waiting for a core", own, BARS.pauseMs, "ms"),
]

async function measureRetention(instance: Instance, { siteId }: BenchSite): Promise<Row[]> {
  await using server = await serve(instance)
  const rows: Row[] = []
  for (const days of KEPT_DAYS) {
    const keep = ["retention", "run", "--site", String(siteId), "--days", String(days)]
    const { result, seconds, pauses } = await besidePings(server, () =>
      footfall<{ visits: number }>(instance.command, instance.dataDir, ...keep),
    )
    rows.push(figure(`retention of ${count(days)} days removed ${count(result.visits)} visits in, s`, seconds.toFixed(1)))
    rows.push(...pausesOf("longest answer to a ping during retention", pauses))
  }
  return rows
}

async function measureBackup(instance: Instance, site: BenchSite): Promise<Row[]> {
  const { command, dataDir, data } = instance
  const day = (at: number) => new Date(at).toISOString().slice(0, 10)
  const all = `summary?metrics=visitors,visits,pageviews,events&from=${day(data.end - data.days * DAY_MS)}&to=${day(data.end)}`
  const server = await serve(instance)
  const before = (await askStats(server.address, site, all)).metrics
  const { result, seconds, pauses } = await besidePings(server, () => footfall<{ id: string }>(command, dataDir, "backup", "create"))
  await server.kill("SIGTERM")
  const from = performance.now()
  await footfall(command, dataDir, "backup", "restore", result.id)
  const restored = (performance.now() - from) / 1_000
  await using again = await serve(instance)
  const after = (await askStats(again.address, site, all)).metrics
  if (JSON.stringify(before) !== JSON.stringify(after)) throw new Error("The restored instance has other figures")
  await again.kill("SIGTERM")
  rmSync(join(dataDir, "backups"), { recursive: true, force: true })
  return [
    figure("backup, s", seconds.toFixed(1)),
    ...pausesOf("longest answer to a ping during the backup", pauses),
    figure("restore with a backup of the current state, s", restored.toFixed(1)),
  ]
}

/** Seals what the load has left in the tail, and erases a visitor, by the production code in this process. */
async function measureUpkeep({ dataDir, data }: Instance, { visitors }: Copied): Promise<Row[]> {
  const store = openEventStore(join(dataDir, "events.db"), { now: Date.now(), schemas: eventSchemas(pluginFacts(plugins)) })
  const { hotRows } = store.facts()
  const sealing = await betweenTurns(() => store.seal(Date.now() + DAY_MS, true))
  const siteId = Math.ceil(data.sites / 2)
  const erasure = await betweenTurns(() => store.erasePerson(siteId, [Math.floor(visitors / 2)], Date.now()))
  store.close()
  if (erasure.result.visits === 0) throw new Error("The visitor had no visits")
  return [
    figure(`${count(hotRows)} events sealed in, s`, sealing.seconds.toFixed(1)),
    ...pausesOf("longest pause of the thread meanwhile", sealing.pauses),
    figure("erasure of a person, s", erasure.seconds.toFixed(1)),
    ...pausesOf("longest pause of the thread meanwhile", erasure.pauses),
  ]
}
