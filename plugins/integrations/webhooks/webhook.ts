import type { Scoped } from "../area.ts"
import { ONLY_BY_NAME } from "../events.ts"

/** A receiver of product events. Times are epoch milliseconds. */
export interface Webhook extends Scoped {
  id: number
  url_secret_id: number
  /** Host and last characters of the URL. */
  url_label: string
  description: string
  /** Names of events, or `*` alone. */
  events: readonly string[]
  /** Newest first. The second one signs until its end. */
  secrets: readonly WebhookSecret[]
  enabled: boolean
  disabled_reason: DisabledReason | null
  failing_since: number | null
  paused_until: number | null
  sequence: number
  created_by: number | null
  created_at: number
  updated_at: number
  version: number
}

export interface WebhookSecret {
  id: number
  /** null for the current secret. */
  valid_until: number | null
}

export type DisabledReason = "failing" | "gone" | "manual"

export const DELIVERY_STATES = ["pending", "delivered", "failed", "dead"] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** A message for one webhook. Its body is made from the stored product event for each attempt. */
export interface Delivery {
  id: number
  webhook_id: number
  /** null for the test event. */
  outbox_id: number | null
  event: string
  message_id: string
  sequence: number
  /** Number of attempts so far. */
  attempt: number
  /** `failed` waits for another attempt at `next_at`, or without one until the URL or a setting of the instance changes. */
  state: DeliveryState
  /** HTTP status of the last attempt. */
  status: number | null
  /** Cause of the last failure. */
  code: string | null
  ms: number | null
  response_excerpt: string | null
  next_at: number | null
  created_at: number
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

export const LIMITS = {
  perScope: 20,
  descriptionChars: 200,
  urlChars: 2_048,
  bodyBytes: 20 * 1_024,
  timeoutMs: 15_000,
  parallel: 32,
  /** Places of the parallel ones that webhooks can take whose last attempt failed. */
  parallelFailing: 8,
  /** Pauses before each further attempt. */
  retriesMs: [30_000, 2 * MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, DAY_MS],
  /** Largest deviation from a pause, so that many receivers are not called at once. */
  jitter: 0.2,
  /** No attempt waits longer. A later time was written while the clock was wrong. */
  longestWaitMs: 30 * HOUR_MS,
  /** Time without a success after which a webhook is disabled. */
  failingMs: 5 * DAY_MS,
  /** Time for which the old secret still signs. */
  rotationMs: DAY_MS,
  keptMs: 30 * DAY_MS,
  keptFinished: 10_000,
} as const

/** Whether a webhook receives an event. */
export const wants = ({ events }: Pick<Webhook, "events">, event: string): boolean =>
  events.includes(event) || (events.includes("*") && !ONLY_BY_NAME.includes(event))
