/**
 * Ingestion over HTTP: the whole pipeline with durable acknowledgement on one core, compared with a server that answers 202 to
 * everything and reads nothing, in the same run with the same sender on the other core.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { askStats, FROM_SOURCE, prepareSite, serveFootfall } from "../../instance.ts"
import { count, ms, table } from "../table.ts"
import { quantile } from "../timing.ts"
import type { LoadResult } from "./closed-loop.ts"
import type { LoadOptions } from "./load.ts"

export const SERVER_CORE = 0
const SENDER_CORE = 1
/** Warm-up, until the engine has compiled the code that runs for every event. Its compilers also use the server's core. */
const LOAD = { connections: 128, seconds: 5, warmUpSeconds: 5 }
/** Rounds alternate between the cases, so that other load on the machine affects both. */
const ROUNDS = 3
/** Disables the rate limits, which are not part of this measurement. */
export const UNLIMITED = ["--limit-site-events", "0", "--limit-instance-events", "0", "--limit-visitor-events", "0"]

export async function measureIngest(): Promise<void> {
  const rounds: { empty: LoadResult; footfall: LoadResult }[] = []
  for (let round = 0; round < ROUNDS; round++) rounds.push({ empty: await loadEmptyServer(), footfall: await loadFootfall() })
  const row = (name: "empty" | "footfall", label: string) => [
    label,
    count(median(rounds.map((round) => round[name].perSecond))),
    ms(median(rounds.map((round) => round[name].p50))),
    ms(median(rounds.map((round) => round[name].p99))),
  ]
  console.log(`\n### Ingestion over HTTP, server on one core, 128 connections, medians of ${ROUNDS} rounds\n`)
  console.log(
    table(["Server", "Requests per second", "p50 ms", "p99 ms"], [row("empty", "empty `Bun.serve`"), row("footfall", "Footfall")]),
  )
  const share = median(rounds.map(({ empty, footfall }) => footfall.perSecond / empty.perSecond))
  console.log(
    `\nFootfall reaches ${(100 * share).toFixed(0)} % of the empty server. Every event it answered with 202 is in its statistics.`,
  )
}

const median = (values: readonly number[]): number => quantile(values, 0.5)

async function loadEmptyServer(): Promise<LoadResult> {
  const code = `const { port } = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(null, { status: 202 }) }); console.log(port)`
  const server = Bun.spawn(["taskset", "--cpu-list", String(SERVER_CORE), process.execPath, "-e", code], { stdout: "pipe" })
  try {
    const { value } = await server.stdout.getReader().read()
    return await send({ ...LOAD, port: Number(new TextDecoder().decode(value)), trackingId: crypto.randomUUID() })
  } finally {
    server.kill()
  }
}

/** Loads a new server over HTTP. Throws unless every event is accepted and counted. */
export async function loadFootfall(): Promise<LoadResult> {
  const dataDir = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  try {
    const site = await prepareSite(FROM_SOURCE, dataDir)
    await using server = await serveFootfall({ dataDir, flags: UNLIMITED, core: SERVER_CORE })
    const result = await send({ ...LOAD, port: Number(new URL(server.address).port), trackingId: site.trackingId })
    const { metrics } = await askStats(server.address, site, "summary?period=7d&metrics=events")
    const accepted = result.answers["202"] ?? 0
    if (metrics.events !== accepted) throw new Error(`${accepted} events were accepted, ${metrics.events} are counted`)
    const refused = Object.entries(result.answers).filter(([status]) => status !== "202")
    if (refused.length > 0) throw new Error(`Not all were accepted: ${JSON.stringify(result.answers)}`)
    return result
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Runs the sender in a process on its own core. */
export async function send(options: LoadOptions): Promise<LoadResult> {
  const words = ["taskset", "--cpu-list", String(SENDER_CORE), process.execPath, join(import.meta.dir, "load.ts"), JSON.stringify(options)]
  const sender = Bun.spawn(words, { stdout: "pipe" })
  const [output, status] = await Promise.all([new Response(sender.stdout).text(), sender.exited])
  if (status !== 0) throw new Error("The sender failed")
  return JSON.parse(output)
}
