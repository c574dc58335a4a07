import { type ImportedKind, type VisibleImport, WHOLE_DAY } from "../../domain/imported.ts"
import type { Range } from "../../domain/query.ts"
import type { Snapshot } from "../../store/events/part.ts"
import type { TotalsPart } from "../../store/events/totals.ts"

/** The rows of a segment that lie on effective days of its import and in a range. */
export interface RowsInRange {
  part: TotalsPart
  rows: Uint32Array
}

/** The rows of one import in a range, by table. A day counts in full if the range has a part of it. */
export interface ImportRows {
  readonly one: VisibleImport
  of(kind: ImportedKind): readonly RowsInRange[]
  has(kind: ImportedKind): boolean
  /** Returns whether a test holds for any row of a table. */
  some(kind: ImportedKind, test: (part: TotalsPart, row: number) => boolean): boolean
}

export function importRows(snapshot: Snapshot, one: VisibleImport, range: Range): ImportRows {
  const times = new LocalTimes(one.timezone)
  const known = new Map<ImportedKind, readonly RowsInRange[]>()
  const read = (kind: ImportedKind): readonly RowsInRange[] =>
    snapshot
      .totals(kind)
      .filter(({ importId }) => importId === one.id)
      .map((part) => ({ part, rows: rowsIn(part, one, range, times) }))
      .filter(({ rows }) => rows.length > 0)
  const of = (kind: ImportedKind): readonly RowsInRange[] => {
    const found = known.get(kind) ?? read(kind)
    known.set(kind, found)
    return found
  }
  return {
    one,
    of,
    has: (kind) => of(kind).length > 0,
    some: (kind, test) => of(kind).some(({ part, rows }) => rows.some((row) => test(part, row))),
  }
}

function rowsIn(part: TotalsPart, one: VisibleImport, range: Range, times: LocalTimes): Uint32Array {
  const isChosen = chosenDays(part, one, { first: times.dayOf(range.from), last: times.dayOf(range.to - 1) })
  if (!isChosen) return new Uint32Array(0)
  const [days, hours] = [part.days(), part.hours()]
  const rows = new Uint32Array(part.rows)
  let count = 0
  for (let row = 0; row < part.rows; row++) {
    if (isChosen[days[row]! - part.firstDay] === 0) continue
    if (hours[row] !== WHOLE_DAY && !isIn(times.start(days[row]!, hours[row]!), range)) continue
    rows[count++] = row
  }
  return rows.subarray(0, count)
}

const isIn = (at: number, { from, to }: Range): boolean => at >= from && at < to

/** Returns 1 for each day of a part, from its first one on, that is effective and between two days. Undefined without such a day. */
function chosenDays(part: TotalsPart, { days }: VisibleImport, { first, last }: { first: number; last: number }): Uint8Array | undefined {
  const chosen = new Uint8Array(part.lastDay - part.firstDay + 1)
  let found = false
  for (const span of days) {
    const from = Math.max(part.firstDay, span.first, first)
    const to = Math.min(part.lastDay, span.last, last)
    if (from > to) continue
    chosen.fill(1, from - part.firstDay, to - part.firstDay + 1)
    found = true
  }
  return found ? chosen : undefined
}

/** Local days of a zone, as numbers since 1970, and the instants at which they and their hours start. */
export class LocalTimes {
  readonly #starts = new Map<number, number>()

  constructor(readonly timezone: string) {}

  dayOf(at: number): number {
    return EPOCH.until(Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(this.timezone).toPlainDate()).days
  }

  /** Returns whether an instant is the start of a local day. */
  isWhole(at: number): boolean {
    return this.start(this.dayOf(at), WHOLE_DAY) === at
  }

  /** Returns the start of a local hour, or of the day. Of an hour that a clock change repeats, that of the first run. */
  start(day: number, hour: number): number {
    const key = day * 256 + hour
    const known = this.#starts.get(key)
    if (known !== undefined) return known
    const date = EPOCH.add({ days: day })
    const zoned = hour === WHOLE_DAY ? date.toZonedDateTime(this.timezone) : date.toPlainDateTime({ hour }).toZonedDateTime(this.timezone)
    this.#starts.set(key, zoned.epochMilliseconds)
    return zoned.epochMilliseconds
  }
}

const EPOCH = Temporal.PlainDate.from("1970-01-01")
