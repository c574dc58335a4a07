/**
 * Deliveries to 20 webhooks on loopback, one of which never answers: their number per second, the memory of the server, and the time to
 * acknowledge an event meanwhile, each compared with the same server without deliveries. Fails if a message is missing.
 *
 * The default is 100,000 deliveries: 5,264 events, each to the 19 receivers that answer, about two minutes. All events wait from the
 * beginning, so the rate and the memory are those of a backlog. 100,000 events are `--deliveries 1900000`, about half an hour.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { FROM_SOURCE, prepareSite, prepareUser, type Served, serveFootfall } from "../../instance.ts"
import { member } from "../dashboards/dashboards.ts"
import { UNLIMITED } from "../ingest/ingest.ts"
import { steadyLoad } from "../ingest/pressure.ts"
import { count, ms, table, times } from "../table.ts"
import { quantile } from "../timing.ts"
import type { ReceiverMessage } from "./webhook-receiver.ts"

const WEBHOOKS = 20
const IDLE_SECONDS = 10
const SAMPLE_MS = 250
const MIB = 2 ** 20

export async function measureWebhooks(deliveries: number): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  using receivers = await receiversOf()
  try {
    await prepareUser(FROM_SOURCE, dataDir)
    const site = await prepareSite(FROM_SOURCE, dataDir)
    const ports = receivers.ports.join(",")
    const flags = [...UNLIMITED, "--allow-http-webhooks", "true", "--allow-private-webhooks", "127.0.0.0/8", "--outbound-ports", ports]
    const idle = await withoutDeliveries({ dataDir, flags }, site, receivers)
    const events = Math.ceil(deliveries / (WEBHOOKS - 1))
    addEvents(dataDir, site.siteId, events)
    await using server = await serveFootfall({ dataDir, flags })
    const busy = await whileDelivering(server, site.trackingId, receivers, events * (WEBHOOKS - 1))
    const p99 = [idle, busy].map(({ latencies }) => quantile(latencies, 0.99)) as [number, number]
    console.log(`\n### ${count(events * (WEBHOOKS - 1))} deliveries to ${WEBHOOKS} webhooks on loopback, one of which never answers\n`)
    const rows = [
      ["deliveries per second", count(busy.perSecond), "≥ 500"],
      ["memory above idle, MiB", count((busy.peak - idle.peak) / MIB), "≤ 64"],
      [`p99 of an acknowledgement, ms (idle ${ms(p99[0])})`, `${ms(p99[1])}: ${times(p99[1] / p99[0])}`, "≤ 3×"],
    ]
    console.log(table(["What", "Figure", "Bar"], rows))
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Resident memory, at its highest, and the time to acknowledge each event. */
interface Load {
  peak: number
  latencies: number[]
}

/** Creates the webhooks, and measures the server before their first event. */
async function withoutDeliveries(
  options: { dataDir: string; flags: readonly string[] },
  { siteId, trackingId }: { siteId: number; trackingId: string },
  { urls }: Receivers,
): Promise<Load> {
  await using server = await serveFootfall(options)
  const ask = await member(server.address, siteId)
  for (const url of urls) await ask("POST", "/webhooks", { url, events: ["goal.created"] })
  await steadyLoad(server.address, trackingId, 2) // warm-up
  const load = await measured(server, () => steadyLoad(server.address, trackingId, IDLE_SECONDS))
  await server.kill("SIGTERM")
  return load
}

/** Measures the server until every message has arrived at the receivers that answer. */
async function whileDelivering(server: Served, trackingId: string, receivers: Receivers, expected: number) {
  const begun = performance.now()
  const load = await measured(server, async () => {
    const latencies: number[] = []
    while (receivers.arrived() < expected) latencies.push(...(await steadyLoad(server.address, trackingId, 2)))
    return latencies
  })
  return { ...load, perSecond: expected / ((receivers.lastAt() - begun) / 1_000) }
}

async function measured(server: Served, work: () => Promise<number[]>): Promise<Load> {
  let peak = 0
  const sample = async () => {
    peak = Math.max(peak, (await server.memory()).resident)
  }
  const timer = setInterval(() => void sample(), SAMPLE_MS)
  try {
    return { latencies: await work(), peak }
  } finally {
    clearInterval(timer)
  }
}

function addEvents(dataDir: string, siteId: number, events: number): void {
  const words = [process.execPath, join(import.meta.dir, "webhook-events.ts"), dataDir, String(siteId), String(events)]
  if (Bun.spawnSync(words, { stderr: "inherit" }).exitCode !== 0) throw new Error("The events could not be added")
}

interface Receivers extends Disposable {
  ports: readonly number[]
  urls: readonly string[]
  /** Returns how many different messages have arrived. */
  arrived(): number
  lastAt(): number
}

/** Starts a receiver that answers at once, with a path for each webhook, and one that never answers. */
async function receiversOf(): Promise<Receivers> {
  // In a thread, so that the answers to deliveries do not delay the events that are sent meanwhile.
  const thread = new Worker(join(import.meta.dir, "webhook-receiver.ts"))
  let latest = { arrived: 0, at: 0 }
  const port = await new Promise<number>((resolve) => {
    thread.onmessage = ({ data }: MessageEvent<ReceiverMessage>) => {
      if ("port" in data) resolve(data.port)
      else latest = data
    }
  })
  const dead = Bun.listen({ port: 0, hostname: "127.0.0.1", socket: { data: () => {} } })
  const paths = Array.from({ length: WEBHOOKS - 1 }, (_, i) => `http://127.0.0.1:${port}/hook-${i}`)
  return {
    ports: [port, dead.port],
    urls: [...paths, `http://127.0.0.1:${dead.port}/dead`],
    arrived: () => latest.arrived,
    lastAt: () => latest.at - performance.timeOrigin,
    [Symbol.dispose]() {
      thread.terminate()
      dead.stop(true)
    },
  }
}
