import type { FlatCondition } from "./condition.ts"
import { DIMENSIONS, type Dimension } from "./dimension.ts"
import type { Versioned } from "./version.ts"

/** In the order of the drop reasons they lead to. */
export const SHIELD_KINDS = ["ip", "country", "page", "hostname", "referrer", "rule"] as const
export type ShieldKind = (typeof SHIELD_KINDS)[number]

/** A rule for drops of a site or of the instance (metrics.md 19.1). Kind `hostname` drops as `host`, `referrer` as `spam`. */
export interface Shield {
  id: number
  kind: ShieldKind
  /** What is compared; of kind `rule` its name. Drops are counted under it. */
  value: string
  /** Of kind `rule` alone: all must hold. */
  conditions?: readonly RuleCondition[]
  note: string
  enabled: boolean
  /** Counts its changes; absent before the first one. */
  version?: number
}

/** A shield for all sites. */
export interface InstanceShield extends Omit<Shield, "version">, Versioned {
  created_at: number
  updated_at: number
}

/** Where a visit began and ends, and which goals exist, is not told by an event that comes in. */
const OF_A_VISIT = ["entry_page", "exit_page", "entry_page_hostname", "exit_page_hostname", "goal"] as const
export type RuleDimension = Exclude<Dimension, (typeof OF_A_VISIT)[number]>

/** What a rule can look at, in the order in which dimensions are listed everywhere. */
export const RULE_DIMENSIONS = (Object.keys(DIMENSIONS) as Dimension[]).filter(
  (name): name is RuleDimension => !OF_A_VISIT.some((other) => other === name),
)

export type RuleCondition = FlatCondition & { dimension: RuleDimension }
