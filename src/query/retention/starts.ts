import type { Filter } from "../../domain/filter.ts"
import type { RetentionQuery } from "../../domain/people.ts"
import type { Part, PeopleStates, Snapshot } from "../../store/events/part.ts"
import { NumberBuffer } from "../filter/buffers.ts"
import { type CompiledFilter, compileFilter, type Mask } from "../filter/filters.ts"
import { differs } from "../filter/masks.ts"
import { orderedPart } from "../measure/ordered-part.ts"
import { listMarked } from "../measure/row-lists.ts"
import { IN } from "../people/slice.ts"
import { ROTATING } from "../people/visits.ts"

/** Who can be counted. */
export interface People {
  /** Exclusive upper bound of the ordinals. */
  limit: number
  /** States in the set of people that count. Absent when everyone counts. */
  states: PeopleStates | undefined
  /** Whether only visits of people with a user id or device id exist. */
  identifiedOnly: boolean
}

/** Returns the filter of start events. */
export function startFilter({ start, filter }: Pick<RetentionQuery, "start" | "filter">): Filter | undefined {
  return start && filter ? { op: "and", filters: [start, filter] } : (start ?? filter)
}

/** Returns the visits of a mask that exist for the report. */
export function countedVisits(part: Part, mask: Mask, { identifiedOnly }: People): Mask {
  if (!identifiedOnly || part.visit("visitor_kind").indexOf(ROTATING) === -1) return mask
  const counted = new Uint8Array(part.visits)
  fillIdentified(counted, part.visit("visitor_kind"))
  if (mask !== "all") for (let visit = 0; visit < counted.length; visit++) counted[visit] = counted[visit]! & mask[visit]!
  return counted
}

function fillIdentified(mask: Uint8Array, kind: Uint32Array): void {
  for (let visit = 0; visit < mask.length; visit++) mask[visit] = differs(kind[visit]!, ROTATING)
}

/** Keeps the events of visits that exist for the report. Returns the length of the list. */
export function keepCounted(rows: Uint32Array, count: number, part: Part, { identifiedOnly }: People): number {
  if (!identifiedOnly) return count
  const [visit, kind] = [part.event("visit"), part.visit("visitor_kind")]
  let kept = 0
  for (let i = 0; i < count; i++) {
    rows[kept] = rows[i]!
    kept += differs(kind[visit[rows[i]!]!]!, ROTATING)
  }
  return kept
}

/** States of a person: without a start that matters, with one, and with one too early, so that no cohort contains the person. */
export const STARTS = 1
const TOO_EARLY = 2

/**
 * Returns the people who may start in a cohort, by ordinal: STARTS for those with a start after the first edge and, if only the first
 * start counts, none before it.
 */
export function startingPeople(snapshot: Snapshot, query: RetentionQuery, people: People, check: () => void): Uint8Array {
  const states = new Uint8Array(snapshot.visitorLimit)
  const filters = [startFilter(query), ...(query.firstEver ? [query.start] : [])]
  const starts = filters.map((filter) => compileFilter(snapshot, filter, query.site))
  const [first, end] = [query.edges[0]!, Math.min(query.edges[query.cohorts]!, query.scope.now + 1)]
  const rows = new NumberBuffer()
  for (const part of snapshot.parts) {
    const isBefore = part.maxAt < first
    if (part.events === 0 || part.minAt >= end || (isBefore && query.mode === "recurring")) continue
    check()
    const ordered = orderedPart(part)
    for (const filter of starts) {
      if (isBefore || part.minAt >= first) markVisits(ordered, filter, people, isBefore ? TOO_EARLY : STARTS, states)
      else markEvents(ordered, filter, people, first, query.mode === "recurring" ? 0 : TOO_EARLY, states, rows)
    }
  }
  if (people.states) keepMembers(states, people.states)
  return states
}

function keepMembers(states: Uint8Array, members: PeopleStates): void {
  for (let person = 0; person < states.length; person++) if (members[person] !== IN) states[person] = 0
}

function markVisits(part: Part, filter: CompiledFilter, people: People, state: number, states: Uint8Array): void {
  const mask = countedVisits(part, filter.visits(part), people)
  const visitor = part.visit("visitor")
  for (let visit = 0; visit < part.visits; visit++) if (mask === "all" || mask[visit] === 1) states[visitor[visit]!]! |= state
}

function markEvents(
  part: Part,
  filter: CompiledFilter,
  people: People,
  first: number,
  early: number,
  states: Uint8Array,
  buffer: NumberBuffer,
): void {
  const rows = buffer.room(part.events)
  const count = keepCounted(rows, listMarked(filter.events(part), 1, rows), part, people)
  const [visit, offset, visitor, starts] = [part.event("visit"), part.event("offset"), part.visit("visitor"), part.starts()]
  for (let i = 0; i < count; i++) {
    const row = rows[i]!
    const at = starts[visit[row]!]! + offset[row]!
    states[visitor[visit[row]!]!]! |= at < first ? early : STARTS
  }
}
