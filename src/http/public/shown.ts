import { type Static, Type as t } from "@sinclair/typebox"
import { type Annotation, annotationDay } from "../../domain/annotation.ts"
import type { Funnel } from "../../domain/funnel.ts"
import type { Goal } from "../../domain/goal.ts"
import { instantText } from "../../domain/moment.ts"
import type { Site } from "../../domain/site.ts"

/** Things as the public API answers them (api.md section 5). Instants are RFC 3339 in UTC, to the second. */
const Id = t.Integer({ minimum: 1 })
const Instant = t.String({ format: "date-time" })
const TIMES = { created_at: Instant, updated_at: Instant }

export const SiteShown = t.Object(
  {
    id: Id,
    name: t.String(),
    hosts: t.Array(t.String()),
    timezone: t.String(),
    retention_days: t.Union([t.Integer(), t.Null()]),
    revenue_currency: t.String(),
    tracking_id: t.String({ format: "uuid" }),
    snippet: t.String({ description: "To be put on every page" }),
    first_event_at: t.Optional(Instant),
    ...TIMES,
  },
  // Said here: the framework would close this object when it is first used, but not the copies of it, and the documents want one Site.
  { title: "Site", additionalProperties: false },
)
export type SiteShown = Static<typeof SiteShown>

/** What a site's answer says beside what is stored of it. */
export interface SiteFacts {
  /** Where pages load the tracker from. */
  scriptUrl(): string
  /** Epoch ms of a site's first visit. */
  firstAt(siteId: number): number | undefined
}

export function shownSite(site: Site, { scriptUrl, firstAt }: SiteFacts): SiteShown {
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
    snippet: `<script defer src="${scriptUrl()}" data-site="${tracking_id}"></script>`,
    ...(first !== undefined && { first_event_at: instantText(first) }),
    ...timesOf(site),
  }
}

const MATCHER = { match: t.String(), value: t.String() }

export const GoalShown = t.Object(
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
export type GoalShown = Static<typeof GoalShown>

export function shownGoal({ id, site_id, kind, match, value, name, threshold, props, ...goal }: Goal): GoalShown {
  const more = { ...(threshold !== undefined && { threshold }), ...(props && { props: { ...props } }) }
  return { id, site_id, kind, match, value, name, ...more, ...timesOf(goal) }
}

export const FunnelShown = t.Object(
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
export type FunnelShown = Static<typeof FunnelShown>

export const shownFunnel = ({ id, site_id, name, steps, order, window_hours, ...funnel }: Funnel): FunnelShown => ({
  id,
  site_id,
  name,
  steps: steps.map(({ type, match, value, name }) => ({ type, match, value, name })),
  order,
  window_hours,
  ...timesOf(funnel),
})

export const AnnotationShown = t.Object(
  {
    id: Id,
    site_id: Id,
    at: t.String({ description: "As given: a day, or an instant in UTC" }),
    day: t.String({ format: "date", description: "In the site's time zone" }),
    text: t.String(),
    ...TIMES,
  },
  { title: "Annotation" },
)
export type AnnotationShown = Static<typeof AnnotationShown>

export const shownAnnotation = (annotation: Annotation, { timezone }: Site): AnnotationShown => {
  const { id, site_id, at, text } = annotation
  return { id, site_id, at, day: annotationDay(annotation, timezone), text, ...timesOf(annotation) }
}

const timesOf = ({ created_at, updated_at }: { created_at: number; updated_at: number }) => ({
  created_at: instantText(created_at),
  updated_at: instantText(updated_at),
})
