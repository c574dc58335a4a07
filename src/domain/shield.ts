import { DIMENSIONS, type Dimension } from "./dimension.ts"
import type { FlatCondition } from "./filter.ts"
import type { Versioned } from "./version.ts"

/** The kinds of shields, in the order of the drop reasons they cause. */
export const SHIELD_KINDS = ["ip", "country", "page", "hostname", "referrer", "rule"] as const
export type ShieldKind = (typeof SHIELD_KINDS)[number]

/** A rule of a site or of the instance that drops events (metrics.md 19.1). Kind `hostname` uses the drop reason `host`, `referrer` uses `spam`. */
export interface Shield {
  id: number
  kind: ShieldKind
  /** The value to compare, or the name of a shield of kind `rule`. Drops are counted by this value. */
  value: string
  /** Only for kind `rule`. All conditions must hold. */
  conditions?: readonly RuleCondition[]
  note: string
  enabled: boolean
  /** Version number. Absent before the first change. */
  version?: number
}

/** A shield for all sites. */
export interface InstanceShield extends Omit<Shield, "version">, Versioned {
  created_at: number
  updated_at: number
}

/** Dimensions that are unknown when an event is received: the entry and exit pages of its visit, and its goals. */
const UNAVAILABLE_DIMENSIONS = ["entry_page", "exit_page", "entry_page_hostname", "exit_page_hostname", "goal"] as const
export type RuleDimension = Exclude<Dimension, (typeof UNAVAILABLE_DIMENSIONS)[number]>

/** The dimensions available to rules, in the usual order of dimensions. */
export const RULE_DIMENSIONS = (Object.keys(DIMENSIONS) as Dimension[]).filter(
  (name): name is RuleDimension => !UNAVAILABLE_DIMENSIONS.some((other) => other === name),
)

export type RuleCondition = FlatCondition & { dimension: RuleDimension }
