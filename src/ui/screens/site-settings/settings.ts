import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import { get } from "../../api.ts"
import type { SiteShown } from "../../site.ts"

/** `GET /api/private/sites/{site}/settings`. */
export interface SettingsShown {
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
  version: number
}

/** The site as settings need it, beside what most pages need. */
export interface WholeSite extends SiteShown {
  tracking_id: string
  snippet: string
  organization: { id: number; name: string }
}

export const sitePath = (siteId: number): string => `/api/private/sites/${siteId}`

/** Below the key of the site: whatever changes the site changes the version of its settings. */
export const useSettings = (siteId: number): UseQueryResult<SettingsShown, Error> =>
  useQuery({
    queryKey: ["site", siteId, "settings"],
    queryFn: ({ signal }) => get<SettingsShown>(`${sitePath(siteId)}/settings`, signal),
    staleTime: 60_000,
  })

/** Reads the site and its settings again, after a change. */
export function useRefreshSite(siteId: number): () => Promise<void> {
  const client = useQueryClient()
  return () => client.invalidateQueries({ queryKey: ["site", siteId] })
}

/** Lines as a list: blank ones and blanks around them do not count. */
export const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
