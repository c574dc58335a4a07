/**
 * What revenue costs ingestion over HTTP. Instances that started as copies are loaded at the same time on one core, so that other load on the
 * machine meets all alike, and their processor time per event is compared. Two of them are twins: their difference is the noise.
 * A quarter of the events are sales, so that their cost is larger than the noise, and so that about as many are folded at once as when an
 * instance has the core to itself. Their cost is converted to the share for which the bar holds.
 */
import { Database } from "bun:sqlite"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { askStats, FROM_SOURCE, type Prepared, prepareSite, prepareUser, type Served, serveFootfall, USER } from "../../instance.ts"
import { SERVER_CORE, send, UNLIMITED } from "../ingest/ingest.ts"
import { table } from "../table.ts"
import { quantile, threadTimes, timeBetween } from "../timing.ts"

/** Each turn is long enough for sales to be folded as often as they are under a lasting load. */
const TURNS = 10
const SECONDS = 10
/** Before the first turn, until the engine has compiled what runs for every event. */
const WARM_UP_SECONDS = 6
/** Time after a turn in which everything else ends that its events have caused. */
const PAUSE_MS = 1_200
/** Ids of events are unique over all turns of an instance. */
const IDS_PER_TURN = 1_000_000
/** The true median of 10 values lies between the second lowest and the second highest with a probability of 98 %. */
const OUTSIDE = 1
/** Share of sales for which the bar holds. */
const SALES_OF_BAR = 0.05

interface Case {
  name: string
  isRevenueOn: boolean
  saleEvery?: number
  /** Largest loss, in per cent. */
  bar?: number
}
const SALES = { saleEvery: 4, bar: 100 * SALES_OF_BAR }
const PLAIN: Case = { name: "revenue is off, nothing is sold", isRevenueOn: false }
/** Instances that are loaded at once. The others are compared with the first. */
const GROUPS: readonly (readonly [Case, ...Case[]])[] = [
  [PLAIN, { ...PLAIN, name: "the same again" }, { name: "revenue is on, nothing is sold", isRevenueOn: true, bar: 1 }],
  [
    PLAIN,
    { name: "sales are stored, revenue is off", isRevenueOn: false, ...SALES },
    { name: "sales are stored and folded", isRevenueOn: true, ...SALES },
  ],
]

interface Instance extends AsyncDisposable {
  /** Loads the instance. Returns the microseconds of processor time per event, until everything is done. */
  load(seconds: number): Promise<number>
  /** Throws unless all accepted events are counted. */
  check(): Promise<void>
}

type Row = readonly (string | number)[]

export async function measureSalesLoad(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  try {
    const template = join(folder, "template")
    await prepareUser(FROM_SOURCE, template)
    const site = await prepareSite(FROM_SOURCE, template)
    const rows: Row[] = []
    for (const cases of GROUPS) rows.push(...(await measureGroup(cases, template, site)))
    console.log(`\n### Ingestion over HTTP with and without revenue, three instances on one core, medians of ${TURNS} turns\n`)
    const loss = `Loss of rate with ${100 * SALES_OF_BAR} % sales, %`
    console.log(table(["Events", "Share of sales, %", "Processor time per event, µs", loss, "98 % sure", "Bar", "Bar met"], rows))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measureGroup(cases: (typeof GROUPS)[number], template: string, site: Prepared): Promise<Row[]> {
  await using stack = new AsyncDisposableStack()
  const instances: Instance[] = []
  for (const one of cases) instances.push(stack.use(await start(one, template, site)))
  await loadAll(instances, WARM_UP_SECONDS, 0)
  const turns: number[][] = []
  for (let turn = 0; turn < TURNS; turn++) turns.push(await loadAll(instances, SECONDS, turn))
  for (const one of instances) await one.check()
  return cases.map(({ name, saleEvery, bar }, index) => {
    const times = turns.map((turn) => turn[index]!)
    const sales = saleEvery === undefined ? [0, 1] : [100 / saleEvery, SALES_OF_BAR * saleEvery]
    const [share, ofBar] = sales as [number, number]
    // What is left of the rate is what a core can do in the same time.
    const losses = turns.map(([plain], turn) => 100 * (1 - plain! / (plain! + ofBar * (times[turn]! - plain!)))).sort((a, b) => a - b)
    const loss = quantile(losses, 0.5)
    const range = `${losses[OUTSIDE]!.toFixed(1)} to ${losses[TURNS - 1 - OUTSIDE]!.toFixed(1)}`
    const figures = index === 0 ? ["–", "–"] : [loss.toFixed(1), range]
    return [name, share, quantile(times, 0.5).toFixed(1), ...figures, bar ?? "–", bar === undefined ? "–" : loss <= bar ? "yes" : "no"]
  })
}

/** Loads the instances at once. Each begins as often as the others, because the one that does has the core to itself for a moment. */
async function loadAll(instances: readonly Instance[], seconds: number, turn: number): Promise<number[]> {
  const times: number[] = []
  const load = async (index: number) => {
    times[index] = await instances[index]!.load(seconds)
  }
  await Promise.all(instances.map((_, place) => load((place + turn) % instances.length)))
  return times
}

async function start({ isRevenueOn, saleEvery }: Case, template: string, site: Prepared): Promise<Instance> {
  const dataDir = mkdtempSync(`${template}-`)
  cpSync(template, dataDir, { recursive: true })
  const server = await serveFootfall({ dataDir, flags: UNLIMITED, core: SERVER_CORE })
  await turnRevenue(server, isRevenueOn)
  const target = {
    ...(saleEvery !== undefined && { saleEvery }),
    connections: 128,
    warmUpSeconds: 0,
    port: Number(new URL(server.address).port),
    trackingId: site.trackingId,
  }
  const isFolded = isRevenueOn ? foldingIn(dataDir) : () => true
  let [turns, accepted, sold] = [0, 0, 0]
  return {
    async load(seconds) {
      const before = threadTimes(server.pid)
      const { answers } = await send({ ...target, seconds, firstId: turns++ * IDS_PER_TURN })
      const events = answers["202"] ?? 0
      accepted += events
      // The first of a turn is a sale.
      if (saleEvery !== undefined) sold += Math.ceil(events / saleEvery)
      while (!isFolded(sold)) await Bun.sleep(100)
      await Bun.sleep(PAUSE_MS)
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

/** Creates the test whether a number of sales is folded, which reads beside the server so that it costs it nothing. */
function foldingIn(dataDir: string): (sold: number) => boolean {
  const db = new Database(join(dataDir, "events.db"), { readonly: true })
  const folded = db.query<{ isFolded: number }, [number]>(`select coalesce(max(id), 0) >= ?
    and not exists (select 1 from revenue_unpacked) as isFolded from revenue_transactions`)
  return (sold) => folded.get(sold)?.isFolded === 1
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
