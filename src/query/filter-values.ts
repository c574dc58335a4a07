import { type Dimension, dimensionFacts } from "../domain/dimension.ts"
import type { Condition, Operator } from "../domain/filter.ts"
import { QUERY } from "../domain/limits.ts"

/** What both forms of a question say of the operators and values of filters (metrics.md section 10). */

const NEGATIVES: Partial<Record<Operator, Condition["op"]>> = {
  is_not: "is",
  contains_not: "contains",
  matches_wildcard_not: "matches_wildcard",
}

/** The operator of the condition that a negative one is the contrary of; a positive one itself. */
export function positiveOperator(operator: Operator): Condition["op"] {
  // The operators without a negative are those a condition has.
  return NEGATIVES[operator] ?? (operator as Condition["op"])
}

/** What stands for a missing value. `Direct` does so of source and referrer: as a channel it is a value. */
const MISSING = ["(none)", "(not set)"]
const MISSING_ORIGIN = [...MISSING, "Direct", "Direct / None"]

export const missingTexts = (dimension: Dimension): readonly string[] =>
  dimensionFacts(dimension).missing[0] === "Direct" ? MISSING_ORIGIN : MISSING

/** Operators that a dimension does not have are refused. */
export const GOAL_OPERATORS: readonly Operator[] = ["is", "contains"]
/** Of segments and cohorts. */
export const SET_OPERATORS: readonly Operator[] = ["is", "is_not"]

export const isShortPattern = (pattern: string): boolean =>
  pattern.length <= QUERY.wildcardChars && pattern.split("*").length - 1 <= QUERY.wildcardStars
export const PATTERN_BOUNDS = `A pattern has at most ${QUERY.wildcardChars} characters and ${QUERY.wildcardStars} times *.`
