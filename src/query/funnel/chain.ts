import { grownNumbers } from "../filter/buffers.ts"

/** Bit of a mark: with strict order, no chain may continue past this event. Bit i, from 0, means that the event matches step i. */
export const BREAKS = 1 << 15

interface ChainRules {
  steps: number
  strict: boolean
  /** Maximum time from the first to the last event of a chain in ms; Infinity without a window. */
  windowMs: number
}

/**
 * Finds the chains of one visitor at a time: in the events from `begin` up to, but not including, `end`, in order of time. Its arrays
 * are reused, so that nothing is allocated per visitor.
 */
export interface Chains {
  /** Returns the number of steps that are reached; 0 when no event matches the first one. */
  furthest(at: Float64Array, marks: Uint32Array, begin: number, end: number): number
  /** Returns the times of the earliest chain that reaches `steps` steps, the result of `furthest`. Overwritten by the next call. */
  earliest(at: Float64Array, marks: Uint32Array, begin: number, end: number, steps: number): Float64Array
}

export function followChains({ steps, strict, windowMs }: ChainRules): Chains {
  if (!strict && windowMs === Infinity) return followAnyChains(steps)
  const breaks = strict ? BREAKS : 0
  const windowed = windowMs < Infinity
  const times = new Float64Array(steps)
  const numbers = new Float64Array(steps)
  let feasible: Uint32Array = new Uint32Array(64)
  return {
    furthest(at, marks, begin, end) {
      const reached = windowed ? reachedWithin(at, marks, begin, end, breaks, windowMs, numbers) : reachedAtAll(marks, begin, end, breaks)
      return 32 - Math.clz32(reached)
    },
    earliest(at, marks, begin, end, wanted) {
      feasible = grownNumbers(feasible, end - begin)
      const first = windowed ? firstStart(at, marks, begin, end, breaks, windowMs, numbers.subarray(0, wanted)) : begin
      const deadline = windowed ? at[first]! + windowMs : Number.POSITIVE_INFINITY
      markFeasible(at, marks, first, end, deadline, breaks, wanted, feasible)
      return chainTimes(at, feasible, first, wanted, times)
    },
  }
}

/** Does the same without window and strict order, where taking each step as early as possible reaches the most steps at the earliest times. */
function followAnyChains(steps: number): Chains {
  const times = new Float64Array(steps)
  const follow = (at: Float64Array, marks: Uint32Array, begin: number, end: number): number => {
    let step = 0
    for (let i = begin; i < end && step < steps; i++) {
      if ((marks[i]! & (1 << step)) !== 0) times[step++] = at[i]!
    }
    return step
  }
  return {
    furthest: follow,
    earliest(at, marks, begin, end) {
      follow(at, marks, begin, end)
      return times
    },
  }
}

/**
 * Returns the steps that a chain reaches, as bits. `open` contains the steps from which a chain can continue; an event continues from the
 * previous step, for all steps at once.
 */
function reachedAtAll(marks: Uint32Array, begin: number, end: number, breaks: number): number {
  let open = 0
  let reached = 0
  for (let i = begin; i < end; i++) {
    const mark = marks[i]!
    const now = mark & (1 | (open << 1))
    open = (mark & breaks) === 0 ? open | now : now
    reached |= now
  }
  return reached
}

/**
 * Does the same within a window: keeps the latest start of a chain for each step, because the later a chain began, the longer it may
 * continue. Runs from the last step to the first, so that an event is used for one step only.
 */
function reachedWithin(
  at: Float64Array,
  marks: Uint32Array,
  begin: number,
  end: number,
  breaks: number,
  windowMs: number,
  starts: Float64Array,
): number {
  starts.fill(-Infinity)
  let reached = 0
  for (let i = begin; i < end; i++) {
    const mark = marks[i]!
    const ended = (mark & breaks) !== 0
    for (let step = starts.length - 1; step >= 0; step--) {
      const start = (mark & (1 << step)) === 0 ? -Infinity : step === 0 ? at[i]! : starts[step - 1]!
      const lasts = at[i]! - start <= windowMs
      if (lasts) reached |= 1 << step
      if (ended) starts[step] = lasts ? start : -Infinity
      else if (lasts && start > starts[step]!) starts[step] = start
    }
  }
  return reached
}

/** Returns the first event from which a chain of all `ends.length` steps ends within the window. Runs backwards with the earliest end of each step. */
function firstStart(
  at: Float64Array,
  marks: Uint32Array,
  begin: number,
  end: number,
  breaks: number,
  windowMs: number,
  ends: Float64Array,
): number {
  ends.fill(Infinity)
  const last = ends.length - 1
  let first = begin
  for (let i = end - 1; i >= begin; i--) {
    const mark = marks[i]!
    const ended = (mark & breaks) !== 0
    for (let step = 0; step <= last; step++) {
      const reached = (mark & (1 << step)) === 0 ? Infinity : step === last ? at[i]! : ends[step + 1]!
      if (step === 0 && reached - at[i]! <= windowMs) first = i
      if (ended || reached < ends[step]!) ends[step] = reached
    }
  }
  return first
}

/** Writes, for each event from `first` on, the steps from which a chain can be completed by the deadline. Indexes count from `first`. */
function markFeasible(
  at: Float64Array,
  marks: Uint32Array,
  first: number,
  end: number,
  deadline: number,
  breaks: number,
  wanted: number,
  feasible: Uint32Array,
): void {
  let open = 0
  for (let i = end - 1; i >= first; i--) {
    const mark = at[i]! <= deadline ? marks[i]! : 0
    const now = mark & ((1 << (wanted - 1)) | (open >> 1))
    open = (marks[i]! & breaks) === 0 ? open | now : now
    feasible[i - first] = now
  }
}

/** Returns the time of each step: that of the earliest feasible event after the previous step. */
function chainTimes(at: Float64Array, feasible: Uint32Array, first: number, wanted: number, times: Float64Array): Float64Array {
  let event = first
  for (let step = 0; step < wanted; step++) {
    while ((feasible[event - first]! & (1 << step)) === 0) event++
    times[step] = at[event++]!
  }
  return times
}
