import { operationsOf } from "#plugin"
import type { Following } from "./folding/following.ts"
import type { Recompute } from "./folding/recompute.ts"
import type { Visibility } from "./folding/visibility.ts"
import type { Writing } from "./folding/writing.ts"
import type { RevenueHost } from "./host.ts"
import type { Rates } from "./rates/rates.ts"
import type { RevenueSettingsStore } from "./settings.ts"
import type { List } from "./transactions/list.ts"
import type { Manual } from "./transactions/manual.ts"

/** The parts of the area, each of which has a file. */
export interface Area {
  host: RevenueHost
  settings: RevenueSettingsStore
  rates: Rates
  writing: Writing
  recompute: Recompute
  following: Following
  visibility: Visibility
  manual: Manual
  list: List
}

export const operation = operationsOf("revenue")
