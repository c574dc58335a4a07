/**
 * Verifies that `kill -9` during sealing, also of open visits, merging, an erasure, retention, an import, its undo, a checkpoint or a backup loses or
 * duplicates no acknowledged event, and that maintenance removes or adds data completely or not at all.
 * `bun scripts/reliability/kill-in-phase.ts --kills 60 --seed 1`
 */
import { Database } from "bun:sqlite"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { type Random, seededRandom } from "../../src/services/demo/random.ts"
import type { Clickhouse, ClickhouseServer } from "../../src/store/clickhouse/client.ts"
import { openEventStore } from "../../src/store/events/events.ts"
import { openEventReader } from "../../src/store/events/reader.ts"
import {
  erasable,
  eventsOfVisit,
  IMPORTED_VISITS,
  type LoopOptions,
  momentOf,
  PHASES,
  type Phase,
  RETAINED_MS,
  SITE,
  shipFrom,
} from "./phases.ts"

export interface PhaseResult {
  phase: Phase
  kills: number
  /** Number of acknowledged visits. */
  acknowledged: number
  /** Number of completed maintenance runs. */
  rounds: number
  /** Descriptions of the first faults. */
  faults: string[]
}

interface PhaseOptions {
  kills: number
  seed: number
  /** An empty ClickHouse that the events are shipped to meanwhile. */
  clickhouse?: { server: ClickhouseServer; clickhouse: Clickhouse }
}

export async function killInPhase(phase: Phase, { kills, seed, clickhouse }: PhaseOptions): Promise<PhaseResult> {
  const folder = mkdtempSync(join(tmpdir(), "footfall-phase-"))
  const random = seededRandom(seed)
  const known: Known = { next: 1, cut: [], rounds: 0, imported: new Set(), undone: new Set(), lastImport: 0 }
  const faults: string[] = []
  const path = join(folder, "events.db")
  try {
    for (let kill = 0; kill < kills; kill++) {
      const server = clickhouse?.server
      await runAndKill({ path, phase, next: known.next, importId: known.lastImport + 1, ...(server && { server }) }, random, known)
      faults.push(...judge(path, phase, known).map((fault) => `kill ${kill + 1}: ${fault}`))
      // An interrupted import leaves texts without references.
      if (phase !== "import" && phase !== "undo")
        faults.push(...(await judgeTexts(path, known)).map((fault) => `kill ${kill + 1}: ${fault}`))
    }
    if (clickhouse) faults.push(...(await judgeShipped(path, known, clickhouse)))
    return { phase, kills, acknowledged: known.next - 1 - kills * GROUP, rounds: known.rounds, faults: faults.slice(0, 10) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The visits acknowledged so far. */
interface Known {
  /** All visits below this number were acknowledged, except those in `cut`. */
  next: number
  /** Ranges of interrupted visits, which may be stored or not. Their numbers are not used again. */
  cut: [from: number, to: number][]
  rounds: number
  imported: Set<number>
  undone: Set<number>
  /** Number of the latest import. The next one may have been interrupted. */
  lastImport: number
}

const GROUP = 1_000 // more than a single commit writes

async function runAndKill(options: LoopOptions, random: Random, known: Known): Promise<void> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "upkeep-loop.ts"), JSON.stringify(options)], { stdout: "pipe" })
  // Every other kill is in the first maintenance run, the others in a later one.
  const output = readLines(child.stdout, known.cut.length % 2 === 0 ? "visits" : "round")
  await output.started
  await Bun.sleep(random.below(500))
  child.kill("SIGKILL")
  await child.exited
  if (child.signalCode !== "SIGKILL") throw new Error(`The loop ended by itself in phase ${options.phase}`)
  for (const line of (await output.text).split("\n")) note(line, known)
  known.cut.push([known.next, known.next + GROUP])
  known.next += GROUP
  known.lastImport++
}

/** Runs the process. `started` resolves at the first line with the given word, because a process starts slowly on a busy machine. */
function readLines(stream: ReadableStream<Uint8Array>, word: string): { started: Promise<void>; text: Promise<string> } {
  const started = Promise.withResolvers<void>()
  const decoder = new TextDecoder()
  const read = async () => {
    let text = ""
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true })
      if (text.includes(word)) started.resolve()
    }
    started.resolve()
    return text
  }
  return { started: started.promise, text: read() }
}

function note(line: string, known: Known): void {
  const [what, text] = line.split(" ")
  const number = Number(text)
  if (what === "visits") known.next = number
  if (what === "round") known.rounds++
  if (what === "undone") known.undone.add(number)
  if (what !== "imported") return
  known.imported.add(number)
  known.lastImport = number
}

function judge(path: string, phase: Phase, known: Known): string[] {
  const { native, imports, integrity } = read(path)
  return [...(integrity === "ok" ? [] : [integrity]), ...judgeNative(native, phase, known), ...judgeImports(imports, phase, known)]
}

function judgeNative(native: Map<number, number>, phase: Phase, known: Known): string[] {
  const faults: string[] = []
  const isCut = (visit: number) => known.cut.some(([from, to]) => visit >= from && visit < to)
  for (let visit = 1; visit < known.next; visit++) {
    const times = eventsOfVisit(visit).map((amount) => native.get(amount) ?? 0)
    const whole = times.every((count) => count === 1)
    const absent = times.every((count) => count === 0)
    // The last event of a visit arrives in a commit of its own.
    if (phase === "seal-open" && isCut(visit) && times.every((count) => count <= 1)) continue
    if (whole || (absent && (isCut(visit) || mayBeGone(visit, phase, known)))) continue
    faults.push(`visit ${visit} has its events ${times.join(", ")} times`)
  }
  return faults
}

function mayBeGone(visit: number, phase: Phase, { next }: Known): boolean {
  if (phase === "erase") return erasable(visit)
  return phase === "retain" && momentOf(visit) < momentOf(next) - RETAINED_MS
}

function judgeImports(imports: Map<number, number>, phase: Phase, { imported, undone, lastImport }: Known): string[] {
  const faults: string[] = []
  for (let id = 1; id <= lastImport; id++) {
    const visits = imports.get(id) ?? 0
    const mayBeThere = !undone.has(id)
    const mayBeAbsent = !imported.has(id) || phase === "undo"
    if ((visits === IMPORTED_VISITS && mayBeThere) || (visits === 0 && mayBeAbsent)) continue
    faults.push(`import ${id} has ${visits} visits`)
  }
  return faults
}

/** Checks that the next start completes an interrupted erasure, which leaves no text without a reference. */
async function judgeTexts(path: string, { next }: Known): Promise<string[]> {
  const now = momentOf(next)
  const store = openEventStore(path, { now })
  await store.seal(now)
  store.close()
  const reader = openEventReader(path, { cacheBytes: 32 << 20 })
  const { parts, dictionary } = reader.snapshot(SITE, "visits", "all")
  const titles = dictionary("title")
  const used = new Set(parts.flatMap((part) => [...part.event("title")]))
  const alone: string[] = []
  for (let id = 1; id < titles.size; id++) if (titles.text(id) !== "" && !used.has(id)) alone.push(`nothing refers to ${titles.text(id)}`)
  reader.close()
  return alone
}

/** Ships the rest, and checks that ClickHouse has the visits of the store. */
async function judgeShipped(path: string, { next }: Known, { server, clickhouse }: NonNullable<PhaseOptions["clickhouse"]>) {
  const store = openEventStore(path, { now: momentOf(next) })
  const shipping = shipFrom(store, path, server)
  await shipping.settled()
  while (store.hasUnshippedSegments() || store.unshipped().records > 0) await Bun.sleep(100)
  shipping.stop()
  store.close()
  const { native, imports } = read(path)
  const counted = async (key: string, condition: string, expected: ReadonlyMap<number, number>) => {
    const sql = `select toString(${key}) as key, toUInt32(count()) as times from visits final where ${condition} group by key`
    const rows = await clickhouse.rows<{ key: string; times: number }>(sql)
    const found = new Map(rows.map(({ key, times }) => [Number(key), times]))
    const different = [...new Set([...found.keys(), ...expected.keys()])].filter((key) => found.get(key) !== expected.get(key))
    return different
      .slice(0, 5)
      .map((each) => `${key} ${each} is on ClickHouse ${found.get(each) ?? 0} times, in the store ${expected.get(each) ?? 0} times`)
  }
  return [...(await counted("arrayJoin(`r.amount`)", "import_id = 0", native)), ...(await counted("import_id", "import_id > 0", imports))]
}

function read(path: string): { native: Map<number, number>; imports: Map<number, number>; integrity: string } {
  const reader = openEventReader(path, { cacheBytes: 32 << 20 })
  const native = new Map<number, number>()
  const imports = new Map<number, number>()
  for (const part of reader.snapshot(SITE, "visits", "all").parts) {
    if (part.importId > 0) imports.set(part.importId, (imports.get(part.importId) ?? 0) + part.visits)
    else for (const amount of part.revenue().amount) native.set(amount, (native.get(amount) ?? 0) + 1)
  }
  reader.close()
  const db = new Database(path, { readonly: true })
  const [row] = db.query<{ integrity_check: string }, []>("pragma integrity_check").all()
  db.close()
  return { native, imports, integrity: row?.integrity_check ?? "" }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { kills: { type: "string", default: "6" }, seed: { type: "string", default: "1" } } })
  for (const phase of PHASES) console.log(await killInPhase(phase, { kills: Number(values.kills), seed: Number(values.seed) }))
}
