import type { FunnelQuery } from "../../domain/query.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { compileFilter } from "../filter/filters.ts"
import { isInside } from "../parts/ranges.ts"
import { bitset } from "../parts/visitor-bits.ts"
import { type MarkedEvents, type StepMarker, stepMarker, stepsByValue } from "./marks.ts"
import { type AddTrail, FIRST_STEP, Trails } from "./trails.ts"
import { walkItems } from "./walk-items.ts"

export interface Followed {
  add: AddTrail
  /** Called instead of `add` for some visitors whose events match the first step only, if present. */
  enter?(visitors: number): void
  /** Clears the marks of events that do not count. Default: all count. */
  narrow?(part: Part, marked: MarkedEvents): void
}

export interface Walk {
  trails: Trails
  /** Reads parts. Visitors with one visit are passed on at once, the others by `trails.finish`. */
  read(parts: readonly Part[], check: () => void): void
}

/** `returning` has a bit for each visitor with several visits. */
export function openWalk(snapshot: Snapshot, query: FunnelQuery, { add, enter, narrow }: Followed, returning: Int32Array): Walk {
  const { range, identifiedOnly } = query
  const isStrict = query.order === "strict"
  const steps = stepsByValue(snapshot, query)
  const filter = query.filter && compileFilter(snapshot, query.filter, query.site)
  const marker = stepMarker(query, steps, filter)
  const mark: StepMarker = (part) => {
    const marked = marker(part)
    narrow?.(part, marked)
    return marked
  }
  const entered = bitset(snapshot.visitorLimit)
  const trails = new Trails({ returning, entered, isComplete: isStrict }, add)
  const byItem = enter && !narrow && !isStrict && !identifiedOnly ? walkItems(trails, { steps, returning, filter, enter }) : undefined
  return {
    trails,
    read(parts, check) {
      // With strict order every pageview is marked. They are only kept for visitors who take the first step, because there are too many.
      if (isStrict) markEntered(parts, mark, { returning, entered }, check)
      for (const part of parts) {
        check()
        const isWalked = byItem !== undefined && isInside(part, range, "event") && byItem(part)
        if (!isWalked) walkVisits(part, mark(part), trails)
      }
    },
  }
}

function markEntered(
  parts: readonly Part[],
  mark: StepMarker,
  { returning, entered }: Record<"returning" | "entered", Int32Array>,
  check: () => void,
): void {
  for (const part of parts) {
    check()
    const { rows, marks, count } = mark(part)
    const visit = part.event("visit")
    const visitor = part.visit("visitor")
    for (let i = 0; i < count; i++) {
      const id = visitor[visit[rows[i]!]!]!
      if ((marks[i]! & FIRST_STEP) !== 0) entered[id >>> 5]! |= returning[id >>> 5]! & (1 << (id & 31))
    }
  }
}

/** Writes the marked events into the trails, visit by visit, each in order of time. */
function walkVisits(part: Part, { rows, marks, count }: MarkedEvents, trails: Trails): void {
  if (count === 0) return
  const [visit, offset] = [part.event("visit"), part.event("offset")]
  const [starts, visitor] = [part.starts(), part.visit("visitor")]
  let end = trails.enter(part, count)
  const { at, marks: trailMarks } = trails
  for (let i = 0; i < count; ) {
    const begin = end
    const visitRow = visit[rows[i]!]!
    let union = 0
    for (; i < count && visit[rows[i]!] === visitRow; i++) {
      const mark = marks[i]!
      if (mark === 0) continue
      union |= mark
      at[end] = starts[visitRow]! + offset[rows[i]!]!
      trailMarks[end++] = mark
    }
    end = trails.needs(visitor[visitRow]!, union) ? trails.endVisit(visitor[visitRow]!, visitRow, end) : begin
  }
}
