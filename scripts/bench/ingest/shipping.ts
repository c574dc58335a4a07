/**
 * Shipping to ClickHouse: the whole pipeline of ingestion in one process, without shipping and with it, then while ClickHouse is stopped. It runs
 * as a library behind a bridge on the same machine, so acknowledgements are later than those of a server with cores of its own.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createCollector } from "../../../src/ingest/collect/collect.ts"
import { type Shipping, startShipping } from "../../../src/services/shipping/shipping.ts"
import { createSiteDirectory } from "../../../src/services/sites/directory.ts"
import { migrateClickhouse } from "../../../src/store/clickhouse/migrate.ts"
import { SHIP_MS } from "../../../src/store/clickhouse/ship/shipper.ts"
import { openEventStore } from "../../../src/store/events/events.ts"
import { siteOf, TRACKING_ID } from "../../../test/ingest/intake.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../../../test/store/clickhouse/server.ts"
import { count, ms, table } from "../table.ts"
import { quantile } from "../timing.ts"

const PER_SECOND = 500
const VISITORS = 2_000
const SECONDS = 15
const OUTAGE_SECONDS = 30
const WARM_UP_SECONDS = 4
const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0"

const BARS = { rows: 1.2, processor: 1.5, p99: 6, drain: 0.1 } as const

interface Life extends Disposable {
  /** Sends events at a steady rate. Returns the latencies and the processor time of each event, in ms. */
  send(seconds: number): Promise<{ latencies: number[]; processor: number }>
  shipping: Shipping | undefined
  isDrained(): boolean
  accepted: number
}

function startLife(server?: TestServer): Life {
  const folder = mkdtempSync(join(tmpdir(), "footfall-"))
  const path = join(folder, "events.db")
  const clock = { now: Date.now, monotonic: () => performance.now() }
  const siteKey = async (siteId: number) => new Uint8Array(32).fill(siteId)
  const store = openEventStore(path, { now: clock.now() })
  if (server) store.beginShipping(1, siteKey)
  const workerUrl = new URL("../../../src/services/shipping/worker.ts", import.meta.url).href
  const node = { node: 1, spoolBytes: 2 ** 34 }
  const shipping = server && startShipping({ ...{ store, path, clock, siteKey, workerUrl, ...node }, server: server.server })
  const directory = createSiteDirectory(store)
  directory.put(siteOf({}))
  const salt = crypto.getRandomValues(new Uint8Array(32))
  const unlimited = { visitorEventsPerMinute: 0, siteEventsPerSecond: 0, siteBurst: 0, instanceEventsPerSecond: 0 }
  const collector = createCollector({
    ...{ directory, store, clock, trustedProxies: [], limits: unlimited, ...(shipping && { shipping }) },
    salts: { get: () => salt },
    identityKeys: { identityKey: async () => salt },
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
  })
  let sent = 0
  const encoder = new TextEncoder()
  const event = () => {
    const visitor = (sent * 7_919) % VISITORS
    const body = { n: "pageview", u: `https://example.com/page-${sent++ % 300}`, d: TRACKING_ID }
    return collector.collect({
      ...{ method: "POST", url: "http://stats.example/api/event", headers: new Headers({ "user-agent": BROWSER }) },
      ...{ body: encoder.encode(JSON.stringify(body)), peer: `9.9.${visitor >> 8}.${visitor & 255}` },
    })
  }
  const life: Life = {
    shipping,
    accepted: 0,
    async send(seconds) {
      const latencies: number[] = []
      const pending: Promise<void>[] = []
      const usage = process.cpuUsage()
      const begun = performance.now()
      for (let due = 0; due < seconds * PER_SECOND; await Bun.sleep(2)) {
        for (; due < ((performance.now() - begun) / 1_000) * PER_SECOND && due < seconds * PER_SECOND; due++) {
          const from = performance.now()
          const answered = Promise.resolve(event()).then(({ status }) => {
            if (status !== 202) throw new Error(`An event was answered with ${status}`)
            life.accepted++
            latencies.push(performance.now() - from)
          })
          pending.push(answered)
        }
      }
      await Promise.all(pending)
      const { user, system } = process.cpuUsage(usage)
      return { latencies, processor: (user + system) / 1_000 / latencies.length }
    },
    isDrained() {
      const { records, bytes } = store.unshipped()
      return records === 0 && bytes === 0
    },
    [Symbol.dispose]() {
      collector.stop()
      shipping?.stop()
      store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return life
}

export async function measureShipping(): Promise<void> {
  if (!hasClickhouse()) return
  await using server = await startClickhouse()
  await migrateClickhouse(server.clickhouse, { version: "1.0.0", now: 1 })
  await server.clickhouse.run("system stop merges visits")
  const embedded = await measureEmbedded()
  using life = startLife(server)
  await life.send(WARM_UP_SECONDS)
  const shipped = await life.send(SECONDS)
  const written = async () => (await server.clickhouse.rows<{ n: number }>("select toUInt32(count()) as n from visits"))[0]!.n // it returns a row
  while (!life.isDrained()) await Bun.sleep(20)
  const rows = (await written()) / life.accepted

  await server.stop()
  const from = performance.now()
  await life.send(OUTAGE_SECONDS)
  await server.start()
  const back = performance.now()
  while (!life.isDrained()) await Bun.sleep(5)
  const drain = (performance.now() - back) / (back - from)

  console.log(`\n### Shipping to ClickHouse, ${count(PER_SECOND)} events per second\n`)
  const line = (name: string, { latencies, processor }: typeof shipped) => [
    name,
    ms(quantile(latencies, 0.5)),
    ms(quantile(latencies, 0.99)),
    (1_000 * processor).toFixed(0),
  ]
  console.log(table(["", "p50 ms", "p99 ms", "processor µs per event"], [line("embedded", embedded), line("shipping", shipped)]))
  const figures = {
    "rows written ÷ events": [rows, BARS.rows],
    "processor time per event, shipping ÷ embedded": [shipped.processor / embedded.processor, BARS.processor],
    "p99 of the 202 ÷ shipping interval": [quantile(shipped.latencies, 0.99) / SHIP_MS, BARS.p99],
    "time to drain ÷ outage": [drain, BARS.drain],
  } as const
  for (const [name, [value, bar]] of Object.entries(figures))
    console.log(`${name}: ${value.toFixed(2)} (bar: ${bar}, ${value <= bar ? "holds" : "does not hold"})`)
}

async function measureEmbedded() {
  using life = startLife()
  await life.send(WARM_UP_SECONDS)
  return await life.send(SECONDS)
}
