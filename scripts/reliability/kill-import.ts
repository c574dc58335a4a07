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

/** Prepares a data folder and a Google to import from, and returns what kills an import in a phase. */
export async function importKiller(): Promise<
  AsyncDisposable & { kill(phase: ImportPhase, how: { kills: number; seed: number }): Promise<ImportKills> }
> {
  const folder = mkdtempSync(join(tmpdir(), "footfall-import-"))
  const service = await openService()
  const runs = createRuns(folder, service.connected)
  return {
    async kill(phase, { kills, seed }) {
      const random = seededRandom(seed)
      const known = await runs.undisturbed(phase)
      const dataDir = join(folder, "data")
      const faults: string[] = []
      let continued = 0
      for (let kill = 1; kill <= kills; kill++) {
        rmSync(dataDir, { recursive: true, force: true })
        cpSync(known.begin, dataDir, { recursive: true })
        await startAndKill(dataDir, known, random)
        const { states } = await run(dataDir, "finish", service.connected)
        if (!isEnd(states[0]!)) continued++
        faults.push(...judge(dataDir, states, known).map((fault) => `kill ${kill}: ${fault}`))
      }
      return { phase, kills, continued, faults: faults.slice(0, 10) }
    },
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true })
      await service.close()
    },
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
  /** Folder that the run begins with. */
  begin: string
  connected: Connected
}

/** Returns the undisturbed runs, each of which is made once for all its phases. */
function createRuns(folder: string, connected: Connected) {
  const made = new Map<string, Promise<Output & { segments: number }>>()
  /** Runs an action on a copy of a folder, which then has the name of the action. */
  function once(action: string, from: string | undefined): Promise<Output & { segments: number }> {
    const known = made.get(action) ?? runIn(join(folder, action), action, from)
    made.set(action, known)
    return known
  }
  async function runIn(dataDir: string, action: string, from: string | undefined): Promise<Output & { segments: number }> {
    if (from === undefined) mkdirSync(dataDir, { mode: 0o700 })
    else cpSync(join(folder, from), dataDir, { recursive: true })
    const output = await run(dataDir, action, connected)
    return { ...output, segments: segmentsIn(dataDir) }
  }
  return {
    async undisturbed(phase: ImportPhase): Promise<Undisturbed> {
      const { action, begins } = PLACES[phase]
      const { states } = await once("prepare", undefined)
      const imported = await once(action === "undo" ? "import" : action, "prepare")
      const { phases } = action === "undo" ? await once("undo", "import") : imported
      const begun = phases.findIndex(({ name }) => name === begins)
      if (begun < 0) throw new Error(`The run has no phase ${phase}.`)
      const ms = phases[begun + 1]!.at - phases[begun]!.at // a phase is followed by another one or by the end
      const begin = join(folder, action === "undo" ? "import" : "prepare")
      return { none: states[0]!, whole: imported.states[0]!, segments: imported.segments, phase, ms, begin, connected }
    },
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

async function startAndKill(dataDir: string, { phase, ms, connected }: Undisturbed, random: Random): Promise<void> {
  const child = start(dataDir, PLACES[phase].action, connected)
  const delay = random.below(Math.ceil(ms * 1_000)) / 1_000
  await read(child, (name) => {
    if (name === PLACES[phase].begins) setTimeout(() => child.kill("SIGKILL"), delay)
  })
  await child.exited
}

const isEnd = ({ state }: ImportState): boolean => state === "completed" || state === "undone"

/** Judges what answers showed after the kill, and what they show and the store holds after the next start. */
function judge(dataDir: string, [after, end]: ImportState[], { none, whole, segments, phase }: Undisturbed): string[] {
  if (!after || !end) return ["the next start has not finished"]
  const [state, wanted, kept] = phase === "undo" ? ["undone", none, 0] : ["completed", whole, segments]
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
  await using killer = await importKiller()
  let faults = 0
  for (const phase of IMPORT_PHASES.filter((name) => values.phase === undefined || values.phase === name)) {
    const result = await killer.kill(phase, { kills: Number(values.kills), seed: Number(values.seed) })
    console.log(result)
    faults += result.faults.length
  }
  process.exitCode = faults === 0 ? 0 : 1
}
