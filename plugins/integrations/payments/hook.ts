/** The payment hooks of a site: addresses at which payment providers report payments. Times are epoch milliseconds. */
export const HOOK_KINDS = ["stripe", "paddle", "lemonsqueezy", "woocommerce", "shopify", "payments-generic"] as const
export type HookKind = (typeof HOOK_KINDS)[number]

export interface PaymentHook {
  id: number
  site_id: number
  kind: HookKind
  /** SHA-256 of the token in its URL, in hex. The token itself is shown once and stored nowhere. */
  token_hash: string
  /** Signing secrets, newest first. The second one is valid until its end. Empty until the provider has shown its secret. */
  secrets: readonly HookSecret[]
  enabled: boolean
  last_event_at: number | null
  created_by: number | null
  created_at: number
  updated_at: number
  version: number
}

export interface HookSecret {
  id: number
  /** null for the current secret. */
  valid_until: number | null
}

export const HOOK_RESULTS = ["published", "ignored", "failed"] as const
export type HookResult = (typeof HOOK_RESULTS)[number]

/** A provider's event that was received and verified. */
export interface HookEvent {
  id: number
  hook_id: number
  /** Id of the event at its provider, or the SHA-256 of its body. */
  external_id: string
  received_at: number
  /** Sealed body; null after 30 days. */
  body_secret_id: number | null
  result: HookResult
  detail: string
}

const DAY_MS = 86_400_000

export const LIMITS = {
  perSite: 20,
  secretChars: 500,
  bodyBytes: 1_048_576,
  /** Largest deviation of a signed time from the clock. */
  toleranceMs: 300_000,
  /** Time for which the previous secret stays valid. */
  rotationMs: DAY_MS,
  bodyKeptMs: 30 * DAY_MS,
  /** Time for which a repeated event is recognized. Afterwards, the ids of its payments still are. */
  eventKeptMs: 400 * DAY_MS,
  paymentsPerEvent: 100,
  detailChars: 300,
} as const
