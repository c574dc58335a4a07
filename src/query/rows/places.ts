import type { RowsQuery } from "../../domain/query.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { orderedPart } from "../measure/ordered-part.ts"
import { firstAtLeast } from "../measure/row-lists.ts"
import { type RowChoice, rowChoice } from "./choice.ts"

/**
 * Where a long reading of raw rows stands: a plain value, so that each batch is a question of its own, asked of what is
 * stored by then. Visits come by their start and sequence, which sealing, merging, erasing and retention leave as they are;
 * whichever columnar segments hold them by then, none comes twice and none is passed over.
 */
export interface RowsPlace {
  /** Of the last visit that was read. */
  startedAt: number
  sequence: number
  /** Events of that visit that were read; 0 when the visit is done with. */
  events: number
  /** Sequence of the youngest visit at the beginning: what comes later is not part of it. */
  newest: number
  /** Visits at the beginning, and those of them that were read. */
  expected: number
  read: number
  /** Rows that the next batch has. */
  most: number
}

/** Visits that start in the range, or events that lie in it; `most` rows in a batch. */
export interface RowsWanted extends RowsQuery {
  of: "visits" | "events"
  most: number
}

/** A visit of a batch. */
export interface Pick {
  part: Part
  visit: number
  startedAt: number
  sequence: number
  /** Its event rows that are in the batch, by their numbers in the part. */
  from: number
  to: number
}

/** Below every sequence. */
const NONE = -1

/** Parts may touch in time, and a batch out of many of them decodes them all: it is then larger. */
const PARTS_OF_BATCH = 4
const LARGEST = 16

/** The visits that follow a place (the first ones without one), in their order. */
export function nextVisits(snapshot: Snapshot, wanted: RowsWanted, place: RowsPlace | undefined, check: () => void) {
  const choice = rowChoice(snapshot, wanted)
  const parts = snapshot.parts.filter((part) => part.visits > 0 && choice.isIn(part)).map(orderedPart)
  const start = place ?? beginning(parts, choice, wanted, check)
  const found = earliest(parts, choice, start, check)
  const picks = wanted.of === "visits" ? found : cutToRows(found, start)
  const last = picks.at(-1)
  const isWhole = (pick: Pick) => wanted.of === "visits" || pick.to >= endOfEvents(pick)
  const isAll = found.length < start.most && picks.length === found.length && (!last || isWhole(last))
  if (isAll || !last) return { picks, choice, next: undefined, omitted: Math.max(0, start.expected - start.read - picks.length) }
  const read = start.read + picks.length - (isWhole(last) ? 0 : 1)
  const { size } = new Set(picks.map(({ part }) => part))
  const most = wanted.most * Math.min(LARGEST, Math.ceil(size / PARTS_OF_BATCH))
  const events = isWhole(last) ? 0 : last.to - firstEvent(last)
  return { picks, choice, next: { ...start, startedAt: last.startedAt, sequence: last.sequence, events, read, most }, omitted: 0 }
}

/** Before the first visit; counts what there is. */
function beginning(parts: readonly Part[], choice: RowChoice, { most }: RowsWanted, check: () => void): RowsPlace {
  const place = { startedAt: choice.startsFrom, sequence: -1, events: 0, newest: NONE, expected: 0, read: 0, most }
  for (const part of parts) {
    check()
    const [starts, sequences, mask] = [part.starts(), part.sequences(), choice.visits(part)]
    for (let visit = 0; visit < part.visits; visit++) {
      if (starts[visit]! < choice.startsFrom || starts[visit]! >= choice.startsTo) continue
      if (mask !== "all" && mask[visit] === 0) continue
      place.expected++
      if (sequences[visit]! > place.newest) place.newest = sequences[visit]!
    }
  }
  return place
}

/** The first chosen visits after a place, out of all parts. */
function earliest(parts: readonly Part[], choice: RowChoice, place: RowsPlace, check: () => void): Pick[] {
  let found: Pick[] = []
  for (const part of parts.toSorted((a, b) => a.minStart - b.minStart)) {
    const last = found.length < place.most ? undefined : found.at(-1)
    if (part.maxStart < place.startedAt || (last && part.minStart > last.startedAt)) continue
    check()
    const more = earliestOf(part, choice, place)
    if (more.length > 0) found = [...found, ...more].sort(byStart).slice(0, place.most)
  }
  return found
}

const byStart = (a: Pick, b: Pick): number => a.startedAt - b.startedAt || a.sequence - b.sequence

function earliestOf(part: Part, choice: RowChoice, place: RowsPlace): Pick[] {
  const [starts, sequences, mask] = [part.starts(), part.sequences(), choice.visits(part)]
  const order = visitOrder(starts, sequences)
  const found: Pick[] = []
  for (let at = firstAfter(place, starts, sequences, order); at < part.visits && found.length < place.most; at++) {
    const visit = order?.[at] ?? at
    if (starts[visit]! >= choice.startsTo) break
    if ((mask !== "all" && mask[visit] === 0) || sequences[visit]! > place.newest) continue
    found.push({ part, visit, startedAt: starts[visit]!, sequence: sequences[visit]!, from: 0, to: 0 })
  }
  return found
}

/** Visits by start, then sequence; undefined when they lie so, as in columnar segments. */
function visitOrder(starts: Float64Array, sequences: Float64Array): Uint32Array | undefined {
  const compare = (a: number, b: number) => starts[a]! - starts[b]! || sequences[a]! - sequences[b]!
  for (let visit = 1; visit < starts.length; visit++) {
    if (compare(visit - 1, visit) > 0) return Uint32Array.from(starts.keys()).sort(compare)
  }
  return undefined
}

function firstAfter(place: RowsPlace, starts: Float64Array, sequences: Float64Array, order: Uint32Array | undefined): number {
  // A visit that was not read to its end comes once more.
  const sequence = place.events > 0 ? place.sequence : place.sequence + 1
  let low = 0
  let high = starts.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const visit = order?.[middle] ?? middle
    const isBefore = starts[visit]! < place.startedAt || (starts[visit] === place.startedAt && sequences[visit]! < sequence)
    if (isBefore) low = middle + 1
    else high = middle
  }
  return low
}

/** As many visits as make a batch of events; the last one may be cut. */
function cutToRows(found: readonly Pick[], place: RowsPlace): Pick[] {
  const picks: Pick[] = []
  let room = place.most
  for (const pick of found) {
    if (room === 0) break
    const isResumed = pick.startedAt === place.startedAt && pick.sequence === place.sequence
    const from = firstEvent(pick) + (isResumed ? place.events : 0)
    const to = Math.min(endOfEvents(pick), from + room)
    picks.push({ ...pick, from, to })
    room -= Math.max(0, to - from)
  }
  return picks
}

const firstEvent = ({ part, visit }: Pick): number => firstAtLeast(part.event("visit"), visit)
const endOfEvents = ({ part, visit }: Pick): number => firstAtLeast(part.event("visit"), visit + 1)
