import { join } from "node:path"
import type { ImportCursor, ImportedKind, ImportedRow, ImportWriters, OpenThread } from "#plugin"
import type { BuiltBatch, NumberedBatch } from "#plugin/worker"
import { linesOf } from "./files.ts"
import type { BuildTask, Staged } from "./task.ts"
import { totalsIn } from "./totals.ts"
import { batchesIn } from "./visit-batches.ts"

/**
 * Writes staged rows into segments, in batches with the position that was reached. After an interruption the next call continues there.
 * The store takes visits and lines in short slices, so that events and queries are not held up: a thread builds the segments of visits.
 */
export interface WriteOptions {
  imports: ImportWriters
  /** Starts the thread that builds segments. */
  openThread: OpenThread
  siteId: number
  importId: number
  folder: string
  staged: Pick<Staged, "staged" | "visitors" | "stream">
  /** Run of the import: 1, or for a stream the next one. */
  run: number
  /** Whether visits with a user id belong to the visitor of `identify()`. */
  linksUsers: boolean
  /** Rows of totals per batch. Smaller for tests. */
  batch?: number | undefined
  signal: AbortSignal
  report(done: number, total: number): void
}

const TOTALS_PER_BATCH = 50_000
const SLICE_MS = 8
/** Rows of totals after which garbage is collected. */
const ROWS_PER_COLLECTION = 25_000
/** Lines between two looks at the clock. */
const LINES = 50

interface Position {
  /** Staged file that is being written, and the visits or rows of it that are done. */
  name: string
  lines: number
  firstOrdinal: number
}

/** Writes all staged rows. Returns the number of visits and rows of totals, and of visitors that earlier runs do not have. */
export async function writeStaged(options: WriteOptions): Promise<{ visits: number; rows: number; newVisitors: number }> {
  const { imports, siteId, importId, run, staged, report, signal, batch = TOTALS_PER_BATCH } = options
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

  async function writeVisits(name: string, from: number, reportDone: (visits: number) => void): Promise<void> {
    const thread = options.openThread({ signal })
    const build = (batch: NumberedBatch) => thread.run<BuiltBatch>({ do: "build", batch } satisfies BuildTask, [batch.bytes.buffer])
    let taken = from
    try {
      for await (const batch of batchesIn(join(options.folder, name), from)) {
        const named = staged.stream && { visitors: await imports.nameVisitors(place, batch.names()) }
        taken += batch.visits
        const done = () => advance(name, taken, batch.visits, 0)
        await imports.addVisits({ ...place, firstOrdinal, ...named, ...(personOf && { personOf }), build, cursor: done }, batch)
        reportDone(taken)
      }
    } finally {
      thread.close()
    }
  }

  async function writeTotals(name: string, from: number, reportDone: (rows: number) => void): Promise<void> {
    const kind = name as ImportedKind // its file has the name
    const lines = new StagedLines(join(options.folder, name), signal)
    await lines.skip(from)
    while (!lines.isAtEnd) {
      const before = lines.taken
      const done = () => advance(name, lines.taken, 0, lines.taken - before)
      await imports.addTotals({ ...place, cursor: done }, kind, rowsIn(kind, lines.take(batch)))
      reportDone(lines.taken)
    }
  }

  let [before, isBehind] = [0, reached === undefined]
  for (const { name, lines } of staged.staged) {
    const isReached = !isBehind && reached?.name === name
    isBehind ||= isReached
    const reportDone = (done: number) => {
      report(before + done, total)
      signal.throwIfAborted()
    }
    if (isBehind) await (name === "visits" ? writeVisits : writeTotals)(name, isReached ? reached!.lines : 0, reportDone)
    before += lines
  }
  const newVisitors = staged.stream ? imports.countVisitors(importId, run) : staged.visitors
  return { visits: cursor?.visits ?? 0, rows: cursor?.rows ?? 0, newVisitors }
}

/** The lines of a staged file. They are read and parsed as they are stored, because a batch of objects takes tens of megabytes. */
class StagedLines {
  /** Lines that were skipped or taken. */
  taken = 0
  readonly #lines: Generator<string>
  #next: IteratorResult<string>
  readonly #signal: AbortSignal

  constructor(path: string, signal: AbortSignal) {
    this.#lines = linesOf(path)
    this.#next = this.#lines.next()
    this.#signal = signal
  }

  get isAtEnd(): boolean {
    return this.#next.done === true
  }

  /** Leaves out lines. */
  async skip(count: number): Promise<void> {
    const pause = pauses()
    for (; this.taken < count && !this.isAtEnd; this.#advance()) await pause()
  }

  /** Yields up to a number of lines. Throws when the run is aborted. */
  *take(count: number): Generator<string> {
    for (let left = count; left > 0 && !this.#next.done; left--) {
      const line = this.#next.value
      this.#signal.throwIfAborted()
      this.#advance()
      yield line
      // Parsed lines pile up otherwise. Nothing waits for the collection, as for that of visits.
      if (this.taken % ROWS_PER_COLLECTION === 0) Bun.gc(false)
    }
  }

  #advance(): void {
    this.taken++
    this.#next = this.#lines.next()
  }
}

/** Returns a function that pauses when its caller has worked for a slice. */
function pauses(): () => Promise<void> | undefined {
  let [calls, sliceStart] = [0, performance.now()]
  return () => {
    if (++calls % LINES !== 0 || performance.now() - sliceStart < SLICE_MS) return undefined
    return Bun.sleep(0).then(() => {
      sliceStart = performance.now()
    })
  }
}

function* rowsIn(kind: ImportedKind, lines: Iterable<string>): Generator<ImportedRow> {
  for (const line of lines) yield totalsIn(kind, line)
}
