import type { RowsQuery } from "../../domain/query.ts"
import type { VisitPlace } from "../../domain/visit-list.ts"
import { firstAtLeast } from "../../store/events/bytes/ascending.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { orderedPart } from "../measure/ordered-part.ts"
import { type RowChoice, rowChoice } from "./choice.ts"

/**
 * The position of a long read of raw rows. It is a plain value, so that each batch is a separate query of the current data. Visits are
 * ordered by start and sequence, which sealing, merging, erasure and retention never change: no visit is read twice or skipped,
 * whichever columnar segments hold it by then.
 */
export interface RowsCursor {
  /** Start and sequence of the last visit that was read. */
  startedAt: number
  sequence: number
  /** Number of events of that visit that were read; 0 when it was read completely. */
  events: number
  /** Sequence of the newest visit when the read began. Later visits are not included. */
  newest: number
  /** Number of visits when the read began. */
  expected: number
  /** Number of visits that were read. */
  read: number
  /** Maximum number of rows in the next batch. */
  maxRows: number
}

/** A query of the visits that start in the range, or of the events in the range, in batches. */
export interface RowsBatchQuery extends RowsQuery {
  of: "visits" | "events"
  /** Maximum number of rows in a batch. */
  maxRows: number
}

/** A visit of a batch. */
export interface PickedVisit {
  part: Part
  visit: number
  startedAt: number
  sequence: number
  /** Range of its event rows that are in the batch, half-open. */
  from: number
  to: number
}

/** Less than every sequence. */
const NONE = -1

/** A batch from more parts than this is followed by a larger one, because every batch has to decode all the parts it takes rows from. */
const PARTS_PER_BATCH = 4
/** Maximum factor by which a batch is enlarged. */
const MAX_FACTOR = 16

/** Returns the visits after a cursor in order, or the first ones without a cursor. */
export function nextVisits(snapshot: Snapshot, query: RowsBatchQuery, cursor: RowsCursor | undefined, check: () => void) {
  const choice = rowChoice(snapshot, query)
  const parts = snapshot.parts.filter((part) => part.visits > 0 && choice.isIn(part)).map(orderedPart)
  const start = cursor ?? firstCursor(parts, choice, query, check)
  const found = earliest(parts, choice, start, check)
  const picks = query.of === "visits" ? found : cutToRows(found, start)
  const last = picks.at(-1)
  const isWhole = (pick: PickedVisit) => query.of === "visits" || pick.to >= endOfEvents(pick)
  const isAll = found.length < start.maxRows && picks.length === found.length && (!last || isWhole(last))
  if (isAll || !last) return { picks, choice, next: undefined, omitted: Math.max(0, start.expected - start.read - picks.length) }
  const read = start.read + picks.length - (isWhole(last) ? 0 : 1)
  const { size } = new Set(picks.map(({ part }) => part))
  const maxRows = query.maxRows * Math.min(MAX_FACTOR, Math.ceil(size / PARTS_PER_BATCH))
  const events = isWhole(last) ? 0 : last.to - firstEvent(last)
  return { picks, choice, next: { ...start, startedAt: last.startedAt, sequence: last.sequence, events, read, maxRows }, omitted: 0 }
}

/** Returns a cursor before the first visit, and counts the visits. */
function firstCursor(parts: readonly Part[], choice: RowChoice, { maxRows }: RowsBatchQuery, check: () => void): RowsCursor {
  const cursor = { startedAt: choice.startsFrom, sequence: -1, events: 0, newest: NONE, expected: 0, read: 0, maxRows }
  for (const part of parts) {
    check()
    const [starts, sequences, mask] = [part.starts(), part.sequences(), choice.visits(part)]
    for (let visit = 0; visit < part.visits; visit++) {
      if (starts[visit]! < choice.startsFrom || starts[visit]! >= choice.startsTo) continue
      if (mask !== "all" && mask[visit] === 0) continue
      cursor.expected++
      if (sequences[visit]! > cursor.newest) cursor.newest = sequences[visit]!
    }
  }
  return cursor
}

/** Returns the first chosen visits after a cursor, over all parts. */
function earliest(parts: readonly Part[], choice: RowChoice, cursor: RowsCursor, check: () => void): PickedVisit[] {
  let found: PickedVisit[] = []
  for (const part of parts.toSorted((a, b) => a.minStart - b.minStart)) {
    const last = found.length < cursor.maxRows ? undefined : found.at(-1)
    if (part.maxStart < cursor.startedAt || (last && part.minStart > last.startedAt)) continue
    check()
    const more = earliestOf(part, choice, cursor)
    if (more.length > 0) found = [...found, ...more].sort(byStart).slice(0, cursor.maxRows)
  }
  return found
}

const byStart = (a: PickedVisit, b: PickedVisit): number => a.startedAt - b.startedAt || a.sequence - b.sequence

function earliestOf(part: Part, choice: RowChoice, cursor: RowsCursor): PickedVisit[] {
  const [starts, sequences, mask] = [part.starts(), part.sequences(), choice.visits(part)]
  const order = visitOrder(starts, sequences)
  // A visit that was not read completely is returned again.
  const place = { start: cursor.startedAt, sequence: cursor.events > 0 ? cursor.sequence : cursor.sequence + 1 }
  const found: PickedVisit[] = []
  for (let at = firstVisitFrom(place, starts, sequences, order); at < part.visits && found.length < cursor.maxRows; at++) {
    const visit = order?.[at] ?? at
    if (starts[visit]! >= choice.startsTo) break
    if ((mask !== "all" && mask[visit] === 0) || sequences[visit]! > cursor.newest) continue
    found.push({ part, visit, startedAt: starts[visit]!, sequence: sequences[visit]!, from: 0, to: 0 })
  }
  return found
}

/** Returns the order of visits by start and sequence, or undefined when they are already in order, as in columnar segments. */
export function visitOrder(starts: Float64Array, sequences: Float64Array): Uint32Array | undefined {
  const compare = (a: number, b: number) => starts[a]! - starts[b]! || sequences[a]! - sequences[b]!
  for (let visit = 1; visit < starts.length; visit++) {
    if (compare(visit - 1, visit) > 0) return Uint32Array.from(starts.keys()).sort(compare)
  }
  return undefined
}

/** Returns the position of the first visit that is not before a place. */
export function firstVisitFrom(place: VisitPlace, starts: Float64Array, sequences: Float64Array, order: Uint32Array | undefined): number {
  let low = 0
  let high = starts.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const visit = order?.[middle] ?? middle
    const isBefore = starts[visit]! < place.start || (starts[visit] === place.start && sequences[visit]! < place.sequence)
    if (isBefore) low = middle + 1
    else high = middle
  }
  return low
}

/** Returns as many visits as fill a batch of events. The last one may be cut. */
function cutToRows(found: readonly PickedVisit[], cursor: RowsCursor): PickedVisit[] {
  const picks: PickedVisit[] = []
  let room = cursor.maxRows
  for (const pick of found) {
    if (room === 0) break
    const isResumed = pick.startedAt === cursor.startedAt && pick.sequence === cursor.sequence
    const from = firstEvent(pick) + (isResumed ? cursor.events : 0)
    const to = Math.min(endOfEvents(pick), from + room)
    picks.push({ ...pick, from, to })
    room -= Math.max(0, to - from)
  }
  return picks
}

const firstEvent = ({ part, visit }: PickedVisit): number => firstAtLeast(part.event("visit"), visit)
const endOfEvents = ({ part, visit }: PickedVisit): number => firstAtLeast(part.event("visit"), visit + 1)
