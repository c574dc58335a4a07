import type { FunnelQuery, FunnelResult } from "../../domain/query.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { grownSums } from "../filter/buffers.ts"
import { namesPeople } from "../filter/filter-variants.ts"
import { divideByMonth } from "../parts/months.ts"
import { cutToRange, touches } from "../parts/ranges.ts"
import { returningVisitors } from "../parts/visitor-bits.ts"
import { type Chains, followChains } from "./chain.ts"
import { addMonths, type StepSums } from "./month-steps.ts"
import { type Followed, openWalk } from "./walk.ts"

/**
 * Counts the visitors who take ordered steps, and the time they need between them (metrics.md section 12). `check` is called between
 * parts.
 */
export function funnel(snapshot: Snapshot, query: FunnelQuery, check: () => void): FunnelResult {
  const open = () => createTally(followChains(chainRules(query)), query.steps.length)
  const tally = open()
  const parts = partsOf(snapshot, query)
  const canBeKept = !(query.filter && namesPeople(query.filter))
  // Parts that the filter excludes can still have later steps.
  const divided = canBeKept ? divideByMonth(snapshot, parts, { range: query.range, lacks: () => false }) : undefined
  if (divided) {
    const walk = openWalk(snapshot, query, tally, divided.returning)
    addMonths(snapshot, query, { tally, open, trails: walk.trails, months: divided.months, check })
    walk.read(cutToRange(divided.others, query.range), check)
    check()
    walk.trails.finish()
  } else followVisitors(snapshot, query, tally, check)
  return tally.result()
}

export const chainRules = ({ steps, order, windowMs }: Pick<FunnelQuery, "steps" | "order" | "windowMs">) => ({
  steps: steps.length,
  strict: order === "strict",
  windowMs: windowMs ?? Infinity,
})

const partsOf = (snapshot: Snapshot, { range }: FunnelQuery): Part[] => snapshot.parts.filter((part) => touches(part, range))

/**
 * Passes on the events of each visitor that match a step of a funnel, for visitors who took the first one. The few such events are found
 * by dictionary number, part by part. A visitor with one visit is passed on at once, those with several once all parts are read.
 */
export function followVisitors(snapshot: Snapshot, query: FunnelQuery, followed: Followed, check: () => void): void {
  const parts = partsOf(snapshot, query)
  const walk = openWalk(snapshot, query, followed, returningVisitors(snapshot, parts))
  walk.read(cutToRange(parts, query.range), check)
  check()
  walk.trails.finish()
}

interface Tally extends Followed {
  enter(visitors: number): void
  /** Returns what was counted since it was called last, and starts again. */
  take(): StepSums
  addSums(sums: StepSums): void
  result(): FunnelResult
}

function createTally(chains: Chains, steps: number): Tally {
  const furthest = new Float64Array(steps + 1)
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
    take() {
      const taken = { furthest: furthest.slice(), gaps: gaps.map((times, step) => narrowed(times.subarray(0, counts[step]))) }
      furthest.fill(0)
      counts.fill(0)
      return taken
    },
    addSums(sums) {
      sums.furthest.forEach((visitors, step) => {
        furthest[step]! += visitors
      })
      sums.gaps.forEach((times, step) => {
        gaps[step] = grownSums(gaps[step]!, counts[step]! + times.length)
        gaps[step]!.set(times, counts[step]!)
        counts[step]! += times.length
      })
    },
    result: () => ({
      steps: gaps.map((times, step) => {
        const visitors = furthest.slice(step + 1).reduce((sum, count) => sum + count, 0)
        return counts[step] === 0 ? { visitors } : { visitors, medianSeconds: medianSeconds(times.subarray(0, counts[step])) }
      }),
    }),
  }
}

/** Returns a copy of times in half the memory, if each is shorter than 49 days. */
const narrowed = (times: Float64Array): Uint32Array | Float64Array =>
  times.every((time) => time < 2 ** 32) ? Uint32Array.from(times) : times.slice()

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
