/**
 * Verifies that `kill -9` while an import sorts, writes, completes or is undone leaves exactly the rows of an undisturbed run, or none:
 * after the kill, and after the next start has finished the work. `bun scripts/reliability/kill-import.ts --kills 60 --seed 1`
 */
import { Database } from "bun:sqlite"
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { type Random, seededRandom } from "../../src/services/demo/random.ts"
import type { ImportState } from "./import-run.ts"

export const IMPORT_PHASES = ["sort", "write", "complete", "undo"] as const
export type ImportPhase = (typeof IMPORT_PHASES)[number]

export interface ImportKills {
  phase: ImportPhase
  kills: number
  /** Kills after which the import was neither finished nor rolled back, and the next start had to continue it. */
  continued: number
  /** Descriptions of the first faults. */
  faults: string[]
}

export async function killImport(phase: ImportPhase, { kills, seed }: { kills: number; seed: number }): Promise<ImportKills> {
  const folder = mkdtempSync(join(tmpdir(), "footfall-import-"))
  const random = seededRandom(seed)
  const action = phase === "undo" ? "undo" : "import"
  try {
    const known = await undisturbed(folder, phase)
    const dataDir = join(folder, "data")
    const faults: string[] = []
    let continued = 0
    for (let kill = 1; kill <= kills; kill++) {
      rmSync(dataDir, { recursive: true, force: true })
      cpSync(join(folder, action), dataDir, { recursive: true })
      await startAndKill(dataDir, action, known, random)
      const { states } = await run(dataDir, "finish")
      if (!isEnd(states[0]!)) continued++
      faults.push(...judge(dataDir, action, states, known).map((fault) => `kill ${kill}: ${fault}`))
    }
    return { phase, kills, continued, faults: faults.slice(0, 10) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What an undisturbed run of the same import shows, and when its phase begins and ends. */
interface Undisturbed {
  none: ImportState
  whole: ImportState
  segments: number
  phase: ImportPhase
  /** Duration of the phase. */
  ms: number
}

/** Makes the folders that runs begin with, `import` and `undo`, and measures an undisturbed run. */
async function undisturbed(folder: string, phase: ImportPhase): Promise<Undisturbed> {
  const [empty, full] = [join(folder, "import"), join(folder, "undo")]
  mkdirSync(empty, { mode: 0o700 })
  const [none] = (await run(empty, "prepare")).states
  cpSync(empty, full, { recursive: true })
  const imported = await run(full, "import")
  const segments = segmentsIn(full)
  const timed = phase === "undo" ? await onCopy(full, (copy) => run(copy, "undo")) : imported
  const begun = timed.phases.findIndex(({ name }) => name === phase)
  if (begun < 0) throw new Error(`The run has no phase ${phase}.`)
  const ms = timed.phases[begun + 1]!.at - timed.phases[begun]!.at // a phase is followed by another one or by the end
  return { none: none!, whole: imported.states[0]!, segments, phase, ms }
}

async function onCopy<Result>(folder: string, work: (copy: string) => Promise<Result>): Promise<Result> {
  const copy = `${folder}-copy`
  cpSync(folder, copy, { recursive: true })
  try {
    return await work(copy)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

interface Output {
  states: ImportState[]
  /** Phases with their start, in milliseconds. The last one is `end`. */
  phases: { name: string; at: number }[]
}

type Child = Bun.Subprocess<"ignore", "pipe", "inherit">
const start = (dataDir: string, action: string): Child =>
  Bun.spawn([process.execPath, join(import.meta.dir, "import-run.ts"), dataDir, action], { stdout: "pipe", stderr: "inherit" })

/** Reads the lines of a process. `seen` is called with each phase. */
async function read(child: Child, seen: (phase: string) => void = () => {}): Promise<Output> {
  const output: Output = { states: [], phases: [] }
  const decoder = new TextDecoder()
  let rest = ""
  for await (const chunk of child.stdout) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n")
    rest = lines.pop()!
    for (const line of lines) {
      const fact = JSON.parse(line) as { phase: string } | ImportState // written by import-run.ts
      if ("phase" in fact) {
        output.phases.push({ name: fact.phase, at: performance.now() })
        seen(fact.phase)
      } else output.states.push(fact)
    }
  }
  return output
}

async function run(dataDir: string, action: string): Promise<Output> {
  const child = start(dataDir, action)
  const output = await read(child)
  if ((await child.exited) !== 0) throw new Error(`${action} ended with ${child.exitCode ?? child.signalCode}`)
  return output
}

async function startAndKill(dataDir: string, action: string, { phase, ms }: Undisturbed, random: Random): Promise<void> {
  const child = start(dataDir, action)
  const delay = random.below(Math.ceil(ms * 1_000)) / 1_000
  await read(child, (name) => {
    if (name === phase) setTimeout(() => child.kill("SIGKILL"), delay)
  })
  await child.exited
}

const isEnd = ({ state }: ImportState): boolean => state === "completed" || state === "undone"

/** Judges what answers showed after the kill, and what they show and the store holds after the next start. */
function judge(dataDir: string, action: "import" | "undo", [after, end]: ImportState[], { none, whole, segments }: Undisturbed): string[] {
  if (!after || !end) return ["the next start has not finished"]
  const [state, wanted, kept] = action === "undo" ? ["undone", none, 0] : ["completed", whole, segments]
  const found = segmentsIn(dataDir)
  return [
    ...(isShownAs(after, { none, whole }) ? [] : [`${after.visits} visits are shown in the state ${after.state}`]),
    ...(end.state === state ? [] : [`the next start ends in the state ${end.state}`]),
    ...(end.shown === wanted.shown ? [] : [`${end.visits} visits and ${end.definitions} definitions differ from an undisturbed run`]),
    ...(found === kept ? [] : [`${found} segments instead of ${kept}`]),
    ...(end.staged === 0 ? [] : [`${end.staged} staged files are left`]),
    ...integrityOf(dataDir),
  ]
}

/** A completed import is shown whole. Before that, and as soon as it is being undone, none of its rows is shown. */
function isShownAs({ state, shown, visits }: ImportState, { none, whole }: Pick<Undisturbed, "none" | "whole">): boolean {
  if (state === "completed") return shown === whole.shown
  return state === "undone" ? shown === none.shown : visits === 0
}

function segmentsIn(dataDir: string): number {
  using db = new Database(join(dataDir, "events.db"))
  return db.query<{ n: number }, []>("select count(*) as n from segments where import_id > 0 and retired_at is null").get()!.n
}

const integrityOf = (dataDir: string): string[] =>
  ["catalog.db", "events.db"].flatMap((name) => {
    using db = new Database(join(dataDir, name))
    const rows = db.query<{ integrity_check: string }, []>("pragma integrity_check").all()
    return rows.map((row) => row.integrity_check).filter((line) => line !== "ok")
  })

if (import.meta.main) {
  const { values } = parseArgs({
    options: { kills: { type: "string", default: "6" }, seed: { type: "string", default: "1" }, phase: { type: "string" } },
  })
  let faults = 0
  for (const phase of IMPORT_PHASES.filter((name) => values.phase === undefined || values.phase === name)) {
    const result = await killImport(phase, { kills: Number(values.kills), seed: Number(values.seed) })
    console.log(result)
    faults += result.faults.length
  }
  process.exit(faults === 0 ? 0 : 1)
}
