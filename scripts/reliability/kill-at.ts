/**
 * Verifies that an operation killed at any call that changes the disk leaves a data folder that the next start completes or rolls
 * back. Runs each operation once to count its calls, then once per call with `kill -9` at that call, by a library that is compiled
 * with `cc` and loaded before libc. `bun scripts/reliability/kill-at.ts --operation restore --calls all`
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { OPERATIONS, type Operation, type OperationName } from "./killed-operations.ts"

/** `sync` are the calls that order the data on disk; `all` also includes every write, truncation, removal and new folder. */
export type CountedCalls = "sync" | "all"
const SYNC_CALLS = " fsync fdatasync rename "

export interface KillAtResult {
  operation: OperationName
  /** Number of calls that the operation makes without a kill. */
  calls: number
  /** Number of killed runs. The last calls of an operation can vary in number between runs. */
  killed: number
  /** Faults after a kill, at most ten. */
  faults: string[]
}

interface KillAtOptions {
  calls: CountedCalls
  /** Maximum number of calls to kill at, spread over the operation. Default: all. */
  points?: number | undefined
}

/** Kills one operation at its calls. Throws if `cc` is missing. */
export async function killAtCalls(name: OperationName, { calls, points }: KillAtOptions): Promise<KillAtResult> {
  const folder = mkdtempSync(join(tmpdir(), "footfall-kill-at-"))
  const template = join(folder, "template")
  const dataDir = join(folder, "data")
  const operation = OPERATIONS[name]
  const faults: string[] = []
  let killed = 0
  try {
    const library = compileLibrary(folder)
    mkdirSync(template, { mode: 0o700 })
    const prepared = await operation.prepare(template)
    const run = async (at: number, trace?: string) => {
      rmSync(dataDir, { recursive: true, force: true })
      cpSync(template, dataDir, { recursive: true })
      return runOnce(operation.command(dataDir, prepared), { library, dataDir, calls, at, trace }, operation)
    }
    const trace = join(folder, "trace")
    const whole = await run(0, trace)
    if (whole.code !== 0) throw new Error(`${name} ended with ${whole.code ?? "a signal"} without a kill: ${whole.errors}`)
    faults.push(...(await operation.judge(dataDir, prepared)).map((fault) => `without a kill: ${fault}`))
    const made = existsSync(trace) ? readFileSync(trace, "utf8").trim().split("\n") : []
    if (made.length === 0) throw new Error("The library has counted no call")
    for (const at of spread(made.length, points)) {
      const { signal } = await run(at)
      if (signal === "SIGKILL") killed++
      const found = await operation.judge(dataDir, prepared).catch((error) => [String(error)])
      if (found.length > 0) faults.push(`killed at call ${at} (${made[at - 1]}): ${found.join("; ")}`)
    }
    return { operation: name, calls: made.length, killed, faults: faults.slice(0, 10) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Reports whether this machine can compile and load the library. */
export const canKillAtCalls = (): boolean => process.platform === "linux" && Bun.which("cc") !== null

function compileLibrary(folder: string): string {
  const library = join(folder, "kill-at.so")
  const source = join(import.meta.dir, "kill-at.c")
  const { success, stderr } = Bun.spawnSync(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"])
  if (!success) throw new Error(`kill-at.c cannot be compiled: ${stderr}`)
  return library
}

/** Returns the numbers from 1 to `count`, or `points` of them at equal distances, including the first and the last. */
function spread(count: number, points = count): number[] {
  if (points >= count) return Array.from({ length: count }, (_, index) => index + 1)
  return Array.from({ length: points }, (_, index) => 1 + Math.round((index * (count - 1)) / Math.max(1, points - 1)))
}

interface Kill {
  library: string
  dataDir: string
  calls: CountedCalls
  /** Number of the call to kill at; 0 for none. */
  at: number
  trace: string | undefined
}

async function runOnce(command: readonly string[], { library, dataDir, calls, at, trace }: Kill, { input, until }: Operation) {
  const environment = {
    ...process.env,
    LD_PRELOAD: library,
    KILL_FOLDER: dataDir,
    KILL_AT: String(at),
    ...(calls === "sync" && { KILL_CALLS: SYNC_CALLS }),
    ...(trace !== undefined && { KILL_TRACE: trace }),
  }
  const child = Bun.spawn([...command], { env: environment, stdin: new Blob([input ?? ""]), stdout: "pipe", stderr: "pipe" })
  const errors = new Response(child.stderr).text()
  // A server is stopped as soon as it serves; its shutdown is part of the operation.
  let output = ""
  for await (const chunk of child.stdout) {
    const wasThere = until === undefined || output.includes(until)
    output += Buffer.from(chunk).toString()
    if (!wasThere && output.includes(until)) child.kill("SIGTERM")
  }
  await child.exited
  return { code: child.exitCode, signal: child.signalCode, errors: await errors }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { operation: { type: "string" }, calls: { type: "string", default: "sync" }, points: { type: "string" } },
  })
  const names = Object.keys(OPERATIONS) as OperationName[] // the keys of the table
  const chosen = names.filter((name) => values.operation === undefined || values.operation === name)
  const options: KillAtOptions = {
    calls: values.calls === "all" ? "all" : "sync",
    points: values.points === undefined ? undefined : Number(values.points),
  }
  let faults = 0
  for (const name of chosen) {
    const result = await killAtCalls(name, options)
    console.log(result)
    faults += result.faults.length
  }
  process.exit(faults === 0 && chosen.length > 0 ? 0 : 1)
}
