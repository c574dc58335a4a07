import type { Dimension } from "../../domain/dimension.ts"
import { dimensionFacts } from "../../domain/dimension.ts"
import type { RetentionQuery, RetentionResult } from "../../domain/people.ts"
import { compareCodePoints } from "../../domain/text.ts"
import type { Dictionary, Snapshot } from "../../store/events/part.ts"
import { firstInOrder } from "../measure/first-in-order.ts"
import { coverage } from "../people/coverage.ts"
import { peopleStates } from "../people/sets.ts"
import { countByPeriods } from "./bits.ts"
import { RetentionCells } from "./cells.ts"
import { countReturns, forEachStart } from "./returns.ts"
import type { People } from "./starts.ts"
import { type TrailReader, trailReader } from "./trails.ts"

/** What a report keeps in memory at once. If it needs more, it reads the parts several times, for some people each time. */
export interface Limits {
  /** Memory for the bits of people. */
  bitBytes: number
  /** Number of events whose order matters. A few people can have more. */
  events: number
}
const LIMITS: Limits = { bitBytes: 32 << 20, events: 1 << 19 }

/**
 * Counts the people who start in each cohort, and those who return in each period after it (areas/04-cohorts.md section 5). When only
 * the periods of events matter, a few bits per person suffice. Other reports need the order of events, and read the events of the people
 * who start in a cohort, some people at a time, so that memory is bounded. `check` is called between parts.
 */
export function retention(snapshot: Snapshot, query: RetentionQuery, check: () => void, limits: Limits = LIMITS): RetentionResult {
  const { scope, edges, cohorts } = query
  const people: People = {
    limit: snapshot.visitorLimit,
    states: query.among && peopleStates(snapshot, query.among, check),
    identifiedOnly: scope.identifiedOnly,
  }
  return { rows: rowsOf(snapshot, query, people, check, limits), coverage: coverage(snapshot, scope, [edges[0]!, edges[cohorts]!], check) }
}

function rowsOf(
  snapshot: Snapshot,
  query: RetentionQuery,
  people: People,
  check: () => void,
  { bitBytes, events }: Limits,
): RetentionResult["rows"] {
  const cells = new RetentionCells(query)
  if (isByPeriod(query)) {
    countByPeriods(snapshot, query, people, cells, bitBytes, check)
    return cells.rows()
  }
  const trails = trailReader(snapshot, query, people, events, check)
  if (query.breakdown) return rowsByValue(snapshot, query, query.breakdown, trails)
  trails.each((some) => countReturns(some, query, () => cells))
  return cells.rows()
}

/** Returns whether the order of the events within a period does not matter. */
const isByPeriod = ({ isSame, elapsed, firstEver, breakdown }: RetentionQuery): boolean => isSame && !elapsed && !firstEver && !breakdown

/** Number of values of a breakdown with rows of their own. */
const MAX_VALUES = 20
/** The value that stands for all values beyond the limit of a dimension. It is never one of the largest, but part of the others. */
const OVERFLOW = "(other)"

/** Returns the rows of a breakdown: by cohort those of the largest values, and of the others together if there are any. */
function rowsByValue(snapshot: Snapshot, query: RetentionQuery, breakdown: Dimension, trails: TrailReader): RetentionResult["rows"] {
  const dictionary = snapshot.dictionary(dimensionFacts(breakdown).dictionary!) // every dimension of visits has one
  const people = new Uint32Array(Math.max(1, dictionary.size))
  trails.each((some) => forEachStart(some, query, (_, start) => people[some.values[some.order[start]!]!]!++))
  const largest = largestValues(people, dictionary)
  const cells = new Map(largest.map((value) => [value, new RetentionCells(query)]))
  const others = new RetentionCells(query)
  trails.each((some) => countReturns(some, query, (start) => cells.get(some.values[some.order[start]!]!) ?? others))
  const hasOthers = people.some((count, value) => count > 0 && !cells.has(value))
  return Array.from({ length: query.cohorts }, (_, cohort) => [
    ...largest.map((value) => ({ ...cells.get(value)!.row(cohort), value: dictionary.text(value) || null })),
    ...(hasOthers ? [{ ...others.row(cohort), isOther: true }] : []),
  ]).flat()
}

/** Returns the values with the most people, the largest first, equally large ones by text. */
function largestValues(people: Uint32Array, dictionary: Dictionary): number[] {
  const sorted = people.slice().sort()
  const least = sorted[Math.max(0, sorted.length - MAX_VALUES - 1)]!
  const isCandidate = (value: number) => people[value]! > 0 && people[value]! >= least && dictionary.text(value) !== OVERFLOW
  const compare = (a: number, b: number) => people[b]! - people[a]! || compareCodePoints(dictionary.text(a), dictionary.text(b))
  return firstInOrder(Uint32Array.from(people.keys()).filter(isCandidate), compare, MAX_VALUES)
}
