/**
 * What revenue costs ingestion over HTTP. One server is loaded in many short rounds, whose cases take turns: other load on the machine, and
 * what the server has already stored and compiled, meet all of them alike, and what is compared are neighbouring rounds. Its processor time
 * is measured until the last answer, and until it has also done what follows from the events, such as folding their sales.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { askStats, FROM_SOURCE, type Prepared, prepareSite, prepareUser, type Served, serveFootfall, USER } from "../../instance.ts"
import { SERVER_CORE, send, UNLIMITED } from "../ingest/ingest.ts"
import type { LoadOptions } from "../ingest/load.ts"
import type { LoadResult } from "../ingest/request-loop.ts"
import { count, table } from "../table.ts"
import { processorMs, quantile } from "../timing.ts"

const ROUNDS = 12
/** Shorter than the second after which sales are folded, also with the end of the sender. */
const LOAD = { connections: 128, seconds: 0.6, warmUpSeconds: 0 }
/** As many sales as let the server compile what it does with them, as one does that has run for a day. */
const WARM_UP = { ...LOAD, seconds: 6, saleEvery: 2 }
/** Pauses in which the server does what follows from the events of a round, until it has nothing left to do. */
const PAUSE = { ms: 500, min: 4, max: 20 }
/** Processor time of a pause in which the server had nothing to do. */
const IDLE_MS = 30
/** Ids of events are unique over all rounds. */
const IDS_PER_ROUND = 1_000_000

interface Case {
  name: string
  isRevenueOn: boolean
  saleEvery?: number
  rounds: Round[]
}

interface Round {
  perSecond: number
  /** Microseconds of processor time per event, until the last answer. */
  answered: number
  /** The same, until everything is done. */
  done: number
}

interface Bench {
  server: Served
  site: Prepared
  turnRevenue(isOn: boolean): Promise<void>
  /** Number of accepted events, of which each has an id. */
  accepted: number
  sent: number
}

export async function measureSalesLoad(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  const cases: [Case, Case, Case] = [
    { name: "revenue is off, no sales", isRevenueOn: false, rounds: [] },
    { name: "no sales", isRevenueOn: true, rounds: [] },
    { name: "5 % sales", isRevenueOn: true, saleEvery: 20, rounds: [] },
  ]
  try {
    await prepareUser(FROM_SOURCE, dataDir)
    const site = await prepareSite(FROM_SOURCE, dataDir)
    await using server = await serveFootfall({ dataDir, flags: UNLIMITED, core: SERVER_CORE })
    const bench: Bench = { server, site, turnRevenue: await revenueSwitch(server), accepted: 0, sent: 0 }
    await load(bench, WARM_UP)
    await settle(server)
    // Each case is first as often as the others.
    for (let round = 0; round < ROUNDS; round++)
      for (let i = 0; i < cases.length; i++) await measureRound(bench, cases[(round + i) % cases.length]!)
    const { metrics } = await askStats(server.address, site, "summary?period=7d&metrics=events")
    if (metrics.events !== bench.accepted) throw new Error(`${bench.accepted} events were accepted, ${metrics.events} are counted`)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
  print(cases)
}

async function measureRound(bench: Bench, { isRevenueOn, saleEvery, rounds }: Case): Promise<void> {
  const { server, turnRevenue } = bench
  await turnRevenue(isRevenueOn)
  await settle(server) // what was missed while revenue was off is done now
  const before = processorMs(server.pid)
  const { perSecond, answers } = await load(bench, { ...LOAD, ...(saleEvery && { saleEvery }) })
  const answered = processorMs(server.pid)
  const idle = await settle(server)
  const perEvent = (ms: number) => (1_000 * ms) / (answers["202"] ?? 0)
  rounds.push({ perSecond, answered: perEvent(answered - before), done: perEvent(processorMs(server.pid) - before - idle) })
}

/** Waits until the server has nothing left to do. Returns the processor time that it would have taken anyway. */
async function settle({ pid }: Served): Promise<number> {
  let before = processorMs(pid)
  for (let pause = 1; ; pause++) {
    await Bun.sleep(PAUSE.ms)
    const now = processorMs(pid)
    const last = now - before
    if ((pause >= PAUSE.min && last <= IDLE_MS) || pause === PAUSE.max) return pause * Math.min(last, IDLE_MS)
    before = now
  }
}

async function load(bench: Bench, options: Omit<LoadOptions, "port" | "trackingId">): Promise<LoadResult> {
  const port = Number(new URL(bench.server.address).port)
  const result = await send({ ...options, port, trackingId: bench.site.trackingId, firstId: bench.sent })
  bench.sent += IDS_PER_ROUND
  bench.accepted += result.answers["202"] ?? 0
  return result
}

function print(cases: readonly [Case, Case, Case]): void {
  const median = (values: readonly number[]) => quantile(values, 0.5)
  const rows = cases.map(({ name, rounds }) => {
    const of = (figure: keyof Round) => count(median(rounds.map((round) => round[figure])))
    return [name, of("perSecond"), of("answered"), of("done")]
  })
  console.log(`\n### Ingestion over HTTP with and without revenue, server on one core, medians of ${ROUNDS} rounds of each in turn\n`)
  console.log(table(["Events", "Requests per second", "Processor time per event, µs", "The same, with what follows, µs"], rows))
  const [off, plain, sales] = cases
  const loss = (name: string, of: Case, to: Case, figure: "answered" | "done", bar: number) => {
    // What is left of the rate is what a core can do in the same time.
    const ratios = of.rounds.map((round, i) => to.rounds[i]![figure] / round[figure])
    const rates = of.rounds.map((round, i) => round.perSecond / to.rounds[i]!.perSecond)
    const share = (ratio: number) => (100 * (1 - ratio)).toFixed(1)
    const middle = `${share(median(ratios))} (${share(quantile(ratios, 0.75))} to ${share(quantile(ratios, 0.25))})`
    return [name, middle, share(median(rates)), bar, 1 - median(ratios) <= bar / 100 ? "yes" : "no"]
  }
  const losses = [
    loss("no sales, because revenue is on", plain, off, "done", 1),
    loss("5 % sales, until they are answered", sales, plain, "answered", 5),
    loss("5 % sales, with their folding", sales, plain, "done", 5),
  ]
  console.log(`\n${table(["Loss of rate, %", "By processor time (middle half)", "By requests", "Bar", "Bar met"], losses)}`)
}

/** Signs in as the instance admin, and returns what turns the plugin on and off. */
async function revenueSwitch({ address }: Served): Promise<(isOn: boolean) => Promise<void>> {
  const headers = { "content-type": "application/json", origin: address }
  const login = await fetch(`${address}/api/private/auth/login`, { method: "POST", headers, body: JSON.stringify(USER) })
  const cookie = login.headers.get("set-cookie")!.split(";")[0]!
  return async (isOn) => {
    const body = JSON.stringify({ id: "revenue", enabled: isOn })
    const answer = await fetch(`${address}/api/private/admin/plugins`, { method: "PATCH", headers: { ...headers, cookie }, body })
    if (!answer.ok) throw new Error(`Revenue could not be turned ${isOn ? "on" : "off"}: ${answer.status} ${await answer.text()}`)
  }
}

if (import.meta.main) await measureSalesLoad()
