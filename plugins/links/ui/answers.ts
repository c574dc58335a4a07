/** What the routes of the area answer, as far as its pages need it, and the questions to them. */
import { areaQueries, canInOrganization, canOnSite, useMe } from "#plugin/ui"
import type { Rule, Utm } from "../link.ts"

export interface LinkAnswer {
  id: number
  slug: string
  domain_id: number | null
  short_url: string
  qr_url: string
  destination: string
  title: string
  notes: string
  tags: string[]
  redirect_status: number
  forward_query: boolean
  forward_path: boolean
  utm: Utm
  utm_mode: "fill" | "override"
  starts_at: string | null
  expires_at: string | null
  expired_destination: string | null
  max_clicks: number | null
  has_password: boolean
  rules: Rule[]
  noindex: boolean
  state: "active" | "archived" | "expired"
  clicks: { total: number; human: number; bot: number; qr: number }
  last_click_at: string | null
  version: number
  created_at: string
}
export interface LinkListed extends LinkAnswer {
  /** The last 30 days; null where they could not be counted. */
  sparkline: { human: number[]; bot: number[] } | null
}

export interface DomainAnswer {
  id: number
  host: string
  verified_at: string | null
  /** Null for whoever may not prove it. */
  txt_record: string | null
  file: { path: string; content: string } | null
  root_destination: string | null
  not_found_destination: string | null
  version: number
}

export interface TemplateAnswer {
  id: number
  name: string
  fields: Utm
  required: (keyof Utm)[]
  all_sites: boolean
  version: number
}

export const sitePath = (siteId: number): string => `/api/private/sites/${siteId}`
export const linksPath = (siteId: number): string => `${sitePath(siteId)}/links`

export const { useSiteQuery, useRefresh } = areaQueries("links")
export const useDomains = (siteId: number) => useSiteQuery<{ data: DomainAnswer[] }>(siteId, "link-domains")
export const useTemplates = (siteId: number) => useSiteQuery<{ data: TemplateAnswer[] }>(siteId, "utm-templates")

/** What the present person may do here. */
export function useRights(siteId: number) {
  const me = useMe()
  const organizationId = me?.sites.find(({ id }) => id === siteId)?.organization_id ?? 0
  return {
    organizationId,
    writes: canOnSite(me, siteId, "links:write"),
    ownsHosts: canInOrganization(me, organizationId, "org:write"),
    readsAudit: canInOrganization(me, organizationId, "audit:read"),
  }
}
