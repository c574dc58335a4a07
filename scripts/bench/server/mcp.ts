/**
 * MCP tools over HTTP: the number of summaries per second that a server on one core returns to eight assistants, compared with its
 * answer to a ping and with a server that reads a request and returns an empty object, in the same run with the same sender on the
 * other core.
 */
import { join } from "node:path"
import { FROM_SOURCE, serveFootfall } from "../../instance.ts"
import type { DataOptions } from "../stores/data.ts"
import { count, ms, table } from "../table.ts"
import { quantile } from "../timing.ts"
import type { McpLoadOptions, McpLoadResult } from "./mcp-load.ts"
import { fillDataDir } from "./memory.ts"

const SERVER_CORE = 0
const SENDER_CORE = 1
const LOAD = { clients: 8, seconds: 5, warmUpSeconds: 2 }
/** Rounds alternate between the cases, so that other load on the machine affects all of them. */
const ROUNDS = 3

export async function measureMcp(options: DataOptions): Promise<void> {
  await using filled = await fillDataDir(FROM_SOURCE, options)
  const { key, siteId } = filled.site
  const ask = (url: string, message: object, expected: string) => send({ ...LOAD, url, key, message, expected })
  const call = { method: "tools/call", params: { name: "get_summary", arguments: { site_id: siteId } } }
  const rounds: Record<"empty" | "ping" | "summary", McpLoadResult>[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const empty = await withEmptyServer((url) => ask(url, { method: "ping" }, "{}"))
    await using server = await serveFootfall({ dataDir: filled.dataDir, flags: ["--api-rate-limit", "0"], core: SERVER_CORE })
    const url = `${server.address}/api/public/v1/mcp`
    const ping = await ask(url, { method: "ping" }, '"result":{}')
    rounds.push({ empty, ping, summary: await ask(url, call, '"structuredContent":{"site_id"') })
    await server.kill("SIGTERM")
  }
  const row = (name: keyof (typeof rounds)[number], label: string) => {
    const median = (figure: keyof McpLoadResult) =>
      quantile(
        rounds.map((round) => round[name][figure]),
        0.5,
      )
    return [label, count(median("perSecond")), ms(median("p50")), ms(median("p99"))]
  }
  console.log(`\n### MCP over ${count(options.events)} events, server on one core, ${LOAD.clients} clients, medians of ${ROUNDS} rounds\n`)
  const rows = [row("empty", "empty `Bun.serve`"), row("ping", "`ping`"), row("summary", "`get_summary` of 30 days")]
  console.log(table(["Answer", "Calls per second", "p50 ms", "p99 ms"], rows))
}

/** Reads the request, as any endpoint must, and returns an empty object. */
async function withEmptyServer<T>(work: (url: string) => Promise<T>): Promise<T> {
  const answer = "async (request) => { await request.json(); return Response.json({}) }"
  const code = `const { port } = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: ${answer} }); console.log(port)`
  const server = Bun.spawn(["taskset", "--cpu-list", String(SERVER_CORE), process.execPath, "-e", code], { stdout: "pipe" })
  try {
    const { value } = await server.stdout.getReader().read()
    return await work(`http://127.0.0.1:${new TextDecoder().decode(value).trim()}`)
  } finally {
    server.kill()
  }
}

async function send(options: McpLoadOptions): Promise<McpLoadResult> {
  const words = [
    "taskset",
    "--cpu-list",
    String(SENDER_CORE),
    process.execPath,
    join(import.meta.dir, "mcp-load.ts"),
    JSON.stringify(options),
  ]
  const sender = Bun.spawn(words, { stdout: "pipe" })
  const [output, status] = await Promise.all([new Response(sender.stdout).text(), sender.exited])
  if (status !== 0) throw new Error("The sender failed")
  return JSON.parse(output)
}
