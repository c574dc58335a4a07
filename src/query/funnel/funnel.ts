import type { FunnelQuery, FunnelResult } from "../../domain/query.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { grownSums } from "../filter/buffers.ts"
import { compileFilter } from "../filter/filters.ts"
import { isInside } from "../parts/ranges.ts"
import { bitset, returningVisitors } from "../parts/visitor-bits.ts"
import { type Chains, followChains } from "./chain.ts"
import { type MarkedEvents, type StepMarker, stepMarker, stepsByValue } from "./marks.ts"
import { type AddTrail, FIRST_STEP, Trails } from "./trails.ts"
import { walkItems } from "./walk-items.ts"

/**
 * Counts the visitors who take ordered steps, and the time they need between them (metrics.md section 12). `check` is called between
 * parts.
 */
export function funnel(snapshot: Snapshot, query: FunnelQuery, check: () => void): FunnelResult {
  const tally = createTally(followChains(chainRules(query)), query.steps.length)
  followVisitors(snapshot, query, tally, check)
  return tally.result()
}

export const chainRules = ({ steps, order, windowMs }: Pick<FunnelQuery, "steps" | "order" | "windowMs">) => ({
  steps: steps.length,
  strict: order === "strict",
  windowMs: windowMs ?? Infinity,
})

export interface Followed {
  add: AddTrail
  /** Called instead of `add` for some visitors whose events match the first step only, if present. */
  enter?(visitors: number): void
  /** Clears the marks of events that do not count. Default: all count. */
  narrow?(part: Part, marked: MarkedEvents): void
}

/**
 * Passes on the events of each visitor that match a step of a funnel, for visitors who took the first one. The few such events are found
 * by dictionary number, part by part. A visitor with one visit is passed on at once, those with several once all parts are read.
 */
export function followVisitors(snapshot: Snapshot, query: FunnelQuery, { add, enter, narrow }: Followed, check: () => void): void {
  const { range, identifiedOnly } = query
  const parts = snapshot.parts.filter((part) => part.events > 0 && part.maxAt >= range.from && part.minAt < range.to)
  const isStrict = query.order === "strict"
  const returning = returningVisitors(snapshot, parts)
  const steps = stepsByValue(snapshot, query)
  const filter = query.filter && compileFilter(snapshot, query.filter, query.site)
  const marker = stepMarker(query, steps, filter)
  const mark: StepMarker = (part) => {
    const marked = marker(part)
    narrow?.(part, marked)
    return marked
  }
  // With strict order every pageview is marked. They are only kept for visitors who take the first step, because there are too many.
  const entered = bitset(snapshot.visitorLimit)
  if (isStrict) markEntered(parts, mark, { returning, entered }, check)
  const trails = new Trails({ returning, entered, isComplete: isStrict }, add)
  const byItem = enter && !narrow && !isStrict && !identifiedOnly ? walkItems(trails, { steps, returning, filter, enter }) : undefined
  for (const part of parts) {
    check()
    const isWalked = byItem !== undefined && isInside(part, range, "event") && byItem(part)
    if (!isWalked) walkVisits(part, mark(part), trails)
  }
  check()
  trails.finish()
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

interface Tally extends Followed {
  result(): FunnelResult
}

function createTally(chains: Chains, steps: number): Tally {
  const furthest = new Array<number>(steps + 1).fill(0)
  /** By step, the times from the previous step in ms, of which the first `counts` are used. */
  const gaps = Array.from({ length: steps }, (): Float64Array => new Float64Array(0))
  const counts = new Uint32Array(steps)
  return {
    enter(visitors) {
      furthest[1]! += visitors
    },
    add(at, marks, begin, end) {
      const reached = chains.furthest(at, marks, begin, end)
      furthest[reached]!++
      if (reached < 2) return
      const times = chains.earliest(at, marks, begin, end, reached)
      for (let step = 1; step < reached; step++) {
        const count = counts[step]!++
        if (count === gaps[step]!.length) gaps[step] = grownSums(gaps[step]!, count + 1)
        gaps[step]![count] = times[step]! - times[step - 1]!
      }
    },
    result: () => ({
      steps: gaps.map((times, step) => {
        const visitors = furthest.slice(step + 1).reduce((sum, count) => sum + count, 0)
        return counts[step] === 0 ? { visitors } : { visitors, medianSeconds: medianSeconds(times.subarray(0, counts[step])) }
      }),
    }),
  }
}

/** Returns the median in whole seconds, half rounded up. For an even number of times it is the mean of the middle two. Reorders the times. */
function medianSeconds(times: Float64Array): number {
  const middle = times.length >>> 1
  const high = nthSmallest(times, middle)
  const low = times.length % 2 === 1 ? high : times.subarray(0, middle).reduce((largest, time) => Math.max(largest, time), 0)
  return Math.round((low + high) / 2000)
}

/** Returns the number that would be at a place if all were sorted. Moves the smaller ones before it and the larger ones behind it. */
function nthSmallest(values: Float64Array, place: number): number {
  let low = 0
  let high = values.length - 1
  while (low < high) {
    const pivot = values[(low + high) >>> 1]!
    let left = low
    let right = high
    while (left <= right) {
      while (values[left]! < pivot) left++
      while (values[right]! > pivot) right--
      if (left > right) break
      const value = values[left]!
      values[left++] = values[right]!
      values[right--] = value
    }
    if (place <= right) high = right
    else if (place >= left) low = left
    else break
  }
  return values[place]!
}
