/**
 * What revenue costs ingestion over HTTP. Two instances that started as copies are loaded at the same time on one core, so that other load on
 * the machine meets both alike, and their processor time per event is compared. The first pair are twins: their difference is the noise.
 */
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { askStats, FROM_SOURCE, type Prepared, prepareSite, prepareUser, type Served, serveFootfall, USER } from "../../instance.ts"
import { SERVER_CORE, send, UNLIMITED } from "../ingest/ingest.ts"
import { table } from "../table.ts"
import { quantile, threadTimes, timeBetween } from "../timing.ts"

/** Many short turns: what an instance does now and then, such as collecting garbage, falls into few of them. */
const TURNS = 16
const SECONDS = 1
/** Before the first turn, until the engine has compiled what runs for every event. */
const WARM_UP_SECONDS = 6
/** Time after a turn in which its sales are folded. */
const PAUSE_MS = 1_300
/** Ids of events are unique over all turns of an instance. */
const IDS_PER_TURN = 1_000_000
/** The true median of sixteen values lies between the fourth lowest and the fourth highest with a probability of 98 %. */
const OUTSIDE = 3

interface Case {
  isRevenueOn: boolean
  saleEvery?: number
}
const OFF: Case = { isRevenueOn: false }
const ON: Case = { isRevenueOn: true }
const SALES = { saleEvery: 20 }

interface Pair {
  name: string
  cases: readonly [Case, Case]
  /** Largest loss of the second case, in per cent. */
  bar?: number
}
const PAIRS: readonly Pair[] = [
  { name: "revenue is off, compared with itself", cases: [OFF, OFF] },
  { name: "revenue is on, nothing is sold", cases: [OFF, ON], bar: 1 },
  { name: "5 % sales, stored but not folded, because revenue is off", cases: [OFF, { ...OFF, ...SALES }], bar: 5 },
  { name: "5 % sales, folded while events arrive", cases: [ON, { ...ON, ...SALES }], bar: 5 },
]

interface Instance extends AsyncDisposable {
  /** Loads the instance once. Returns the microseconds of processor time per event, until everything is done. */
  load(seconds: number): Promise<number>
  /** Throws unless all accepted events are counted. */
  check(): Promise<void>
}

export async function measureSalesLoad(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  try {
    const template = join(folder, "template")
    await prepareUser(FROM_SOURCE, template)
    const site = await prepareSite(FROM_SOURCE, template)
    const rows: (string | number)[][] = []
    for (const pair of PAIRS) rows.push(await measurePair(pair, template, site))
    console.log(`\n### Ingestion over HTTP with and without revenue, two instances on one core, medians of ${TURNS} turns\n`)
    console.log(
      table(["Events", "Processor time per event, µs", "Compared with, µs", "Loss of rate, %", "98 % sure", "Bar", "Bar met"], rows),
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measurePair({ name, cases, bar }: Pair, template: string, site: Prepared): Promise<(string | number)[]> {
  await using first = await start(cases[0], template, site)
  await using second = await start(cases[1], template, site)
  const turns: [number, number][] = []
  const loadBoth = (seconds: number) => Promise.all([first.load(seconds), second.load(seconds)])
  await loadBoth(WARM_UP_SECONDS)
  for (let turn = 0; turn < TURNS; turn++) turns.push(await loadBoth(SECONDS))
  await first.check()
  await second.check()
  // What is left of the rate is what a core can do in the same time.
  const losses = turns.map(([one, other]) => 100 * (1 - one / other)).sort((a, b) => a - b)
  const loss = quantile(losses, 0.5)
  const medianOf = (index: 0 | 1) =>
    quantile(
      turns.map((times) => times[index]),
      0.5,
    ).toFixed(1)
  const range = `${losses[OUTSIDE]!.toFixed(1)} to ${losses[TURNS - 1 - OUTSIDE]!.toFixed(1)}`
  return [name, medianOf(1), medianOf(0), loss.toFixed(1), range, ...(bar === undefined ? ["–", "–"] : [bar, loss <= bar ? "yes" : "no"])]
}

async function start({ isRevenueOn, ...sales }: Case, template: string, site: Prepared): Promise<Instance> {
  const dataDir = mkdtempSync(`${template}-`)
  cpSync(template, dataDir, { recursive: true })
  const server = await serveFootfall({ dataDir, flags: UNLIMITED, core: SERVER_CORE })
  await turnRevenue(server, isRevenueOn)
  const target = { ...sales, connections: 128, warmUpSeconds: 0, port: Number(new URL(server.address).port), trackingId: site.trackingId }
  let [turns, accepted] = [0, 0]
  return {
    async load(seconds) {
      const before = threadTimes(server.pid)
      const { answers } = await send({ ...target, seconds, firstId: turns++ * IDS_PER_TURN })
      await Bun.sleep(PAUSE_MS)
      const events = answers["202"] ?? 0
      accepted += events
      return (1_000 * timeBetween(before, threadTimes(server.pid))) / events
    },
    async check() {
      const { metrics } = await askStats(server.address, site, "summary?period=7d&metrics=events")
      if (metrics.events !== accepted) throw new Error(`${accepted} events were accepted, ${metrics.events} are counted`)
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** Signs in as the instance admin, and turns the plugin on or off. */
async function turnRevenue({ address }: Served, isOn: boolean): Promise<void> {
  const headers = { "content-type": "application/json", origin: address }
  const login = await fetch(`${address}/api/private/auth/login`, { method: "POST", headers, body: JSON.stringify(USER) })
  const cookie = login.headers.get("set-cookie")!.split(";")[0]!
  const body = JSON.stringify({ id: "revenue", enabled: isOn })
  const answer = await fetch(`${address}/api/private/admin/plugins`, { method: "PATCH", headers: { ...headers, cookie }, body })
  if (!answer.ok) throw new Error(`Revenue could not be turned ${isOn ? "on" : "off"}: ${answer.status} ${await answer.text()}`)
}

if (import.meta.main) await measureSalesLoad()
