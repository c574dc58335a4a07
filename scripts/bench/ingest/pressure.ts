/** Measures whether reports slow down ingestion: the time to acknowledge an event at a steady rate, alone and during year-long reports. */
import { personOf } from "../../../src/services/demo/people.ts"
import { askStats, FROM_SOURCE, serveFootfall } from "../../instance.ts"
import { fillDataDir } from "../server/memory.ts"
import type { DataOptions } from "../stores/data.ts"
import { DAY_MS } from "../stores/reports.ts"
import { count, ms, table } from "../table.ts"
import { quantile } from "../timing.ts"
import { UNLIMITED } from "./ingest.ts"

const PER_SECOND = 300
const SECONDS = 10

export async function measurePressure(options: DataOptions): Promise<void> {
  await using filled = await fillDataDir(FROM_SOURCE, options)
  await using server = await serveFootfall({ dataDir: filled.dataDir, flags: [...UNLIMITED, "--api-rate-limit", "0"] })
  const send = () => steadyLoad(server.address, filled.site.trackingId)
  await send() // warm-up
  const idle = await send()
  const day = (at: number) => new Date(at).toISOString().slice(0, 10)
  const range = `from=${day(options.end - 365 * DAY_MS)}&to=${day(options.end - DAY_MS)}`
  const over = new AbortController()
  const reports = askForever(() => askStats(server.address, filled.site, `breakdown?dimension=page&${range}`), over.signal)
  const busy = await send()
  over.abort()
  const reportCount = await reports
  console.log(`\n### Ingestion at ${PER_SECOND} events a second beside reports over 365 days of ${count(options.events)} events\n`)
  const row = (name: string, latencies: readonly number[]) => [name, ms(quantile(latencies, 0.5)), ms(quantile(latencies, 0.99))]
  console.log(table(["Acknowledged", "p50 ms", "p99 ms"], [row("idle", idle), row(`beside ${reportCount} reports in a row`, busy)]))
  console.log(`\np99 beside reports is ${(quantile(busy, 0.99) / quantile(idle, 0.99)).toFixed(1)} times its idle value.`)
}

/** An event that was acknowledged. */
export interface Acknowledged {
  /** When it was due, by `performance.now()`. */
  dueAt: number
  /** Time from then to the answer. */
  ms: number
}

/** Sends events at a steady rate, and returns the times to their answers in ms. */
export const steadyLoad = async (address: string, trackingId: string, seconds = SECONDS): Promise<number[]> =>
  (await acknowledgedEvents(address, trackingId, seconds)).map(({ ms }) => ms)

/** An open loop: each event is due at a fixed time, regardless of delayed answers, and its latency counts from that time. */
export async function acknowledgedEvents(address: string, trackingId: string, seconds: number): Promise<Acknowledged[]> {
  const start = performance.now()
  const sends = Array.from({ length: PER_SECOND * seconds }, async (_, number) => {
    const dueAt = start + (number * 1_000) / PER_SECOND
    await Bun.sleep(dueAt - performance.now())
    await sendPageview(address, trackingId, number)
    return { dueAt, ms: performance.now() - dueAt }
  })
  return Promise.all(sends)
}

async function sendPageview(address: string, trackingId: string, number: number): Promise<void> {
  const person = personOf(7, number % 2_000)
  const headers = { "content-type": "text/plain", "user-agent": person.userAgent, "x-forwarded-for": person.address }
  const body = JSON.stringify({
    name: "pageview",
    d: trackingId,
    url: `https://shop.example.com/products/${number % 60}`,
    tz: person.timezone,
  })
  // Each event uses a new connection, because a reused one may just be closed by the server.
  const response = await fetch(`${address}/api/event`, { method: "POST", headers, body, keepalive: false })
  if (response.status !== 202) throw new Error(`An event was answered with ${response.status}: ${await response.text()}`)
}

async function askForever(ask: () => Promise<unknown>, over: AbortSignal): Promise<number> {
  let reportCount = 0
  for (; !over.aborted; reportCount++) await ask()
  return reportCount
}
