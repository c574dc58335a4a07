import type { SaleTrust } from "./sale.ts"

/** An event as ingestion stores it. Texts are final, that is truncated and normalized; "" is the missing value. */
export interface NewEvent {
  /** UTC epoch milliseconds. */
  at: number
  /** `pageview`, `engagement`, `vitals`, or the name of a custom event, verbatim. */
  name: string
  page: string
  hostname: string
  title: string
  /** False for an event that is counted but does not prevent a bounce. */
  interactive: boolean
  props: readonly (readonly [key: string, value: string])[]
  /** Minor units of the currency, signed. */
  revenue?: Money
  /** The amount as the revenue area gets it. Differs from `revenue` for a repeated order, whose revenue is left out. */
  sale?: NewSale
  /** For `engagement` only: engaged milliseconds since the last report, and the largest scroll depth, 0 to 100 (absent when unknown). */
  engagement?: { engagedMs: number; scrollDepth?: number }
  /** For `vitals` only. */
  vitals?: Vitals
}

/** An amount in signed minor units. */
interface Money {
  amount: number
  currency: string
}

export interface NewSale extends Money {
  /** Value of the site's `order_property`; "" without one. */
  orderId: string
  trust: SaleTrust
  isRepeated: boolean
}

/** Web vitals in whole milliseconds. `cls` has no unit and three decimals. */
export interface Vitals {
  lcp?: number
  inp?: number
  fcp?: number
  ttfb?: number
  cls?: number
}

/** The reasons for dropping an event, in the order in which the rules are applied (metrics.md section 19.1). */
export const DROP_REASONS = [
  "unknown_site",
  "host_disputed",
  "invalid",
  "rate",
  "prefetch",
  "bot",
  "host",
  "ip",
  "datacenter",
  "spam",
  "probe",
  "page",
  "country",
  "rule",
  "gpc",
  "duplicate",
  "no_visit",
] as const
export type DropReason = (typeof DROP_REASONS)[number]

/** The possible outcomes for a received event: stored, dropped by a rule, or refused because it could not be stored. */
export const INGEST_OUTCOMES = ["accepted", ...DROP_REASONS, "refused_storage", "refused_queue"] as const
export type IngestOutcome = (typeof INGEST_OUTCOMES)[number]

/** Counters of partial losses: the event was stored, but a part of it was discarded. */
const COUNTERS = ["revenue_invalid", "revenue_duplicate", "props_discarded", "identify_ignored", "cardinality"] as const
export type Counter = (typeof COUNTERS)[number]

/** Event names that are reserved for the tracker and for areas. Other events with these names are refused. */
export const REFUSED_NAMES: readonly string[] = ["engagement", "vitals", "link_click", "pixel_open"]

/** The format of the event id that a sender may add. The same id on the same site is stored once within 24 hours of arrival. */
export const EVENT_ID = /^[A-Za-z0-9_-]{8,64}$/
