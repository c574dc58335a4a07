import type { Clock } from "../../domain/clock.ts"
import type { EventStore } from "../../store/events/events.ts"
import type { IngestCounts } from "../commit/outcomes.ts"
import type { createCalendar, IdentityKeys, Salts } from "../identity/salt-period.ts"
import type { Pipeline } from "../pipeline/pipeline.ts"

/** The components that collecting an event needs, shared by browsers, servers and plugins. */
export interface Intake extends Pipeline {
  clock: Clock
  random(bytes: number): Uint8Array
  calendar: ReturnType<typeof createCalendar>
  salts: Salts
  identityKeys: IdentityKeys
  store: Pick<EventStore, "forgetVisitors" | "room">
  /** Counts of outcomes per minute. */
  counts?: IngestCounts
  onError?(error: unknown): void
}
