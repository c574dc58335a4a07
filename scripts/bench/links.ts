/**
 * Redirects of short links beside a handler that does nothing, in one run: each is answered by a process of its own, asked over 32
 * connections by the same sender, by turns. A redirect is a click that is recorded; the empty handler only answers.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { FROM_SOURCE, prepareSite, prepareUser, serveFootfall } from "../instance.ts"
import type { LoadResult } from "./closed-loop.ts"
import { UNLIMITED } from "./ingest.ts"
import { ms, table } from "./table.ts"

const ROUNDS = 5
const LOAD = { connections: 32, seconds: 4, warmUpSeconds: 1 }
const PATH = "/l/bench"

export async function measureLinks(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  try {
    const site = await prepareSite(FROM_SOURCE, dataDir)
    await prepareUser(FROM_SOURCE, dataDir)
    insertLink(dataDir, site.siteId)
    await using server = await serveFootfall({ dataDir, flags: UNLIMITED })
    await using empty = await emptyHandler()
    const rounds: { link: LoadResult; empty: LoadResult }[] = []
    await load(Number(new URL(server.address).port)) // warm
    for (let round = 0; round < ROUNDS; round++)
      rounds.push({ link: await load(Number(new URL(server.address).port)), empty: await load(empty.port) })
    print(rounds)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Before anybody serves it: the routes that make one want a person. */
function insertLink(dataDir: string, siteId: number): void {
  const child = Bun.spawnSync([process.execPath, join(import.meta.dir, "link-row.ts"), dataDir, String(siteId)], { stderr: "inherit" })
  if (child.exitCode !== 0) throw new Error("The link could not be made")
}

async function emptyHandler(): Promise<{ port: number } & AsyncDisposable> {
  const program = "const s=Bun.serve({port:0,hostname:'127.0.0.1',development:false,fetch:()=>new Response(null)});console.log(s.port)"
  const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe" })
  const reader = child.stdout.getReader()
  const port = Number(new TextDecoder().decode((await reader.read()).value))
  return {
    port,
    async [Symbol.asyncDispose]() {
      child.kill()
      await child.exited
    },
  }
}

async function load(port: number): Promise<LoadResult> {
  const options = JSON.stringify({ ...LOAD, port, path: PATH })
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "link-load.ts"), options], { stdout: "pipe", stderr: "inherit" })
  const [text, code] = await Promise.all([new Response(child.stdout).text(), child.exited])
  if (code !== 0) throw new Error(`The sender ended with ${code}`)
  return JSON.parse(text)
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

function print(rounds: readonly { link: LoadResult; empty: LoadResult }[]): void {
  const of = (name: "link" | "empty", figure: "perSecond" | "p50" | "p99") => median(rounds.map((round) => round[name][figure]))
  const row = (title: string, name: "link" | "empty") => [
    title,
    String(Math.round(of(name, "perSecond"))),
    ms(of(name, "p50")),
    ms(of(name, "p99")),
    Object.entries(rounds[0]![name].answers)
      .map(([status, count]) => `${count} × ${status}`)
      .join(", "),
  ]
  const share = median(rounds.map(({ link, empty }) => link.perSecond / empty.perSecond))
  console.log(`\n### Redirects at ${LOAD.connections} connections, medians of ${ROUNDS} rounds by turns\n`)
  console.log(
    table(["Handler", "a second", "p50 ms", "p99 ms", "answers of the first round"], [row("short link", "link"), row("empty", "empty")]),
  )
  console.log(`\nA short link has ${Math.round(share * 100)} % of the empty handler's rate.`)
}
