/** What an event carries once ingestion is done with it. Texts are final: cut, normalised; "" is the missing value. */
export interface NewEvent {
  /** UTC epoch milliseconds. */
  at: number
  /** `pageview`, `engagement`, `vitals`, or the name of a custom event, verbatim. */
  name: string
  page: string
  hostname: string
  title: string
  /** False: counted, but does not end a bounce. */
  interactive: boolean
  props: readonly (readonly [key: string, value: string])[]
  /** Minor units of the currency, signed. */
  revenue?: { amount: number; currency: string }
  /** Only of `engagement`: engaged milliseconds since the last report, largest scroll depth 0..100 (absent: unknown). */
  engagement?: { engagedMs: number; scrollDepth?: number }
  /** Only of `vitals`. */
  vitals?: Vitals
}

/** Web vitals: whole milliseconds; `cls` without unit, three decimals. */
export interface Vitals {
  lcp?: number
  inp?: number
  fcp?: number
  ttfb?: number
  cls?: number
}

/** Why an event is refused, in the order in which the rules apply (metrics.md section 19.1). */
export const DROP_REASONS = [
  "unknown_site",
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

/** What became of an event that arrived: stored, dropped by a rule, or refused because it could not be stored. */
export const INGEST_OUTCOMES = ["accepted", ...DROP_REASONS, "refused_storage", "refused_queue"] as const
export type IngestOutcome = (typeof INGEST_OUTCOMES)[number]

/** Things counted beside the drops: the event was kept, a part of it was not. */
const COUNTERS = ["revenue_invalid", "revenue_duplicate", "props_discarded", "identify_ignored", "cardinality"] as const
export type Counter = (typeof COUNTERS)[number]

/** Names of what the tracker and areas record themselves: nobody else may send an event of these. */
export const REFUSED_NAMES: readonly string[] = ["engagement", "vitals", "link_click", "pixel_open"]

/** The form of an event's own id; the same id on the same site within 24 hours of arrival is stored once. */
export const EVENT_ID = /^[A-Za-z0-9_-]{8,64}$/
