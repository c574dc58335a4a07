/** Queries, rights and texts of the area. */
import { areaQueries, canOnSite, useMe } from "#plugin/ui"
import type { IntegrationList, IntegrationResponse } from "../responses.ts"

export const { useSiteQuery, useRefresh } = areaQueries("integrations")

export const sitePath = (siteId: number): string => `/api/private/sites/${siteId}`
export const integrationsPath = (siteId: number): string => `${sitePath(siteId)}/integrations`
export const integrationsAddress = (siteId: number): string => `/sites/${siteId}/integrations`

/** Returns what the user may do with the integrations of a site. */
export function useRights(siteId: number) {
  const me = useMe()
  return {
    reads: canOnSite(me, siteId, "integrations:read"),
    writes: canOnSite(me, siteId, "integrations:write"),
    writesWebhooks: canOnSite(me, siteId, "webhooks:write"),
  }
}

export const useIntegrations = (siteId: number) => useSiteQuery<IntegrationList>(siteId, "integrations")

/** Returns whether the user may also connect something for the organization as a whole, by their role there. */
export const useManagesOrganization = (siteId: number, permission: "integrations:write" | "webhooks:write"): boolean =>
  useIntegrations(siteId).data?.organization_permissions.includes(permission) ?? false

/** Colour of a dot in front of a state. */
export type Tone = "good" | "warn" | "bad" | "quiet"

export const STATUS_LABELS: Readonly<Record<IntegrationResponse["status"], string>> = {
  ok: "Connected",
  degraded: "Retrying",
  needs_reauth: "Needs to be reconnected",
  error: "Not working",
  connecting: "Connecting",
  disconnected: "Not connected",
}
export const STATUS_TONES: Readonly<Record<IntegrationResponse["status"], Tone>> = {
  ok: "good",
  degraded: "warn",
  needs_reauth: "bad",
  error: "bad",
  connecting: "quiet",
  disconnected: "quiet",
}

export const SCOPE_LABELS: Readonly<Record<IntegrationResponse["scope"], string>> = {
  site: "This site",
  organization: "All sites of the organization",
}
