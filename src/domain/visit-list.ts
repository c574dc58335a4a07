import { type Static, Type as t } from "@sinclair/typebox"
import { Money } from "./money.ts"
import type { RowsQuery, SiteFacts } from "./query.ts"
import { REPORT_FACTS } from "./report.ts"
import { field, Listed, orNull, textOf } from "./response.ts"
import type { IdentityMode, VisitorKind, VisitTraits } from "./visit.ts"

/**
 * Single visits, newest first, and the timeline of one. Both contain only what this instance recorded: imported visits have the
 * precision and the gaps of the product that they come from.
 */

/** Start and sequence of a visit, by which visits are ordered. */
export interface VisitPlace {
  start: number
  sequence: number
}

/** Conditions on a whole visit, in addition to the filter. */
export interface VisitBounds {
  minDurationMs?: number
  minPageviews?: number
  /** Whether the visit must have an event with revenue. */
  hasRevenue?: boolean
}

/** A query for the newest recorded visits that start in the range and satisfy the filter. */
export interface VisitListQuery extends RowsQuery {
  bounds: VisitBounds
  limit: number
  /** Place of the last visit of the page before. */
  before?: VisitPlace
  /** Whether to count all visits, which reads the whole range. */
  count: boolean
}

/** A visit as it is stored, with what its events amount to. "" is the missing value. */
export interface ListedVisit extends VisitTraits, VisitPlace {
  /** Number of the visitor. Must be converted to a pseudonym before it is shown to anyone. */
  visitor: number
  visitor_kind: VisitorKind
  durationMs: number
  pageviews: number
  /** Pageviews and custom events. */
  events: number
  entry_page: string
  exit_page: string
  hostname: string
  /** Indexes of the site's goals that the visit completed, ascending. */
  goals: number[]
  /** Sums of revenue by currency, in minor units, by code of the currency. */
  revenue: { currency: string; minor: number }[]
}

export interface VisitListResult {
  visits: ListedVisit[]
  hasMore: boolean
  /** Present only if requested. */
  total?: number
}

/** A query for one recorded visit. */
export interface VisitQuery {
  site: SiteFacts
  /** Sequence of its first event. */
  sequence: number
  /** Position of the first event of the timeline, and their number. */
  offset: number
  limit: number
}

/** A pageview or custom event of a timeline. */
export interface TimelineEvent {
  at: number
  name: string
  page: string
  hostname: string
  title: string
  props: [key: string, value: string][]
  revenue?: { currency: string; minor: number }
  /** Indexes of the goals that the event completed. */
  goals: number[]
  /** Engaged time and largest scroll depth that the tracker reported for the page until the next pageview. */
  engagedMs?: number
  scrollDepth?: number
}

export interface VisitTimeline {
  visit: ListedVisit
  events: TimelineEvent[]
  hasMore: boolean
}

const SHARED = {
  visit: field.text("Pseudonym of the visit: 16 hex digits, the same as in exports."),
  visitor: field.text("Pseudonym of the visitor: 16 hex digits, the same as in exports."),
  visitor_kind: textOf<VisitorKind>({
    description: "How the visitor is recognized: `rotating` (an ID that changes daily, weekly or monthly), `device` or `user`.",
  }),
  started_at: field.instant("Time of the first event."),
  duration: field.integer("Time from the first to the last event, in seconds."),
  pageviews: field.integer("Number of pageviews."),
  events: field.integer("Number of pageviews and custom events."),
  hostname: orNull(t.String(), { description: "Host of the entry page." }),
  entry_page: orNull(t.String(), { description: "Page of the first pageview. null for a visit without pageviews." }),
  exit_page: orNull(t.String(), { description: "Page of the last pageview. null for a visit without pageviews." }),
  source: orNull(t.String(), { description: "Source. null for direct visits." }),
  channel: orNull(t.String(), { description: "Channel." }),
  country: orNull(t.String(), { description: "ISO 3166-1 code of the country." }),
  region: orNull(t.String(), { description: "Name of the region, or its code if the name is unknown." }),
  city: orNull(t.String(), { description: "Name of the city, or its code if the name is unknown." }),
  device: orNull(t.String(), { description: "Type of the device." }),
  browser: orNull(t.String(), { description: "Name of the browser." }),
  os: orNull(t.String(), { description: "Name of the operating system." }),
  goals: field.texts("Names of the goals that the visit completed."),
  revenue: t.Optional(t.Array(Money, { description: "Revenue by currency. Absent without the permission `revenue:read`." })),
}

export const ListedVisitResponse = t.Object(SHARED, { title: "Visit" })
export type ListedVisitResponse = Static<typeof ListedVisitResponse>

export const VisitListResponse = t.Object(
  {
    ...Listed(ListedVisitResponse).properties,
    meta: t.Object(REPORT_FACTS, { description: "Site, range, time zone and notes of the list." }),
  },
  { title: "VisitList" },
)
export type VisitListResponse = Static<typeof VisitListResponse>

export const TimelineEventResponse = t.Object({
  at: field.instant("Time of the event, with milliseconds."),
  name: field.text("`pageview`, or the name of the custom event."),
  page: orNull(t.String(), { description: "Path of the page." }),
  hostname: orNull(t.String(), { description: "Host of the page." }),
  title: orNull(t.String(), { description: "Title of the page." }),
  properties: t.Record(t.String(), t.String(), { description: "Properties of the event." }),
  revenue: t.Optional(t.Object(Money.properties, { description: "Revenue of the event. Absent without the permission `revenue:read`." })),
  goals: field.texts("Names of the goals that the event completed."),
  engaged_seconds: t.Optional(field.integer("Engaged time on the page, in seconds. Absent if it was not measured.")),
  scroll_depth: t.Optional(field.integer("Largest scroll depth on the page, in percent. Absent if it was not measured.")),
})

export const VisitResponse = t.Object(
  {
    ...SHARED,
    referrer: orNull(t.String(), { description: "Referrer." }),
    utm_source: orNull(t.String(), { description: "`utm_source` of the entry page." }),
    utm_medium: orNull(t.String(), { description: "`utm_medium` of the entry page." }),
    utm_campaign: orNull(t.String(), { description: "`utm_campaign` of the entry page." }),
    utm_term: orNull(t.String(), { description: "`utm_term` of the entry page." }),
    utm_content: orNull(t.String(), { description: "`utm_content` of the entry page." }),
    language: orNull(t.String(), { description: "Language of the browser." }),
    size: orNull(t.String(), { description: "Class of the screen size." }),
    browser_version: orNull(t.String(), { description: "Version of the browser." }),
    os_version: orNull(t.String(), { description: "Version of the operating system." }),
    identity_mode: textOf<IdentityMode>({
      description: "Identity mode of the site at the time of the visit: `daily`, `weekly`, `monthly`, `identified` or `persistent`.",
    }),
    timeline: t.Object(
      {
        data: t.Array(TimelineEventResponse, { description: "Events of the page, oldest first." }),
        has_more: field.flag("Whether more events follow."),
        next_cursor: orNull(t.String(), { description: "Value for the parameter `cursor` of the next page. null on the last page." }),
      },
      { description: "Pageviews and custom events of the visit." },
    ),
  },
  { title: "VisitTimeline" },
)
export type VisitResponse = Static<typeof VisitResponse>
