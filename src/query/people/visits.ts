import type { Filter } from "../../domain/filter.ts"
import type { ActivePeopleQuery } from "../../domain/people.ts"
import type { Range } from "../../domain/query.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { NumberBuffer } from "../filter/buffers.ts"
import { compileFilter } from "../filter/filters.ts"
import { orderedPart } from "../measure/ordered-part.ts"
import { keepMarked, keepStarts, listAll } from "../measure/row-lists.ts"

/** Rows of visits, ascending. Valid until the next list of the same kind is requested. */
export interface VisitRows {
  rows: Uint32Array
  count: number
}

/** The visits of people, from which all reports on people are computed. */
export interface PeopleVisits {
  /** Exclusive upper bound of the ordinals. */
  readonly limit: number
  /** The parts with visits. */
  readonly parts: readonly Part[]
  /** Lists the visits of people that start in a range. */
  known(part: Part, range: Range): VisitRows
  /** Lists those of them that make a person active: they satisfy the filter, and the person belongs to the set. */
  active(part: Part, range: Range): VisitRows
  /** Reduces a list of visits of people to those that make a person active, in place. */
  keepActive(part: Part, visits: VisitRows): void
}

export const ALWAYS: Range = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }

/** Number of visitors from which the arrays of the previous query are collected before new ones are created: both would not fit. */
const MANY_VISITORS = 2 ** 21

export function peopleVisits(snapshot: Snapshot, { site, scope, filter, among }: ActivePeopleQuery): PeopleVisits {
  if (snapshot.visitorLimit >= MANY_VISITORS) Bun.gc(true)
  const filters: Filter[] = [...(filter ? [filter] : []), ...(among ? [{ op: "people" as const, set: among }] : [])]
  const compiled = filters.length > 0 ? compileFilter(snapshot, { op: "and", filters }, site) : undefined
  const parts = snapshot.parts.filter(({ visits }) => visits > 0)
  const buffer = new NumberBuffer()
  const known = (part: Part, range: Range): VisitRows => {
    const rows = buffer.room(part.visits)
    let count = listAll(part.visits, rows)
    if (!isInside(part, range)) count = keepStarts(rows, count, part.starts(), range)
    if (scope.identifiedOnly) count = keepIdentified(rows, count, part.visit("visitor_kind"))
    return { rows, count }
  }
  const keepActive = (part: Part, visits: VisitRows): void => {
    const mask = compiled && visits.count > 0 ? compiled.visits(part) : "all"
    if (mask !== "all") visits.count = keepMarked(visits.rows, visits.count, mask, visits.rows)
  }
  return {
    limit: snapshot.visitorLimit,
    // Only conditions on events need the events in order.
    parts: compiled?.hasEventConditions() ? parts.map(orderedPart) : parts,
    known,
    active(part, range) {
      const visits = known(part, range)
      keepActive(part, visits)
      return visits
    },
    keepActive,
  }
}

/** Calls `read` with the active visits of each part that start in the range. */
export function readActive(visits: PeopleVisits, range: Range, check: () => void, read: (part: Part, active: VisitRows) => void): void {
  for (const part of visits.parts) {
    if (!touches(part, range)) continue
    check()
    read(part, visits.active(part, range))
  }
}

/** Calls `read` with all visits of people, at any time. */
export function readKnown(visits: PeopleVisits, check: () => void, read: (part: Part, known: VisitRows) => void): void {
  for (const part of visits.parts) {
    check()
    read(part, visits.known(part, ALWAYS))
  }
}

const isInside = ({ minStart, maxStart }: Part, { from, to }: Range): boolean => minStart >= from && maxStart < to

/** Returns whether visits of a part can start in a range. */
export const touches = ({ minStart, maxStart }: Part, { from, to }: Range): boolean => maxStart >= from && minStart < to

/** Keeps the visits whose visitor has a user id or device id. */
export function keepIdentified(rows: Uint32Array, count: number, kind: Uint32Array): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i]!
    if (kind[row] !== ROTATING) rows[kept++] = row
  }
  return kept
}

/** Numbers of the kinds of visitors in `visitor_kind`, by their place in VISITOR_KINDS. */
export const ROTATING = 0
export const DEVICE = 1
