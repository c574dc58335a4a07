import { PROGRAM } from "../../scripts/instance.ts"

export interface Ended {
  code: number
  out: string
  err: string
}

const environment = (more: Record<string, string> = {}): Record<string, string> => {
  const plain = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !entry[0].startsWith("FOOTFALL_"),
  )
  return { ...Object.fromEntries(plain), ...more }
}

/** Runs a command in a separate process and waits for its end. The signal interrupts it. */
export async function footfall(
  words: readonly string[],
  { env, input = "", signal }: { env?: Record<string, string>; input?: string; signal?: AbortSignal } = {},
): Promise<Ended> {
  const child = Bun.spawn([...PROGRAM, ...words], {
    stdin: new TextEncoder().encode(input),
    stdout: "pipe",
    stderr: "pipe",
    env: environment(env),
    cwd: "/",
    ...(signal && { signal }),
  })
  const [out, err, code] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited])
  return { code, out, err }
}

export interface Serving extends AsyncDisposable {
  address: string
  /** The JSON object that it printed when it was ready. */
  printed: Record<string, unknown>
  pid: number
  /** Resolves with the exit code when the process ends. */
  exited: Promise<number>
  /** Sends the signal and resolves with the exit code, or null if the signal killed the process. */
  end(signal: "SIGTERM" | "SIGINT" | "SIGKILL"): Promise<number | null>
}

/** Starts a server, on a free port of loopback unless the flags name one. */
export const serving = (dataDir: string, ...flags: readonly string[]): Promise<Serving> =>
  startProcess("serve", ["--data-dir", dataDir, ...flags])

/** Starts a server with generated traffic. */
export const startDemo = (...flags: readonly string[]): Promise<Serving> => startProcess("demo", flags)

/** Starts a server without `--json`, and stops it once it has printed a text. Returns all that it printed. */
export async function printedBy(dataDir: string, text: string): Promise<string> {
  const words = [...PROGRAM, "serve", "--data-dir", dataDir, "--host", "127.0.0.1", "--port", "0"]
  const child = Bun.spawn(words, { stdout: "pipe", stderr: "inherit", env: environment(), cwd: "/" })
  let printed = ""
  for await (const piece of child.stdout) {
    printed += Buffer.from(piece).toString()
    if (printed.includes(text)) child.kill("SIGTERM")
  }
  await child.exited
  return printed
}

/** Creates an instance without a first user by starting it once. */
export async function createInstance(dataDir: string): Promise<void> {
  await using server = await serving(dataDir)
  await server.end("SIGTERM")
}

async function startProcess(command: "serve" | "demo", flags: readonly string[]): Promise<Serving> {
  const port = flags.includes("--port") ? [] : ["--port", "0"]
  const words = [...PROGRAM, command, "--host", "127.0.0.1", ...port, "--json", "--log-level", "error", ...flags]
  const child = Bun.spawn(words, { stdout: "pipe", stderr: "inherit", env: environment(), cwd: "/" })
  const printed = await jsonFrom(child.stdout)
  if (printed === undefined) throw new Error(`It ended with ${await child.exited} before it listened`)
  const end: Serving["end"] = async (signal) => {
    child.kill(signal)
    await child.exited
    return child.exitCode
  }
  return {
    address: String(printed.address),
    printed,
    pid: child.pid,
    exited: child.exited,
    end,
    [Symbol.asyncDispose]: async () => void (child.exitCode === null && child.signalCode === null && (await end("SIGKILL"))),
  }
}

async function jsonFrom(output: ReadableStream<Uint8Array>): Promise<Record<string, unknown> | undefined> {
  let text = ""
  for await (const piece of output) {
    text += Buffer.from(piece).toString()
    if (text.endsWith("}\n")) return JSON.parse(text)
  }
}
