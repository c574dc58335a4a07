import { join } from "node:path"
import { type ImportCursor, type ImportedKind, type ImportedRow, type ImportedVisit, type ImportWriters, SEGMENT_EVENTS } from "#plugin"
import { linesOf } from "./files.ts"
import type { Staged } from "./task.ts"
import { eventsIn, visitIn, visitorOf } from "./visits.ts"

/**
 * Writes staged rows into segments, in batches with the position that was reached. After an interruption the next call continues there.
 * Lines are parsed in short slices, so that events and queries are not held up.
 */
export interface WriteOptions {
  imports: ImportWriters
  siteId: number
  importId: number
  folder: string
  staged: Pick<Staged, "staged" | "visitors" | "stream">
  /** Run of the import: 1, or for a stream the next one. */
  run: number
  /** Whether visits with a user id belong to the visitor of `identify()`. */
  linksUsers: boolean
  /** Rows per batch. Default: a full segment. Smaller for tests. */
  batch?: { events: number; totals: number } | undefined
  signal: AbortSignal
  report(done: number, total: number): void
}

const FULL = { events: SEGMENT_EVENTS, totals: 50_000 }
const SLICE_MS = 8
/** Lines between two looks at the clock. */
const LINES = 50

interface Position {
  /** Staged file that is being written, and the lines that are done. */
  name: string
  lines: number
  firstOrdinal: number
}

/** Writes all staged rows. Returns the number of visits and rows of totals, and of visitors that earlier runs do not have. */
export async function writeStaged(options: WriteOptions): Promise<{ visits: number; rows: number; newVisitors: number }> {
  const { imports, siteId, importId, run, staged, report, signal, batch = FULL } = options
  let cursor = imports.cursor(importId, run)
  const reached = cursor && (JSON.parse(cursor.position) as Position) // written below
  // Visitors of a stream have names, by which later runs find them again.
  const numbered = staged.stream ? 0 : staged.visitors
  const firstOrdinal = reached?.firstOrdinal ?? imports.reserveVisitors(siteId, numbered)
  const total = staged.staged.reduce((sum, { lines }) => sum + lines, 0)
  const place = { siteId, importId, run }
  const advance = (name: string, lines: number, visits: number, rows: number): ImportCursor => {
    const before = cursor ?? { visits: 0, rows: 0, batches: 0 }
    const position = JSON.stringify({ name, lines, firstOrdinal } satisfies Position)
    cursor = { position, visits: before.visits + visits, rows: before.rows + rows, batches: before.batches + 1 }
    return cursor
  }
  const personOf = options.linksUsers ? await imports.personKeys(siteId) : undefined
  let [done, isBehind] = [0, reached === undefined]
  for (const { name, lines } of staged.staged) {
    const isReached = !isBehind && reached?.name === name
    if (!isBehind && !isReached) {
      done += lines
      continue
    }
    isBehind = true
    let at = isReached ? reached!.lines : 0
    done += at
    const isVisits = name === "visits"
    const batches = { path: join(options.folder, name), from: at, size: isVisits ? batch.events : batch.totals, signal }
    for await (const some of linesInBatches({ ...batches, weightOf: isVisits ? eventsIn : () => 1 })) {
      at += some.length
      if (isVisits) {
        const names = staged.stream && [...new Set(some.map(visitorOf))]
        const visitors = names && { visitors: await imports.nameVisitors(place, names) }
        const cursor = advance(name, at, some.length, 0)
        await imports.addVisits({ ...place, firstOrdinal, ...visitors, cursor }, visitsIn(some, personOf))
      } else {
        const rows = some.map((line): ImportedRow => JSON.parse(line))
        await imports.addTotals({ ...place, cursor: advance(name, at, 0, some.length) }, name as ImportedKind, rows) // its file has the name
      }
      done += some.length
      report(done, total)
      signal.throwIfAborted()
    }
  }
  const newVisitors = staged.stream ? imports.countVisitors(importId, run) : staged.visitors
  return { visits: cursor?.visits ?? 0, rows: cursor?.rows ?? 0, newVisitors }
}

type PersonOf = Awaited<ReturnType<ImportWriters["personKeys"]>>

/** Yields the visits of a batch. They are parsed when they are stored, because they take several times the memory of their lines. */
function* visitsIn(lines: readonly string[], personOf: PersonOf | undefined): Generator<ImportedVisit> {
  for (const line of lines) {
    const { visitor, kind, userId, traits, events, day } = visitIn(line)
    const person = userId !== "" && personOf ? { person: personOf(userId) } : {}
    yield { visitor, visitorKind: kind, traits, events, day, ...person }
  }
}

interface LineBatches {
  path: string
  /** Lines that are left out at the beginning. */
  from: number
  weightOf(line: string): number
  /** Weight of a batch at most. A heavier line is a batch of its own. */
  size: number
  signal: AbortSignal
}

/** Groups the lines of a file. Pauses after each slice, and ends when it is aborted. */
async function* linesInBatches({ path, from, weightOf, size, signal }: LineBatches): AsyncGenerator<string[]> {
  let [number, sliceStart] = [0, performance.now()]
  let [batch, weight]: [string[], number] = [[], 0]
  for (const line of linesOf(path)) {
    if (++number % LINES === 0 && performance.now() - sliceStart >= SLICE_MS) {
      await Bun.sleep(0)
      signal.throwIfAborted()
      sliceStart = performance.now()
    }
    if (number <= from) continue
    const own = weightOf(line)
    if (batch.length > 0 && weight + own > size) {
      yield batch
      sliceStart = performance.now()
      batch = []
      weight = 0
    }
    batch.push(line)
    weight += own
  }
  if (batch.length > 0) yield batch
}
