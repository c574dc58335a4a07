import type { Host } from "#plugin"

export type CohortsHost = Host

export const LIMITS = {
  cohorts: 100,
  nameChars: 120,
  descriptionChars: 500,
  conditions: 10,
  references: 3,
  /** References of a definition, those of the cohorts it refers to included. Each of them is resolved again. */
  allReferences: 30,
  /** Ids of a frozen cohort. */
  frozen: 5_000_000,
  chunk: 65_536,
  trendDays: 60,
  breakdowns: 3,
} as const

export const TEXT_OPERATORS = ["is", "contains", "starts_with", "matches_wildcard"] as const
export const NUMBER_OPERATORS = ["gt", "gte", "lt", "lte"] as const
export const VISIT_OPERATORS = [
  "is",
  "is_not",
  "contains",
  "contains_not",
  "starts_with",
  "matches_wildcard",
  "matches_wildcard_not",
] as const
export const PROPERTY_OPERATORS = ["is", "is_not", "contains", "starts_with", "matches_wildcard", ...NUMBER_OPERATORS] as const
export const COUNT_OPERATORS = ["gte", "eq", "lte"] as const

export interface CountRule {
  op: (typeof COUNT_OPERATORS)[number]
  n: number
}

export type WindowRule =
  | { type: "last_days"; days: number }
  | { type: "between"; from: string; to: string }
  | { type: "after_first_seen"; days: number }
  | { type: "after"; condition: number; days: number }

/** A filter of the flat form. */
export interface FilterRule {
  dimension: string
  property?: string
  operator?: string
  values: (string | number)[]
}

interface Common {
  negate?: boolean
  window?: WindowRule
  filters?: FilterRule[]
}

/** A condition as it is sent, stored and returned. */
export type Condition = Common &
  (
    | { type: "event" | "page"; value: string; operator?: (typeof TEXT_OPERATORS)[number]; count?: CountRule }
    | { type: "goal"; goal_id: number; count?: CountRule }
    | { type: "funnel"; funnel_id: number; step?: number }
    | { type: "property"; event?: string; property: string; operator?: (typeof PROPERTY_OPERATORS)[number]; values: string[] }
    | { type: "dimension"; dimension: string; operator?: (typeof VISIT_OPERATORS)[number]; values: string[] }
    | { type: "first_seen" }
    | { type: "revenue"; operator: (typeof NUMBER_OPERATORS)[number]; amount: string; currency: string }
    | { type: "active_days"; count?: CountRule }
    | { type: "cohort"; cohort_id: number }
  )

export interface Definition {
  match?: "all" | "any"
  conditions: (Condition | Definition)[]
}

export const isGroup = (item: Condition | Definition): item is Definition => "conditions" in item

export const RESTRICTIONS = ["identified"] as const
/** `identified`: only people with a user id or device id count, in every identity mode. */
export type Restriction = (typeof RESTRICTIONS)[number]

/** Fields of a cohort that people set. */
export interface CohortFields {
  name: string
  description: string
  definition: Definition
  restrict: Restriction | null
}

/** A stored cohort. Instants in epoch ms. */
export interface Cohort extends CohortFields {
  id: number
  site_id: number
  kind: "dynamic" | "static"
  /** Days for which people must be recognized, by the windows of the definition. */
  identity_min_days: number
  /** People when it was last computed; null before, and while a frozen cohort is being written. */
  size: number | null
  pending: number | null
  /** In percent. */
  coverage: number | null
  /** The smallest number of people, other than none, by which leaving out one condition or filter changes the size. */
  least_difference: number | null
  computed_at: number | null
  compute_ms: number | null
  created_by: number | null
  version: number
  created_at: number
  updated_at: number
  deleted_at: number | null
}
