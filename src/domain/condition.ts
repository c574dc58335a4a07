/** What a condition on a text means (metrics.md section 10): the same for questions about stored events and for rules over coming ones. */
import { type Dimension, dimensionFacts } from "./dimension.ts"
import type { Condition, Operator } from "./filter.ts"
import { wildcardMatcher } from "./wildcard.ts"

/** A condition as people write it in the flat form. */
export interface FlatCondition {
  dimension: Dimension
  /** The key, of dimension `property` alone. */
  property?: string
  operator: Operator
  values: readonly string[]
}

/** The condition, and whether it must not hold. Its case is that of the flat form. */
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

/** Whether a present text satisfies a condition. Without case both sides are lower-cased by the Unicode default mapping. */
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
}
