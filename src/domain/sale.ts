import type { VisitorKind } from "./visit.ts"

/** Who sent the amount of a sale: a browser or an import (`client`), or the site's own server with an API key (`server`). */
export type SaleTrust = "client" | "server"

/** An event with revenue as it is stored for the revenue area, in storage order. A negative amount is a refund. */
export interface SaleEvent {
  /** Sequence of the event, by which it is known. */
  sequence: number
  /** Position in storage order, over all sites: a later sale event has a higher one. It is the sequence in the store of the only node. */
  place: number
  site_id: number
  /** Sequence of the first event of its visit. Follows the visit until it is closed. */
  visit_sequence: number
  /** 0 = native. */
  import_id: number
  /** Instant that decides whether it is on an effective day of its import: the start of its visit, in epoch ms. */
  import_at: number
  /** Epoch ms. */
  at: number
  /** Signed minor units. */
  amount_minor: number
  currency: string
  /** Value of the site's `order_property`, verbatim. Null without one. */
  order_id: string | null
  /** Name of the event. */
  name: string
  trust: SaleTrust
  /** Whether the order was seen within the last 24 hours before, so that the revenue metrics leave the event's revenue out. */
  is_repeated: boolean
}

/** The dimensions of a visit by which sales are attributed. */
export const TOUCH_DIMENSIONS = [
  "entry_page",
  "hostname",
  "source",
  "referrer",
  "channel",
  "utm_source",
  "utm_medium",
  "utm_campaign",
  "utm_term",
  "utm_content",
] as const

/** The dimensions of a visit that a sale keeps. */
export const SALE_DIMENSIONS = [...TOUCH_DIMENSIONS, "country", "region", "city", "device", "browser", "os", "language"] as const

/** The dimensions of a visit as texts; "" is the missing value. `hostname` is that of the entry page. */
export type SaleDimensions = Record<(typeof SALE_DIMENSIONS)[number], string>

/** The visit of a sale event as it is now. */
export interface SaleVisit {
  /** Sequence of its first event. */
  sequence: number
  /** Pseudonym of 16 hex digits. */
  visitor: string
  visitor_kind: VisitorKind
  /** Epoch ms. */
  started_at: number
  /** Whether no event can join the visit any more, so that nothing of it changes except by erasure. */
  is_closed: boolean
  dims: SaleDimensions
}

/** The start of a visit. Texts as in `SaleDimensions`. */
export interface Touch extends Record<(typeof TOUCH_DIMENSIONS)[number], string> {
  /** Pseudonym of 16 hex digits. */
  visitor: string
  /** Sequence of the visit's first event, which orders visits with equal starts. */
  sequence: number
  /** Epoch ms. */
  at: number
}

/** A click of a person on a short link. */
export interface LinkClick {
  /** Pseudonym of 16 hex digits. */
  visitor: string
  /** Epoch ms. */
  at: number
  link_id: number
}
