import type { Count, PeopleCondition, PeopleSet, PeopleTest } from "../../domain/people.ts"
import type { Range } from "../../domain/query.ts"
import type { PeopleStates, Snapshot } from "../../store/events/part.ts"
import type { HitSources, MomentTest } from "./hits.ts"
import type { LocalDays } from "./local-days.ts"

/** What is in memory at once. */
export interface EvaluationLimits {
  /** Visitors of a slice. */
  people: number
  /** Hits that are put in order. */
  orderedHits: number
  /** Hits of a test that are kept for further passes over them. */
  keptHits: number
}

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
  limits: EvaluationLimits
  /** Number of slices. */
  passes: number
  statesOf(set: PeopleSet): PeopleStates
  /** Called with a time at which someone's undecided condition may be decided without an event. */
  mayChangeAt(at: number): void
  check(): void
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
export interface Bounds {
  low: number
  high: number
}

export function boundsOf({ count, test }: PeopleCondition): Bounds {
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
