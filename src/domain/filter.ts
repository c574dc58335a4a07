import { decimalTest } from "./decimal.ts"
import { type Dimension, dimensionFacts } from "./dimension.ts"
import type { PeopleSet } from "./people.ts"

export const OPERATORS = ["is", "is_not", "contains", "contains_not", "starts_with", "matches_wildcard", "matches_wildcard_not"] as const
export type Operator = (typeof OPERATORS)[number]

/**
 * A condition with a positive operator. It holds when one of the values matches. `gt`, `gte`, `lt` and `lte` compare decimal numbers, and
 * only definitions of cohorts have them; a text that is not a decimal number never matches.
 */
export interface Condition {
  op: "is" | "contains" | "starts_with" | "matches_wildcard" | "gt" | "gte" | "lt" | "lte"
  dimension: Dimension
  /** The property key. Only for dimension `property`. */
  property?: string
  values: readonly string[]
  /** Whether a missing value matches. Parsers set it when the values contain `(none)` or an equivalent; only for `is`. */
  missing: boolean
  caseSensitive: boolean
  /** Whether the values are English names instead of codes. Only for dimension `country`. */
  named?: boolean
}

/**
 * A tree of conditions. Negative operators are parsed into `not`, so that a missing value satisfies them (metrics.md section
 * 10). All event conditions below one `and` must be met by the same event. `has_done` keeps the events of a visit that has, at
 * any time, a counted event that satisfies the inner tree. `people` keeps the visits of people who belong to a set.
 */
export type Filter =
  | { op: "and" | "or"; filters: readonly Filter[] }
  | { op: "not"; filter: Filter }
  | { op: "has_done"; filter: Filter }
  | { op: "people"; set: PeopleSet }
  | Condition

/** What a condition on a text means (metrics.md section 10): the same for queries of stored events and for rules on incoming ones. */

/** A condition in the flat form. */
export interface FlatCondition {
  dimension: Dimension
  /** The property key. Only for dimension `property`. */
  property?: string
  operator: Operator
  values: readonly string[]
}

/** Converts a condition of the flat form. Returns the positive condition, and whether it has to be negated. */
export function conditionOf({ dimension, property, operator, values }: FlatCondition): { negative: boolean; condition: Condition } {
  const op = positiveOperator(operator)
  const missing = missingTexts(dimension)
  const condition: Condition = {
    op,
    dimension,
    ...(property !== undefined && { property }),
    values,
    missing: op === "is" && values.some((text) => missing.includes(text)),
    caseSensitive: op === "is" || dimensionFacts(dimension).exactCase,
  }
  return { negative: op !== operator, condition }
}

const NEGATIVES: Partial<Record<Operator, Condition["op"]>> = {
  is_not: "is",
  contains_not: "contains",
  matches_wildcard_not: "matches_wildcard",
}

/** Returns the positive counterpart of a negative operator. Returns a positive operator unchanged. */
export function positiveOperator(operator: Operator): Condition["op"] {
  // An operator that is not a key of NEGATIVES is positive.
  return NEGATIVES[operator] ?? (operator as Condition["op"])
}

/** The texts that mean a missing value. `Direct` is one for source and referrer only: as a channel it is a value. */
const MISSING = ["(none)", "(not set)"]
const MISSING_ORIGIN = [...MISSING, "Direct", "Direct / None"]

export const missingTexts = (dimension: Dimension): readonly string[] =>
  dimensionFacts(dimension).missing[0] === "Direct" ? MISSING_ORIGIN : MISSING

/**
 * Returns a test of whether a non-missing text satisfies a condition. When case is ignored, both sides are lower-cased by the
 * default mapping of Unicode.
 */
export function textTest({ op, values, caseSensitive }: Pick<Condition, "op" | "values" | "caseSensitive">): (text: string) => boolean {
  const tests = values.map((value) => OPERATIONS[op](caseSensitive ? value : value.toLowerCase()))
  const passes = (text: string) => tests.some((test) => test(text))
  return caseSensitive ? passes : (text) => passes(text.toLowerCase())
}

const OPERATIONS: Record<Condition["op"], (value: string) => (text: string) => boolean> = {
  is: (value) => (text) => text === value,
  contains: (value) => (text) => text.includes(value),
  starts_with: (value) => (text) => text.startsWith(value),
  matches_wildcard: wildcardMatcher,
  gt: (value) => decimalTest(value, (order) => order > 0),
  gte: (value) => decimalTest(value, (order) => order >= 0),
  lt: (value) => decimalTest(value, (order) => order < 0),
  lte: (value) => decimalTest(value, (order) => order <= 0),
}

/**
 * Returns a test of whether a whole text matches a pattern in which `*` stands for any run of characters, including none and
 * including `/` (metrics.md section 10). The pieces between the stars are searched from left to right, each at its first
 * position, so that a text is read once however many stars the pattern has. The parsers limit its length and its stars.
 */
export function wildcardMatcher(pattern: string): (text: string) => boolean {
  const pieces = pattern.split("*")
  const head = pieces[0] ?? ""
  if (pieces.length === 1) return (text) => text === head
  const tail = pieces[pieces.length - 1] ?? ""
  const middle = pieces.slice(1, -1).filter((piece) => piece !== "")
  return (text) => matches(text, head, middle, tail)
}

function matches(text: string, head: string, middle: readonly string[], tail: string): boolean {
  const end = text.length - tail.length
  if (end < head.length || !text.startsWith(head) || !text.endsWith(tail)) return false
  let at = head.length
  for (const piece of middle) {
    const found = text.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return at <= end
}
