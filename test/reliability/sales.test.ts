import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import { plugins } from "../../plugins/index.ts"
import { PROGRAM, type Prepared, prepareSite, prepareUser, type Served, serveFootfall } from "../../scripts/instance.ts"
import { unpackRows } from "../../src/domain/packed-rows.ts"
import { temporaryFolder } from "../kit.ts"
import { bySize, SEED } from "../size.ts"
import { type Send, signIn } from "./revenue-client.ts"

/** Number of kills, each at another moment between the events of sales and the transactions that they become. */
const KILLS = bySize({ check: 2, full: 12, release: 60 })
const ORDERS_PER_KILL = 450
/** Sales are folded a second after they arrive, which takes some hundred milliseconds. */
const DELAY_MS = { from: 900, to: 1_500 }
const PATIENCE_MS = 120_000
const LIMITS = ["--limit-site-events", "0", "--limit-visitor-events", "0", "--api-rate-limit", "0"]
/** The area, and the webhook that wants its product events. */
const hasAreas = ["revenue", "integrations"].every((id) => plugins.some((plugin) => plugin.id === id))

test.skipIf(!hasAreas)(
  `${KILLS} kills while sales are folded and one while transactions are recomputed lose and double nothing`,
  async () => {
    using folder = temporaryFolder()
    const dataDir = folder.path
    await prepareUser(PROGRAM, dataDir)
    const site = await prepareSite(PROGRAM, dataDir)
    using hook = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() })
    const ofHooks = ["--allow-http-webhooks", "true", "--allow-private-webhooks", "127.0.0.0/8", "--outbound-ports", String(hook.port)]
    const flags = [...LIMITS, ...ofHooks]
    const expected: string[] = []
    for (let kill = 0; kill < KILLS; kill++) {
      await using server = await serveFootfall({ dataDir, flags })
      if (kill === 0) {
        const send = await signIn(server.address)
        const webhook = { url: `http://127.0.0.1:${hook.port}/hook`, events: ["revenue.recorded", "revenue.refunded"] }
        expect((await send("POST", `${SITE}/webhooks`, webhook)).status).toBe(201)
      }
      expected.push(...(await sell(server, site, kill)))
      await Bun.sleep(DELAY_MS.from + ((SEED + kill * 7_919) % (DELAY_MS.to - DELAY_MS.from)))
      await server.kill("SIGKILL")
    }
    await using server = await serveFootfall({ dataDir, flags })
    expected.push(...(await sell(server, site, KILLS)))
    await until(() => countOf(dataDir, "revenue_transactions") >= expected.length && isSettled(dataDir))
    expect(transactions(dataDir).map(({ text }) => text)).toEqual(expected.sort())
    expect(packedAmounts(dataDir)).toEqual(storedAmounts(dataDir))
    expect(announced(dataDir)).toEqual(
      transactions(dataDir)
        .map(({ id }) => id)
        .sort((a, b) => a - b),
    )
    await recomputeWithKill(server, { dataDir, flags })
  },
  300_000 + KILLS * 40_000,
)

/** Sends orders whose page was loaded twice, every fifth with a refund. Returns what they become. */
async function sell({ address }: Served, { siteId, key }: Prepared, round: number): Promise<string[]> {
  const at = Date.now() - 3_600_000
  const eventOf = (order: number, amount: string, moment: number) => ({
    ...{ name: "purchase", url: "https://shop.example.com/thanks", timestamp: new Date(at + moment).toISOString() },
    ...{ ip: `198.18.${round}.${order % 250}`, user_agent: AGENT, props: { order_id: `${round}-${order}` } },
    revenue: { amount, currency: order % 3 === 0 ? "USD" : "EUR" },
  })
  const orders = Array.from({ length: ORDERS_PER_KILL }, (_, order) => order)
  const events = orders.flatMap((order) => [
    ...[eventOf(order, "12.34", order), eventOf(order, "12.34", order + 500)],
    ...(order % 5 === 0 ? [eventOf(order, "-2.00", order + 1_000)] : []),
  ])
  const response = await fetch(`${address}/api/public/v1/sites/${siteId}/events`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ events }),
  })
  expect(await response.json()).toMatchObject({ accepted: events.length })
  return orders.flatMap((order) => [`sale ${round}-${order} 1234`, ...(order % 5 === 0 ? [`refund ${round}-${order} 200`] : [])])
}

const AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0"

/** Kills the process while it recomputes all transactions, and expects what an undisturbed recomputation leaves. */
async function recomputeWithKill(first: Served, { dataDir, flags }: { dataDir: string; flags: readonly string[] }): Promise<void> {
  await using servers = new AsyncDisposableStack()
  let server = first
  const signedIn = await signIn(server.address)
  const send: Send = (method, path, body) => signedIn(method, SITE + path, body, server.address)
  const day = new Date().toISOString().slice(0, 10)
  const report = `/revenue/report?from=${day}&to=${day}`
  const { currencies } = await answered<{ currencies: object[] }>(send("GET", report))
  // A recomputation takes a few hundred milliseconds, so some kills come too late.
  let expected = 0
  for (let kill = 0; kill === 0 || recomputeState(dataDir) === "done"; kill++) {
    expect(kill).toBeLessThan(RECOMPUTE_KILLS)
    if (kill > 0) server = servers.use(await serveFootfall({ dataDir, flags }))
    const { rate, minor } = RATES[kill % RATES.length]!
    const before = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10)
    await answered(send("PUT", "/revenue/rates", { rates: [{ day: before, base: "EUR", quote: "USD", rate }] }))
    // Refused while the rates are being applied.
    expect([202, 409]).toContain((await send("POST", "/revenue/recompute", {})).status)
    await Bun.sleep((SEED + kill * 7_919) % RECOMPUTE_MS)
    await server.kill("SIGKILL")
    expected = minor
  }
  server = servers.use(await serveFootfall({ dataDir, flags }))
  // The report answers from the first request on, with all amounts.
  await until(async () => {
    const answer = await answered<{ recomputing: boolean; currencies: object[] }>(send("GET", report))
    expect(answer.currencies).toEqual(currencies)
    return !answer.recomputing
  })
  expect(await answered(send("GET", `${report}&currency=EUR`))).toMatchObject({ base: { complete: true } })
  const resumed = dump(dataDir)
  const converted = resumed.filter(({ currency, type }) => currency === "USD" && type === "sale").map(({ base_minor }) => base_minor)
  expect(new Set(converted)).toEqual(new Set([expected]))
  expect(resumed.filter(({ base_minor }) => base_minor === null)).toEqual([])
  expect((await send("POST", "/revenue/recompute", {})).status).toBe(202)
  await until(async () => !(await answered<{ recomputing: boolean }>(send("GET", "/revenue/settings"))).recomputing)
  expect(dump(dataDir)).toEqual(resumed)
}

const SITE = "/api/private/sites/1"
/** What 12.34 USD are in cents, at rates of 1 EUR. */
const RATES = [
  { rate: "1.25", minor: 987 },
  { rate: "1.6", minor: 771 },
]
const RECOMPUTE_KILLS = 20
const RECOMPUTE_MS = 100

const recomputeState = (dataDir: string): string | undefined =>
  read<{ state: string }>(dataDir, "select recompute_state as state from revenue_settings where site_id = 1", "catalog.db")[0]?.state

async function answered<Answer>(sent: Promise<Response>): Promise<Answer> {
  const answer = await sent
  expect(answer.status).toBe(200)
  return (await answer.json()) as Answer // the caller knows the route
}

async function until(test: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; !(await test()); await Bun.sleep(50))
    if (Date.now() > end) throw new Error("This took too long.")
}

/** Reads a store while the server writes it. */
function read<Row>(dataDir: string, text: string, file = "events.db"): Row[] {
  const db = new Database(join(dataDir, file), { readonly: true })
  try {
    db.run("pragma busy_timeout = 5000")
    return db.query(text).all() as Row[] // the caller's query determines the columns
  } finally {
    db.close()
  }
}

const countOf = (dataDir: string, from: string): number => read<{ n: number }>(dataDir, `select count(*) as n from ${from}`)[0]!.n

const isSettled = (dataDir: string): boolean =>
  countOf(dataDir, `revenue_transactions where is_open = 2 or id > coalesce((select transaction_id from revenue_announced), 0)`) === 0

const transactions = (dataDir: string): { id: number; text: string }[] =>
  read(dataDir, "select id, type || ' ' || order_id || ' ' || amount_minor as text from revenue_transactions order by text")

const storedAmounts = (dataDir: string): [id: number, amount: number][] =>
  read<{ id: number; amount_minor: number }>(dataDir, "select id, amount_minor from revenue_transactions order by id").map(
    ({ id, amount_minor }) => [id, amount_minor],
  )

/** Returns the amounts that reports add up. Each visit of this test is a direct one, so no amount is shared. */
const packedAmounts = (dataDir: string): [id: number, amount: number][] =>
  read<{ rows: Uint8Array }>(dataDir, "select rows from revenue_chunks order by chunk")
    .flatMap(({ rows }): [number, number][] => {
      const packed = unpackRows(rows)
      const amounts = packed.numbers("amount")
      return [...packed.numbers("transaction_id")].map((id, row) => [id, amounts[row]!])
    })
    .sort(([a], [b]) => a - b)

/** Returns the transactions with a product event. After a kill, some have two. */
const announced = (dataDir: string): number[] =>
  read<{ id: number }>(
    dataDir,
    "select distinct payload_json ->> 'transaction_id' as id from outbox where event like 'revenue.%' order by 1",
    "catalog.db",
  ).map(({ id }) => id)

interface Dumped extends Record<string, unknown> {
  type: string
  currency: string
  base_minor: number | null
}
const dump = (dataDir: string): Dumped[] => read(dataDir, "select * from revenue_transactions order by id")
