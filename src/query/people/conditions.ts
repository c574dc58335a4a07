import type { PeopleCondition, PeopleSet, PeopleTest } from "../../domain/people.ts"
import { type Bounds, boundsOf, type Evaluation, spanOf } from "./evaluation.ts"
import { dayOf, daysBetween } from "./local-days.ts"
import { type Measured, measure } from "./measure.ts"
import {
  type AbsoluteWindow,
  IN,
  OUT,
  PENDING,
  type People,
  Recognition,
  type RelativeWindow,
  type Slice,
  type Window,
  windowAfter,
} from "./slice.ts"

/** What became of a condition, by person of a slice. */
export interface Outcome {
  states: Uint8Array
  /** When the condition was first met; Infinity if it was not. Absent when it has no such moment. */
  moments?: Float64Array
}

/** A condition among the members of its group. */
export interface Member {
  condition: PeopleCondition
  /** Outcomes of the earlier members. */
  before: readonly Outcome[]
  /** Whether a later member begins when this condition was met. */
  isReferred: boolean
}

/** Evaluates a condition for some people of a slice. The others stay outside. */
export function evaluateCondition(
  evaluation: Evaluation,
  slice: Slice,
  people: People,
  { condition, before, isReferred }: Member,
): Outcome {
  if (condition.test.of === "set") return { states: setStates(evaluation, slice, people, condition.test.set, condition.negate) }
  const reference = condition.window && "after" in condition.window ? (before[condition.window.after] ?? NOTHING) : undefined
  if (reference && !reference.moments) return { states: new Uint8Array(slice.size) }
  const window = windowOf(evaluation, slice, people, condition, reference)
  const bounds = boundsOf(condition)
  const hasMoments = isReferred && !condition.negate && bounds.high === Infinity && (bounds.low > 0 || condition.test.of === "revenue")
  const measured = measure(evaluation, slice, condition, { people, window, until: evaluation.set.until, bounds, hasMoments })
  const states = decide(evaluation, slice, condition, { people, window, bounds, measured, reference })
  if (!measured.moments) return { states }
  for (let person = 0; person < slice.size; person++) if (states[person] === OUT) measured.moments[person] = Infinity
  return { states, moments: measured.moments }
}

const NOTHING: Outcome = { states: new Uint8Array(0) }

/** A set has no window: its people are as recognizable as its own conditions require. */
function setStates({ statesOf }: Evaluation, slice: Slice, people: People, inner: PeopleSet, negate: boolean): Uint8Array {
  const states = new Uint8Array(slice.size)
  const others = statesOf(inner)
  for (let person = 0; person < slice.size; person++) {
    if (people[person] === 0) continue
    const state = others[slice.from + person]!
    states[person] = negate ? IN - state : state
  }
  return states
}

function windowOf(
  { set, local, dataFrom }: Evaluation,
  slice: Slice,
  people: People,
  condition: PeopleCondition,
  reference: Outcome | undefined,
): Window {
  const { window } = condition
  if (window && "after" in window) return windowAfter(reference!.moments!, people, window.days, local)
  if (window && "afterFirstSeen" in window) return windowAfter(slice.first, people, window.afterFirstSeen, local)
  return { isRelative: false, ...spanOf(condition, set.until, dataFrom) }
}

interface Deciding {
  people: People
  window: Window
  bounds: Bounds
  measured: Measured
  reference: Outcome | undefined
}

interface DecidingRelative extends Deciding {
  window: RelativeWindow
  needsRecognition: boolean
  states: Uint8Array
}

/**
 * Decides the condition for each person. A condition that not doing it satisfies also needs a person who was recognized throughout the
 * window. It is undecided while its window begins at a person's own moment and has not ended, and an event could still change it.
 */
function decide(evaluation: Evaluation, slice: Slice, { test, negate }: PeopleCondition, deciding: Deciding): Uint8Array {
  const { people, window, bounds, measured } = deciding
  const states = new Uint8Array(slice.size)
  const needsRecognition = negate || (bounds.low <= 0 && bounds.high >= 0 && test.of !== "revenue")
  if (window.isRelative) decideRelative(evaluation, slice, { test, negate }, { ...deciding, window, needsRecognition, states })
  else {
    decideByValue(people, measured.values, bounds, negate, states)
    if (needsRecognition) dropUnrecognized(new Recognition(slice, deciding.people, evaluation.set.scope), window, states)
  }
  return states
}

function decideByValue(
  people: People,
  values: Uint32Array | Float64Array,
  { low, high }: Bounds,
  negate: boolean,
  states: Uint8Array,
): void {
  for (let person = 0; person < states.length; person++) {
    if (people[person] === 0) continue
    const value = values[person]!
    if ((value >= low && value <= high) !== negate) states[person] = IN
  }
}

function dropUnrecognized(recognition: Recognition, { from, to }: AbsoluteWindow, states: Uint8Array): void {
  for (let person = 0; person < states.length; person++) {
    if (states[person] === IN && !recognition.covers(person, from, to)) states[person] = OUT
  }
}

function decideRelative(
  { set, asOf, local, mayChangeAt }: Evaluation,
  slice: Slice,
  { test, negate }: Pick<PeopleCondition, "test" | "negate">,
  { people, window, bounds, measured, reference, needsRecognition, states }: DecidingRelative,
): void {
  const { values, lastDay } = measured
  const recognition = new Recognition(slice, people, set.scope)
  const today = dayOf(local, asOf)
  for (let person = 0; person < slice.size; person++) {
    if (people[person] === 0) continue
    const isUnsure = reference !== undefined && reference.states[person] === PENDING
    const [from, to, value] = [window.from[person]!, window.to[person]!, values[person]!]
    if (from === Infinity) {
      states[person] = isUnsure ? PENDING : OUT
      continue
    }
    if (needsRecognition && !recognition.covers(person, from, to)) continue
    if (to > asOf && asOf < recognition.end(person)) {
      const isActiveToday = lastDay !== undefined && value > 0 && lastDay[person]! >= today
      const days = lastDay ? daysBetween(local, today, dayOf(local, to - 1)) - Number(isActiveToday) : Infinity
      if (couldChange(test, value, bounds, days)) {
        states[person] = PENDING
        mayChangeAt(recognition.end(person))
        continue
      }
    }
    const holds = (value >= bounds.low && value <= bounds.high) !== negate
    states[person] = !holds ? OUT : isUnsure ? PENDING : IN
  }
}

/** Returns whether events can still decide otherwise. Counts only grow, by at most `more`; revenue can be refunded, and a first visit stays. */
function couldChange({ of }: PeopleTest, value: number, { low, high }: Bounds, more: number): boolean {
  if (of === "first_seen") return false
  if (of === "revenue") return true
  if (value < low) return value + more >= low
  return value <= high && value + more > high
}
