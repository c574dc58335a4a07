import type { Dimension } from "./dimension.ts"

export const OPERATORS = ["is", "is_not", "contains", "contains_not", "starts_with", "matches_wildcard", "matches_wildcard_not"] as const
export type Operator = (typeof OPERATORS)[number]

/** One condition. The values are alternatives of a positive operator; a negative one holds when none of them matches. */
export interface Condition {
  op: "is" | "contains" | "starts_with" | "matches_wildcard"
  dimension: Dimension
  /** The key, of dimension `property` alone. */
  property?: string
  values: readonly string[]
  /** A missing value matches. Parsers set it when the values name `(none)` or its like; only of `is`. */
  missing: boolean
  caseSensitive: boolean
  /** The values are compared with English names instead of codes; of dimension `country` alone. */
  named?: boolean
}

/**
 * A tree of conditions. Negative operators are parsed into `not`: a missing value then passes them, as metrics.md
 * section 10 has it. All event conditions below one `and` must be met by the same event; `has_done` keeps events whose
 * visit has a counted event, at any time, that satisfies the inner tree.
 */
export type Filter =
  | { op: "and" | "or"; filters: readonly Filter[] }
  | { op: "not"; filter: Filter }
  | { op: "has_done"; filter: Filter }
  | Condition
