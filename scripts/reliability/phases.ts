/** Definitions shared by the killed process and the process that checks it. */
import { type Shipping, startShipping } from "../../src/services/shipping/shipping.ts"
import type { ClickhouseServer } from "../../src/store/clickhouse/client.ts"
import type { EventStore } from "../../src/store/events/events.ts"

export const PHASES = ["seal", "seal-open", "merge", "erase", "retain", "import", "undo", "checkpoint", "backup"] as const
export type Phase = (typeof PHASES)[number]

/** The phases that remove nothing, which a store can have that ships to ClickHouse without the rest of its node. */
export const SHIPPED_PHASES = ["seal", "seal-open", "merge", "import", "checkpoint"] as const satisfies readonly Phase[]

export interface LoopOptions {
  path: string
  /** Where the events are shipped to. Default: nowhere. */
  server?: ClickhouseServer
  phase: Phase
  /** Number of the first visit to write. */
  next: number
  importId: number
}

export const SITE = 1
export const IMPORTED_VISITS = 2_000
export const RETAINED_MS = 3_600_000

/** A visit has three events, each identified by its amount. */
export const eventsOfVisit = (visit: number): number[] => [visit * 10 + 1, visit * 10 + 2, visit * 10 + 3]
/** Reports whether the erasure selects a visit. */
export const erasable = (visit: number): boolean => visit % 7 === 3
/** Two seconds of the loop's clock per visit, so that half an hour passes in a moment. */
export const momentOf = (visit: number): number => Date.parse("2026-01-05T00:00:00Z") + visit * 2_000

const NODE = 1
const siteKey = async () => new Uint8Array(32)

/** Starts to ship what a store contains. */
export function shipFrom(store: EventStore, path: string, server: ClickhouseServer): Shipping {
  store.beginShipping(NODE, siteKey)
  const clock = { now: Date.now, monotonic: () => performance.now() }
  const workerUrl = new URL("../../src/services/shipping/worker.ts", import.meta.url).href
  return startShipping({ store, path, server, siteKey, clock, workerUrl, node: NODE, spoolBytes: 2 ** 34 })
}
