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
import type { LoadOptions } from "./load.ts"
import type { LoadResult } from "./request-loop.ts"

export const SERVER_CORE = 0
const SENDER_CORE = 1
/** Warm-up, until the engine has compiled the code that runs for every event. Its compilers also use the server's core. */
const LOAD = { connections: 128, seconds: 5, warmUpSeconds: 5 }
export const STEADY_PER_SECOND = 1_000
/** Rounds alternate between the cases, so that other load on the machine affects both. */
const ROUNDS = 3
/** Disables the rate limits, which are not part of this measurement. */
export const UNLIMITED = ["--limit-site-events", "0", "--limit-instance-events", "0", "--limit-visitor-events", "0"]

const BARS = { share: 0.35, steadyP99: 10 } as const

type Case = "empty" | "reading" | "footfall" | "steady"

export async function measureIngest(): Promise<void> {
  const rounds: Record<Case, LoadResult>[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const steady = () => loadFootfall({ ...LOAD, perSecond: STEADY_PER_SECOND })
    const [empty, reading] = [await loadHandler(EMPTY), await loadHandler(READING)]
    rounds.push({ empty, reading, footfall: await loadFootfall(), steady: await steady() })
  }
  const row = (name: Case, label: string) => [
    label,
    count(median(rounds.map((round) => round[name].perSecond))),
    ms(median(rounds.map((round) => round[name].p50))),
    ms(median(rounds.map((round) => round[name].p99))),
  ]
  console.log(`\n### Ingestion over HTTP, server on one core, 128 connections, medians of ${ROUNDS} rounds\n`)
  const cases = [
    row("empty", "empty `Bun.serve`"),
    row("reading", "`Bun.serve` that reads the body and answers every 2 ms"),
    row("footfall", "Footfall"),
    row("steady", "Footfall, requests at a steady rate"),
  ]
  console.log(table(["Server", "Requests per second", "p50 ms", "p99 ms"], cases))
  const share = median(rounds.map(({ empty, footfall }) => footfall.perSecond / empty.perSecond))
  const p99 = median(rounds.map(({ steady }) => steady.p99))
  console.log(`\n${shareText("Footfall", share, BARS.share)} ${p99Text(p99, BARS.steadyP99)}`)
  console.log("Every event it answered with 202 is in its statistics.")
}

/** Describes the share of the empty server's rate, and whether it holds its bar. */
export const shareText = (name: string, share: number, bar: number): string =>
  `${name} reaches ${(100 * share).toFixed(0)} % of the empty server (bar: ${100 * bar} %, ${share >= bar ? "holds" : "does not hold"}).`

/** The same for the 99th percentile at the steady rate. */
export const p99Text = (p99: number, bar: number): string =>
  `The p99 at ${count(STEADY_PER_SECOND)} requests per second is ${ms(p99)} ms (bar: ${bar} ms, ${p99 <= bar ? "holds" : "does not hold"}).`

const median = (values: readonly number[]): number => quantile(values, 0.5)

const EMPTY = `fetch: () => new Response(null, { status: 202 })`
/** What every durable answer needs, without any work on the event: its cost is not Footfall's own. */
const READING = `async fetch(request) {
  await request.bytes()
  request.headers.get("user-agent")
  await (globalThis.group ??= Bun.sleep(2).then(() => { globalThis.group = undefined }))
  return new Response("ok", { status: 202, headers: { "access-control-allow-origin": "*", "x-request-id": Bun.randomUUIDv7() } })
}`

async function loadHandler(handler: string): Promise<LoadResult> {
  const code = `const { port } = Bun.serve({ port: 0, hostname: "127.0.0.1", ${handler} }); console.log(port)`
  const server = Bun.spawn(["taskset", "--cpu-list", String(SERVER_CORE), process.execPath, "-e", code], { stdout: "pipe" })
  try {
    const { value } = await server.stdout.getReader().read()
    return await send({ ...LOAD, port: Number(new TextDecoder().decode(value)), trackingId: crypto.randomUUID() })
  } finally {
    server.kill()
  }
}

/** Loads a new server over HTTP. Throws unless every event is accepted and counted. */
export async function loadFootfall(load: Omit<LoadOptions, "port" | "trackingId"> = LOAD): Promise<LoadResult> {
  const dataDir = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  try {
    const site = await prepareSite(FROM_SOURCE, dataDir)
    await using server = await serveFootfall({ dataDir, flags: UNLIMITED, core: SERVER_CORE })
    const result = await send({ ...load, port: Number(new URL(server.address).port), trackingId: site.trackingId })
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
