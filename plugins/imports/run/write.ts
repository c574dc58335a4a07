import { join } from "node:path"
import { type ImportCursor, type ImportedKind, type ImportedRow, type ImportedVisit, type ImportWriters, SEGMENT_EVENTS } from "#plugin"
import { linesOf } from "./files.ts"
import type { Staged } from "./task.ts"
import { totalsIn } from "./totals.ts"
import { eventsIn, visitIn, visitorOf } from "./visits.ts"

/**
 * Writes staged rows into segments, in batches with the position that was reached. After an interruption the next call continues there.
 * The store takes lines in short slices, so that events and queries are not held up.
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
/** Events or rows of totals after which garbage is collected. */
const WEIGHT_PER_COLLECTION = 25_000
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

  async function writeVisits(name: string, lines: StagedLines): Promise<void> {
    const before = lines.taken
    const visitors = staged.stream && { visitors: await imports.nameVisitors(place, await lines.visitorsAhead(batch.events)) }
    const visits = visitsIn(lines.take(batch.events, eventsIn), personOf)
    const done = () => advance(name, lines.taken, lines.taken - before, 0)
    await imports.addVisits({ ...place, firstOrdinal, ...visitors, cursor: done }, visits)
  }

  async function writeTotals(name: string, lines: StagedLines): Promise<void> {
    const before = lines.taken
    const kind = name as ImportedKind // its file has the name
    const rows = rowsIn(
      kind,
      lines.take(batch.totals, () => 1),
    )
    const done = () => advance(name, lines.taken, 0, lines.taken - before)
    await imports.addTotals({ ...place, cursor: done }, kind, rows)
  }

  let [done, isBehind] = [0, reached === undefined]
  for (const { name, lines } of staged.staged) {
    const isReached = !isBehind && reached?.name === name
    if (isBehind || isReached) {
      isBehind = true
      const content = new StagedLines(join(options.folder, name), signal)
      if (isReached) await content.skip(reached!.lines)
      while (!content.isAtEnd) {
        await (name === "visits" ? writeVisits(name, content) : writeTotals(name, content))
        report(done + content.taken, total)
        signal.throwIfAborted()
      }
    }
    done += lines
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
  readonly #path: string
  readonly #signal: AbortSignal
  /** Weight of the lines that were taken since garbage was collected. */
  #uncollected = 0
  /** Reads the same file, one batch ahead. */
  #ahead: StagedLines | undefined

  constructor(path: string, signal: AbortSignal) {
    this.#path = path
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

  /** Returns the visitors of the visits that `take` yields next. */
  async visitorsAhead(events: number): Promise<string[]> {
    this.#ahead ??= new StagedLines(this.#path, this.#signal)
    await this.#ahead.skip(this.taken)
    const [visitors, pause] = [new Set<string>(), pauses()]
    for (const line of this.#ahead.take(events, eventsIn)) {
      visitors.add(visitorOf(line))
      await pause()
    }
    return [...visitors]
  }

  /** Yields lines up to a weight. A heavier line is taken alone. Throws when the run is aborted. */
  *take(weight: number, weightOf: (line: string) => number): Generator<string> {
    let taken = 0
    while (!this.#next.done) {
      const line = this.#next.value
      const own = weightOf(line)
      if (taken > 0 && taken + own > weight) return
      this.#signal.throwIfAborted()
      taken += own
      this.#advance()
      yield line
      this.#collect(own)
    }
  }

  /**
   * Collects the garbage of parsed lines, because the engine itself would let that of several batches pile up. Does not wait for it: a
   * whole collection takes some ten milliseconds, in which no event would be acknowledged.
   */
  #collect(weight: number): void {
    this.#uncollected += weight
    if (this.#uncollected < WEIGHT_PER_COLLECTION) return
    this.#uncollected = 0
    Bun.gc(false)
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

type PersonOf = Awaited<ReturnType<ImportWriters["personKeys"]>>

function* visitsIn(lines: Iterable<string>, personOf: PersonOf | undefined): Generator<ImportedVisit> {
  for (const line of lines) {
    const { visitor, kind, userId, traits, events, day } = visitIn(line)
    const person = userId !== "" && personOf ? { person: personOf(userId) } : {}
    yield { visitor, visitorKind: kind, traits, events, day, ...person }
  }
}

function* rowsIn(kind: ImportedKind, lines: Iterable<string>): Generator<ImportedRow> {
  for (const line of lines) yield totalsIn(kind, line)
}
