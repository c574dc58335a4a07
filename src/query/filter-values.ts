import type { Operator } from "../domain/filter.ts"
import { QUERY } from "../domain/limits.ts"

/** What both forms of a question say of the operators and values of filters (metrics.md section 10). */

/** Operators that a dimension does not have are refused. */
export const GOAL_OPERATORS: readonly Operator[] = ["is", "contains"]
/** Of segments and cohorts. */
export const SET_OPERATORS: readonly Operator[] = ["is", "is_not"]

export const isShortPattern = (pattern: string): boolean =>
  pattern.length <= QUERY.wildcardChars && pattern.split("*").length - 1 <= QUERY.wildcardStars
export const PATTERN_BOUNDS = `A pattern has at most ${QUERY.wildcardChars} characters and ${QUERY.wildcardStars} times *.`
