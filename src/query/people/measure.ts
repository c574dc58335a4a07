import type { PeopleCondition, PeopleTest } from "../../domain/people.ts"
import { compileFilter } from "../filter/filters.ts"
import { followChains } from "../funnel/chain.ts"
import { chainRules, followVisitors } from "../funnel/funnel.ts"
import { countDays } from "./day-counts.ts"
import { EdgeVisits } from "./edge-visits.ts"
import type { Bounds, Evaluation } from "./evaluation.ts"
import type { HitSource, MomentTest } from "./hits.ts"
import { OrderedHits } from "./ordered-hits.ts"
import { HitChoice, type People, type Slice, type Window } from "./slice.ts"

/** What the people of a slice did in a window. */
export interface Measured {
  /** Count, or sum of revenue; NaN without any revenue. */
  values: Uint32Array | Float64Array
  moments?: Float64Array
  /** Last active day. Only for active days. */
  lastDay?: Uint32Array
}

export interface Measuring {
  people: People
  window: Window
  until: number
  bounds: Bounds
  hasMoments: boolean
}

/** Measures a condition for the people of a slice. */
export function measure(evaluation: Evaluation, slice: Slice, { test }: PeopleCondition, measuring: Measuring): Measured {
  switch (test.of) {
    case "events":
    case "visits":
      return countHits(sourceOf(evaluation, test), slice, measuring, evaluation.limits.orderedHits)
    case "revenue":
      return sumRevenue(sourceOf(evaluation, test), slice, measuring, evaluation.limits.orderedHits)
    case "active_days":
      return measureDays(sourceOf(evaluation, test), slice, measuring, evaluation)
    case "first_seen":
      return seeFirst(evaluation, slice, test, measuring)
    case "funnel":
      return followFunnel(evaluation, slice, test, measuring)
    case "set":
      throw new Error("A set is evaluated on its own")
  }
}

const sourceOf = ({ sources, set, passes }: Evaluation, test: MomentTest): HitSource => sources.source(test, set.scope, passes)

function countHits(
  source: HitSource,
  slice: Slice,
  { people, window, until, bounds, hasMoments }: Measuring,
  orderedHits: number,
): Measured {
  const values = new Uint32Array(slice.size)
  const choice = new HitChoice(slice, people, window, until)
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
  const ordered = new OrderedHits(slice.size, orderedHits)
  source.each((hits) => ordered.add(choice.choose(hits)))
  ordered.finish((person, at, _, begin, end) => {
    values[person] = end - begin
    if (end - begin >= bounds.low) moments[person] = at[begin + bounds.low - 1]!
  })
  return { values, moments }
}

/** Sums revenue. The moment is that at which the sum first reached the bound; events at the same time count together. */
function sumRevenue(
  source: HitSource,
  slice: Slice,
  { people, window, until, bounds, hasMoments }: Measuring,
  orderedHits: number,
): Measured {
  const values = new Float64Array(slice.size).fill(Number.NaN)
  const choice = new HitChoice(slice, people, window, until)
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
  const ordered = new OrderedHits(slice.size, orderedHits, true)
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

function measureDays(
  source: HitSource,
  slice: Slice,
  { people, window, until, bounds, hasMoments }: Measuring,
  { local, limits }: Evaluation,
): Measured {
  const choice = new HitChoice(slice, people, window, until)
  const { values, lastDay, moments } = countDays(
    { source, choice, size: slice.size, local, orderedHits: limits.orderedHits },
    hasMoments ? bounds.low : undefined,
  )
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
  { people, window, hasMoments }: Measuring,
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
          if (person >= slice.size || people[person] === 0) marks[i] = 0
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
