/**
 * Redirects of short links compared with an empty server and with one that only reads the request and redirects, in the same run with the
 * same senders: the server has one core, the senders have all others. Every redirect must lead to the link's destination and be stored as a click, otherwise the benchmark fails.
 * `bun run bench links` runs it alone.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { FROM_SOURCE, prepareSite, serveFootfall } from "../../instance.ts"
import { p99Text, STEADY_PER_SECOND, shareText, UNLIMITED } from "../ingest/ingest.ts"
import type { LoadResult } from "../ingest/request-loop.ts"
import { count, ms, table } from "../table.ts"
import { processorMs, quantile } from "../timing.ts"
import type { LinkLoadOptions } from "./load.ts"
import { LINK } from "./row.ts"

const SERVER_CORE = 0
/** One sender per other core. On a machine with one core they share it, and the figures mean little. */
const SENDER_CORES = Array.from({ length: Math.max(1, availableParallelism() - 1) }, (_, i) => (availableParallelism() === 1 ? 0 : i + 1))
/** Warm-up, until the engine has compiled the code that runs for every click. Its compilers also use the server's core. */
const LOAD = { seconds: 5, warmUpSeconds: 5 }
const CONNECTIONS = 128
/** Rounds alternate between the cases, so that other load on the machine affects both. */
const ROUNDS = 3

/** Share of its core from which on the server was the limit. */
const SATURATED = 0.9
/** The header that every redirect must have. */
const LOCATION = `\r\nLocation: ${LINK.destination}\r\n`
const BARS = { share: 0.45, steadyP99: 5 } as const

/** Result of all senders of a round. */
interface Measured {
  perSecond: number
  p50: number
  p99: number
  /** Share of its core that the server used. If it is well below 1, the senders were the limit. */
  serverBusy: number
}

type Case = "empty" | "redirecting" | "link" | "steady"

export async function measureLinks(): Promise<void> {
  const rounds: Record<Case, Measured>[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const [empty, redirecting] = [await loadHandler(EMPTY), await loadHandler(REDIRECTING)]
    rounds.push({ empty, redirecting, link: await loadLink(), steady: await loadLink(STEADY_PER_SECOND) })
  }
  const of = (name: Case, figure: keyof Measured) =>
    quantile(
      rounds.map((round) => round[name][figure]),
      0.5,
    )
  const row = (name: Case, label: string) => [
    label,
    count(of(name, "perSecond")),
    ms(of(name, "p50")),
    ms(of(name, "p99")),
    `${Math.round(100 * of(name, "serverBusy"))} %`,
  ]
  console.log(`\n### Redirects of a short link, server on one core, ${CONNECTIONS} connections, medians of ${ROUNDS} rounds\n`)
  console.log(
    table(
      ["Server", "Requests per second", "p50 ms", "p99 ms", "core used"],
      [
        row("empty", "empty `Bun.serve`"),
        row("redirecting", "`Bun.serve` that reads URL, address and headers and answers with a location"),
        row("link", "short link"),
        row("steady", "short link, requests at a steady rate"),
      ],
    ),
  )
  const share = quantile(
    rounds.map(({ empty, link }) => link.perSecond / empty.perSecond),
    0.5,
  )
  if (of("link", "serverBusy") < SATURATED)
    console.log(
      "\nThe server did not use its whole core: other programs or the senders were the limit, and the figures say little about it.",
    )
  console.log(`\n${shareText("A short link", share, BARS.share)} ${p99Text(of("steady", "p99"), BARS.steadyP99)}`)
  console.log("Every redirect is stored as a click.")
}

interface Handler {
  /** Option of `Bun.serve`, as source code. */
  code: string
  status: string
  /** Text that every answer must contain. */
  expects: string
}

const EMPTY: Handler = { code: "fetch: () => new Response(null)", status: "200", expects: "HTTP/1.1 200" }
/** What every redirect needs that knows its visitor, without any work on the click: its cost is not Footfall's own. */
const REDIRECTING: Handler = {
  code: `fetch(request, server) {
  const read = [request.url, server.requestIP(request).address]
  for (const name of ["host", "x-forwarded-for", "user-agent", "accept-language", "referer", "sec-purpose", "sec-gpc", "dnt"])
    read.push(request.headers.get(name))
  globalThis.read = read
  const headers = { "cache-control": "no-store", "referrer-policy": "strict-origin-when-cross-origin", "x-content-type-options": "nosniff" }
  return new Response(null, { status: 302, headers: { ...headers, "x-robots-tag": "noindex", location: "${LINK.destination}" } })
}`,
  status: "302",
  expects: LOCATION,
}

async function loadHandler({ code: handler, status, expects }: Handler): Promise<Measured> {
  const code = `const { port } = Bun.serve({ port: 0, hostname: "127.0.0.1", ${handler} }); console.log(port)`
  const server = Bun.spawn(["taskset", "--cpu-list", String(SERVER_CORE), process.execPath, "-e", code], { stdout: "pipe" })
  try {
    const { value } = await server.stdout.getReader().read()
    const { measured, answers } = await send(server.pid, { port: Number(new TextDecoder().decode(value)), expects })
    refuseOthers(answers, status)
    return measured
  } finally {
    server.kill()
    await server.exited
  }
}

/** Follows the link as often as possible, or at a steady rate. */
async function loadLink(steadyRate?: number): Promise<Measured> {
  const dataDir = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  try {
    const { siteId } = await prepareSite(FROM_SOURCE, dataDir)
    createLink(dataDir, siteId)
    await using server = await serveFootfall({ dataDir, flags: UNLIMITED, core: SERVER_CORE })
    const port = Number(new URL(server.address).port)
    const { measured, answers } = await send(server.pid, { port, expects: LOCATION, steadyRate })
    const redirects = refuseOthers(answers, "302")
    // Only committed clicks are read, so the process may end in any way.
    await server.kill("SIGTERM")
    const stored = storedClicks(dataDir, siteId)
    if (stored !== redirects) throw new Error(`${redirects} requests were redirected, ${stored} clicks are stored`)
    return measured
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Creates the link in the folder of a stopped server, because the routes that create links need a signed-in user. */
function createLink(dataDir: string, siteId: number): void {
  const child = Bun.spawnSync([process.execPath, join(import.meta.dir, "row.ts"), dataDir, String(siteId)], { stderr: "inherit" })
  if (child.exitCode !== 0) throw new Error("The link could not be created")
}

/** Returns the number of requests with the expected answer. Throws on any other answer. */
function refuseOthers(answers: Record<string, number>, status: string): number {
  const { [status]: expected = 0, ...others } = answers
  if (expected === 0 || Object.keys(others).length > 0) throw new Error(`Not all answers were as expected: ${JSON.stringify(answers)}`)
  return expected
}

function storedClicks(dataDir: string, siteId: number): number {
  const reader = openEventReader(join(dataDir, "events.db"), { cacheBytes: 1 << 20 })
  const stored = reader.snapshot(siteId, "clicks").parts.reduce((sum, { visits }) => sum + visits, 0)
  reader.close()
  return stored
}

/** Runs all senders concurrently against a server. */
async function send(
  serverPid: number,
  { port, expects, steadyRate }: { port: number; expects: string; steadyRate?: number | undefined },
): Promise<{ measured: Measured; answers: Record<string, number> }> {
  const from = processorMs(serverPid)
  const connections = Math.ceil(CONNECTIONS / SENDER_CORES.length)
  const load = { ...LOAD, connections, port, path: `/l/${LINK.slug}`, expects }
  const rate = steadyRate === undefined ? {} : { perSecond: steadyRate / SENDER_CORES.length }
  const results = await Promise.all(SENDER_CORES.map((core) => runSender(core, { ...load, ...rate })))
  const used = (processorMs(serverPid) - from) / 1_000
  const answers: Record<string, number> = {}
  for (const result of results)
    for (const [status, times] of Object.entries(result.answers)) answers[status] = (answers[status] ?? 0) + times
  const perSecond = results.reduce((sum, result) => sum + result.perSecond, 0)
  // Senders have equal shares of the load, so the worst one represents all.
  const worst = (figure: "p50" | "p99") => Math.max(...results.map((result) => result[figure]))
  const serverBusy = used / (LOAD.seconds + LOAD.warmUpSeconds)
  return { measured: { perSecond, p50: worst("p50"), p99: worst("p99"), serverBusy }, answers }
}

async function runSender(core: number, options: LinkLoadOptions): Promise<LoadResult> {
  const words = ["taskset", "--cpu-list", String(core), process.execPath, join(import.meta.dir, "load.ts"), JSON.stringify(options)]
  const sender = Bun.spawn(words, { stdout: "pipe", stderr: "inherit" })
  const [output, status] = await Promise.all([new Response(sender.stdout).text(), sender.exited])
  if (status !== 0) throw new Error(`The sender ended with ${status}`)
  return JSON.parse(output)
}
