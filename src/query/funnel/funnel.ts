import type { FunnelQuery, FunnelResult } from "../../domain/query.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { type Chains, followChains } from "./chain.ts"
import { type MarkedEvents, type StepMarker, stepMarker } from "./marks.ts"
import { type AddTrail, ENTERED, FIRST_STEP, ONE_VISIT, SEVERAL_VISITS, Trails } from "./trails.ts"

/**
 * Counts the visitors who take ordered steps, and the time they need between them (metrics.md section 12). `check` is called between
 * parts.
 */
export function funnel(snapshot: Snapshot, query: FunnelQuery, check: () => void): FunnelResult {
  const tally = createTally(followChains(chainRules(query)), query.steps.length)
  followVisitors(snapshot, query, { add: tally.add }, check)
  return tally.result()
}

export const chainRules = ({ steps, order, windowMs }: Pick<FunnelQuery, "steps" | "order" | "windowMs">) => ({
  steps: steps.length,
  strict: order === "strict",
  windowMs: windowMs ?? Infinity,
})

export interface Followed {
  add: AddTrail
  /** Clears the marks of events that do not count. Default: all count. */
  narrow?(part: Part, marked: MarkedEvents): void
}

/**
 * Passes on the events of each visitor that match a step of a funnel, for visitors who took the first one. The few such events are found
 * by dictionary number, part by part. A visitor with one visit is passed on at once, those with several once all parts are read.
 */
export function followVisitors(snapshot: Snapshot, query: FunnelQuery, { add, narrow }: Followed, check: () => void): void {
  const parts = snapshot.parts.filter((part) => part.events > 0 && part.maxAt >= query.range.from && part.minAt < query.range.to)
  const isStrict = query.order === "strict"
  const visitors = visitsByVisitor(parts, snapshot.visitorLimit, check)
  const marker = stepMarker(snapshot, query)
  const mark: StepMarker = (part) => {
    const marked = marker(part)
    narrow?.(part, marked)
    return marked
  }
  // With strict order every pageview is marked. They are only kept for visitors who take the first step, because there are too many.
  if (isStrict) markEntered(parts, mark, visitors, check)
  const trails = new Trails(visitors, isStrict, add)
  for (const part of parts) {
    check()
    walkVisits(part, mark(part), trails)
  }
  check()
  trails.finish()
}

function visitsByVisitor(parts: readonly Part[], visitorLimit: number, check: () => void): Uint8Array {
  const visits = new Uint8Array(visitorLimit)
  for (const part of parts) {
    check()
    countVisits(part.visit("visitor"), part.visits, visits)
  }
  return visits
}

function countVisits(visitor: Uint32Array, length: number, visits: Uint8Array): void {
  for (let row = 0; row < length; row++) {
    const id = visitor[row]!
    visits[id] = visits[id] === 0 ? ONE_VISIT : SEVERAL_VISITS
  }
}

function markEntered(parts: readonly Part[], mark: StepMarker, visitors: Uint8Array, check: () => void): void {
  for (const part of parts) {
    check()
    const { visits, marks, count } = mark(part)
    const visitor = part.visit("visitor")
    for (let i = 0; i < count; i++) {
      const id = visitor[visits[i]!]!
      if ((marks[i]! & FIRST_STEP) !== 0 && visitors[id] === SEVERAL_VISITS) visitors[id] = ENTERED
    }
  }
}

/** Writes the marked events into the trails, visit by visit, each in order of time. */
function walkVisits(part: Part, { rows, visits, marks, count }: MarkedEvents, trails: Trails): void {
  if (count === 0) return
  const [starts, visitor, offset] = [part.starts(), part.visit("visitor"), part.event("offset")]
  let end = trails.enter(part, count)
  const { at, marks: trailMarks } = trails
  let current = -1
  let union = 0
  for (let i = 0; i < count; i++) {
    const mark = marks[i]!
    if (mark === 0) continue
    const visitRow = visits[i]!
    if (visitRow !== current) {
      if (current >= 0) end = trails.endVisit(visitor[current]!, current, union, end)
      current = visitRow
      union = 0
    }
    union |= mark
    at[end] = starts[visitRow]! + offset[rows[i]!]!
    trailMarks[end++] = mark
  }
  if (current >= 0) trails.endVisit(visitor[current]!, current, union, end)
}

interface Tally {
  add: AddTrail
  result(): FunnelResult
}

function createTally(chains: Chains, steps: number): Tally {
  const furthest = new Array<number>(steps + 1).fill(0)
  /** By step, the times from the previous step in ms. */
  const gaps = Array.from({ length: steps }, (): number[] => [])
  return {
    add(at, marks, begin, end) {
      const reached = chains.furthest(at, marks, begin, end)
      furthest[reached]!++
      if (reached < 2) return
      const times = chains.earliest(at, marks, begin, end, reached)
      for (let step = 1; step < reached; step++) gaps[step]!.push(times[step]! - times[step - 1]!)
    },
    result: () => ({
      steps: gaps.map((times, step) => {
        const visitors = furthest.slice(step + 1).reduce((sum, count) => sum + count, 0)
        return times.length === 0 ? { visitors } : { visitors, medianSeconds: medianSeconds(times) }
      }),
    }),
  }
}

/** Returns the median in whole seconds, half rounded up. For an even number of times it is the mean of the middle two. */
function medianSeconds(times: readonly number[]): number {
  const sorted = Float64Array.from(times).sort()
  const middle = sorted.length / 2
  const [low, high] = [sorted[Math.ceil(middle) - 1]!, sorted[Math.floor(middle)]!]
  return Math.round((low + high) / 2000)
}
