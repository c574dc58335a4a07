import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import { get } from "../../api/api.ts"
import type { SiteShown } from "../../api/session.ts"

/** `GET /api/private/sites/{site}/settings`. */
export interface SettingsResponse {
  timezone: string
  retention_days: number | null
  revenue_currency: string
  strict_origin: boolean
  accept_any_host: boolean
  identity_mode: string
  persistent_days: number
  store_user_ids: boolean
  consent_default: "granted" | "denied"
  respect_gpc: boolean
  drop_bots: boolean
  drop_spam: boolean
  drop_probes: boolean
  drop_datacenters: boolean
  min_group: number
  bounce_engaged_seconds: number
  allowed_query_params: string[]
  hash_routing: boolean
  compat_ids: { plausible: string[]; umami: string[]; goatcounter: string[] }
  public: boolean
  host_disputes: HostDispute[]
  version: number
}

/** Host that sites of other organizations also claim. */
export interface HostDispute {
  host: string
  belongs_to: "this_organization" | "another_organization" | null
  reason: "decided" | "proved" | "listed_first" | null
  /** Host to prove by a DNS record. Null if the DNS cannot hold a record for it. */
  provable_host: string | null
}

/** Site with the fields that only its settings need. */
export interface WholeSite extends SiteShown {
  tracking_id: string
  snippet: string
  organization: { id: number; name: string }
}

export const sitePath = (siteId: number): string => `/api/private/sites/${siteId}`

/** Fetches the settings of a site. The query key is below that of the site, because a change of the site changes the version of its settings. */
export const useSettings = (siteId: number): UseQueryResult<SettingsResponse, Error> =>
  useQuery({
    queryKey: ["site", siteId, "settings"],
    queryFn: ({ signal }) => get<SettingsResponse>(`${sitePath(siteId)}/settings`, signal),
    staleTime: 60_000,
  })

/** Returns a function that reloads the site and its settings after a change. */
export function useRefreshSite(siteId: number): () => Promise<void> {
  const client = useQueryClient()
  return () => client.invalidateQueries({ queryKey: ["site", siteId] })
}

/** Returns the trimmed, non-empty lines of a text. */
export const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
