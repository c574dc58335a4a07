import { VITALS } from "../../domain/dimension.ts"
import type { Range, RowsQuery, VisitsWeight } from "../../domain/query.ts"
import { lastArrivals, type Part, type Snapshot } from "../../store/events/part.ts"
import { compileFilter, type Mask } from "../filter/filters.ts"
import { differs, fillByEvents, keepBoth } from "../filter/masks.ts"

/** The visits and events that are rows. */
export interface RowChoice {
  /** Bounds of the start of a visit, half-open. */
  startsFrom: number
  startsTo: number
  /** Returns false when the part can contain no row. */
  isIn(part: Part): boolean
  /** Returns the visits with a row. The caller checks their start. */
  visits(part: Part): Mask
  /** Returns the events that are rows. */
  events(part: Part): Uint8Array
}

/** Creates the choice of a query. Masks remain valid until another part is read. */
export function rowChoice(snapshot: Snapshot, query: RowsQuery & { of: "visits" | "events" }): RowChoice {
  const choice = query.of === "visits" ? visitChoice(snapshot, query) : eventChoice(snapshot, query)
  return query.arrived ? arrivedIn(choice, query.arrived) : choice
}

/** Limits a choice to native visits whose last event arrived in a range. */
function arrivedIn(choice: RowChoice, { from, to }: Range): RowChoice {
  return {
    ...choice,
    isIn: (part) => part.importId === 0 && part.lastArrival >= from && choice.isIn(part),
    visits(part) {
      const mask = Uint8Array.from(lastArrivals(part.starts(), part.visit("arrival")), (at) => (at >= from && at < to ? 1 : 0))
      const visits = choice.visits(part)
      if (visits !== "all") keepBoth(mask, visits)
      return mask
    },
  }
}

/** Chooses V of metrics.md 5.1: visits that start in the range and have an event, at any time, that satisfies the filter. */
function visitChoice(snapshot: Snapshot, { filter, site, range }: RowsQuery): RowChoice {
  const compiled = compileFilter(snapshot, filter, site)
  return {
    startsFrom: range.from,
    startsTo: range.to,
    isIn: (part) => part.maxStart >= range.from && part.minStart < range.to,
    visits: compiled.visits,
    events: compiled.events,
  }
}

/** Chooses E of metrics.md 5.1, and the engagement reports that satisfy the filter. */
function eventChoice(snapshot: Snapshot, { filter, site, range }: RowsQuery): RowChoice {
  const compiled = compileFilter(snapshot, filter, site)
  const events = (part: Part): Uint8Array => {
    const mask = new Uint8Array(part.events)
    fillInRange(mask, { name: part.event("name"), visit: part.event("visit"), offset: part.event("offset"), starts: part.starts() }, range)
    const rows = compiled.rows(part)
    if (rows !== "all") keepBoth(mask, rows)
    return mask
  }
  return {
    startsFrom: Number.NEGATIVE_INFINITY,
    startsTo: range.to,
    isIn: (part) => part.maxAt >= range.from && part.minAt < range.to,
    visits(part) {
      const mask = new Uint8Array(part.visits)
      fillByEvents(mask, part.event("visit"), events(part))
      return mask
    },
    events,
  }
}

interface EventTimes {
  name: Uint32Array
  visit: Uint32Array
  offset: Uint32Array
  starts: Float64Array
}

/** Marks the events in the range except web vitals. */
function fillInRange(mask: Uint8Array, { name, visit, offset, starts }: EventTimes, { from, to }: Range): void {
  for (let row = 0; row < mask.length; row++) {
    const at = starts[visit[row]!]! + offset[row]!
    mask[row] = at >= from && at < to ? differs(name[row]!, VITALS) : 0
  }
}

/**
 * Queries for the erasure of visits: those that start in the range and have an event, at any time, that satisfies the filter. They are
 * erased with all of their events.
 */

/** Counts the chosen visits, and their pageviews and custom events. */
export function visitsWeight(snapshot: Snapshot, query: RowsQuery, check: () => void): VisitsWeight {
  const weight = { visits: 0, events: 0 }
  forEachChosen(snapshot, query, check, (part, visit) => {
    weight.visits++
    weight.events += part.visit("events")[visit]!
  })
  return weight
}

/** The chosen visits, one per index, in no order. */
export interface ChosenVisits {
  /** Sequences of the first events. They identify the visits in whatever parts hold them by the time of the erasure. */
  sequences: Float64Array
  starts: Float64Array
  /** Numbers of the visitors. */
  visitors: Float64Array
}

export function chosenVisits(snapshot: Snapshot, query: RowsQuery, check: () => void): ChosenVisits {
  const [sequences, starts, visitors]: [number[], number[], number[]] = [[], [], []]
  forEachChosen(snapshot, query, check, (part, visit) => {
    sequences.push(part.sequences()[visit]!)
    starts.push(part.starts()[visit]!)
    visitors.push(snapshot.visitors.number(part.visit("visitor")[visit]!))
  })
  return { sequences: Float64Array.from(sequences), starts: Float64Array.from(starts), visitors: Float64Array.from(visitors) }
}

function forEachChosen(snapshot: Snapshot, query: RowsQuery, check: () => void, take: (part: Part, visit: number) => void): void {
  const choice = rowChoice(snapshot, { ...query, of: "visits" })
  for (const part of snapshot.parts) {
    if (part.visits === 0 || !choice.isIn(part)) continue
    check()
    const [starts, mask] = [part.starts(), choice.visits(part)]
    for (let visit = 0; visit < part.visits; visit++) {
      if (starts[visit]! < choice.startsFrom || starts[visit]! >= choice.startsTo) continue
      if (mask === "all" || mask[visit] === 1) take(part, visit)
    }
  }
}
