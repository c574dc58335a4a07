import type { Count, PeopleCondition, PeopleSet, PeopleTest } from "../../domain/people.ts"
import type { Range } from "../../domain/query.ts"
import type { PeopleStates, Snapshot } from "../../store/events/part.ts"
import { compileFilter } from "../filter/filters.ts"
import { followChains } from "../funnel/chain.ts"
import { chainRules, followVisitors } from "../funnel/funnel.ts"
import { EdgeVisits } from "./edge-visits.ts"
import type { HitSource, HitSources, MomentTest } from "./hits.ts"
import { dayOf, daysBetween, type LocalDays } from "./local-days.ts"
import { OrderedHits } from "./ordered-hits.ts"
import { HitChoice, IN, isPerson, OUT, PENDING, Recognition, type Slice, type Window, windowAfter } from "./slice.ts"

/** What conditions are evaluated over. */
export interface Evaluation {
  snapshot: Snapshot
  set: PeopleSet
  /** Time of the query, at most the end of the set: what happens later is not known. */
  asOf: number
  /** Start of the first visit in the stored data. */
  dataFrom: number
  local: LocalDays
  sources: HitSources
  /** Number of slices. */
  passes: number
  statesOf(set: PeopleSet): PeopleStates
  /** Called with a time at which someone's undecided condition may be decided without an event. */
  mayChangeAt(at: number): void
  check(): void
}

/** What became of a condition, by person of a slice. */
export interface Outcome {
  states: Uint8Array
  /** When the condition was first met; Infinity if it was not. Absent when it has no such moment. */
  moments?: Float64Array
}

export const isMomentTest = (test: PeopleTest): test is MomentTest => HIT_TESTS.some((of) => of === test.of)
const HIT_TESTS = ["events", "visits", "active_days", "revenue"] as const

/**
 * Returns the absolute window of a condition, or for one that begins at a person's own moment all the time in which it can lie. No window
 * reaches beyond the end of the set.
 */
export function spanOf({ window }: PeopleCondition, until: number, dataFrom: number): Range {
  if (!window || !("range" in window)) return { from: dataFrom, to: until }
  return { from: window.range.from, to: Math.min(window.range.to, until) }
}

/** The values of a count or sum that satisfy a condition, both ends included. All are whole numbers. */
interface Bounds {
  low: number
  high: number
}

function boundsOf({ count, test }: PeopleCondition): Bounds {
  if (!count || test.of === "first_seen" || test.of === "funnel") return { low: 1, high: Infinity }
  const { op, n } = count
  return BOUNDS[op](n)
}

const BOUNDS: Record<Count["op"], (n: number) => Bounds> = {
  gt: (n) => ({ low: n + 1, high: Infinity }),
  gte: (n) => ({ low: n, high: Infinity }),
  eq: (n) => ({ low: n, high: n }),
  lte: (n) => ({ low: -Infinity, high: n }),
  lt: (n) => ({ low: -Infinity, high: n - 1 }),
}

/** Evaluates a condition for the people of a slice. `before` are the outcomes of the earlier members of its group. */
export function evaluateCondition(
  evaluation: Evaluation,
  slice: Slice,
  condition: PeopleCondition,
  before: readonly Outcome[],
  isReferred: boolean,
): Outcome {
  if (condition.test.of === "set") return { states: setStates(evaluation, slice, condition.test.set, condition.negate) }
  const reference = condition.window && "after" in condition.window ? (before[condition.window.after] ?? NOTHING) : undefined
  if (reference && !reference.moments) return { states: new Uint8Array(slice.size) }
  const window = windowOf(evaluation, slice, condition, reference)
  const bounds = boundsOf(condition)
  const hasMoments = isReferred && !condition.negate && bounds.high === Infinity && (bounds.low > 0 || condition.test.of === "revenue")
  const measured = measure(evaluation, slice, condition, { window, until: evaluation.set.until, bounds, hasMoments })
  const states = decide(evaluation, slice, condition, { window, bounds, measured, reference })
  if (!measured.moments) return { states }
  for (let person = 0; person < slice.size; person++) if (states[person] === OUT) measured.moments[person] = Infinity
  return { states, moments: measured.moments }
}

const NOTHING: Outcome = { states: new Uint8Array(0) }

/** A set has no window: its people are as recognizable as its own conditions require. */
function setStates({ statesOf, set: { until, scope } }: Evaluation, slice: Slice, inner: PeopleSet, negate: boolean): Uint8Array {
  const states = new Uint8Array(slice.size)
  const others = statesOf(inner)
  for (let person = 0; person < slice.size; person++) {
    if (!isPerson(slice, person, until, scope.identifiedOnly)) continue
    const state = others[slice.from + person]!
    states[person] = negate ? IN - state : state
  }
  return states
}

function windowOf({ set, local, dataFrom }: Evaluation, slice: Slice, condition: PeopleCondition, reference: Outcome | undefined): Window {
  const { window } = condition
  if (reference) return windowAfter(reference.moments!, "after" in window! ? window.days : 0, local, dayOf)
  if (window && "afterFirstSeen" in window) {
    const first = slice.first.map((at) => (at < set.until ? at : Infinity))
    return windowAfter(first, window.afterFirstSeen, local, dayOf)
  }
  return { isRelative: false, ...spanOf(condition, set.until, dataFrom) }
}

/** What the people of a slice did in a window. */
interface Measured {
  /** Count, or sum of revenue; NaN without any revenue. */
  values: Uint32Array | Float64Array
  moments?: Float64Array
  /** Last active day. Only for active days. */
  lastDay?: Uint32Array
}

interface Measuring {
  window: Window
  until: number
  bounds: Bounds
  hasMoments: boolean
}

function measure(evaluation: Evaluation, slice: Slice, { test }: PeopleCondition, measuring: Measuring): Measured {
  switch (test.of) {
    case "events":
    case "visits":
      return countHits(sourceOf(evaluation, test), slice, measuring)
    case "revenue":
      return sumRevenue(sourceOf(evaluation, test), slice, measuring)
    case "active_days":
      return countDays(sourceOf(evaluation, test), slice, measuring, evaluation.local)
    case "first_seen":
      return seeFirst(evaluation, slice, test, measuring)
    case "funnel":
      return followFunnel(evaluation, slice, test, measuring)
    case "set":
      throw new Error("A set is evaluated on its own")
  }
}

const sourceOf = ({ sources, set, passes }: Evaluation, test: MomentTest): HitSource => sources.source(test, set.scope, passes)

function countHits(source: HitSource, slice: Slice, { window, until, bounds, hasMoments }: Measuring): Measured {
  const values = new Uint32Array(slice.size)
  const choice = new HitChoice(slice, window, until)
  if (!hasMoments) {
    source.each((hits) => {
      const { person, count } = choice.choose(hits)
      for (let i = 0; i < count; i++) values[person[i]!]!++
    })
    return { values }
  }
  const moments = new Float64Array(slice.size).fill(Infinity)
  if (bounds.low === 1) {
    source.each((hits) => {
      const { person, at, count } = choice.choose(hits)
      for (let i = 0; i < count; i++) {
        values[person[i]!]!++
        if (at[i]! < moments[person[i]!]!) moments[person[i]!] = at[i]!
      }
    })
    return { values, moments }
  }
  const ordered = new OrderedHits(slice.size)
  source.each((hits) => ordered.add(choice.choose(hits)))
  ordered.finish((person, at, _, begin, end) => {
    values[person] = end - begin
    if (end - begin >= bounds.low) moments[person] = at[begin + bounds.low - 1]!
  })
  return { values, moments }
}

/** Sums revenue. The moment is that at which the sum first reached the bound; events at the same time count together. */
function sumRevenue(source: HitSource, slice: Slice, { window, until, bounds, hasMoments }: Measuring): Measured {
  const values = new Float64Array(slice.size).fill(Number.NaN)
  const choice = new HitChoice(slice, window, until)
  if (!hasMoments) {
    source.each((hits) => {
      const { person, amount, count } = choice.choose(hits)
      for (let i = 0; i < count; i++) {
        const sum = values[person[i]!]!
        values[person[i]!] = (Number.isNaN(sum) ? 0 : sum) + amount![i]!
      }
    })
    return { values }
  }
  const moments = new Float64Array(slice.size).fill(Infinity)
  const ordered = new OrderedHits(slice.size, true)
  source.each((hits) => ordered.add(choice.choose(hits)))
  ordered.finish((person, at, amount, begin, end) => {
    let sum = 0
    for (let i = begin; i < end; i++) {
      sum += amount[i]!
      const isLastOfTime = i + 1 === end || at[i + 1]! > at[i]!
      if (isLastOfTime && sum >= bounds.low && moments[person] === Infinity) moments[person] = at[i]!
    }
    values[person] = sum
  })
  return { values, moments }
}

/**
 * Counts the local days on which visits start. Visits mostly arrive in order, so that a new day is a later one; people of whom a visit
 * is out of order are counted a second time, with all their visits.
 */
function countDays(source: HitSource, slice: Slice, { window, until, bounds, hasMoments }: Measuring, local: LocalDays): Measured {
  const [values, lastDay] = [new Uint32Array(slice.size), new Uint32Array(slice.size)]
  const moments = hasMoments ? new Float64Array(slice.size).fill(Infinity) : undefined
  const unordered = new Uint8Array(slice.size)
  const choice = new HitChoice(slice, window, until)
  let isAnyUnordered = false
  const { edges } = local
  let day = 0
  source.each((hits) => {
    const { person, at, count } = choice.choose(hits)
    for (let i = 0; i < count; i++) {
      const of = person[i]!
      if (!(at[i]! >= edges[day]! && at[i]! < edges[day + 1]!)) day = dayOf(local, at[i]!)
      if (values[of] !== 0 && day <= lastDay[of]!) {
        if (day === lastDay[of] && (values[of] !== bounds.low || !moments || at[i]! >= moments[of]!)) continue
        unordered[of] = 1
        isAnyUnordered = true
        continue
      }
      lastDay[of] = day
      values[of]!++
      if (moments && values[of] === bounds.low) moments[of] = at[i]!
    }
  })
  if (isAnyUnordered) {
    const ordered = new OrderedHits(slice.size)
    source.each((hits) => ordered.add(choice.choose(hits), unordered))
    ordered.finish((person, at, _, begin, end) => {
      values[person] = 0
      for (let i = begin; i < end; i++) {
        const day = dayOf(local, at[i]!)
        if (values[person] !== 0 && day === lastDay[person]) continue
        lastDay[person] = day
        values[person]!++
        if (moments && values[person] === bounds.low) moments[person] = at[i]!
      }
    })
  }
  return { values, lastDay, ...(moments && { moments }) }
}

function seeFirst(
  { snapshot, set, check }: Evaluation,
  slice: Slice,
  { filter }: Extract<PeopleTest, { of: "first_seen" }>,
  { window, hasMoments }: Measuring,
): Measured {
  const values = new Uint32Array(slice.size)
  for (let person = 0; person < slice.size; person++) {
    const at = slice.first[person]!
    const [from, to] = window.isRelative ? [window.from[person]!, window.to[person]!] : [window.from, window.to]
    values[person] = at >= from && at < to ? 1 : 0
  }
  if (filter) {
    const compiled = compileFilter(snapshot, filter, set.scope.site)
    new EdgeVisits(snapshot, slice, "first", set.until, check).each((part, rows, people, count) => {
      const mask = compiled.visits(part)
      if (mask === "all") return
      for (let i = 0; i < count; i++) if (mask[rows[i]!] === 0) values[people[i]!] = 0
    })
  }
  return { values, ...(hasMoments && { moments: slice.first.slice() }) }
}

function followFunnel(
  { snapshot, set, dataFrom, check }: Evaluation,
  slice: Slice,
  test: Extract<PeopleTest, { of: "funnel" }>,
  { window, hasMoments }: Measuring,
): Measured {
  const { step, filter, windowMs, order } = test
  const steps = test.steps.slice(0, step)
  const range = window.isRelative ? { from: dataFrom, to: set.until } : { from: window.from, to: window.to }
  const query = { site: set.scope.site, range, steps, order, ...(windowMs !== undefined && { windowMs }), ...(filter && { filter }) }
  const chains = followChains(chainRules(query))
  const values = new Uint32Array(slice.size)
  const moments = hasMoments ? new Float64Array(slice.size).fill(Infinity) : undefined
  followVisitors(
    snapshot,
    query,
    {
      narrow(part, { rows, marks, count }) {
        const [visit, visitor, offset, starts] = [part.event("visit"), part.visit("visitor"), part.event("offset"), part.starts()]
        for (let i = 0; i < count; i++) {
          const of = visit[rows[i]!]!
          const person = (visitor[of]! - slice.from) >>> 0
          if (person >= slice.size) marks[i] = 0
          else if (window.isRelative) {
            const at = starts[of]! + offset[rows[i]!]!
            if (at < window.from[person]! || at >= window.to[person]!) marks[i] = 0
          }
        }
      },
      add(at, marks, begin, end, visitor) {
        const reaches = (to: number) => chains.furthest(at, marks, begin, to) === steps.length
        if (!reaches(end)) return
        values[visitor - slice.from] = 1
        if (moments) moments[visitor - slice.from] = at[firstReach(reaches, begin, end)]!
      },
    },
    check,
  )
  return { values, ...(moments && { moments }) }
}

/** Returns the event with which the step is reached: more events never take it back. */
function firstReach(reaches: (to: number) => boolean, begin: number, end: number): number {
  let [low, high] = [begin, end - 1]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (reaches(middle + 1)) high = middle
    else low = middle + 1
  }
  return low
}

interface Deciding {
  window: Window
  bounds: Bounds
  measured: Measured
  reference: Outcome | undefined
}

/**
 * Decides the condition for each person. A condition that not doing it satisfies also needs a person who was recognized throughout the
 * window. It is undecided while its window begins at a person's own moment and has not ended, and an event could still change it.
 */
function decide(evaluation: Evaluation, slice: Slice, { test, negate }: PeopleCondition, deciding: Deciding): Uint8Array {
  const { set, asOf, local, mayChangeAt } = evaluation
  const { window, bounds, measured, reference } = deciding
  const { low, high } = bounds
  const { values, lastDay } = measured
  const states = new Uint8Array(slice.size)
  const recognition = new Recognition(slice, set.scope)
  const needsRecognition = negate || (low <= 0 && high >= 0 && test.of !== "revenue")
  const today = window.isRelative ? dayOf(local, asOf) : 0
  for (let person = 0; person < slice.size; person++) {
    if (!isPerson(slice, person, set.until, set.scope.identifiedOnly)) continue
    const isUnsure = reference !== undefined && reference.states[person] === PENDING
    if (window.isRelative && window.from[person] === Infinity) {
      states[person] = isUnsure ? PENDING : OUT
      continue
    }
    const [from, to] = window.isRelative ? [window.from[person]!, window.to[person]!] : [window.from, window.to]
    if (needsRecognition && !recognition.covers(person, from, to)) continue
    const value = values[person]!
    const holds = (value >= low && value <= high) !== negate
    if (window.isRelative && to > asOf && asOf < recognition.end(person)) {
      const isActiveToday = lastDay !== undefined && value > 0 && lastDay[person]! >= today
      const days = lastDay ? daysBetween(local, today, dayOf(local, to - 1)) - Number(isActiveToday) : Infinity
      if (couldChange(test, value, bounds, days)) {
        states[person] = PENDING
        if (slice.kind[person] !== 0) mayChangeAt(recognition.end(person))
        continue
      }
    }
    states[person] = !holds ? OUT : isUnsure ? PENDING : IN
  }
  return states
}

/** Returns whether events can still decide otherwise. Counts only grow, by at most `more`; revenue can be refunded, and a first visit stays. */
function couldChange({ of }: PeopleTest, value: number, { low, high }: Bounds, more: number): boolean {
  if (of === "first_seen") return false
  if (of === "revenue") return true
  if (value < low) return value + more >= low
  return value <= high && value + more > high
}
