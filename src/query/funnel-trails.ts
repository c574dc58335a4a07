import { KeptVisits, Trail } from "./trail.ts"

/** Takes the marked events of visits in any order and gives those of each visitor, in order of time, to `add`. */
export interface Trails {
  /** `sequence` of the visit's first event: it orders visits at equal times. */
  beginVisit(visitor: number, sequence: number): void
  event(at: number, mark: number): void
  endVisit(): void
  /** After the last visit: visitors with several visits. */
  finish(): void
}

const FIRST_STEP = 1
/** In `visits`: several, one of which has an event of the first step. */
const ENTERED = 3

/**
 * `visits` says of each visitor whether there is one visit or several, and is written to. Events before the first step and
 * visitors without one are dropped early: most are.
 */
export function createTrails(visits: Uint8Array, add: (at: Float64Array, marks: Uint32Array, count: number) => void): Trails {
  const kept = new KeptVisits()
  const trail = new Trail()
  let [visitor, sequence, several] = [0, 0, false]
  return {
    beginVisit(nextVisitor, nextSequence) {
      visitor = nextVisitor
      sequence = nextSequence
      several = visits[visitor] !== 1
      trail.clear()
    },
    event(at, mark) {
      if (trail.count > 0 || several || (mark & FIRST_STEP) !== 0) trail.push(at, mark)
    },
    endVisit() {
      if (trail.count === 0) return
      if (!several) return add(trail.at, trail.marks, trail.count)
      if ((trail.union & FIRST_STEP) !== 0) visits[visitor] = ENTERED
      kept.keep(visitor, sequence, trail)
    },
    finish() {
      for (const list of kept.byVisitor(visits, ENTERED)) {
        kept.load(list, trail)
        add(trail.at, trail.marks, trail.count)
      }
    },
  }
}
