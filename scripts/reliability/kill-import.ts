/**
 * Verifies that `kill -9` while an import fetches reports, sorts, writes, completes, publishes its refunds or is undone leaves exactly the
 * rows of an undisturbed run, or none: after the kill, and after the next start has finished the work.
 * `bun scripts/reliability/kill-import.ts --kills 60 --seed 1 [--phase sort]`
 */
import { Database } from "bun:sqlite"
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { type Random, seededRandom } from "../../src/services/demo/random.ts"
import { google } from "../../test/fakes/google.ts"
import { analyticsData } from "../../test/fakes/google-analytics.ts"
import type { Connected, ImportState } from "./import-run.ts"

/** What a kill interrupts: the process that it starts, and the phase of the job after whose beginning it ends. */
const PLACES = {
  fetch: { action: "fetch", begins: "fetch" },
  sort: { action: "import", begins: "sort" },
  write: { action: "import", begins: "write" },
  complete: { action: "import", begins: "complete" },
  // Refunds are published after the import is complete, until the job ends.
  refunds: { action: "refunds", begins: "complete" },
  undo: { action: "undo", begins: "undo" },
} as const
export type ImportPhase = keyof typeof PLACES
export const IMPORT_PHASES = Object.keys(PLACES) as ImportPhase[]

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
  const { action } = PLACES[phase]
  const service = await openService()
  const { connected } = service
  try {
    const known = await undisturbed(folder, phase, connected)
    const dataDir = join(folder, "data")
    const faults: string[] = []
    let continued = 0
    for (let kill = 1; kill <= kills; kill++) {
      rmSync(dataDir, { recursive: true, force: true })
      cpSync(join(folder, action === "undo" ? "full" : "empty"), dataDir, { recursive: true })
      await startAndKill(dataDir, action, known, random)
      const { states } = await run(dataDir, "finish", connected)
      if (!isEnd(states[0]!)) continued++
      faults.push(...judge(dataDir, action, states, known).map((fault) => `kill ${kill}: ${fault}`))
    }
    return { phase, kills, continued, faults: faults.slice(0, 10) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
    await service.close()
  }
}

/** Starts a Google that has 75 days of all reports of a property. */
async function openService(): Promise<{ connected: Connected; close(): Promise<void> }> {
  const fake = await google({ now: Date.now })
  const property = "properties/123"
  const days = Array.from({ length: 75 }, (_, at) => new Date(Date.UTC(2024, 0, 1 + at)).toISOString().slice(0, 10).replaceAll("-", ""))
  const figures = { totalUsers: "4", screenPageViews: "9", sessions: "5", engagedSessions: "2", userEngagementDuration: "300" }
  const report = (...of: object[]) => days.flatMap((date) => of.map((one) => ({ date, ...one, ...figures })))
  const rows = {
    "": report({}),
    "hostName,pagePath": report(...Array.from({ length: 20 }, (_, at) => ({ hostName: "shop.example", pagePath: `/${at}` }))),
    landingPage: report({ landingPage: "/" }),
    deviceCategory: report({ deviceCategory: "mobile" }, { deviceCategory: "desktop" }),
    browser: report({ browser: "Firefox" }),
  }
  const data = analyticsData(fake, { property, rows, today: new Date().toISOString().slice(0, 10) })
  fake.api(async (request, url) => data.answer(request, url))
  const settings = { ...fake.settings, ga4_api_base: fake.origin }
  const connected = { settings, key: fake.serviceAccount(), property, from: "2024-01-01", to: "2024-03-31" }
  return {
    connected,
    async close() {
      await fake[Symbol.asyncDispose]()
    },
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
  connected: Connected
}

/** Makes the folders that runs begin with, `empty` and `full`, and measures an undisturbed run. */
async function undisturbed(folder: string, phase: ImportPhase, connected: Connected): Promise<Undisturbed> {
  const { action, begins } = PLACES[phase]
  const [empty, full] = [join(folder, "empty"), join(folder, "full")]
  mkdirSync(empty, { mode: 0o700 })
  const [none] = (await run(empty, "prepare", connected)).states
  cpSync(empty, full, { recursive: true })
  const imported = await run(full, action === "undo" ? "import" : action, connected)
  const segments = segmentsIn(full)
  const timed = action === "undo" ? await onCopy(full, (copy) => run(copy, "undo", connected)) : imported
  const begun = timed.phases.findIndex(({ name }) => name === begins)
  if (begun < 0) throw new Error(`The run has no phase ${phase}.`)
  const ms = timed.phases[begun + 1]!.at - timed.phases[begun]!.at // a phase is followed by another one or by the end
  return { none: none!, whole: imported.states[0]!, segments, phase, ms, connected }
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
function start(dataDir: string, action: string, connected: Connected): Child {
  const words = [process.execPath, join(import.meta.dir, "import-run.ts"), dataDir, action, JSON.stringify(connected)]
  return Bun.spawn(words, { stdout: "pipe", stderr: "inherit" })
}

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

async function run(dataDir: string, action: string, connected: Connected): Promise<Output> {
  const child = start(dataDir, action, connected)
  const output = await read(child)
  if ((await child.exited) !== 0) throw new Error(`${action} ended with ${child.exitCode ?? child.signalCode}`)
  return output
}

async function startAndKill(dataDir: string, action: string, { phase, ms, connected }: Undisturbed, random: Random): Promise<void> {
  const child = start(dataDir, action, connected)
  const delay = random.below(Math.ceil(ms * 1_000)) / 1_000
  await read(child, (name) => {
    if (name === PLACES[phase].begins) setTimeout(() => child.kill("SIGKILL"), delay)
  })
  await child.exited
}

const isEnd = ({ state }: ImportState): boolean => state === "completed" || state === "undone"

/** Judges what answers showed after the kill, and what they show and the store holds after the next start. */
function judge(dataDir: string, action: string, [after, end]: ImportState[], { none, whole, segments }: Undisturbed): string[] {
  if (!after || !end) return ["the next start has not finished"]
  const [state, wanted, kept] = action === "undo" ? ["undone", none, 0] : ["completed", whole, segments]
  const found = segmentsIn(dataDir)
  return [
    ...(isShownAs(after, { none, whole })
      ? []
      : [`${after.visits} visits and ${after.totals} rows of totals are shown in the state ${after.state}`]),
    ...(end.state === state ? [] : [`the next start ends in the state ${end.state}`]),
    ...(end.shown === wanted.shown
      ? []
      : [`${end.visits} visits, ${end.totals} rows of totals and ${end.definitions} definitions differ from an undisturbed run`]),
    ...(end.sold === wanted.sold ? [] : [`${end.transactions} transactions differ from an undisturbed run`]),
    ...(found === kept ? [] : [`${found} segments instead of ${kept}`]),
    ...(end.staged === 0 ? [] : [`${end.staged} staged files are left`]),
    ...integrityOf(dataDir),
  ]
}

/** A completed import is shown whole. Before that, and as soon as it is being undone, none of its rows is shown. */
function isShownAs({ state, shown, visits, totals }: ImportState, { none, whole }: Pick<Undisturbed, "none" | "whole">): boolean {
  if (state === "completed") return shown === whole.shown
  return state === "undone" ? shown === none.shown : visits + totals === 0
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
