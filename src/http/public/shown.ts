import { type Static, Type as t } from "@sinclair/typebox"
import { type Annotation, annotationDay } from "../../domain/annotation.ts"
import type { Funnel } from "../../domain/funnel.ts"
import type { Goal } from "../../domain/goal.ts"
import { instantText } from "../../domain/moment.ts"
import type { Site } from "../../domain/site.ts"
import { snippetOf } from "../../domain/snippet.ts"

/** Response schemas of the public API (api.md section 5). Timestamps are RFC 3339 in UTC with second precision. */
const Id = t.Integer({ minimum: 1 })
const Instant = t.String({ format: "date-time" })
const TIMES = { created_at: Instant, updated_at: Instant }

export const SiteResponse = t.Object(
  {
    id: Id,
    name: t.String(),
    hosts: t.Array(t.String()),
    timezone: t.String(),
    retention_days: t.Union([t.Integer(), t.Null()]),
    revenue_currency: t.String(),
    tracking_id: t.String({ format: "uuid" }),
    snippet: t.String({ description: "Script element for the head of every page. Contains `data-local` if one of the hosts is local." }),
    first_event_at: t.Optional(Instant),
    ...TIMES,
  },
  // Set explicitly: Elysia would close this schema on first use, but not its copies, and the document allows only one schema `Site`.
  { title: "Site", additionalProperties: false },
)
export type SiteResponse = Static<typeof SiteResponse>

/** Sources of the members of a site that are not stored with it. */
export interface SiteFacts {
  /** Returns the URL of the tracker script. */
  scriptUrl(): string
  /** Returns the time of a site's first visit in epoch milliseconds, or undefined without visits. */
  firstAt(siteId: number): number | undefined
}

export function toSiteResponse(site: Site, { scriptUrl, firstAt }: SiteFacts): SiteResponse {
  const { id, name, hosts, timezone, retention_days, revenue_currency, tracking_id } = site
  const first = firstAt(id)
  return {
    id,
    name,
    hosts: [...hosts],
    timezone,
    retention_days,
    revenue_currency,
    tracking_id,
    snippet: snippetOf(site, scriptUrl()),
    ...(first !== undefined && { first_event_at: instantText(first) }),
    ...timesOf(site),
  }
}

const MATCHER = { match: t.String(), value: t.String() }

export const GoalResponse = t.Object(
  {
    id: Id,
    site_id: Id,
    kind: t.String(),
    ...MATCHER,
    name: t.String(),
    threshold: t.Optional(t.Integer()),
    props: t.Optional(t.Record(t.String(), t.String())),
    ...TIMES,
  },
  { title: "Goal" },
)
export type GoalResponse = Static<typeof GoalResponse>

export function toGoalResponse({ id, site_id, kind, match, value, name, threshold, props, ...goal }: Goal): GoalResponse {
  const more = { ...(threshold !== undefined && { threshold }), ...(props && { props: { ...props } }) }
  return { id, site_id, kind, match, value, name, ...more, ...timesOf(goal) }
}

export const FunnelResponse = t.Object(
  {
    id: Id,
    site_id: Id,
    name: t.String(),
    steps: t.Array(t.Object({ type: t.String(), ...MATCHER, name: t.String() })),
    order: t.String(),
    window_hours: t.Union([t.Integer(), t.Null()]),
    ...TIMES,
  },
  { title: "Funnel" },
)
export type FunnelResponse = Static<typeof FunnelResponse>

export const toFunnelResponse = ({ id, site_id, name, steps, order, window_hours, ...funnel }: Funnel): FunnelResponse => ({
  id,
  site_id,
  name,
  steps: steps.map(({ type, match, value, name }) => ({ type, match, value, name })),
  order,
  window_hours,
  ...timesOf(funnel),
})

export const AnnotationResponse = t.Object(
  {
    id: Id,
    site_id: Id,
    at: t.String({ description: "Day, or timestamp in UTC, as created." }),
    day: t.String({ format: "date", description: "Day in the time zone of the site." }),
    text: t.String(),
    ...TIMES,
  },
  { title: "Annotation" },
)
export type AnnotationResponse = Static<typeof AnnotationResponse>

export const toAnnotationResponse = (annotation: Annotation, { timezone }: Site): AnnotationResponse => {
  const { id, site_id, at, text } = annotation
  return { id, site_id, at, day: annotationDay(annotation, timezone), text, ...timesOf(annotation) }
}

const timesOf = ({ created_at, updated_at }: { created_at: number; updated_at: number }) => ({
  created_at: instantText(created_at),
  updated_at: instantText(updated_at),
})
