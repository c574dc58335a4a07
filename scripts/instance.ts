/** A Footfall in a process of its own, as its users run it: for benchmarks, proofs and the test of the binary. */
import { join } from "node:path"
import type { Subprocess } from "bun"

export const FROM_SOURCE: readonly string[] = [process.execPath, join(import.meta.dir, "../src/main.ts")]

export interface Served extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  address: string
  pid: number
  /** Bytes in memory: all that is resident, and what of it is its own (the rest is the program's file, which the kernel may drop). */
  memory(): Promise<{ resident: number; own: number }>
  /** Ends it and resolves with its exit code; `null` after a signal that it could not handle. */
  kill(signal: "SIGTERM" | "SIGKILL"): Promise<number | null>
}

interface ServeOptions {
  command?: readonly string[]
  dataDir: string
  flags?: readonly string[]
  /** The one core it may use. */
  core?: number
}

/** Resolves when it listens on a free port of loopback; rejects with its words when it ends before. */
export async function serveFootfall({ command = FROM_SOURCE, dataDir, flags = [], core }: ServeOptions): Promise<Served> {
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

/** Runs one command to its end and returns what it printed as JSON. */
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

/** A site for `shop.example.com` in UTC, with a key that may ask and send. */
export async function prepareSite(command: readonly string[], dataDir: string): Promise<Prepared> {
  const site = ["--name", "Shop", "--hosts", "shop.example.com", "--timezone", "UTC", "--revenue-currency", "EUR"]
  const { id, tracking_id } = await footfall<{ id: number; tracking_id: string }>(command, dataDir, "site", "create", ...site)
  const scopes = ["--name", "Proof", "--scopes", "stats:read,events:write"]
  const { key } = await footfall<{ key: string }>(command, dataDir, "key", "create", ...scopes)
  return { siteId: id, trackingId: tracking_id, key }
}

/** Somebody who may sign in; their organization is the first. */
export const USER = { email: "ada@example.org", password: "a fine long password" }

/** The first user, made by the command line as an operator makes it. */
export async function prepareUser(command: readonly string[], dataDir: string): Promise<void> {
  const words = ["setup", "--email", USER.email, "--name", "Ada", "--organization", "Acme", "--password-stdin", "--data-dir", dataDir]
  const child = Bun.spawn([...command, ...words], { stdin: new Blob([USER.password]), stdout: "ignore", stderr: "inherit" })
  if ((await child.exited) !== 0) throw new Error("The first user could not be made")
}

export interface Summary {
  metrics: Record<string, number>
}

/** One answer of the statistics API; rejects with what it said when it is no 200. */
export async function askStats<Answer = Summary>(address: string, { siteId, key }: Prepared, question: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(`${address}/api/public/v1/sites/${siteId}/stats/${question}`, { headers })
  if (response.status !== 200) throw new Error(`${question}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Answer // the caller names the question, and with it the answer
}

/** The rest of the output is read and thrown away, or the pipe would fill and stop the server. */
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
