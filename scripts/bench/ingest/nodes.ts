/**
 * Two nodes that share ClickHouse, a catalog and the rows of plugins, compared with one: the processor time of a node for each event. All of
 * them and their servers share the cores of this machine, so only this shows what a second machine would add.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { hasClickhouse } from "../../../test/store/clickhouse/server.ts"
import { startServers } from "../../clickhouse-servers.ts"
import { FROM_SOURCE, type Prepared, prepareSite, type Served, serveFootfall } from "../../instance.ts"
import { count, table } from "../table.ts"

const PER_SECOND = 250
const SECONDS = 15
const WARM_UP_SECONDS = 8
const VISITORS = 1_000
const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0"
/** Events per second of two nodes ÷ one. */
const BAR = 1.8

export async function measureNodes(): Promise<void> {
  if (!hasClickhouse()) return
  const folder = mkdtempSync(join(tmpdir(), "footfall-"))
  try {
    await using servers = await startServers(folder, { ack_wait: "10000", backup_time: "off" })
    await servers.clickhouse.clickhouse.run("create database if not exists footfall")
    const { flags } = servers
    const [first, second] = [join(folder, "one"), join(folder, "two")]
    const site = await prepareSite(FROM_SOURCE, first, flags)
    await using one = await serveFootfall({ command: FROM_SOURCE, dataDir: first, flags })
    await using two = await serveFootfall({ command: FROM_SOURCE, dataDir: second, flags })
    await send([one, two], site, WARM_UP_SECONDS)
    const pair = await send([one, two], site, SECONDS)
    // Last, because compiled code becomes faster the longer it runs.
    await two.kill("SIGTERM")
    const [alone] = await send([one], site, SECONDS)
    const mean = pair.reduce((sum, each) => sum + each, 0) / pair.length
    console.log(`\n### Two nodes, ${count(PER_SECOND)} events per second each\n`)
    const line = (name: string, ms: number) => [name, (1_000 * ms).toFixed(0)]
    console.log(
      table(["", "processor µs per event"], [line("alone", alone!), line("first of two", pair[0]!), line("second of two", pair[1]!)]),
    )
    const ratio = (2 * alone!) / mean
    console.log(`two nodes ÷ one, by processor time: ${ratio.toFixed(2)} (bar: ${BAR}, ${ratio >= BAR ? "holds" : "does not hold"})`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Sends events to nodes at a steady rate, routed by visitor. Returns the processor time of each node per event, in ms. */
async function send(nodes: readonly Served[], site: Prepared, seconds: number): Promise<number[]> {
  const before = await Promise.all(nodes.map(({ pid }) => processorMs(pid)))
  const total = seconds * PER_SECOND
  const pending: Promise<void>[] = []
  const begun = performance.now()
  for (let due = 0; due < total; await Bun.sleep(2))
    for (; due < total && due < ((performance.now() - begun) / 1_000) * PER_SECOND; due++)
      for (const [at, node] of nodes.entries()) pending.push(view(node, site, due, at))
  await Promise.all(pending)
  const after = await Promise.all(nodes.map(({ pid }) => processorMs(pid)))
  return after.map((ms, at) => (ms - before[at]!) / total)
}

async function view({ address }: Served, { trackingId }: Prepared, sent: number, node: number): Promise<void> {
  const visitor = (sent * 7_919) % VISITORS
  const body = JSON.stringify({ n: "pageview", u: `https://shop.example.com/page-${sent % 300}`, d: trackingId })
  const headers = { "user-agent": BROWSER, "x-forwarded-for": `198.${18 + node}.${visitor >> 8}.${visitor & 255}` }
  const response = await fetch(`${address}/api/event`, { method: "POST", headers, body })
  await response.arrayBuffer()
  if (response.status !== 202) throw new Error(`An event was answered with ${response.status}`)
}

/** Returns the processor time of a process so far. */
async function processorMs(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1]!.split(" ")
  return (Number(fields[11]) + Number(fields[12])) * 10 // hundredths of a second, see proc(5)
}
