import type { Funnel, FunnelResponse } from "../../domain/funnel.ts"
import type { Goal, GoalResponse } from "../../domain/goal.ts"
import { instantText } from "../../domain/moment.ts"
import { type Site, snippetOf } from "../../domain/site.ts"
import type { SiteResponse } from "../../domain/site-response.ts"

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

export function toGoalResponse({ id, site_id, kind, match, value, name, threshold, props, ...goal }: Goal): GoalResponse {
  const more = { ...(threshold !== undefined && { threshold }), ...(props && { props: { ...props } }) }
  return { id, site_id, kind, match, value, name, ...more, ...timesOf(goal) }
}

export const toFunnelResponse = ({ id, site_id, name, steps, order, window_hours, ...funnel }: Funnel): FunnelResponse => ({
  id,
  site_id,
  name,
  steps: steps.map(({ type, match, value, name }) => ({ type, match, value, name })),
  order,
  window_hours,
  ...timesOf(funnel),
})

const timesOf = ({ created_at, updated_at }: { created_at: number; updated_at: number }) => ({
  created_at: instantText(created_at),
  updated_at: instantText(updated_at),
})
