import type { Clock } from "../domain/clock.ts"
import type { EventStore } from "../store/events/events.ts"
import type { EventBuffer } from "./buffer.ts"
import type { createCalendar } from "./calendar.ts"
import type { createPipeline } from "./pipeline.ts"
import type { IdentityKeys, Salts } from "./salts.ts"

/** What the way of an event needs, made once and the same for browsers and servers. */
export interface Intake {
  clock: Clock
  random(bytes: number): Uint8Array
  calendar: ReturnType<typeof createCalendar>
  salts: Salts
  identityKeys: IdentityKeys
  pipeline: ReturnType<typeof createPipeline>
  buffer: EventBuffer
  store: Pick<EventStore, "forgetVisitors">
  onError?(error: unknown): void
}
