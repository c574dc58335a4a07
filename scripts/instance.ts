/** Runs Footfall in a separate process, as operators run it, for benchmarks, reliability scripts and the tests of the binary. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Subprocess } from "bun"

export const FROM_SOURCE: readonly string[] = [process.execPath, join(import.meta.dir, "../src/main.ts")]

const BINARY = process.env.FOOTFALL_TEST_BINARY
/** Footfall as tests start it: the compiled file that the check has built, which takes a third of the processor time, or the source. */
export const PROGRAM: readonly string[] = BINARY === undefined ? FROM_SOURCE : [BINARY]

export interface Served extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  address: string
  pid: number
  /** Bytes in memory: all resident pages, and private ones. The others map the program file, and the kernel can drop them. */
  memory(): Promise<{ resident: number; own: number }>
  /** Sends the signal and resolves with the exit code; `null` if the signal ended the process. */
  kill(signal: "SIGTERM" | "SIGKILL"): Promise<number | null>
}

interface ServeOptions {
  command?: readonly string[]
  dataDir: string
  flags?: readonly string[]
  /** Number of the core that the process is pinned to. */
  core?: number
}

/** Starts the server on a free loopback port. Rejects with its error output if it ends before it listens. */
export async function serveFootfall({ command = PROGRAM, dataDir, flags = [], core }: ServeOptions): Promise<Served> {
  const pinned = core === undefined ? [] : ["taskset", "--cpu-list", String(core)]
  const words = [...pinned, ...command, "serve", "--data-dir", dataDir, "--host", "127.0.0.1", "--port", "0", "--json", ...flags]
  const child = Bun.spawn(words, { stdout: "pipe", stderr: "pipe" })
  const errors = new Response(child.stderr).text()
  const address = await addressIn(child.stdout)
  if (address === undefined) throw new Error(`Footfall ended with ${await child.exited} before it listened: ${await errors}`)
  return {
    address,
    pid: child.pid,
    memory: () => memoryOf(child.pid),
    kill: (signal) => end(child, signal),
    [Symbol.asyncDispose]: async () => void (await end(child, "SIGKILL")),
  }
}

/** Runs a command to its end and returns its JSON output. */
export async function footfall<Result>(command: readonly string[], dataDir: string, ...words: readonly string[]): Promise<Result> {
  const child = Bun.spawn([...command, ...words, "--data-dir", dataDir, "--json"], { stdout: "pipe", stderr: "pipe" })
  const [output, errors, code] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited])
  if (code !== 0) throw new Error(`footfall ${words.join(" ")} ended with ${code}: ${errors}`)
  return JSON.parse(output)
}

export interface Prepared {
  siteId: number
  trackingId: string
  key: string
}

/**
 * Creates a site for `shop.example.com` in UTC, with a key that can query and send events. Creates the instance first if necessary. `flags` are
 * those of every command.
 */
export async function prepareSite(command: readonly string[], dataDir: string, flags: readonly string[] = []): Promise<Prepared> {
  if (!existsSync(join(dataDir, "catalog.db"))) await (await serveFootfall({ command, dataDir, flags })).kill("SIGTERM")
  const site = ["--name", "Shop", "--hosts", "shop.example.com", "--timezone", "UTC", "--revenue-currency", "EUR"]
  const { id, tracking_id } = await footfall<{ id: number; tracking_id: string }>(command, dataDir, "site", "create", ...site, ...flags)
  const scopes = ["--name", "Proof", "--scopes", "stats:read,events:write"]
  const { key } = await footfall<{ key: string }>(command, dataDir, "key", "create", ...scopes, ...flags)
  return { siteId: id, trackingId: tracking_id, key }
}

/** Credentials of a user who can sign in and owns the first organization. */
export const USER = { email: "ada@example.org", password: "a fine long password" }

/** Creates the first user on the command line, like an operator. */
export async function prepareUser(command: readonly string[], dataDir: string): Promise<void> {
  const words = ["setup", "--email", USER.email, "--name", "Ada", "--organization", "Acme", "--password-stdin", "--data-dir", dataDir]
  const child = Bun.spawn([...command, ...words], { stdin: new Blob([USER.password]), stdout: "ignore", stderr: "inherit" })
  if ((await child.exited) !== 0) throw new Error("The first user could not be created.")
}

export interface Summary {
  metrics: Record<string, number>
}

/** Calls the statistics API. Rejects with the response if its status is not 200. */
export async function askStats<Answer = Summary>(address: string, { siteId, key }: Prepared, question: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(`${address}/api/public/v1/sites/${siteId}/stats/${question}`, { headers })
  if (response.status !== 200) throw new Error(`${question}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Answer // the caller's query determines the shape of the answer
}

/** Reads the address from the output and discards the rest, because a full pipe would block the server. */
async function addressIn(output: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const found = Promise.withResolvers<string | undefined>()
  void (async () => {
    const decoder = new TextDecoder()
    let text = ""
    for await (const chunk of output) {
      text = (text + decoder.decode(chunk, { stream: true })).slice(-4_096)
      const [, address] = /"address":\s*"([^"]+)"/.exec(text) ?? []
      if (address !== undefined) found.resolve(address)
    }
    found.resolve(undefined)
  })()
  return found.promise
}

async function memoryOf(pid: number): Promise<{ resident: number; own: number }> {
  const status = await Bun.file(`/proc/${pid}/status`).text()
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+) kB`, "m").exec(status)?.[1]) * 1024
  return { resident: bytes("VmRSS"), own: bytes("RssAnon") }
}

async function end(child: Subprocess, signal: "SIGTERM" | "SIGKILL"): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) child.kill(signal)
  await child.exited
  return child.exitCode
}
