/**
 * The write side of revenue, over HTTP on a server that accepts events meanwhile: folding sale events into transactions, folding sales
 * that arrive late, and recomputing every transaction while the report is read.
 */
import { Database } from "bun:sqlite"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { personOf } from "../../../src/services/demo/people.ts"
import { FROM_SOURCE, type Prepared, prepareSite, prepareUser, serveFootfall } from "../../instance.ts"
import { UNLIMITED } from "../ingest/ingest.ts"
import { type Acknowledged, acknowledgedEvents } from "../ingest/pressure.ts"
import { type Client, signedIn } from "../people/writes.ts"
import { type BenchVisit, type DataOptions, NO_TRAITS } from "../stores/data.ts"
import { openFootfall } from "../stores/footfall.ts"
import { DAY_MS } from "../stores/reports.ts"
import { count, ms, table } from "../table.ts"
import { processorMs, quantile } from "../timing.ts"

export interface RevenueOptions extends Pick<DataOptions, "days" | "end"> {
  sales: number
}

const LOAD_SECONDS = 2
const IDLE_ROUNDS = 2
const LATE_SALES = 1_000
const LATE_BY_MS = DAY_MS
/** Pause of the server after a sale, before it folds. */
const DELAY_MS = 1_000
/** The longest pause after a run that took long. */
const REST_MS = 10_000
const SOURCES = ["", "Google", "Bing", "newsletter", "Reddit"]
const CURRENCIES = ["EUR", "EUR", "EUR", "USD"]
const BATCH = 2_000

export async function measureRevenueWrites(options: RevenueOptions): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  try {
    await prepareUser(FROM_SOURCE, dataDir)
    const site = await prepareSite(FROM_SOURCE, dataDir)
    await fillSales(dataDir, options)
    await using server = await serveFootfall({ dataDir, flags: [...UNLIMITED, "--api-rate-limit", "0", "--private-rate", "100000"] })
    const client = await signedIn(server.address, site.siteId)
    await measure({ address: server.address, pid: server.pid, site, client, state: openState(dataDir) }, options)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

interface Bench {
  address: string
  pid: number
  site: Prepared
  client: Client
  state: State
}

async function measure({ address, pid, site, client, state }: Bench, { sales, days, end }: RevenueOptions): Promise<void> {
  const rows: (string | number)[][] = []
  const addProcessor = (name: string, seconds: number) => rows.push([name, ms(seconds), "", ""])
  const add = (name: string, figure: number, bar: number) => rows.push([name, ms(figure), ms(bar), figure <= bar ? "yes" : "no"])
  const load = () => acknowledgedEvents(address, site.trackingId, LOAD_SECONDS)
  const day = (at: number) => new Date(at).toISOString().slice(0, 10)
  await client.send("PUT", "/revenue/rates", { rates: ratesOf(days, day(end - days * DAY_MS)) })
  const idle: number[] = []
  let idleProcessor = 0
  /** Before, between and after the measurements, because other programs use the machine as well. */
  const measureIdle = async () => {
    const before = processorMs(pid)
    for (let round = 0; round < IDLE_ROUNDS; round++) idle.push(...(await load()).map(({ ms }) => ms))
    idleProcessor += processorMs(pid) - before
  }
  await load() // warms up
  await measureIdle()
  await sendSales(address, site, 1, 0)
  const folding = await beside(pid, load, async (begins) => {
    await Bun.sleep(DELAY_MS)
    const begun = timeUntil(() => state.transactions() > 0).then(begins)
    const took = await timeUntil(() => state.isFolded(sales + 1))
    await begun
    return took
  })
  await measureIdle()

  await Bun.sleep(REST_MS)
  await sendSales(address, site, LATE_SALES, 1)
  await Bun.sleep(DELAY_MS)
  const late = await timeUntil(() => state.isFolded(sales + 1 + LATE_SALES))

  const report = `/revenue/report?from=${day(end - days * DAY_MS)}&to=${day(end - DAY_MS)}&group_by=source&currency=EUR`
  const reports: number[] = []
  await client.send("POST", "/revenue/recompute", {})
  const recompute = await beside(pid, load, async (begins) => {
    begins()
    const done = timeUntil(async () => !(await client.send<{ recomputing: boolean }>("GET", "/revenue/settings")).recomputing, 200)
    const isOver = done.then(() => true)
    while (!(await Promise.race([isOver, Bun.sleep(500).then(() => false)])))
      reports.push(await timeUntil(async () => (await client.send("GET", report)) !== undefined))
    return done
  })
  await measureIdle()
  /** Processor time without that of the events, in seconds. */
  const own = ({ processor, events }: Beside) => (processor - (events * idleProcessor) / idle.length) / 1_000
  const slower = (busy: readonly number[]) => quantile(busy, 0.99) / quantile(idle, 0.99)
  add("folding, attributing and announcing, seconds for each 100,000 sales", (folding.took * 100_000) / sales / 1_000, 10)
  addProcessor("processor time of that, seconds for each 100,000 sales", (own(folding) * 100_000) / sales)
  add("p99 of events meanwhile, times that of an idle server", slower(folding.busy), 3)
  add(`${count(LATE_SALES)} late sales, seconds`, late / 1_000, 1)
  add("recomputing, seconds for each 1,000,000 transactions", (recompute.took * 1_000_000) / sales / 1_000, 60)
  addProcessor("processor time of that, with the reports, seconds for each 1,000,000", (own(recompute) * 1_000_000) / sales)
  add("p99 of events meanwhile, times that of an idle server", slower(recompute.busy), 3)
  console.log(`\n### Writing revenue over HTTP, ${count(sales)} sales over ${days} days\n`)
  console.log(table(["What", "Figure", "Bar", "Bar met"], rows))
  const slowest = Math.max(...reports)
  console.log(
    `\np99 of events on the idle server was ${ms(quantile(idle, 0.99))} ms. ${reports.length} reports during the recomputation took at most ${ms(slowest)} ms.`,
  )
}

interface Beside {
  took: number
  /** Milliseconds until the events were acknowledged that were due while the work was done. */
  busy: number[]
  /** Number of all events that were sent. */
  events: number
  /** Milliseconds of processor time of the server, with that of the events. */
  processor: number
}

/**
 * Runs work while events arrive, in whole rounds of the load. The work says when it begins: the events of a round that are due before or
 * afterwards would make the figure better than it is.
 */
async function beside(pid: number, load: () => Promise<Acknowledged[]>, work: (begins: () => void) => Promise<number>): Promise<Beside> {
  const before = processorMs(pid)
  const sent: Acknowledged[] = []
  let [begunAt, endedAt] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  const working = work(() => {
    begunAt = performance.now()
  }).finally(() => {
    endedAt = performance.now()
  })
  while (endedAt === Number.POSITIVE_INFINITY) sent.push(...(await load()))
  const took = await working
  const busy = sent.filter(({ dueAt }) => dueAt >= begunAt && dueAt <= endedAt).map(({ ms }) => ms)
  return { took, busy, events: sent.length, processor: processorMs(pid) - before }
}

async function timeUntil(test: () => boolean | Promise<boolean>, pauseMs = 20): Promise<number> {
  const from = performance.now()
  while (!(await test())) await Bun.sleep(pauseMs)
  return performance.now() - from
}

/** What the server has written, read beside it so that reading costs it nothing. */
interface State {
  transactions(): number
  /** Returns whether a number of transactions exists, all of them attributed and announced. */
  isFolded(transactions: number): boolean
}

function openState(dataDir: string): State {
  const db = new Database(join(dataDir, "events.db"), { readonly: true })
  const waiting = "select 1 from revenue_transactions where site_id = 1 and"
  const pending = db.query(`${waiting} is_open = 2 union all ${waiting} is_announced = 0
    and id > coalesce((select transaction_id from revenue_announced), 0) limit 1`)
  const last = db.query<{ id: number | null }, []>("select max(id) as id from revenue_transactions")
  const transactions = () => last.get()?.id ?? 0
  return { transactions, isFolded: (expected) => transactions() >= expected && pending.get() === null }
}

/** Stores visits of two events, the second of which is a sale, evenly over the days. */
async function fillSales(dataDir: string, { sales, days, end }: RevenueOptions): Promise<void> {
  const from = end - days * DAY_MS
  const store = openFootfall(dataDir, from)
  for (let first = 0; first < sales; first += BATCH) {
    const size = Math.min(BATCH, sales - first)
    await store.load(Array.from({ length: size }, (_, i) => saleVisit(first + i, from + Math.floor(((first + i) * days * DAY_MS) / sales))))
  }
  await store.finish()
}

function saleVisit(number: number, at: number): BenchVisit {
  const source = SOURCES[number % SOURCES.length]!
  const money = { amount: 1_000 + (number % 9_000), currency: CURRENCIES[number % CURRENCIES.length]! }
  const page = { hostname: "shop.example.com", title: "Shop", interactive: true, props: [] }
  return {
    siteId: 1,
    visitor: number + 1,
    kind: "rotating",
    traits: {
      ...NO_TRAITS,
      source,
      channel: source === "" ? "Direct" : "Organic Search",
      country: "DE",
      device: "Desktop",
      browser: "Chrome",
    },
    events: [
      { ...page, at, name: "pageview", page: `/products/${number % 60}` },
      {
        ...{ ...page, at: at + 1, name: "purchase", page: "/thanks", revenue: money },
        sale: { ...money, orderId: `order-${number}`, trust: "client", isRepeated: false },
      },
    ],
  }
}

const ratesOf = (days: number, first: string) =>
  Array.from({ length: days }, (_, day) => ({
    ...{ day: new Date(Date.parse(first) + day * DAY_MS).toISOString().slice(0, 10), base: "EUR", quote: "USD" },
    rate: (1.05 + (day % 100) / 1_000).toFixed(3),
  }))

/** Sends sales of a day ago as the shop's server. */
async function sendSales(address: string, { siteId, key }: Prepared, sales: number, round: number): Promise<void> {
  const events = Array.from({ length: sales }, (_, number) => {
    const { address: ip, userAgent } = personOf(round, number)
    return {
      ...{ name: "purchase", url: "https://shop.example.com/thanks", timestamp: new Date(Date.now() - LATE_BY_MS + number).toISOString() },
      ...{ ip, user_agent: userAgent, props: { order_id: `late-${round}-${number}` }, revenue: { amount: "12.34", currency: "EUR" } },
    }
  })
  const response = await fetch(`${address}/api/public/v1/sites/${siteId}/events`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ events }),
  })
  const { accepted } = (await response.json()) as { accepted?: number }
  if (accepted !== sales) throw new Error(`${accepted} of ${sales} sales were accepted, with the status ${response.status}`)
}
